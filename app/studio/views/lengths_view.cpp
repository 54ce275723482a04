// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/lengths_view.h"

#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>

#include "app/studio/models/format.h"
#include "app/studio/models/table_model.h"
#include "app/studio/models/tables.h"
#include "app/studio/plots/length_plots.h"
#include "app/studio/session.h"
#include "app/studio/views/table_view.h"

namespace ballast::studio {
namespace {

constexpr int kPercentileRows = 10;  // nine percentiles and the longest

}  // namespace

LengthsView::LengthsView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(&session),
      summary_(new QLabel(tr("Reading the lengths \u2026"), this)),
      sentences_(new QLabel(this)),
      histogram_(new LengthHistogramPlot(this)),
      cumulative_(new LengthCumulativePlot(this)),
      percentiles_(new TableModel(percentileColumns(), this)),
      buckets_(new TableModel(bucketColumns(), this)) {
    summary_->setWordWrap(true);
    sentences_->setWordWrap(true);
    sentences_->setAlignment(Qt::AlignTop);
    sentences_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* doctor = new QGroupBox(tr("What stands out"), this);
    auto* inside = new QVBoxLayout(doctor);
    inside->addWidget(sentences_);
    auto* table = new RecordTable(percentiles_, this);
    table->stretchColumn(1);
    table->setCompact();
    table->setFixedHeight(table->heightFor(kPercentileRows));
    auto* shares = new RecordTable(buckets_, this);
    shares->stretchColumn(0);
    shares->setCompact();
    auto* side = new QVBoxLayout;
    side->setSpacing(6);
    side->addWidget(doctor);
    side->addWidget(table);
    side->addWidget(shares, 1);
    auto* plots = new QVBoxLayout;
    plots->setSpacing(10);
    plots->addWidget(histogram_, 3);
    plots->addWidget(cumulative_, 2);
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    row->addLayout(plots, 5);
    row->addLayout(side, 2);
    auto* column = new QVBoxLayout(this);
    column->addWidget(summary_);
    column->addLayout(row, 1);
    connect(&session, &Session::lengthsChanged, this, &LengthsView::refresh);
}

void LengthsView::refresh() {
    const auto lengths = session_->lengths();
    if (!lengths) {
        summary_->setText(tr("These lengths can't be read: %1").arg(session_->lengthsProblem()));
        histogram_->setEmptyText(session_->lengthsProblem());
        cumulative_->setEmptyText(session_->lengthsProblem());
        percentiles_->setRows({});
        buckets_->setRows({});
        sentences_->clear();
        return;
    }
    const LengthStatistics& statistics = lengths->statistics;
    const QString none =
        statistics.documents > statistics.empty ? QString() : tr("This source has no documents.");
    histogram_->setEmptyText(none);
    cumulative_->setEmptyText(none);
    summary_->setText(
        tr("%1<br><b>%2 documents, %3 of them empty; %4 tokens;</b> mean length %5, token-weighted mean "
           "%6 (where a token finds itself); longer than the window: %7 documents, %8 tokens.")
            .arg(QString::fromStdString(lengths->description).toHtmlEscaped(),
                 formatCount(statistics.documents), formatCount(statistics.empty),
                 formatCount(statistics.tokens), formatCount(std::llround(statistics.mean)),
                 formatCount(std::llround(statistics.tokenWeightedMean)),
                 formatCount(statistics.overlongDocuments), formatCount(statistics.overlongTokens)));
    QStringList sentences;
    for (const std::string& sentence : lengths->sentences)
        sentences << QStringLiteral("\u2022 ") + QString::fromStdString(sentence);
    if (lengths->attentionOfLongestPercent > 0)
        sentences << tr("\u2022 the longest 1 % of documents hold %1 of the attention work")
                         .arg(formatPercent(lengths->attentionOfLongestPercent));
    for (const std::string& notice : lengths->notices)
        sentences << QStringLiteral("\u2022 ") + QString::fromStdString(notice);
    sentences_->setText(sentences.join(QLatin1Char('\n')));
    percentiles_->setRows(percentileRows(statistics));
    buckets_->setRows(bucketRows(statistics));
    if (none.isEmpty()) {
        histogram_->setStatistics(statistics, lengths->window);
        cumulative_->setStatistics(statistics, lengths->window);
    }
}

}  // namespace ballast::studio
