// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/span.h"

#include <array>

namespace ballast {
namespace {

/// By value; index 0 is no kind.
constexpr std::array<std::string_view, kSpanKindCount + 1> kNames = {
    "",
    "forward",
    "backward",
    "embedding",
    "attention_forward",
    "attention_backward",
    "linear_forward",
    "linear_backward",
    "elementwise",
    "loss",
    "tp_collective",
    "cp_gather",
    "cp_scatter",
    "pp_send",
    "pp_receive",
    "dp_reduce",
    "optimizer",
    "packing",
    "checkpoint",
};

}  // namespace

std::string_view spanKindName(SpanKind kind) {
    auto value = static_cast<std::size_t>(kind);
    return value < kNames.size() ? kNames[value] : std::string_view();
}

std::optional<SpanKind> spanKindFromName(std::string_view name) {
    for (std::size_t value = 1; value < kNames.size(); ++value)
        if (kNames[value] == name)
            return static_cast<SpanKind>(value);
    return std::nullopt;
}

std::string_view laneName(Lane lane) {
    switch (lane) {
        case Lane::Pipeline:
            return "pipeline";
        case Lane::Compute:
            return "compute";
        case Lane::Communication:
            return "communication";
        case Lane::Host:
            return "host";
    }
    return {};
}

bool isCommunication(SpanKind kind) {
    return kind >= SpanKind::TpCollective && kind <= SpanKind::DpReduce;
}

bool isCompute(SpanKind kind) {
    return (kind >= SpanKind::Embedding && kind <= SpanKind::Loss) || kind == SpanKind::Optimizer;
}

}  // namespace ballast
