// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/screenshots.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QPixmap>
#include <QThread>

#include "app/studio/async/workers.h"
#include "app/studio/main_window.h"
#include "app/studio/plots/plot_widget.h"
#include "core/base/error.h"

namespace ballast::studio {
namespace {

constexpr double kPatienceSeconds = 300;

void setScale(MainWindow& window, double scale) {
    for (PlotWidget* plot : window.findChildren<PlotWidget*>())
        plot->setRenderScale(scale);
}

std::filesystem::path savePicture(MainWindow& window, const std::filesystem::path& file, double scale) {
    setScale(window, scale);
    QPixmap picture(window.size() * scale);
    picture.setDevicePixelRatio(scale);
    picture.fill(Qt::white);
    window.render(&picture);
    if (!picture.save(QString::fromStdString(file.string()), "PNG"))
        throw Error(file.string() + ": can't write the picture", ErrorCode::WorkFailed);
    return file;
}

}  // namespace

bool waitUntilIdle(const Workers& workers, double seconds) {
    QElapsedTimer clock;
    clock.start();
    int quiet = 0;
    // Idle for a few turns in a row: a result that arrives may start the next job.
    while (quiet < 5) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QCoreApplication::sendPostedEvents();
        quiet = workers.active() == 0 ? quiet + 1 : 0;
        if (workers.active() > 0)
            QThread::msleep(2);
        if (static_cast<double>(clock.elapsed()) > seconds * 1000)
            return false;
    }
    return true;
}

std::vector<std::filesystem::path> writeScreenshots(MainWindow& window, const Workers& workers,
                                                    const std::filesystem::path& directory) {
    std::error_code failure;
    std::filesystem::create_directories(directory, failure);
    if (failure)
        throw Error(directory.string() + ": " + failure.message(), ErrorCode::WorkFailed);
    std::vector<std::filesystem::path> written;
    window.resize(1600, 900);
    window.show();
    const QStringList names = MainWindow::viewNames();
    for (int i = 0; i < names.size(); ++i) {
        window.showView(i);
        if (!waitUntilIdle(workers, kPatienceSeconds))
            throw Error("the view " + names[i].toStdString() + " is still computing after " +
                            std::to_string(static_cast<int>(kPatienceSeconds)) + " s",
                        ErrorCode::WorkFailed);
        const std::string name = names[i].toStdString();
        written.push_back(savePicture(window, directory / (name + ".png"), 1));
        written.push_back(savePicture(window, directory / (name + "@2x.png"), 2));
    }
    setScale(window, 1);
    return written;
}

}  // namespace ballast::studio
