// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;

namespace ballast::studio {

class LengthCumulativePlot;
class LengthHistogramPlot;
class Session;
class TableModel;

/// The document lengths of the scenario: who holds how much of the documents, the tokens and the attention
/// work.
class LengthsView : public QWidget {
    Q_OBJECT

  public:
    explicit LengthsView(Session& session, QWidget* parent = nullptr);

  private:
    void refresh();

    Session* session_;
    QLabel* summary_;
    QLabel* sentences_;
    LengthHistogramPlot* histogram_;
    LengthCumulativePlot* cumulative_;
    TableModel* percentiles_;
    TableModel* buckets_;
};

}  // namespace ballast::studio
