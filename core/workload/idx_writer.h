// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/pending_file.h"

namespace ballast {

/// The tables of a Megatron data set of bytes (dtype uint8), collected document by document.
class ByteIndex {
  public:
    /// A document over 2^31 - 1 tokens becomes several sequences, since a length there is an int32.
    void addDocument(std::int64_t tokens);
    void write(PendingFile& file) const;
    std::int64_t documents() const { return static_cast<std::int64_t>(documentIndices_.size()) - 1; }

  private:
    std::vector<std::int32_t> lengths_;
    std::vector<std::int64_t> pointers_;
    std::vector<std::int64_t> documentIndices_ = {0};
    std::int64_t bytes_ = 0;
};

}  // namespace ballast
