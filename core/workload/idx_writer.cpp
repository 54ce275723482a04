// SPDX-License-Identifier: Apache-2.0
#include "core/workload/idx_writer.h"

#include <algorithm>
#include <limits>

#include "core/workload/idx_reader.h"

namespace ballast {

void ByteIndex::addDocument(std::int64_t tokens) {
    constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
    do {
        const std::int64_t here = std::min(tokens, kLongest);
        lengths_.push_back(static_cast<std::int32_t>(here));
        pointers_.push_back(bytes_);
        bytes_ += here;
        tokens -= here;
    } while (tokens > 0);
    documentIndices_.push_back(static_cast<std::int64_t>(lengths_.size()));
}

void ByteIndex::write(PendingFile& file) const {
    const auto put = [&file](const auto& value) { file.write(&value, sizeof value); };
    file.write(kIdxMagic.data(), kIdxMagic.size());
    put(std::uint64_t{1});
    put(static_cast<std::uint8_t>(IdxDtype::UInt8));
    put(static_cast<std::uint64_t>(lengths_.size()));
    put(static_cast<std::uint64_t>(documentIndices_.size()));
    file.write(lengths_.data(), lengths_.size() * sizeof(std::int32_t));
    file.write(pointers_.data(), pointers_.size() * sizeof(std::int64_t));
    file.write(documentIndices_.data(), documentIndices_.size() * sizeof(std::int64_t));
}

}  // namespace ballast
