// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/compare/comparison.h"

namespace ballast::cli {

/// A limit on the relative change of a figure, from the baseline to the other run: 'step_time>+3%' is
/// exceeded when the step times, summed over the run, grew by more than 3 %.
class ComparisonLimit {
  public:
    /// METRIC, then > or <, then a signed percentage. Throws Error naming the metrics there are.
    explicit ComparisonLimit(std::string_view text);

    const std::string& metric() const { return metric_; }
    /// other / baseline - 1 of the metric; 0 when both are 0. Throws Error when a run lacks the figure.
    double changeOf(const Comparison& comparison) const;
    bool exceededBy(double change) const { return above_ ? change > limit_ : change < limit_; }

  private:
    std::string metric_;
    bool above_ = true;
    double limit_ = 0;
};

}  // namespace ballast::cli
