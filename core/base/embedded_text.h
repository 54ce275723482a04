// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace ballast {

/// A text file of resources/ compiled into the program, so that a binary alone knows its presets.
struct EmbeddedText {
    std::string_view name;  ///< file name without its extension
    std::string_view text;
};

}  // namespace ballast
