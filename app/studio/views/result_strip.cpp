// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/result_strip.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "app/studio/models/format.h"
#include "app/studio/session.h"

namespace ballast::studio {
namespace {

QString against(const QString& baseline, double ratio) {
    return QStringLiteral("unbalanced %1 (%2)").arg(baseline, formatChange(ratio - 1));
}

}  // namespace

ResultStrip::ResultStrip(Session& session, QWidget* parent) : QWidget(parent), session_(&session) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(8);
    auto* first = new QVBoxLayout;
    state_ = new QLabel(tr("Simulated"), this);
    QFont bold = state_->font();
    bold.setBold(true);
    state_->setFont(bold);
    origin_ = new QLabel(this);
    first->addWidget(state_);
    first->addWidget(origin_);
    first->addStretch();
    row->addLayout(first);
    step_ =
        addCard(tr("Step time (median)"), tr("Simulated time of one optimiser step; 5 to 95 % of the steps"));
    tokens_ = addCard(tr("Tokens per second"), tr("Sum of tokens / sum of step times, drain included"));
    imbalance_ = addCard(tr("Imbalance degree"),
                         tr("Workload of the heaviest micro-batch over the mean: sum of max / sum of mean"));
    bubble_ = addCard(tr("Bubble"), tr("1 \u2212 mean busy compute / step time"));
    mfu_ = addCard(tr("MFU"), tr("Model FLOPs (document-causal) over the cluster's peak"));
    memory_ = addCard(tr("Peak memory"), tr("Of the worst rank, against the limit of the cluster file"));
    connect(&session, &Session::whatIfChanged, this, &ResultStrip::refresh);
    connect(&session, &Session::planning, this, [this] { state_->setText(tr("Simulated \u2026")); });
}

ResultStrip::Card ResultStrip::addCard(const QString& title, const QString& tip) {
    auto* frame = new QFrame(this);
    frame->setFrameShape(QFrame::StyledPanel);
    frame->setToolTip(tip);
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(8, 3, 8, 3);
    column->setSpacing(0);
    column->addWidget(new QLabel(title, frame));
    Card card{new QLabel(QStringLiteral("\u2013"), frame), new QLabel(frame)};
    QFont large = card.value->font();
    large.setPointSizeF(large.pointSizeF() * 1.45);
    large.setBold(true);
    card.value->setFont(large);
    column->addWidget(card.value);
    column->addWidget(card.baseline);
    static_cast<QHBoxLayout*>(layout())->addWidget(frame, 1);
    return card;
}

void ResultStrip::refresh() {
    const std::shared_ptr<const WhatIf> result = session_->whatIf();
    const bool bad = !session_->problem().isEmpty();
    setEnabled(!bad);
    if (bad) {
        state_->setText(tr("Not plannable"));
        origin_->setText(tr("figures of the last\nscenario that was"));
        return;
    }
    if (!result || !result->chosen)
        return;
    const WhatIfFigures& now = result->chosen->figures;
    state_->setText(result->coarse ? tr("Simulated, coarse \u2026") : tr("Simulated"));
    const auto drain = static_cast<std::int64_t>(result->chosen->plan.size()) - result->chosen->batches;
    origin_->setText(drain > 0 ? tr("%1 steps and\n%2 of drain").arg(result->chosen->batches).arg(drain)
                               : tr("%1 steps").arg(result->chosen->batches));
    step_.value->setText(formatSeconds(now.medianStepSeconds));
    tokens_.value->setText(formatShort(now.tokensPerSecond));
    imbalance_.value->setText(formatRatio(now.imbalanceDegree));
    bubble_.value->setText(formatPercent(now.bubble));
    mfu_.value->setText(now.mfu ? formatPercent(*now.mfu) : tr("no peak stated"));
    memory_.value->setText(formatGiB(now.memory.gib));
    const double limit = now.memory.limitGib;
    memory_.baseline->setText(tr("limit %1, rank %2").arg(formatGiB(limit)).arg(now.memory.rank));
    memory_.value->setStyleSheet(now.memory.gib > limit ? QStringLiteral("color: #b00020") : QString());
    if (!result->baseline) {
        for (const Card& card : {step_, tokens_, imbalance_, bubble_, mfu_})
            card.baseline->setText(tr("no baseline"));
        return;
    }
    const WhatIfFigures& base = result->baseline->figures;
    step_.baseline->setText(tr("unbalanced %1").arg(formatSeconds(base.medianStepSeconds)));
    tokens_.baseline->setText(
        against(formatShort(base.tokensPerSecond), now.tokensPerSecond / base.tokensPerSecond));
    imbalance_.baseline->setText(tr("unbalanced %1").arg(formatRatio(base.imbalanceDegree)));
    bubble_.baseline->setText(tr("unbalanced %1").arg(formatPercent(base.bubble)));
    mfu_.baseline->setText(base.mfu ? tr("unbalanced %1").arg(formatPercent(*base.mfu)) : QString());
}

}  // namespace ballast::studio
