// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// Several finite sources, one after the other; document ids go on from one to the next.
class JoinedLengths : public LengthSource {
  public:
    explicit JoinedLengths(std::vector<std::unique_ptr<LengthSource>> parts);

    std::optional<std::int64_t> documents() const override { return ends_.back(); }
    std::int64_t sampleDocuments() const override { return ends_.back(); }
    std::int64_t length(std::int64_t document) const override;
    std::vector<std::string> notices() const override;
    std::string description() const override;

  private:
    std::vector<std::unique_ptr<LengthSource>> parts_;
    std::vector<std::int64_t> ends_;  ///< ids after each part
};

/// A source string taken apart: PATH, or PATH#NAME where no file is called so.
struct SourcePath {
    std::filesystem::path file;
    std::string name;  ///< column or field; empty: none given
};
SourcePath splitSourcePath(const std::string& source);

}  // namespace ballast
