// SPDX-License-Identifier: Apache-2.0
#include "app/cli/comparison_limit.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <limits>
#include <numeric>

#include "core/base/error.h"

namespace ballast::cli {

namespace {

struct Metric {
    std::string_view name;
    double (*of)(const RunFigures&);
};

double waitingOf(const RunFigures& figures) {
    double seconds = 0;
    for (const auto& [kind, waiting] : figures.waitingSeconds)
        seconds += waiting;
    return seconds;
}

constexpr std::array kMetrics = {
    Metric{"step_time",
           [](const RunFigures& run) {
               return std::accumulate(run.stepSeconds.begin(), run.stepSeconds.end(), 0.0);
           }},
    Metric{"seconds_per_token", [](const RunFigures& run) { return run.secondsPerToken; }},
    Metric{"tokens_per_s", [](const RunFigures& run) { return run.tokensPerSecond; }},
    Metric{"imbalance_degree", [](const RunFigures& run) { return run.imbalanceDegree; }},
    Metric{"rank_imbalance", [](const RunFigures& run) { return run.rankImbalance; }},
    Metric{"compute", [](const RunFigures& run) { return run.computeSeconds; }},
    Metric{"waiting", waitingOf},
    Metric{"loss", [](const RunFigures& run) {
               return run.lossLast.value_or(std::numeric_limits<double>::quiet_NaN());
           }}};

const Metric* findMetric(std::string_view name) {
    for (const Metric& metric : kMetrics) {
        if (metric.name == name)
            return &metric;
    }
    return nullptr;
}

}  // namespace

ComparisonLimit::ComparisonLimit(std::string_view text) {
    const std::size_t sign = text.find_first_of("<>");
    metric_ = text.substr(0, sign);
    std::string_view number = sign == std::string_view::npos ? "" : text.substr(sign + 1);
    const bool percent = number.ends_with('%');
    if (percent)
        number.remove_suffix(1);
    if (number.starts_with('+'))
        number.remove_prefix(1);
    double value = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (!findMetric(metric_) || !percent || problem != std::errc() || end != number.data() + number.size()) {
        std::string names;
        for (const Metric& metric : kMetrics)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", metric.name);
        throw Error(fmt::format("--fail-if \"{}\": expected METRIC>+N% or METRIC<-N% with METRIC one of {}",
                                text, names));
    }
    above_ = text[sign] == '>';
    limit_ = value / 100;
}

double ComparisonLimit::changeOf(const Comparison& comparison) const {
    const Metric* metric = findMetric(metric_);
    const double before = metric->of(comparison.baseline);
    const double after = metric->of(comparison.other);
    if (std::isnan(before) || std::isnan(after))
        throw Error(fmt::format("--fail-if: one of the runs has no {}", metric_));
    if (before == after)
        return 0;
    return before > 0 ? after / before - 1 : std::numeric_limits<double>::infinity();
}

}  // namespace ballast::cli
