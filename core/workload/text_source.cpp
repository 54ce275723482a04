// SPDX-License-Identifier: Apache-2.0
#include "core/workload/text_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace ballast {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

[[noreturn]] void refuse(std::string_view place, std::size_t offset, std::string_view sentence) {
    throw Error(fmt::format("{}: byte {}: {}", place, offset, sentence));
}

/// zlib counts in 32 bits: hands it the input in parts that fit.
class GzipStream {
  public:
    explicit GzipStream(std::string_view place) : place_(place) {
        constexpr int kGzipWindow = 15 + 16;  // zlib.h: 16 more than the window's bits asks for a gzip header
        if (inflateInit2(&stream_, kGzipWindow) != Z_OK)
            throw Error(fmt::format("{}: cannot decompress: no memory", place), ErrorCode::WorkFailed);
    }
    ~GzipStream() { inflateEnd(&stream_); }
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;

    void run(std::string_view compressed, const ByteSink& sink) {
        std::vector<char> block(kBlock);
        std::size_t offset = 0;
        bool inside = true;  // of a member
        while (inside || offset < compressed.size()) {
            if (!inside)
                inflateReset(&stream_);
            const std::size_t part =
                std::min<std::size_t>(compressed.size() - offset, std::numeric_limits<uInt>::max());
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + offset));
            stream_.avail_in = static_cast<uInt>(part);
            stream_.next_out = reinterpret_cast<Bytef*>(block.data());
            stream_.avail_out = static_cast<uInt>(block.size());
            const int code = inflate(&stream_, Z_NO_FLUSH);
            offset += part - stream_.avail_in;
            sink({block.data(), block.size() - stream_.avail_out});
            if (code == Z_BUF_ERROR || (code == Z_OK && offset == compressed.size() && stream_.avail_out > 0))
                refuse(place_, offset, "the gzip data ends too early: truncated file");
            if (code != Z_OK && code != Z_STREAM_END)
                refuse(place_, offset,
                       fmt::format("expected gzip data, found something else ({})",
                                   stream_.msg ? stream_.msg : "damaged"));
            inside = code != Z_STREAM_END;
        }
    }

  private:
    std::string_view place_;
    z_stream stream_{};
};

void decompressZstandard(std::string_view compressed, std::string_view place, const ByteSink& sink) {
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                            ZSTD_freeDStream);
    if (!stream)
        throw Error(fmt::format("{}: cannot decompress: no memory", place), ErrorCode::WorkFailed);
    std::vector<char> block(kBlock);
    ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
    bool inside = true;  // of a frame
    while (inside || in.pos < in.size) {
        ZSTD_outBuffer out{block.data(), block.size(), 0};
        const std::size_t hint = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_isError(hint))
            refuse(place, in.pos,
                   fmt::format("expected zstd data, found something else ({})", ZSTD_getErrorName(hint)));
        sink({block.data(), out.pos});
        inside = hint != 0;
        if (inside && in.pos == in.size && out.pos < out.size)
            refuse(place, in.pos, "the zstd data ends too early: truncated file");
    }
}

/// A file in the temporary folder that goes away with its descriptor.
class NamelessFile {
  public:
    explicit NamelessFile(std::string place) : place_(std::move(place)) {
        folder_ = std::filesystem::temp_directory_path();
        std::string pattern = (folder_ / "ballast-text-XXXXXX").string();
        descriptor_ = ::mkostemp(pattern.data(), O_CLOEXEC);
        if (descriptor_ < 0)
            fail();
        ::unlink(pattern.c_str());
    }
    ~NamelessFile() { ::close(descriptor_); }
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    void write(std::string_view block) const {
        while (!block.empty()) {
            const ssize_t written = ::write(descriptor_, block.data(), block.size());
            if (written < 0)
                fail();
            block.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    int descriptor() const { return descriptor_; }

  private:
    [[noreturn]] void fail() const {
        throw Error(fmt::format("{}: cannot be decompressed into the temporary folder {}: {}", place_,
                                folder_.string(), std::strerror(errno)),
                    ErrorCode::WorkFailed);
    }

    std::string place_;
    std::filesystem::path folder_;
    int descriptor_ = -1;
};

MappedFile mapText(const std::filesystem::path& file) {
    const Compression compression = compressionOf(file);
    MappedFile mapped(file);
    if (compression == Compression::None)
        return mapped;
    const NamelessFile text(file.string());
    decompress(mapped.text(), compression, file.string(), [&](std::string_view block) { text.write(block); });
    return {text.descriptor(), file};
}

}  // namespace

Compression compressionOf(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    if (extension == ".gz")
        return Compression::Gzip;
    return extension == ".zst" ? Compression::Zstandard : Compression::None;
}

void decompress(std::string_view compressed, Compression compression, std::string_view place,
                const ByteSink& sink) {
    switch (compression) {
        case Compression::None:
            sink(compressed);
            return;
        case Compression::Gzip:
            GzipStream(place).run(compressed, sink);
            return;
        case Compression::Zstandard:
            decompressZstandard(compressed, place, sink);
            return;
    }
}

TextSource::TextSource(const std::filesystem::path& file) : mapped_(mapText(file)) {}

}  // namespace ballast
