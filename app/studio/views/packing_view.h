// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>

class QComboBox;
class QLabel;

namespace ballast::studio {

class BarPlot;
class LinePlot;
class Session;
struct SimulatedScenario;

/// How the documents of a step lie in its micro-batches: tokens beside predicted latency, what waits, and the
/// imbalance step by step.
class PackingView : public QWidget {
    Q_OBJECT

  public:
    explicit PackingView(Session& session, QWidget* parent = nullptr);

  private:
    std::shared_ptr<const SimulatedScenario> shown() const;
    void fillSteps();
    void showStep();
    void showCurves();

    Session* session_;
    QComboBox* source_;
    QComboBox* step_;
    int wantedStep_ = 5;  ///< place in the list; past the first steps, in which the queues still fill
    QLabel* summary_;
    BarPlot* tokens_;
    BarPlot* latency_;
    LinePlot* imbalance_;
    LinePlot* waiting_;
};

}  // namespace ballast::studio
