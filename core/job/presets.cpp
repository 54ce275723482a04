// SPDX-License-Identifier: Apache-2.0
#include "core/job/presets.h"

namespace ballast {

const EmbeddedText* findPreset(std::span<const EmbeddedText> presets, std::string_view name) {
    for (const EmbeddedText& preset : presets)
        if (preset.name == name)
            return &preset;
    return nullptr;
}

std::vector<std::string> presetNames(std::span<const EmbeddedText> presets) {
    std::vector<std::string> names;
    for (const EmbeddedText& preset : presets)
        names.emplace_back(preset.name);
    return names;
}

}  // namespace ballast
