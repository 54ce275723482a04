// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "core/dispatch/runner.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace ballast::studio {

/// Asks how to train the scenario on screen and shows the exact command before anything starts.
class LaunchDialog : public QDialog {
    Q_OBJECT

  public:
    LaunchDialog(const Scenario& scenario, const std::filesystem::path& workspace, RunId nextRun,
                 QWidget* parent = nullptr);

    RunRequest request() const;
    /// The text that is shown: the `ballast run` line and the line that starts the ranks.
    QString commandText() const;

  private:
    void refresh();

    Scenario scenario_;
    std::filesystem::path workspace_;
    RunId nextRun_;
    QComboBox* clock_;
    QSpinBox* steps_;
    QPlainTextEdit* command_;
    QLabel* notice_;
    QPushButton* start_;
};

}  // namespace ballast::studio
