// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/sharder.h"

namespace ballast {

/// 2*ranks chunks of every piece; rank r gets chunks r and 2*ranks-1-r of each. A remainder is dealt one
/// token a chunk by a cursor that starts at chunk 0 and goes on from piece to piece, so that rank totals
/// differ by at most one token without padding, and attention pairs by the remainders only.
/// source: WLB-LLM (OSDI 2025), section 5.2; the cursor over documents as in the authors' public code.
class PerDocumentSharder final : public Sharder {
  public:
    /// ranks  context-parallel degree, 1 or more
    explicit PerDocumentSharder(int ranks) : ranks_(ranks) {}

    /// O(pieces * ranks)
    Sharding shard(std::span<const Piece> pieces) const override;

  private:
    int ranks_;
};

}  // namespace ballast
