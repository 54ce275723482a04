// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace ballast::kernels {

/// sum[i] += term[i]: the residual additions and the sums of gradients. Both spans have one size.
void addTo(std::span<float> sum, std::span<const float> term);

}  // namespace ballast::kernels
