// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/comm/transport.h"

namespace ballast::backend::testing {

/// Checks that hold over every transport; collective, throw std::runtime_error with what was wrong. Sums are
/// on inputs whose float sums are exact.
void checkCollectives(Transport& transport);
/// Offsets past 2^24 and large sums of squares arrive whole (Megatron's pipeline broadcast sends them as
/// float32 and loses them).
void checkLargeIntegers(Transport& transport);
/// Two ranks send each other messages in crossed order; tags and lengths keep them apart.
void checkMessages(Transport& transport);

}  // namespace ballast::backend::testing
