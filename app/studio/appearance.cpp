// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/appearance.h"

#include <QApplication>
#include <QFont>
#include <QPalette>
#include <QStyleFactory>

namespace ballast::studio {

void setAppearance() {
    QApplication::setApplicationName(QStringLiteral("ballast-studio"));
    QApplication::setApplicationDisplayName(QStringLiteral("Ballast"));
    QApplication::setOrganizationName(QStringLiteral("ballast"));
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QPalette palette;
    palette.setColor(QPalette::Window, QColor(0xf3, 0xf4, 0xf6));
    palette.setColor(QPalette::Base, Qt::white);
    palette.setColor(QPalette::AlternateBase, QColor(0xf5, 0xf8, 0xfb));
    palette.setColor(QPalette::Button, QColor(0xf3, 0xf4, 0xf6));
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(role, QColor(0x1c, 0x22, 0x2b));
    palette.setColor(QPalette::Highlight, QColor(0x00, 0x72, 0xb2));
    palette.setColor(QPalette::HighlightedText, Qt::white);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, QColor(0x8a, 0x90, 0x99));
    QApplication::setPalette(palette);
    if (QApplication::platformName() == QStringLiteral("offscreen"))
        QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9));
}

}  // namespace ballast::studio
