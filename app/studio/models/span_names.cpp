// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/models/span_names.h"

#include <array>

namespace ballast::studio {
namespace {

struct Name {
    const char* letter;
    const char* title;
};

// By SpanKind value - 1.
constexpr std::array<Name, kSpanKindCount> kNames = {{
    {"F", "Forward pass"},
    {"B", "Backward pass"},
    {"E", "Embedding"},
    {"A", "Attention forward"},
    {"A", "Attention backward"},
    {"L", "Linear forward"},
    {"L", "Linear backward"},
    {"e", "Element-wise"},
    {"X", "Loss"},
    {"T", "TP collective"},
    {"G", "CP gather of K, V"},
    {"S", "CP scatter of dK, dV"},
    {"\u2192", "PP send"},
    {"\u2190", "PP receive"},
    {"D", "DP gradient sum"},
    {"O", "Optimizer"},
    {"P", "Packing"},
    {"C", "Checkpoint"},
}};

const Name& nameOf(SpanKind kind) {
    return kNames[static_cast<std::size_t>(kind) - 1];
}

}  // namespace

QString spanTitle(SpanKind kind) {
    return QString::fromUtf8(nameOf(kind).title);
}

QString spanLetter(SpanKind kind) {
    return QString::fromUtf8(nameOf(kind).letter);
}

QString clockTitle(Clock clock) {
    switch (clock) {
        case Clock::Simulated:
            return QStringLiteral("Simulated");
        case Clock::Virtual:
            return QStringLiteral("Virtual clock");
        case Clock::Wall:
            return QStringLiteral("Wall clock");
    }
    return {};
}

}  // namespace ballast::studio
