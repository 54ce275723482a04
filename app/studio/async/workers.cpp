// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/workers.h"

namespace ballast::studio {

Workers::Workers(QObject* parent) : QObject(parent) {
    // Two at least, so that a long plan never holds up a short read of the workspace.
    pool_.setMaxThreadCount(std::max(2, QThread::idealThreadCount()));
}

Workers::~Workers() {
    pool_.waitForDone();
}

void Workers::run(std::function<void()> work) {
    emit activeChanged(++active_);
    pool_.start([this, work = std::move(work)] {
        work();
        // Queued behind the results, so idle means that they have been shown.
        QMetaObject::invokeMethod(this, &Workers::finished, Qt::QueuedConnection);
    });
}

void Workers::finished() {
    emit activeChanged(--active_);
}

}  // namespace ballast::studio
