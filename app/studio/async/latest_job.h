// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "app/studio/async/workers.h"

namespace ballast::studio {

/// The job that feeds one place of the window. Starting a new one makes the one before it stale: it is told
/// to stop, and whatever it still delivers is dropped. Not a queue. Used from the window's thread; the work
/// itself runs on a worker. Deleting it cancels; the work may end later and then reaches nobody.
template <class Result>
class LatestJob {
    struct Shared {
        explicit Shared(std::uint64_t number) : generation(number) {}
        const std::uint64_t generation;
        std::atomic<bool> cancelled = false;
    };

  public:
    /// What the work sees of its job; copies are cheap.
    class Handle {
      public:
        /// True once a newer job has started or the place is gone; the work should return soon.
        bool cancelled() const { return shared_->cancelled; }
        /// Hands a result to the window; several times for coarse, then fine results.
        void deliver(Result result) const {
            auto kept = std::make_shared<Result>(std::move(result));
            post([kept](const Handlers& handlers) { handlers.onResult(std::move(*kept)); });
        }

      private:
        friend class LatestJob;
        struct Handlers {
            std::function<void(Result)> onResult;
            std::function<void(QString)> onError;
        };

        template <class Call>
        void post(Call call) const {
            QMetaObject::invokeMethod(
                receiver_.get(),
                [shared = shared_, handlers = handlers_, call] {
                    if (!shared->cancelled)
                        call(*handlers);
                },
                Qt::QueuedConnection);
        }

        std::shared_ptr<Shared> shared_;
        std::shared_ptr<Handlers> handlers_;
        std::shared_ptr<QObject> receiver_;
    };

    explicit LatestJob(Workers& workers) : workers_(&workers) {}
    ~LatestJob() { cancel(); }
    LatestJob(const LatestJob&) = delete;
    LatestJob& operator=(const LatestJob&) = delete;

    /// work(handle) runs on a worker; onResult and onError run on the window's thread, only while this job is
    /// the newest. Anything the work throws arrives as one sentence.
    void start(std::function<void(const Handle&)> work, std::function<void(Result)> onResult,
               std::function<void(QString)> onError) {
        cancel();
        Handle handle;
        handle.shared_ = current_ = std::make_shared<Shared>(++generation_);
        handle.handlers_ = std::make_shared<typename Handle::Handlers>(
            typename Handle::Handlers{std::move(onResult), std::move(onError)});
        handle.receiver_ = receiver_;
        workers_->run([handle, work = std::move(work)] {
            if (handle.cancelled())
                return;
            try {
                work(handle);
            } catch (const std::exception& error) {
                handle.post([sentence = QString::fromUtf8(error.what())](
                                const typename Handle::Handlers& to) { to.onError(sentence); });
            }
        });
    }

    void cancel() {
        if (current_)
            current_->cancelled = true;
    }

    /// Grows with each start.
    std::uint64_t generation() const { return generation_; }

  private:
    Workers* workers_;
    std::uint64_t generation_ = 0;
    std::shared_ptr<Shared> current_;
    // Deleted on the window's thread even when a worker holds it last.
    std::shared_ptr<QObject> receiver_{new QObject, [](QObject* object) { object->deleteLater(); }};
};

}  // namespace ballast::studio
