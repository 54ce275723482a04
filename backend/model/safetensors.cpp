// SPDX-License-Identifier: Apache-2.0
#include "backend/model/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast::backend {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

SafetensorsWriter::SafetensorsWriter(std::filesystem::path file, const std::vector<TensorSpec>& tensors)
    : file_(std::move(file)), temporary_(file_.string() + ".partial") {
    nlohmann::ordered_json header;
    header["__metadata__"] = {{"format", "pt"}};
    std::int64_t offset = 0;
    for (const TensorSpec& tensor : tensors) {
        std::vector<std::int64_t> shape{tensor.rows};
        if (tensor.isMatrix())
            shape.push_back(tensor.columns);
        const std::int64_t end = offset + tensor.count() * static_cast<std::int64_t>(sizeof(float));
        header[tensor.name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {offset, end}}};
        offset = end;
        missingNumbers_ += tensor.count();
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // the format wants the data aligned to 8 bytes
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    check();
    const std::uint64_t length = text.size();
    stream_.write(reinterpret_cast<const char*>(&length), sizeof length);
    stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
    check();
}

SafetensorsWriter::~SafetensorsWriter() {
    if (finished_)
        return;
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void SafetensorsWriter::write(std::span<const float> values) {
    missingNumbers_ -= static_cast<std::int64_t>(values.size());
    BALLAST_CHECK(missingNumbers_ >= 0);
    stream_.write(reinterpret_cast<const char*>(values.data()),
                  static_cast<std::streamsize>(values.size_bytes()));
    check();
}

void SafetensorsWriter::finish() {
    BALLAST_CHECK(missingNumbers_ == 0);
    stream_.close();
    check();
    std::error_code problem;
    std::filesystem::rename(temporary_, file_, problem);
    if (problem)
        throw Error(fmt::format("{}: cannot be written: {}", file_.string(), problem.message()),
                    ErrorCode::WorkFailed);
    finished_ = true;
}

void SafetensorsWriter::check() const {
    if (!stream_)
        throw Error(fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)),
                    ErrorCode::WorkFailed);
}

}  // namespace ballast::backend
