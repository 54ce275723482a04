// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <vector>

namespace ballast::studio {

class MainWindow;
class Workers;

/// Lets the window work until nothing is on its way any more. False when `seconds` pass before that.
bool waitUntilIdle(const Workers& workers, double seconds);

/// Writes DIR/NAME.png and DIR/NAME@2x.png of each view at 1600 x 900 points. Returns the paths written.
/// Throws Error when a view does not finish or a file can't be written.
std::vector<std::filesystem::path> writeScreenshots(MainWindow& window, const Workers& workers,
                                                    const std::filesystem::path& directory);

}  // namespace ballast::studio
