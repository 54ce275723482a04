// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/embedded_text.h"

namespace ballast {

/// The files of resources/models, resources/clusters and resources/lengths, compiled in by the build.
std::span<const EmbeddedText> modelPresetTexts();
std::span<const EmbeddedText> clusterPresetTexts();
std::span<const EmbeddedText> lengthPresetTexts();

/// The preset with this name, or nullptr.
const EmbeddedText* findPreset(std::span<const EmbeddedText> presets, std::string_view name);
/// Names in the order of the files.
std::vector<std::string> presetNames(std::span<const EmbeddedText> presets);

}  // namespace ballast
