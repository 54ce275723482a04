// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/job/scenario.h"
#include "core/workload/length_source.h"

namespace ballast {

/// The token ids behind a length source: those of a Megatron .bin, or synthetic ones drawn from the seed.
/// Immutable after opening; safe to read from threads.
class TokenSource {
  public:
    virtual ~TokenSource() = default;

    /// True when ids come from a file ("tokens_are": "file"), false when they are synthetic.
    virtual bool fromFile() const = 0;
    /// Writes the ids of tokens [begin, begin + out.size()) of a document. Throws Error (BadInput) with file
    /// and byte offset when an id is not below vocabularySize or the range lies outside the document.
    virtual void read(std::int64_t document, std::int64_t begin, std::span<std::int64_t> out) const = 0;
    /// Reads every token once, so that a bad id is found before ranks are started. Same errors as read().
    virtual void checkAll() const {}
};

/// Opens the tokens of a scenario's source: an .idx with its .bin beside it gives file tokens, everything
/// else synthetic ones, a function of (seed, document, position). Throws Error with file and offset when the
/// .bin is shorter than its index needs, holds no integers, or only some of several sources have one.
std::unique_ptr<TokenSource> openTokenSource(const LengthsOptions& options, std::int64_t vocabularySize);

/// Entropy of the distribution of single token ids, in nats a token: the loss of the best model that ignores
/// all context. 0 when there are no tokens. Reads every token.
double unigramEntropy(const LengthSource& lengths, const TokenSource& tokens);

}  // namespace ballast
