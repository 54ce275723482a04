// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "app/studio/async/latest_job.h"
#include "app/studio/async/workspace_views.h"

class QComboBox;
class QLabel;
class QStackedWidget;

namespace ballast::studio {

class BarPlot;
class LinePlot;
class RecordTable;
class Session;
class TableModel;

/// Two runs of the workspace held against each other, simulated and measured alike: may they be compared,
/// what differs in their settings, and where the time per token went.
class CompareView : public QWidget {
    Q_OBJECT

  public:
    explicit CompareView(Session& session, QWidget* parent = nullptr);
    ~CompareView() override;

    std::shared_ptr<const RunComparison> shown() const { return shown_; }

  private:
    /// The tables on the left, the plots in a grid.
    QLayout* arrangeParts();
    void buildPages();
    void fillRuns();
    /// True when the newest list of runs has more, or other, than what is shown.
    bool isOutdated(const std::vector<const RunRow*>& rows) const;
    void reload();
    void refresh();
    void showVerdict();
    void showSteps();
    void showDeltas();
    void showPrediction();

    Session* session_;
    QStackedWidget* pages_;
    QComboBox* baseline_;
    QComboBox* other_;
    QLabel* verdict_;
    TableModel* figures_ = nullptr;
    TableModel* differences_ = nullptr;
    RecordTable* figureTable_;
    RecordTable* differenceTable_;
    LinePlot* times_;
    LinePlot* distribution_;
    LinePlot* loss_;
    BarPlot* kinds_;
    BarPlot* ranks_;
    BarPlot* prediction_;
    std::shared_ptr<const RunComparison> shown_;
    bool chosen_ = false;  ///< a person picked the pair
    LatestJob<RunComparison> job_;
};

}  // namespace ballast::studio
