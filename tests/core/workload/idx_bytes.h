// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

/// The tables of an .idx, written out plainly field by field, for tests to make good and broken ones.
struct IdxBytes {
    std::uint8_t dtype = 4;
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> pointers;
    std::vector<std::int64_t> documents;

    std::string bytes() const {
        std::string text("MMIDIDX\0\0", 9);
        put(text, std::uint64_t{1});
        put(text, dtype);
        put(text, static_cast<std::uint64_t>(lengths.size()));
        put(text, static_cast<std::uint64_t>(documents.size()));
        for (const auto length : lengths)
            put(text, length);
        for (const auto pointer : pointers)
            put(text, pointer);
        for (const auto document : documents)
            put(text, document);
        return text;
    }

    template <class Number>
    static void put(std::string& text, Number value) {
        text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
};

/// A well-formed index, one sequence a document.
inline IdxBytes plainIdx(const std::vector<std::int32_t>& lengths, std::uint8_t dtype, int tokenBytes) {
    IdxBytes idx{dtype, lengths, {}, {0}};
    std::int64_t offset = 0;
    for (std::size_t sequence = 0; sequence < lengths.size(); ++sequence) {
        idx.pointers.push_back(offset);
        offset += std::int64_t{lengths[sequence]} * tokenBytes;
        idx.documents.push_back(static_cast<std::int64_t>(sequence) + 1);
    }
    return idx;
}

}  // namespace ballast
