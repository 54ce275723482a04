// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"

namespace ballast {

/// What a rank did. The values are on disk (spool files, workspace): never renumber.
enum class SpanKind : std::uint8_t {
    Forward = 1,
    Backward = 2,
    Embedding = 3,
    AttentionForward = 4,
    AttentionBackward = 5,
    LinearForward = 6,
    LinearBackward = 7,
    Elementwise = 8,
    Loss = 9,
    TpCollective = 10,
    CpGather = 11,
    CpScatter = 12,
    PpSend = 13,
    PpReceive = 14,
    DpReduce = 15,
    Optimizer = 16,
    Packing = 17,
    Checkpoint = 18,
};
inline constexpr int kSpanKindCount = 18;

/// "attention_forward" and so on, the names of trainer.md; nothing for a value that is no kind.
std::string_view spanKindName(SpanKind kind);
std::optional<SpanKind> spanKindFromName(std::string_view name);

/// Where a span stands on a rank; spans of one lane never overlap. Values are on disk.
enum class Lane : std::uint8_t { Pipeline = 0, Compute = 1, Communication = 2, Host = 3 };
std::string_view laneName(Lane lane);

/// True for the kinds that move data between ranks.
bool isCommunication(SpanKind kind);
/// True for compute kinds of the compute lane: neither communication, nor the pipeline lane's passes, nor the
/// host lane's packing and checkpoint.
bool isCompute(SpanKind kind);

/// One thing a rank did. Times are ns on the run's clock, 0 = start of step 0. Sizes that a kind does not
/// have are 0; -1 = does not apply. 72 bytes, no padding: the spool writes it as it stands, little-endian
/// (SPAN_FORMAT.md).
struct Span {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    Nanoseconds waitingUntil = 0;  ///< communication: begin..waitingUntil others were not there yet, the rest
                                   ///< is transfer; else = begin
    std::int64_t tokens = 0;
    std::int64_t bytes = 0;
    double flops = 0;
    std::int64_t document = -1;    ///< the document that made it late; -1 = none
    std::int32_t microBatch = -1;  ///< index in the pipeline's order
    std::int32_t layer = -1;       ///< layer of the model, from 0
    std::int32_t blamedRank = -1;  ///< the rank that arrived last; -1 = none
    SpanKind kind = SpanKind::Forward;
    Lane lane = Lane::Compute;
    std::uint8_t modelled = 0;  ///< 1: the transfer is a model's figure, not measured
    std::uint8_t reserved = 0;

    Nanoseconds duration() const { return end - begin; }
    Nanoseconds waiting() const { return waitingUntil - begin; }
    Nanoseconds transfer() const { return end - waitingUntil; }
    bool operator==(const Span&) const = default;
};
static_assert(sizeof(Span) == 72);

}  // namespace ballast
