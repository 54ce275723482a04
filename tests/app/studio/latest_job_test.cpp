// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/latest_job.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSemaphore>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "tests/app/studio/studio_fixture.h"

namespace ballast::studio {
namespace {

using testing::settle;

TEST(LatestJob, DropsWhatAnOlderJobDeliversAfterANewerOneStarted) {
    Workers workers;
    LatestJob<int> job(workers);
    std::vector<int> shown;
    QSemaphore go;
    const auto keep = [&shown](int value) { shown.push_back(value); };
    const auto fail = [](const QString& sentence) { ADD_FAILURE() << sentence.toStdString(); };
    QSemaphore begun;
    job.start(
        [&](const LatestJob<int>::Handle& handle) {
            begun.release();
            go.acquire();
            handle.deliver(1);
        },
        keep, fail);
    begun.acquire();
    job.start([](const LatestJob<int>::Handle& handle) { handle.deliver(2); }, keep, fail);
    go.release();
    settle(workers);
    EXPECT_EQ(shown, std::vector<int>{2});
}

TEST(LatestJob, DropsAResultThatWasAlreadyOnItsWayWhenANewerJobStarted) {
    Workers workers;
    LatestJob<int> job(workers);
    std::vector<int> shown;
    const auto keep = [&shown](int value) { shown.push_back(value); };
    QSemaphore delivered;
    job.start(
        [&](const LatestJob<int>::Handle& handle) {
            handle.deliver(1);
            delivered.release();
        },
        keep, [](const QString&) {});
    delivered.acquire();  // queued for this thread, not yet shown
    job.start([](const LatestJob<int>::Handle& handle) { handle.deliver(2); }, keep, [](const QString&) {});
    settle(workers);
    EXPECT_EQ(shown, std::vector<int>{2});
}

TEST(LatestJob, TellsAnOlderJobToStop) {
    Workers workers;
    LatestJob<int> job(workers);
    QSemaphore begun;
    std::atomic<bool> stopped = false;
    job.start(
        [&](const LatestJob<int>::Handle& handle) {
            begun.release();
            while (!handle.cancelled())
                QThread::msleep(1);
            stopped = true;
        },
        [](int) {}, [](const QString&) {});
    begun.acquire();
    job.start([](const LatestJob<int>::Handle&) {}, [](int) {}, [](const QString&) {});
    settle(workers);
    EXPECT_TRUE(stopped);
}

TEST(LatestJob, GivesCoarseAndFineResultsInOrder) {
    Workers workers;
    LatestJob<int> job(workers);
    std::vector<int> shown;
    job.start(
        [](const LatestJob<int>::Handle& handle) {
            for (int value = 0; value < 50; ++value)
                handle.deliver(value);
        },
        [&shown](int value) { shown.push_back(value); }, [](const QString&) {});
    settle(workers);
    ASSERT_EQ(shown.size(), 50U);
    EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
}

TEST(LatestJob, BringsAnErrorAsItsSentence) {
    Workers workers;
    LatestJob<int> job(workers);
    QString sentence;
    job.start([](const LatestJob<int>::Handle&) { throw Error("lengths.csv line 3: expected a number"); },
              [](int) { ADD_FAILURE() << "a result after an error"; },
              [&sentence](const QString& text) { sentence = text; });
    settle(workers);
    EXPECT_EQ(sentence.toStdString(), "lengths.csv line 3: expected a number");
}

TEST(LatestJob, ReachesNobodyOnceItsPlaceIsGone) {
    Workers workers;
    auto job = std::make_unique<LatestJob<int>>(workers);
    QSemaphore begun;
    QSemaphore go;
    job->start(
        [&](const LatestJob<int>::Handle& handle) {
            begun.release();
            go.acquire();
            handle.deliver(1);
        },
        [](int) { ADD_FAILURE() << "a result for a place that is gone"; }, [](const QString&) {});
    begun.acquire();
    job.reset();
    go.release();
    settle(workers);
    EXPECT_EQ(workers.active(), 0);
}

}  // namespace
}  // namespace ballast::studio
