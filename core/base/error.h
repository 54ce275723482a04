// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ballast {

/// What a failure means to the person at the command line; the values are the exit codes of formats.md.
enum class ErrorCode { WorkFailed = 1, BadInput = 2 };

/// An expected failure: one clear sentence that names the file, the place and what was expected.
/// Broken invariants of our own are not errors; they abort through BALLAST_CHECK.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& sentence, ErrorCode code = ErrorCode::BadInput)
        : std::runtime_error(sentence), code_(code) {}

    ErrorCode code() const { return code_; }

    /// The same failure with "context: " in front, for callers that know more about the place.
    Error within(std::string_view context) const {
        return Error(std::string(context) + ": " + what(), code_);
    }

  private:
    ErrorCode code_;
};

}  // namespace ballast
