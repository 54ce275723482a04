// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/check.h"

namespace ballast {

/// Cuts [0, length) so that rank r gets shares[r] tokens in two chunks, chunk r and chunk 2*ranks-1-r, which
/// mirror each other around the middle: its queries then have the mean number of keys, and pairs are in
/// proportion to tokens. Calls take(rank, begin, end) in order of position, empty chunks included, the last
/// rank's two chunks as one. An odd share has its extra token in the later chunk. The shares, of one rank or
/// more, add up to length.
template <class Take>
void forEachMirroredChunk(std::int64_t length, std::span<const std::int64_t> shares, const Take& take) {
    const std::size_t last = shares.size() - 1;
    std::int64_t at = 0;
    const auto next = [&](std::size_t rank, std::int64_t tokens) {
        take(rank, at, at + tokens);
        at += tokens;
    };
    for (std::size_t rank = 0; rank < last; ++rank)
        next(rank, shares[rank] / 2);
    next(last, shares[last]);
    for (std::size_t rank = last; rank-- > 0;)
        next(rank, shares[rank] - shares[rank] / 2);
    BALLAST_CHECK(at == length);
}

}  // namespace ballast
