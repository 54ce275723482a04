// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

/// What is left of a document after cutting; trained as a document of its own: positions from 0, no attention
/// and no target across the cut. Offsets are tokens inside the document.
struct Piece {
    std::int64_t document = 0;  ///< index in the source, from 0, empty ones counted
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t arrivalStep = 0;  ///< global batch that brought it
    std::int64_t order = 0;        ///< place in the stream, for stable ties

    std::int64_t length() const { return end - begin; }
    bool operator==(const Piece&) const = default;
};

/// Tokens that no micro-batch will train, and why ("longer than the window: dropped").
struct Discard {
    std::int64_t document = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::string reason;

    bool operator==(const Discard&) const = default;
};

}  // namespace ballast
