// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/studio/async/latest_job.h"
#include "core/dispatch/runner.h"

namespace ballast::studio {

/// Prepares a run and starts its runner, a process of its own that goes on without the window.
class RunLauncher : public QObject {
    Q_OBJECT

  public:
    explicit RunLauncher(Workers& workers, QObject* parent = nullptr);

    void launch(const RunRequest& request);

  signals:
    void launched(qint64 run);
    void failed(const QString& sentence);

  private:
    LatestJob<RunId> job_;
};

/// The command line that does the same: `ballast run SCENARIO --workspace W ...`, quoted for a shell.
QString runCommand(const RunRequest& request, const QString& scenarioFile);
/// Words joined and quoted so that a shell reads them back as they were.
QString shellLine(const std::vector<std::string>& words);

}  // namespace ballast::studio
