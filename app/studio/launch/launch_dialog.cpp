// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/launch/launch_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/studio/launch/run_launcher.h"
#include "core/base/error.h"

namespace ballast::studio {

LaunchDialog::LaunchDialog(const Scenario& scenario, const std::filesystem::path& workspace, RunId nextRun,
                           QWidget* parent)
    : QDialog(parent),
      scenario_(scenario),
      workspace_(workspace),
      nextRun_(nextRun),
      clock_(new QComboBox(this)),
      steps_(new QSpinBox(this)),
      command_(new QPlainTextEdit(this)),
      notice_(new QLabel(this)) {
    setWindowTitle(tr("Launch a run"));
    resize(760, 380);
    clock_->addItem(tr("virtual: each rank's CPU time, transfers from the cluster file"),
                    QStringLiteral("virtual"));
    clock_->addItem(tr("wall: real time"), QStringLiteral("wall"));
    clock_->setToolTip(
        tr("virtual gives meaningful timelines where ranks share cores; the two are never mixed"));
    steps_->setRange(0, 1 << 30);
    steps_->setSpecialValueText(tr("as the scenario says"));
    steps_->setSuffix(tr(" steps"));
    command_->setReadOnly(true);
    command_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    notice_->setWordWrap(true);
    auto* form = new QFormLayout;
    form->addRow(tr("Ranks"),
                 new QLabel(tr("%1 MPI processes on this machine, device cpu (tp %2, cp %3, dp %4, pp %5)")
                                .arg(scenario.layout.worldSize())
                                .arg(scenario.layout.tp)
                                .arg(scenario.layout.cp)
                                .arg(scenario.layout.dp)
                                .arg(scenario.layout.pp)));
    form->addRow(tr("Workspace"), new QLabel(QString::fromStdString(workspace.string())));
    form->addRow(tr("Clock"), clock_);
    form->addRow(tr("Steps"), steps_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    start_ = buttons->addButton(tr("Start"), QDialogButtonBox::AcceptRole);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(new QLabel(tr("Exact command"), this));
    column->addWidget(command_, 1);
    column->addWidget(notice_);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(clock_, &QComboBox::currentIndexChanged, this, &LaunchDialog::refresh);
    connect(steps_, &QSpinBox::valueChanged, this, &LaunchDialog::refresh);
    refresh();
}

RunRequest LaunchDialog::request() const {
    RunRequest request;
    request.scenario = scenario_;
    request.workspace = workspace_;
    request.clock = clock_->currentData().toString().toStdString();
    if (steps_->value() > 0)
        request.steps = steps_->value();
    return request;
}

QString LaunchDialog::commandText() const {
    return command_->toPlainText();
}

void LaunchDialog::refresh() {
    notice_->clear();
    start_->setEnabled(true);
    QString text = tr("# the same from a shell, with the scenario saved as scenario.json\n") +
                   runCommand(request(), QStringLiteral("scenario.json"));
    try {
        refuseUnbuilt(scenario_, "run");
        const std::filesystem::path directory = workspace_.string() + ".runs/" + std::to_string(nextRun_);
        text += tr("\n\n# what the runner starts\n") + shellLine(launchCommand(request(), directory));
        notice_->setText(
            tr("The scenario is planned and its prediction stored first. The run goes on when this window "
               "closes."));
    } catch (const Error& error) {
        notice_->setText(QString::fromUtf8(error.what()));
        start_->setEnabled(false);
    }
    command_->setPlainText(text);
}

}  // namespace ballast::studio
