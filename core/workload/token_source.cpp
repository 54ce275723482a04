// SPDX-License-Identifier: Apache-2.0
#include "core/workload/token_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/workload/idx_reader.h"
#include "core/workload/joined_lengths.h"
#include "core/workload/mapped_file.h"

namespace ballast {

namespace {

constexpr std::uint64_t kTokensPurpose = 0x746F6B656E73ULL;  // "tokens": apart from the seed's other uses

void checkRange(std::string_view place, std::int64_t document, std::int64_t length, std::int64_t begin,
                std::size_t count) {
    const auto wanted = static_cast<std::int64_t>(count);
    if (begin < 0 || begin > length || wanted > length - begin)
        throw Error(fmt::format("{}: document {} has {} tokens, not tokens {} to {}", place, document, length,
                                begin, begin + wanted));
}

class SyntheticTokens : public TokenSource {
  public:
    SyntheticTokens(std::unique_ptr<LengthSource> lengths, std::uint64_t seed, std::int64_t vocabularySize)
        : lengths_(std::move(lengths)),
          seed_(Random::stream(seed, kTokensPurpose).next()),
          vocabularySize_(static_cast<std::uint64_t>(vocabularySize)) {}

    bool fromFile() const override { return false; }

    void read(std::int64_t document, std::int64_t begin, std::span<std::int64_t> out) const override {
        const auto documents = lengths_->documents();
        if (document < 0 || (documents && document >= *documents))
            throw Error(fmt::format("{}: no document {}", lengths_->description(), document));
        checkRange(lengths_->description(), document, lengths_->length(document), begin, out.size());
        const std::uint64_t documentSeed = Random::stream(seed_, static_cast<std::uint64_t>(document)).next();
        auto position = static_cast<std::uint64_t>(begin);
        for (std::int64_t& token : out)
            token =
                static_cast<std::int64_t>(Random::stream(documentSeed, position++).next() % vocabularySize_);
    }

  private:
    std::unique_ptr<LengthSource> lengths_;
    std::uint64_t seed_;
    std::uint64_t vocabularySize_;
};

/// One .idx with its .bin.
class FileTokens : public TokenSource {
  public:
    FileTokens(const std::filesystem::path& index, std::int64_t vocabularySize)
        : index_(index),
          path_(std::filesystem::path(index).replace_extension(".bin").string()),
          bin_(path_),
          vocabularySize_(vocabularySize) {
        const IdxTable& table = index_.table();
        if (table.dtype() == IdxDtype::Float32 || table.dtype() == IdxDtype::Float64)
            throw Error(fmt::format("{}: dtype at byte 17: expected integers, found {}", index.string(),
                                    idxDtypeName(table.dtype())));
        if (bin_.size() < table.binBytes())
            throw Error(fmt::format("{}: truncated .bin: its index needs {} bytes, the file ends at byte {}",
                                    path_, table.binBytes(), bin_.size()));
    }

    std::int64_t documents() const { return index_.table().documents(); }
    bool fromFile() const override { return true; }

    void read(std::int64_t document, std::int64_t begin, std::span<std::int64_t> out) const override {
        const IdxTable& table = index_.table();
        if (document < 0 || document >= table.documents())
            throw Error(fmt::format("{}: no document {}", path_, document));
        checkRange(path_, document, table.documentLength(document), begin, out.size());
        std::int64_t skip = begin;
        for (std::int64_t sequence = table.firstSequence(document); !out.empty(); ++sequence) {
            const std::int64_t length = table.sequenceLength(sequence);
            const std::int64_t here =
                std::min(std::max<std::int64_t>(length - skip, 0), static_cast<std::int64_t>(out.size()));
            if (here > 0)
                readIds(table.pointer(sequence) + skip * idxDtypeBytes(table.dtype()),
                        out.first(static_cast<std::size_t>(here)));
            out = out.subspan(static_cast<std::size_t>(here));
            skip = std::max<std::int64_t>(skip - length, 0);
        }
    }

    void checkAll() const override {
        const IdxTable& table = index_.table();
        if (table.dtype() == IdxDtype::UInt8 && vocabularySize_ >= 256)
            return;
        std::vector<std::int64_t> chunk;
        for (std::int64_t sequence = 0; sequence < table.sequences(); ++sequence) {
            const std::int64_t length = table.sequenceLength(sequence);
            for (std::int64_t done = 0; done < length; done += kCheckedAtOnce) {
                chunk.resize(static_cast<std::size_t>(std::min(kCheckedAtOnce, length - done)));
                readIds(table.pointer(sequence) + done * idxDtypeBytes(table.dtype()), chunk);
            }
        }
    }

  private:
    static constexpr std::int64_t kCheckedAtOnce = 65536;

    void readIds(std::int64_t offset, std::span<std::int64_t> out) const {
        switch (index_.table().dtype()) {
            case IdxDtype::UInt8:
                return readAs<std::uint8_t>(offset, out);
            case IdxDtype::Int8:
                return readAs<std::int8_t>(offset, out);
            case IdxDtype::Int16:
                return readAs<std::int16_t>(offset, out);
            case IdxDtype::Int32:
                return readAs<std::int32_t>(offset, out);
            case IdxDtype::Int64:
                return readAs<std::int64_t>(offset, out);
            case IdxDtype::UInt16:
                return readAs<std::uint16_t>(offset, out);
            case IdxDtype::Float32:
            case IdxDtype::Float64:
                break;
        }
        BALLAST_CHECK(false);
    }

    template <class Id>
    void readAs(std::int64_t offset, std::span<std::int64_t> out) const {
        const std::byte* bytes = bin_.bytes().data() + offset;
        for (std::int64_t& token : out) {
            Id id;
            std::memcpy(&id, bytes, sizeof id);
            token = static_cast<std::int64_t>(id);
            if (token < 0 || token >= vocabularySize_)
                throw Error(fmt::format("{}: token at byte {}: expected an id from 0 to {}, found {}", path_,
                                        bytes - bin_.bytes().data(), vocabularySize_ - 1, token));
            bytes += sizeof id;
        }
    }

    IdxSource index_;
    std::string path_;
    MappedFile bin_;
    std::int64_t vocabularySize_;
};

class JoinedTokens : public TokenSource {
  public:
    explicit JoinedTokens(std::vector<std::unique_ptr<FileTokens>> parts) : parts_(std::move(parts)) {}

    bool fromFile() const override { return true; }

    void read(std::int64_t document, std::int64_t begin, std::span<std::int64_t> out) const override {
        std::int64_t inPart = document;
        for (const auto& part : parts_) {
            if (inPart < part->documents())
                return part->read(inPart, begin, out);
            inPart -= part->documents();
        }
        throw Error(fmt::format("lengths.source has no document {}", document));
    }

    void checkAll() const override {
        for (const auto& part : parts_)
            part->checkAll();
    }

  private:
    std::vector<std::unique_ptr<FileTokens>> parts_;
};

bool hasTokens(const std::string& source) {
    const std::filesystem::path index = splitSourcePath(source).file;
    std::error_code ignored;
    return index.extension() == ".idx" &&
           std::filesystem::exists(std::filesystem::path(index).replace_extension(".bin"), ignored);
}

}  // namespace

std::unique_ptr<TokenSource> openTokenSource(const LengthsOptions& options, std::int64_t vocabularySize) {
    BALLAST_CHECK(vocabularySize > 0);
    auto lengths = openLengthSource(options.source, options.seed);
    const auto without = std::find_if_not(options.source.begin(), options.source.end(), hasTokens);
    if (without == options.source.end()) {
        std::vector<std::unique_ptr<FileTokens>> parts;
        for (const std::string& source : options.source)
            parts.push_back(std::make_unique<FileTokens>(source, vocabularySize));
        return std::make_unique<JoinedTokens>(std::move(parts));
    }
    if (std::any_of(options.source.begin(), options.source.end(), hasTokens))
        throw Error(
            fmt::format("lengths.source: {} has no .bin beside it, but others do; tokens come from all "
                        "of the sources or from none",
                        *without));
    return std::make_unique<SyntheticTokens>(std::move(lengths), options.seed, vocabularySize);
}

double unigramEntropy(const LengthSource& lengths, const TokenSource& tokens) {
    constexpr std::int64_t kDenseIds = 1 << 18;  // covers today's vocabularies; rarer ids go to the map
    constexpr std::int64_t kReadAtOnce = 65536;
    std::vector<std::int64_t> dense(kDenseIds);
    std::unordered_map<std::int64_t, std::int64_t> sparse;
    std::vector<std::int64_t> ids;
    double total = 0;
    for (std::int64_t document = 0; document < lengths.sampleDocuments(); ++document) {
        const std::int64_t length = lengths.length(document);
        for (std::int64_t begin = 0; begin < length; begin += kReadAtOnce) {
            ids.resize(static_cast<std::size_t>(std::min(kReadAtOnce, length - begin)));
            tokens.read(document, begin, ids);
            for (const std::int64_t id : ids)
                ++(id < kDenseIds ? dense[static_cast<std::size_t>(id)] : sparse[id]);
        }
        total += static_cast<double>(length);
    }
    double entropy = 0;
    const auto add = [&](std::int64_t count) {
        const double share = static_cast<double>(count) / total;
        if (count > 0)
            entropy -= share * std::log(share);
    };
    for (const std::int64_t count : dense)
        add(count);
    for (const auto& [id, count] : sparse)
        add(count);
    return entropy;
}

}  // namespace ballast
