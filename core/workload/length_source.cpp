// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/workload/csv_reader.h"
#include "core/workload/idx_reader.h"
#include "core/workload/joined_lengths.h"
#include "core/workload/jsonl_reader.h"
#include "core/workload/length_preset.h"
#include "core/workload/listed_lengths.h"
#include "core/workload/mapped_file.h"
#include "core/workload/npy_reader.h"
#include "core/workload/text_reader.h"
#include "core/workload/text_source.h"

namespace ballast {

namespace {

constexpr std::string_view kBuilt =
    "use .idx, .npy, .csv, .tsv, .jsonl, .json or .txt, the text formats also with .gz or .zst";

enum class Format { Idx, Npy, Csv, Tsv, JsonLines, Json, Text };

Format formatOf(const std::filesystem::path& file) {
    const bool compressed = compressionOf(file) != Compression::None;
    const std::string extension = (compressed ? file.stem() : file).extension().string();
    if (extension == ".idx" && !compressed)
        return Format::Idx;
    if (extension == ".npy" && !compressed)
        return Format::Npy;
    if (extension == ".csv")
        return Format::Csv;
    if (extension == ".tsv")
        return Format::Tsv;
    if (extension == ".jsonl" || extension == ".ndjson")
        return Format::JsonLines;
    if (extension == ".json")
        return Format::Json;
    if (extension == ".txt")
        return Format::Text;
    if (extension == ".bin")
        throw Error(fmt::format("{}: name the .idx beside it", file.string()));
    if (compressed && (extension == ".idx" || extension == ".npy"))
        throw Error(fmt::format("{}: {} is read from memory as it lies; decompress it first", file.string(),
                                extension));
    throw Error(fmt::format("{}: \"{}\" is no format of lengths; {}", file.string(), extension, kBuilt));
}

/// What can be told without reading: that the file is there, of a known format, and can hold a header.
void checkSource(const SourcePath& source) {
    std::error_code ignored;
    if (!std::filesystem::exists(source.file, ignored))
        throw Error(fmt::format("\"{}\": no such file, and no length preset (there are: {})",
                                source.file.string(), fmt::join(lengthPresetNames(), ", ")));
    const std::int64_t size = regularFileSize(source.file);
    const Format format = formatOf(source.file);
    if (format == Format::Idx && size == 0)
        throw Error(
            fmt::format("{}: empty file, expected a {}-byte header", source.file.string(), kIdxHeaderBytes));
    if (!source.name.empty() &&
        (format == Format::Idx || format == Format::Npy || format == Format::Json || format == Format::Text))
        throw Error(fmt::format("{}#{}: only .csv, .tsv and .jsonl have named columns or fields",
                                source.file.string(), source.name));
}

/// An array of lengths, or a distribution as in resources/lengths.
std::unique_ptr<LengthSource> openJson(const std::filesystem::path& file, std::uint64_t seed) {
    const TextSource source(file);
    if (trimmed(withoutByteOrderMark(source.text())).starts_with('{'))
        return std::make_unique<LengthPreset>(source.text(), file.string(), seed);
    return std::make_unique<ListedLengths>(file.string(), parseJsonArray(source.text(), file.string()));
}

std::unique_ptr<LengthSource> openFile(const SourcePath& source, std::uint64_t seed) {
    switch (formatOf(source.file)) {
        case Format::Idx:
            return std::make_unique<IdxSource>(source.file);
        case Format::Npy:
            return std::make_unique<NpySource>(source.file);
        case Format::Json:
            return openJson(source.file, seed);
        case Format::Csv:
            return openCsv(source.file, ',', source.name);
        case Format::Tsv:
            return openCsv(source.file, '\t', source.name);
        case Format::JsonLines:
            return openJsonLines(source.file, source.name);
        case Format::Text:
            return openText(source.file);
    }
    BALLAST_CHECK(false);
    return nullptr;
}

/// The sum over all parts, each already in range, must be in range too.
void checkTotal(const std::vector<std::unique_ptr<LengthSource>>& parts) {
    std::int64_t tokens = 0;
    for (const auto& part : parts) {
        for (std::int64_t document = 0; document < part->sampleDocuments(); ++document) {
            const std::int64_t length = part->length(document);
            if (length > kMaxTokens - tokens)
                throw Error(fmt::format("{}: the lengths up to document {} sum to more than 2^62 tokens",
                                        part->description(), document));
            tokens += length;
        }
    }
}

}  // namespace

SourcePath splitSourcePath(const std::string& source) {
    std::error_code ignored;
    const std::size_t hash = source.rfind('#');
    if (hash == std::string::npos || std::filesystem::exists(source, ignored))
        return {source, ""};
    return {source.substr(0, hash), source.substr(hash + 1)};
}

JoinedLengths::JoinedLengths(std::vector<std::unique_ptr<LengthSource>> parts) : parts_(std::move(parts)) {
    BALLAST_CHECK(!parts_.empty());
    std::int64_t end = 0;
    for (const auto& part : parts_)
        ends_.push_back(end += part->sampleDocuments());
}

std::int64_t JoinedLengths::length(std::int64_t document) const {
    const auto part = std::upper_bound(ends_.begin(), ends_.end(), document) - ends_.begin();
    const std::int64_t begin = part == 0 ? 0 : ends_[static_cast<std::size_t>(part) - 1];
    return parts_[static_cast<std::size_t>(part)]->length(document - begin);
}

std::vector<std::string> JoinedLengths::notices() const {
    std::vector<std::string> all;
    for (const auto& part : parts_) {
        for (std::string& notice : part->notices())
            all.push_back(std::move(notice));
    }
    return all;
}

std::string JoinedLengths::description() const {
    return fmt::format("{} and {} more", parts_.front()->description(), parts_.size() - 1);
}

std::unique_ptr<LengthSource> openLengthSource(std::span<const std::string> source, std::uint64_t seed) {
    if (source.empty())
        throw Error("lengths.source: expected a preset name or a path");
    std::vector<SourcePath> paths;
    for (const std::string& name : source) {
        if (auto preset = findLengthPreset(name, seed)) {
            if (source.size() == 1)
                return preset;
            throw Error(fmt::format("{}: a preset never ends, so nothing can be joined to it", name));
        }
        paths.push_back(splitSourcePath(name));
        checkSource(paths.back());
    }
    std::vector<std::unique_ptr<LengthSource>> parts;
    for (const SourcePath& path : paths)
        parts.push_back(openFile(path, seed));
    if (parts.size() == 1)
        return std::move(parts.front());
    for (const auto& part : parts)
        if (!part->documents())
            throw Error(fmt::format("{}: a distribution never ends, so nothing can be joined to it",
                                    part->description()));
    checkTotal(parts);
    return std::make_unique<JoinedLengths>(std::move(parts));
}

}  // namespace ballast
