// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/error.h"

namespace ballast {

/// The sentence of the Error that `action` throws; empty when it throws none.
template <class Action>
std::string errorSentence(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace ballast
