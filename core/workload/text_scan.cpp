// SPDX-License-Identifier: Apache-2.0
#include "core/workload/text_scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string_view>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/workload/idx_writer.h"
#include "core/workload/length_source.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLookedAt = 8192;  // bytes searched for a NUL
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;
constexpr std::uint64_t kScanPurpose = 0x7363616EULL;  // "scan": apart from the seed's other uses

struct Candidate {
    std::string path;
    std::int64_t bytes = 0;
};

/// Regular files under a folder in byte order of their path.
std::vector<Candidate> walk(const ScanOptions& options, ScanResult& result) {
    std::error_code problem;
    if (!fs::is_directory(options.directory, problem))
        throw Error(fmt::format("{}: expected a folder", options.directory.string()));
    std::vector<fs::path> folders = {options.directory};
    std::vector<Candidate> found;
    while (!folders.empty()) {
        const fs::path folder = std::move(folders.back());
        folders.pop_back();
        fs::directory_iterator entries(folder, problem);
        if (problem && folder == options.directory)
            throw Error(fmt::format("{}: cannot read the folder: {}", folder.string(), problem.message()));
        if (problem) {
            ++result.unreadable;
            continue;
        }
        for (; entries != fs::directory_iterator(); entries.increment(problem)) {
            const fs::directory_entry& entry = *entries;
            const fs::file_type type = entry.symlink_status(problem).type();
            if (type == fs::file_type::symlink)
                ++result.links;
            else if (type == fs::file_type::directory)
                folders.push_back(entry.path());
            else if (type == fs::file_type::regular)
                found.push_back({entry.path().string(), static_cast<std::int64_t>(entry.file_size(problem))});
        }
    }
    std::sort(found.begin(), found.end(),
              [](const Candidate& a, const Candidate& b) { return a.path < b.path; });
    return found;
}

bool looksCompressed(std::string_view start) {
    constexpr std::string_view kMagics[] = {"\x1F\x8B",
                                            "\x1F\x9D",
                                            "BZh",
                                            "PK\x03\x04",
                                            "\xFD"
                                            "7zXZ",
                                            "\x28\xB5\x2F\xFD",
                                            "7z\xBC\xAF",
                                            "\x04\x22\x4D\x18"};
    return std::any_of(std::begin(kMagics), std::end(kMagics),
                       [start](std::string_view magic) { return start.starts_with(magic); });
}

/// Cuts the bytes that come in into documents, and knows when enough is there.
class DocumentCutter {
  public:
    DocumentCutter(const ScanOptions& options, ScanResult& result) : options_(options), result_(result) {
        if (options.lengths.empty())
            return;
        lengths_ = openLengthSource(options.lengths, options.seed);
        if (lengths_->sampleDocuments() == 0)
            throw Error(fmt::format("{}: no documents to take lengths from", lengths_->description()));
    }

    bool cutsByFile() const { return lengths_ == nullptr; }
    bool full() const { return options_.maxTokens && counted_ >= *options_.maxTokens; }
    /// Id of the document that the next byte goes to.
    std::int64_t documentAtHand() const { return result_.documents; }
    ByteIndex& index() { return index_; }

    /// Takes bytes into documents until they end or enough is there; returns how many were taken.
    std::int64_t take(std::int64_t bytes) {
        std::int64_t taken = 0;
        while (taken < bytes && !full()) {
            if (!cutsByFile() && left_ == 0)
                openDocument();
            const std::int64_t here = cutsByFile() ? bytes - taken : std::min(left_, bytes - taken);
            atHand_ += here;
            left_ -= cutsByFile() ? 0 : here;
            taken += here;
            result_.tokens += here;
            if (!cutsByFile() && left_ == 0)
                endDocument();
        }
        return taken;
    }

    void endFile() {
        if (cutsByFile())
            endDocument();
    }

    /// The bytes have ended: the document at hand is as long as it is.
    void endAll() {
        if (atHand_ > 0)
            endDocument();
    }

  private:
    /// The next length with tokens; lengths of 0 are written as the empty documents that they are.
    void openDocument() {
        for (std::int64_t empties = 0; left_ == 0; ++empties) {
            if (empties > lengths_->sampleDocuments())
                throw Error(fmt::format("{}: expected a document with tokens", lengths_->description()));
            left_ = lengths_->length(next_++);
            if (lengths_->documents() && next_ == *lengths_->documents())
                next_ = 0;
            if (left_ == 0)
                endDocument();
        }
    }

    void endDocument() {
        index_.addDocument(atHand_);
        ++result_.documents;
        if (options_.window && atHand_ > *options_.window) {
            ++result_.overlongDocuments;
            result_.overlongTokens += atHand_;
        } else {
            counted_ += atHand_;
        }
        atHand_ = 0;
    }

    const ScanOptions& options_;
    ScanResult& result_;
    std::unique_ptr<LengthSource> lengths_;
    ByteIndex index_;
    std::int64_t next_ = 0;
    std::int64_t left_ = 0;    ///< tokens that the document at hand still wants (cut by lengths)
    std::int64_t atHand_ = 0;  ///< tokens it has
    std::int64_t counted_ = 0;
};

/// Tabs, line ends and backslashes of a path, so that a line of PREFIX.files stays a line.
std::string escaped(std::string_view path) {
    std::string text;
    for (const char letter : path) {
        if (letter == '\\')
            text += "\\\\";
        else if (letter == '\t')
            text += "\\t";
        else if (letter == '\n')
            text += "\\n";
        else
            text += letter;
    }
    return text;
}

fs::path withSuffix(const fs::path& prefix, std::string_view suffix) {
    return prefix.string() + std::string(suffix);
}

/// A scan into its own folder must not take what an earlier one wrote.
bool isOwnOutput(const std::string& path, const fs::path& prefix) {
    constexpr std::string_view kSuffixes[] = {".bin", ".idx", ".files"};
    return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
        std::error_code ignored;
        return path.ends_with(suffix) && fs::equivalent(path, withSuffix(prefix, suffix), ignored);
    });
}

class Scan {
  public:
    Scan(const ScanOptions& options, ScanResult& result)
        : options_(options),
          result_(result),
          cutter_(options, result),
          bin_(withSuffix(options.prefix, ".bin")),
          files_(withSuffix(options.prefix, ".files")),
          idx_(withSuffix(options.prefix, ".idx")),
          buffer_(kReadAtOnce) {
        const std::string_view header = "path\tbytes\tdocument\n";
        files_.write(header.data(), header.size());
    }

    bool full() const { return cutter_.full() || (options_.maxFiles && result_.files >= *options_.maxFiles); }

    void takeFile(const Candidate& file) {
        std::ifstream stream(file.path, std::ios::binary);
        if (!stream) {
            ++result_.unreadable;
            return;
        }
        std::size_t there = readInto(stream);
        if (!isText(std::string_view(buffer_.data(), there)))
            return;
        const std::int64_t firstDocument = cutter_.documentAtHand();
        std::int64_t bytes = 0;
        for (; there > 0; there = readInto(stream)) {
            const std::int64_t taken = cutter_.take(static_cast<std::int64_t>(there));
            bin_.write(buffer_.data(), static_cast<std::size_t>(taken));
            bytes += taken;
            if (taken < static_cast<std::int64_t>(there))
                break;
        }
        cutter_.endFile();
        ++result_.files;
        result_.bytesBeyondCap += std::max<std::int64_t>(cutter_.full() ? file.bytes - bytes : 0, 0);
        const std::string line = fmt::format("{}\t{}\t{}\n", escaped(file.path), bytes, firstDocument);
        files_.write(line.data(), line.size());
        if (options_.progress)
            options_.progress(result_.files, result_.tokens);
    }

    void finish() {
        cutter_.endAll();
        cutter_.index().write(idx_);
        bin_.close();
        files_.close();
        idx_.close();
        bin_.commit();
        files_.commit();
        idx_.commit();  // last: an index never stands beside an unfinished .bin
    }

  private:
    std::size_t readInto(std::ifstream& stream) {
        stream.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        return static_cast<std::size_t>(stream.gcount());
    }

    bool isText(std::string_view start) {
        if (start.empty())
            ++result_.emptyFiles;
        else if (looksCompressed(start))
            ++result_.compressedFiles;
        else if (start.substr(0, kLookedAt).find('\0') != std::string_view::npos)
            ++result_.binaryFiles;
        else
            return true;
        return false;
    }

    const ScanOptions& options_;
    ScanResult& result_;
    DocumentCutter cutter_;
    PendingFile bin_;
    PendingFile files_;
    PendingFile idx_;
    std::vector<char> buffer_;
};

}  // namespace

ScanResult scanText(const ScanOptions& options) {
    ScanResult result;
    std::vector<Candidate> candidates = walk(options, result);
    std::erase_if(candidates, [&](const Candidate& file) { return isOwnOutput(file.path, options.prefix); });
    if (options.order == DocumentOrder::Shuffled) {
        Random random = Random::stream(options.seed, kScanPurpose);
        for (std::size_t last = candidates.size(); last > 1; --last)
            std::swap(candidates[last - 1], candidates[random.below(last)]);
    }
    Scan scan(options, result);
    for (const Candidate& file : candidates) {
        if (scan.full()) {
            ++result.filesBeyondCap;
            result.bytesBeyondCap += file.bytes;
        } else {
            scan.takeFile(file);
        }
    }
    scan.finish();
    return result;
}

}  // namespace ballast
