// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/launch/run_launcher.h"

#include <QRegularExpression>
#include <QStringList>

namespace ballast::studio {

RunLauncher::RunLauncher(Workers& workers, QObject* parent) : QObject(parent), job_(workers) {}

void RunLauncher::launch(const RunRequest& request) {
    job_.start(
        [request](const auto& job) {
            const RunId run = prepareRun(request);
            startRunner(request.workspace, run);
            job.deliver(run);
        },
        [this](RunId run) { emit launched(run); },
        [this](const QString& sentence) { emit failed(sentence); });
}

QString shellLine(const std::vector<std::string>& words) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    QStringList parts;
    for (const std::string& word : words) {
        QString part = QString::fromStdString(word);
        if (!plain.match(part).hasMatch())
            part = QLatin1Char('\'') + part.replace(QLatin1Char('\''), QStringLiteral("'\\''")) +
                   QLatin1Char('\'');
        parts << part;
    }
    return parts.join(QLatin1Char(' '));
}

QString runCommand(const RunRequest& request, const QString& scenarioFile) {
    std::vector<std::string> words = {"ballast", "run", scenarioFile.toStdString(), "--workspace",
                                      request.workspace.string()};
    if (request.steps)
        words.insert(words.end(), {"--steps", std::to_string(*request.steps)});
    words.insert(words.end(),
                 {"--device", request.device, "--launcher", request.launcher, "--clock", request.clock});
    return shellLine(words);
}

}  // namespace ballast::studio
