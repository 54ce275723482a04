// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;

namespace ballast::studio {

class BarPlot;
class LinePlot;
class Session;

/// What the scenario on screen gives, beside the same lengths without balancing: where a step's time goes,
/// the steps one by one, and what the numbers rest on.
class ScenarioView : public QWidget {
    Q_OBJECT

  public:
    explicit ScenarioView(Session& session, QWidget* parent = nullptr);

  private:
    void refresh();
    void showBreakdown();
    void showSteps();
    void showFacts();

    Session* session_;
    QLabel* headline_;
    BarPlot* breakdown_;
    LinePlot* steps_;
    LinePlot* tokens_;
    QLabel* facts_;
};

}  // namespace ballast::studio
