// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/job/scenario.h"

namespace ballast {

/// The token ids behind a length source: those of a Megatron .bin, or synthetic ones drawn from the seed.
class TokenSource {
  public:
    virtual ~TokenSource() = default;

    /// True when ids come from a file ("tokens_are": "file"), false when they are synthetic.
    virtual bool fromFile() const = 0;
    /// Writes the ids of tokens [begin, begin + out.size()) of a document. Throws Error (BadInput) with file
    /// and byte offset when an id is not below vocabularySize or the range lies outside the document.
    virtual void read(std::int64_t document, std::int64_t begin, std::span<std::int64_t> out) const = 0;
};

/// Opens the tokens of a scenario's source: an .idx with its .bin beside it gives file tokens, everything
/// else synthetic ones.
std::unique_ptr<TokenSource> openTokenSource(const LengthsOptions& options, std::int64_t vocabularySize);

}  // namespace ballast
