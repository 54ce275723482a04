// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/studio/async/latest_job.h"
#include "app/studio/async/workspace_views.h"

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QStackedWidget;

namespace ballast::studio {

class LinePlot;
class RecordTable;
class Session;
class TableModel;

/// All runs of the workspace, and the selected one as it goes on: progress, loss, step times and log. Looks
/// into the workspace; the runs themselves are other processes and go on when the window closes.
class RunsView : public QWidget {
    Q_OBJECT

  public:
    explicit RunsView(Session& session, QWidget* parent = nullptr);
    ~RunsView() override;

    const TableModel* table() const { return runs_; }
    const RunDetail& detail() const { return detail_; }

  signals:
    void launchRequested();

  private:
    void buildPages();
    void showRuns();
    void showSelection();
    void poll();
    void readDetail();
    void showDetail();
    void showLog();
    void stopSelected();
    const RunRow* selectedRow() const;

    Session* session_;
    QStackedWidget* pages_;
    QLabel* missing_;
    TableModel* runs_;
    RecordTable* table_;
    QLabel* summary_;
    QProgressBar* progress_;
    QPushButton* launch_;
    QPushButton* stop_;
    LinePlot* loss_;
    LinePlot* times_;
    QPlainTextEdit* log_;
    QTimer timer_;
    RunDetail detail_;
    bool reading_ = false;
    RunId logRun_ = 0;
    std::string logBegin_;  ///< first line shown; another one means that the oldest were left out
    std::size_t shownLines_ = 0;
    LatestJob<RunDetail> detailJob_;
    LatestJob<bool> stopJob_;
};

}  // namespace ballast::studio
