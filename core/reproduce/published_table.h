// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// One number of a publication beside what Ballast predicts for the same set-up.
struct PublishedFigure {
    std::string row;
    std::string column;
    std::optional<double> published;  ///< absent: the publication gives no number here
    double predicted = 0;
};

/// One variation of an assumption and what it does to a figure.
struct SensitivityFigure {
    std::string variation;
    std::string row;
    double predicted = 0;
};

/// A table or figure of a publication, rebuilt.
struct PublishedTable {
    std::string name;  ///< "table2"
    std::string title;
    std::string source;    ///< publication and place
    std::string quantity;  ///< what the numbers are, with unit
    std::vector<PublishedFigure> figures;
    std::vector<std::string> assumptions;          ///< what the publication leaves open and how we filled it
    std::vector<SensitivityFigure> sensitivities;  ///< what the filling is worth
};

/// "table2", "figure12", ...: what reproduce() knows, in the order of the publication.
std::vector<std::string_view> reproductionNames();

/// Rebuilds one of them from `steps` global batches a cell of the shipped length distribution (seed 1), all
/// of it simulated. The published numbers only stand beside the predicted ones; nothing is fitted to them.
/// Throws Error (BadInput) for an unknown name, with the nearest one.
///
/// cost  seconds at 100 steps
PublishedTable reproduce(std::string_view name, std::int64_t steps);

}  // namespace ballast
