// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>
#include <map>

#include "core/job/scenario.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QVBoxLayout;

namespace ballast::studio {

class Session;

/// The scenario's knobs with units, ranges and what is wrong beside the field that is. An edit becomes the
/// session's scenario a moment after the last keystroke.
class ScenarioForm : public QWidget {
    Q_OBJECT

  public:
    explicit ScenarioForm(Session& session, QWidget* parent = nullptr);

    /// The scenario that the fields describe; knobs without a field keep the values they had.
    Scenario scenario() const;
    /// The sentence shown beside a field ("packing.max_tokens"), empty when it is fine.
    QString problemAt(const QString& key) const;

  private:
    struct Field {
        QWidget* editor = nullptr;
        QLabel* problem = nullptr;
    };

    QFormLayout* addGroup(const QString& title);
    void addField(QFormLayout* form, const QString& key, const QString& label, QWidget* editor,
                  const QString& tip);
    QComboBox* choice(const QStringList& values, bool editable);
    QSpinBox* number(int least, int most, const QString& suffix);
    QLineEdit* lengthsEdit(const QString& placeholder);
    void buildLengths();
    void buildJob();
    void buildPacking();
    void fill(const Scenario& scenario);
    void edited();
    /// Checks the fields that take free text; true when all can be read.
    bool validate();
    void showProblem(const QString& key, const QString& sentence);
    void showSessionProblem();
    void enableMatching();

    Session* session_;
    Scenario base_;
    bool filling_ = false;
    QTimer debounce_;
    QVBoxLayout* column_;
    QLabel* general_;
    QLabel* gpus_;
    std::map<QString, Field> fields_;
    QComboBox *source_, *overlong_, *cut_, *order_, *model_, *cluster_, *packing_, *sharding_, *cost_;
    QSpinBox *window_, *seed_, *tp_, *cp_, *dp_, *pp_, *microBatches_, *steps_, *queues_, *batches_,
        *crossover_;
    QLineEdit *thresholds_, *maxTokens_;
    QDoubleSpinBox* delay_;
};

}  // namespace ballast::studio
