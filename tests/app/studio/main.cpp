// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QApplication>
#include <QStandardPaths>

#include "app/studio/appearance.h"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    qputenv("QT_QPA_PLATFORM", "offscreen");
    Q_INIT_RESOURCE(studio);
    QStandardPaths::setTestModeEnabled(true);
    QApplication application(argc, argv);
    ballast::studio::setAppearance();
    QCoreApplication::setApplicationName(QStringLiteral("ballast-studio-tests"));
    return RUN_ALL_TESTS();
}
