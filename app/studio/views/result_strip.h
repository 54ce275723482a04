// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

class QLabel;

namespace ballast::studio {

class Session;

/// The figures of the scenario on screen in one row, each with what the same lengths give without balancing.
class ResultStrip : public QWidget {
    Q_OBJECT

  public:
    explicit ResultStrip(Session& session, QWidget* parent = nullptr);

  private:
    struct Card {
        QLabel* value = nullptr;
        QLabel* baseline = nullptr;
    };
    Card addCard(const QString& title, const QString& tip);
    void refresh();

    Session* session_;
    QLabel* state_;
    QLabel* origin_;
    Card step_, tokens_, imbalance_, bubble_, mfu_, memory_;
};

}  // namespace ballast::studio
