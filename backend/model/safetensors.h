// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "backend/model/parameters.h"

namespace ballast::backend {

/// Writes tensors of fp32 as a safetensors file (Hugging Face's format: 8 bytes of header length, a JSON
/// header with name, dtype, shape and byte range, then the data): the header first, then tensor after tensor
/// in the given order, so that no more than one lies in memory. Under a temporary name until `finish`.
class SafetensorsWriter {
  public:
    /// Throws Error (WorkFailed) with the path where it cannot be written, as do the others.
    SafetensorsWriter(std::filesystem::path file, const std::vector<TensorSpec>& tensors);
    ~SafetensorsWriter();
    SafetensorsWriter(const SafetensorsWriter&) = delete;
    SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

    /// The next tensor, whole, row-major.
    void write(std::span<const float> values);
    void finish();

  private:
    void check() const;

    std::filesystem::path file_;
    std::filesystem::path temporary_;
    std::ofstream stream_;
    std::int64_t missingNumbers_ = 0;
    bool finished_ = false;
};

}  // namespace ballast::backend
