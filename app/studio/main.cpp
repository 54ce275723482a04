// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QSettings>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "app/studio/appearance.h"
#include "app/studio/main_window.h"
#include "app/studio/screenshots.h"
#include "app/studio/session.h"
#include "core/base/error.h"

namespace {

constexpr const char* kUsage =
    "usage: ballast-studio [WORKSPACE|SCENARIO] [--screenshots DIR]\n"
    "  WORKSPACE          a .ballast file\n"
    "  SCENARIO           a .json file\n"
    "  --screenshots DIR  write a picture of every view to DIR, without a display, and end\n";

struct Arguments {
    std::optional<std::string> file;
    std::optional<std::string> screenshots;
    bool help = false;
};

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help" || word == "-h")
            arguments.help = true;
        else if (word == "--screenshots" && i + 1 < argc)
            arguments.screenshots = argv[++i];
        else if (word.starts_with("-"))
            throw ballast::Error("ballast-studio: unknown or incomplete option " + word + "\n" + kUsage);
        else if (arguments.file)
            throw ballast::Error("ballast-studio: one file at a time, but got " + *arguments.file + " and " +
                                 word);
        else
            arguments.file = word;
    }
    return arguments;
}

void openFirst(ballast::studio::MainWindow& window, ballast::studio::Session& session,
               const Arguments& arguments) {
    if (arguments.file) {
        if (std::filesystem::path(*arguments.file).extension() != ".json")
            session.setScenario(ballast::studio::Session::readyScenario());
        window.openPath(*arguments.file);
        if (!arguments.screenshots)
            window.rememberWorkspace();
        return;
    }
    session.setScenario(ballast::studio::Session::readyScenario());
    const std::string last = QSettings().value(QStringLiteral("lastWorkspace")).toString().toStdString();
    if (arguments.screenshots || last.empty() || !std::filesystem::exists(last))
        return;
    try {
        window.openPath(last);
    } catch (const ballast::Error& error) {
        emit session.message(QString::fromUtf8(error.what()));
    }
}

/// Qt ends the program where it finds no display; a sentence is better.
bool hasDisplay() {
    return qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || !qEnvironmentVariableIsEmpty("DISPLAY") ||
           !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

/// The offscreen platform says of every window that it can't limit sizes, and Qt where it puts its
/// sockets; nobody needs to read either.
void quietMessages(QtMsgType, const QMessageLogContext&, const QString& text) {
    if (!text.contains(QStringLiteral("propagateSizeHints")) &&
        !text.contains(QStringLiteral("XDG_RUNTIME_DIR")))
        std::fprintf(stderr, "%s\n", qPrintable(text));
}

int run(int argc, char** argv) {
    const Arguments arguments = parse(argc, argv);
    if (arguments.help) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    if (arguments.file && !std::filesystem::exists(*arguments.file))
        throw ballast::Error(*arguments.file +
                             ": no such file; expected a workspace (.ballast) or a scenario (.json)");
    if (!arguments.screenshots && !hasDisplay())
        throw ballast::Error(
            "ballast-studio: there is no display (DISPLAY and WAYLAND_DISPLAY are not set); --screenshots "
            "DIR "
            "writes pictures of every view without one");
    if (arguments.screenshots) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        qInstallMessageHandler(quietMessages);
    }
    QApplication application(argc, argv);
    ballast::studio::setAppearance();
    ballast::studio::Workers workers;
    ballast::studio::Session session(workers);
    ballast::studio::MainWindow window(session);
    openFirst(window, session, arguments);
    if (!arguments.screenshots) {
        window.show();
        return QApplication::exec();
    }
    for (const std::filesystem::path& file :
         ballast::studio::writeScreenshots(window, workers, *arguments.screenshots))
        std::printf("%s\n", file.c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Q_INIT_RESOURCE(studio);
    try {
        return run(argc, argv);
    } catch (const ballast::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
