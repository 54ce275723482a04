// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>

namespace ballast::studio {

/// The threads behind the window. Counts what is still on its way, so that "everything is drawn" is a fact
/// that screenshots and tests can wait for. Lives as long as the window; its destructor waits for all work.
class Workers : public QObject {
    Q_OBJECT

  public:
    explicit Workers(QObject* parent = nullptr);
    ~Workers() override;

    /// Runs `work` on a worker thread. Called from the window's thread.
    void run(std::function<void()> work);
    /// Work started and not yet ended, its results handed over included.
    int active() const { return active_; }

  signals:
    void activeChanged(int active);

  private:
    void finished();

    QThreadPool pool_;
    int active_ = 0;
};

}  // namespace ballast::studio
