// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// Lengths that a test writes down.
class LengthList : public LengthSource {
  public:
    explicit LengthList(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {}

    std::optional<std::int64_t> documents() const override { return sampleDocuments(); }
    std::int64_t sampleDocuments() const override { return static_cast<std::int64_t>(lengths_.size()); }
    std::int64_t length(std::int64_t document) const override {
        return lengths_.at(static_cast<std::size_t>(document));
    }
    std::string description() const override { return "lengths of a test"; }

  private:
    std::vector<std::int64_t> lengths_;
};

}  // namespace ballast
