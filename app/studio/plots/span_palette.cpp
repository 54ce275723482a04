// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/span_palette.h"

#include <array>

namespace ballast::studio {
namespace {

// By SpanKind value - 1.
constexpr std::array<QRgb, kSpanKindCount> kColours = {
    0xff44546a,  // Forward
    0xff8c9cb4,  // Backward
    0xff7f7f7f,  // Embedding
    0xffd55e00,  // AttentionForward
    0xfff0a35e,  // AttentionBackward
    0xff0072b2,  // LinearForward
    0xff56b4e9,  // LinearBackward
    0xffb3b3b3,  // Elementwise
    0xfff0e442,  // Loss
    0xffcc79a7,  // TpCollective
    0xff009e73,  // CpGather
    0xff74cdb0,  // CpScatter
    0xff5b3a8c,  // PpSend
    0xff9a7fc4,  // PpReceive
    0xff6b4423,  // DpReduce
    0xff222222,  // Optimizer
    0xffb5a642,  // Packing
    0xff4f7f7f,  // Checkpoint
};

}  // namespace

QColor spanColour(SpanKind kind) {
    return QColor::fromRgba(kColours[static_cast<std::size_t>(kind) - 1]);
}

QColor inkOn(const QColor& background) {
    return background.lightnessF() > 0.55F ? QColor(Qt::black) : QColor(Qt::white);
}

QBrush waitingBrush(const QColor& colour) {
    return QBrush(colour, Qt::BDiagPattern);
}

QColor pipelineIdleColour() {
    return QColor(0xd9, 0xd9, 0xd9);
}

QColor scenarioColour() {
    return QColor(0x00, 0x72, 0xb2);
}

QColor baselineColour() {
    return QColor(0xd5, 0x5e, 0x00);
}

QColor attentionColour() {
    return spanColour(SpanKind::AttentionForward);
}

QColor linearColour() {
    return spanColour(SpanKind::LinearForward);
}

}  // namespace ballast::studio
