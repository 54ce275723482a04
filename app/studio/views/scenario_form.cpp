// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/scenario_form.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "app/studio/models/format.h"
#include "app/studio/session.h"
#include "core/job/cluster_spec.h"
#include "core/job/model_spec.h"

namespace ballast::studio {
namespace {

constexpr int kDebounceMilliseconds = 120;
constexpr int kLargestTokens = 16 << 20;

const QString kAuto = QStringLiteral("auto");

QStringList namesOf(const std::vector<std::string>& names) {
    QStringList list;
    for (const std::string& name : names)
        list << QString::fromStdString(name);
    return list;
}

QStringList packings() {
    QStringList list;
    for (const std::string_view name : packerNames())
        list << QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    return list;
}

/// Tokens separated by commas or spaces; "64K" means 65,536. Nothing when a part is no number.
std::optional<std::vector<std::int64_t>> parseTokens(const QString& text) {
    std::vector<std::int64_t> tokens;
    for (QString part : text.split(QRegularExpression(QStringLiteral("[,;\\s]+")), Qt::SkipEmptyParts)) {
        const bool kilo = part.endsWith(QLatin1Char('K'), Qt::CaseInsensitive);
        if (kilo)
            part.chop(1);
        bool fine = false;
        const qlonglong number = part.toLongLong(&fine);
        if (!fine || number < 1 || number > kLargestTokens)
            return std::nullopt;
        tokens.push_back(number * (kilo ? 1024 : 1));
    }
    return tokens;
}

bool isAuto(const QLineEdit* edit) {
    return edit->text().trimmed().compare(kAuto, Qt::CaseInsensitive) == 0 ||
           edit->text().trimmed().isEmpty();
}

QString joined(const std::vector<std::int64_t>& tokens) {
    QStringList parts;
    for (const std::int64_t value : tokens)
        parts << QString::number(value);
    return parts.join(QStringLiteral(", "));
}

void choose(QComboBox* box, const QString& value) {
    const int found = box->findText(value);
    if (found >= 0)
        box->setCurrentIndex(found);
    else if (box->isEditable())
        box->setEditText(value);
    else
        box->addItem(value), box->setCurrentText(value);
}

}  // namespace

ScenarioForm::ScenarioForm(Session& session, QWidget* parent)
    : QWidget(parent), session_(&session), column_(new QVBoxLayout(this)), general_(new QLabel(this)) {
    column_->setContentsMargins(8, 4, 8, 4);
    column_->setSpacing(4);
    general_->setWordWrap(true);
    general_->setStyleSheet(QStringLiteral("color: #b00020"));
    general_->hide();
    buildLengths();
    buildJob();
    buildPacking();
    column_->addWidget(general_);
    column_->addStretch();
    debounce_.setSingleShot(true);
    debounce_.setInterval(kDebounceMilliseconds);
    connect(&debounce_, &QTimer::timeout, this, [this] {
        if (validate())
            session_->setScenario(scenario());
    });
    connect(&session, &Session::scenarioChanged, this, [this] {
        if (!(session_->scenario() == scenario()))
            fill(session_->scenario());
    });
    connect(&session, &Session::whatIfChanged, this, &ScenarioForm::showSessionProblem);
    fill(session.scenario());
}

QFormLayout* ScenarioForm::addGroup(const QString& title) {
    auto* group = new QGroupBox(title, this);
    auto* form = new QFormLayout(group);
    form->setContentsMargins(8, 4, 8, 6);
    form->setVerticalSpacing(3);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    column_->addWidget(group);
    return form;
}

void ScenarioForm::addField(QFormLayout* form, const QString& key, const QString& label, QWidget* editor,
                            const QString& tip) {
    editor->setToolTip(tip);
    editor->setAccessibleName(label);
    auto* problem = new QLabel(this);
    problem->setWordWrap(true);
    problem->setStyleSheet(QStringLiteral("color: #b00020"));
    problem->hide();
    form->addRow(label, editor);
    form->addRow(problem);
    fields_[key] = {editor, problem};
}

QComboBox* ScenarioForm::choice(const QStringList& values, bool editable) {
    auto* box = new QComboBox(this);
    box->setEditable(editable);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->setMinimumContentsLength(12);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->addItems(values);
    connect(box, &QComboBox::currentTextChanged, this, &ScenarioForm::edited);
    return box;
}

QSpinBox* ScenarioForm::number(int least, int most, const QString& suffix) {
    auto* box = new QSpinBox(this);
    box->setRange(least, most);
    box->setSuffix(suffix);
    box->setGroupSeparatorShown(true);
    box->setKeyboardTracking(false);
    connect(box, &QSpinBox::valueChanged, this, &ScenarioForm::edited);
    return box;
}

QLineEdit* ScenarioForm::lengthsEdit(const QString& placeholder) {
    auto* edit = new QLineEdit(this);
    edit->setPlaceholderText(placeholder);
    connect(edit, &QLineEdit::textEdited, this, &ScenarioForm::edited);
    return edit;
}

void ScenarioForm::buildLengths() {
    QFormLayout* form = addGroup(tr("Lengths"));
    source_ = choice(namesOf(lengthPresetNames()), true);
    window_ = number(128, kLargestTokens, tr(" tokens"));
    window_->setSingleStep(4096);
    overlong_ = choice({QStringLiteral("split"), QStringLiteral("truncate"), QStringLiteral("drop")}, false);
    cut_ = choice({QStringLiteral("window"), QStringLiteral("none")}, false);
    order_ = choice({QStringLiteral("shuffled"), QStringLiteral("source")}, false);
    seed_ = number(0, 1 << 30, {});
    addField(form, QStringLiteral("lengths.source"), tr("Source"), source_,
             tr("A preset, or a path of .idx, .npy, .csv#COLUMN, .jsonl#FIELD, .json or .txt (texts also "
                ".gz, .zst); several "
                "with a semicolon"));
    addField(form, QStringLiteral("lengths.window"), tr("Window"), window_,
             tr("Context window, tokens of a sequence"));
    addField(form, QStringLiteral("lengths.overlong"), tr("Overlong"), overlong_,
             tr("What happens to documents longer than the window; what is lost is counted"));
    addField(form, QStringLiteral("lengths.cut"), tr("Cut"), cut_,
             tr("window: the stream is cut at every window border, as loaders do; none: pieces stay whole"));
    addField(form, QStringLiteral("lengths.order"), tr("Order"), order_,
             tr("Shuffled by the seed, or as in the source"));
    addField(form, QStringLiteral("lengths.seed"), tr("Seed"), seed_,
             tr("Of the order, and of a preset's lengths"));
}

void ScenarioForm::buildJob() {
    QFormLayout* form = addGroup(tr("Model, cluster and layout"));
    model_ = choice(namesOf(modelPresetNames()), true);
    cluster_ = choice(namesOf(clusterPresetNames()), true);
    if (cluster_->findText(QStringLiteral("this-machine")) < 0)
        cluster_->addItem(QStringLiteral("this-machine"));
    tp_ = number(1, 1024, {});
    cp_ = number(1, 1024, {});
    dp_ = number(1, 4096, {});
    pp_ = number(1, 512, {});
    microBatches_ = number(1, 4096, tr(" a dp rank"));
    steps_ = number(0, 1 << 30, tr(" steps"));
    steps_->setSpecialValueText(kAuto);
    gpus_ = new QLabel(this);
    addField(form, QStringLiteral("model"), tr("Model"), model_,
             tr("A preset, or the path of a Hugging Face config.json"));
    addField(form, QStringLiteral("cluster"), tr("Cluster"), cluster_,
             tr("A preset, or the path of a cluster file"));
    auto* degrees = new QWidget(this);
    auto* row = new QHBoxLayout(degrees);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(3);
    const std::array<std::pair<const char*, QSpinBox*>, 4> axes = {
        {{"tp", tp_}, {"cp", cp_}, {"dp", dp_}, {"pp", pp_}}};
    for (const auto& [name, box] : axes) {
        box->setPrefix(QString::fromLatin1(name) + QLatin1Char(' '));
        box->setButtonSymbols(QAbstractSpinBox::NoButtons);
        row->addWidget(box, 1);
    }
    addField(form, QStringLiteral("layout"), tr("Layout"), degrees,
             tr("Degrees of tensor, context, data and pipeline parallelism; the arrow keys change them"));
    form->addRow(QString(), gpus_);
    addField(form, QStringLiteral("micro_batches"), tr("Micro-batches"), microBatches_,
             tr("Micro-batches of a global batch on each dp rank"));
    addField(form, QStringLiteral("steps"), tr("Steps"), steps_,
             tr("Global batches to take; auto: one epoch of a file, else 20"));
}

void ScenarioForm::buildPacking() {
    QFormLayout* form = addGroup(tr("Packing, sharding and cost"));
    packing_ = choice(packings(), false);
    queues_ = number(0, 5, {});
    thresholds_ = lengthsEdit(kAuto);
    maxTokens_ = lengthsEdit(kAuto);
    delay_ = new QDoubleSpinBox(this);
    delay_->setRange(0, 100);
    delay_->setSingleStep(0.1);
    delay_->setSuffix(tr(" steps"));
    delay_->setKeyboardTracking(false);
    connect(delay_, &QDoubleSpinBox::valueChanged, this, &ScenarioForm::edited);
    batches_ = number(1, 1024, {});
    sharding_ = choice(
        {QStringLiteral("per-sequence"), QStringLiteral("per-document"), QStringLiteral("adaptive")}, false);
    cost_ = choice({QStringLiteral("calibrated"), QStringLiteral("quadratic")}, false);
    crossover_ = number(1, kLargestTokens, tr(" tokens"));
    addField(form, QStringLiteral("packing.strategy"), tr("Packing"), packing_,
             tr("How documents become micro-batches"));
    addField(form, QStringLiteral("packing.queues"), tr("Queues"), queues_,
             tr("Queues for delayed long documents (wlb)"));
    addField(form, QStringLiteral("packing.thresholds"), tr("Thresholds"), thresholds_,
             tr("auto, or ascending lengths from which a document is queued: 32K, 64K"));
    addField(form, QStringLiteral("packing.max_tokens"), tr("Max tokens"), maxTokens_,
             tr("auto (what memory allows), or the longest micro-batch in tokens (wlb)"));
    addField(form, QStringLiteral("packing.delay_budget_steps"), tr("Delay budget"), delay_,
             tr("Mean delay of a token that the automatic thresholds may cause (wlb)"));
    addField(form, QStringLiteral("packing.batches"), tr("Pool"), batches_,
             tr("Global batches that greedy pools"));
    addField(form, QStringLiteral("sharding.strategy"), tr("Sharding"), sharding_,
             tr("How a micro-batch is split over the cp ranks"));
    addField(form, QStringLiteral("cost.model"), tr("Cost"), cost_,
             tr("calibrated: the cluster file's curves; quadratic: d + d\u00b2/B"));
    addField(form, QStringLiteral("cost.crossover_tokens"), tr("Crossover B"), crossover_,
             tr("Length at which attention costs as much as the linear part (quadratic)"));
}

Scenario ScenarioForm::scenario() const {
    Scenario now = base_;
    now.lengths.source.clear();
    for (const QString& path : source_->currentText().split(QLatin1Char(';'), Qt::SkipEmptyParts))
        now.lengths.source.push_back(path.trimmed().toStdString());
    now.lengths.window = window_->value();
    now.lengths.overlong = static_cast<OverlongPolicy>(overlong_->currentIndex());
    now.lengths.cut = static_cast<CutPolicy>(cut_->currentIndex());
    now.lengths.order = static_cast<DocumentOrder>(order_->currentIndex());
    now.lengths.seed = static_cast<std::uint64_t>(seed_->value());
    now.model = model_->currentText().trimmed().toStdString();
    now.cluster = cluster_->currentText().trimmed().toStdString();
    now.layout = {tp_->value(), cp_->value(), dp_->value(), pp_->value()};
    now.microBatches = microBatches_->value();
    now.steps = steps_->value() > 0 ? std::optional<std::int64_t>(steps_->value()) : std::nullopt;
    now.packing.strategy = packing_->currentText().toStdString();
    now.packing.queues = queues_->value();
    now.packing.thresholds = isAuto(thresholds_) ? std::nullopt : parseTokens(thresholds_->text());
    if (now.packing.thresholds)
        now.packing.queues = static_cast<int>(now.packing.thresholds->size());
    now.packing.maxTokens.reset();
    if (const auto tokens = parseTokens(maxTokens_->text());
        !isAuto(maxTokens_) && tokens && tokens->size() == 1)
        now.packing.maxTokens = tokens->front();
    now.packing.delayBudgetSteps = delay_->value();
    now.packing.batches = batches_->value();
    now.sharding.strategy = sharding_->currentText().toStdString();
    now.cost.model = cost_->currentText().toStdString();
    if (now.cost.model == "quadratic")
        now.cost.crossoverTokens = crossover_->value();
    return now;
}

void ScenarioForm::fill(const Scenario& from) {
    filling_ = true;
    base_ = from;
    choose(source_, [&] {
        QStringList paths;
        for (const std::string& path : from.lengths.source)
            paths << QString::fromStdString(path);
        return paths.join(QStringLiteral("; "));
    }());
    window_->setValue(static_cast<int>(std::min<std::int64_t>(from.lengths.window, kLargestTokens)));
    overlong_->setCurrentIndex(static_cast<int>(from.lengths.overlong));
    cut_->setCurrentIndex(static_cast<int>(from.lengths.cut));
    order_->setCurrentIndex(static_cast<int>(from.lengths.order));
    seed_->setValue(static_cast<int>(from.lengths.seed));
    choose(model_, QString::fromStdString(from.model));
    choose(cluster_, QString::fromStdString(from.cluster));
    tp_->setValue(from.layout.tp);
    cp_->setValue(from.layout.cp);
    dp_->setValue(from.layout.dp);
    pp_->setValue(from.layout.pp);
    microBatches_->setValue(from.microBatches);
    steps_->setValue(static_cast<int>(from.steps.value_or(0)));
    choose(packing_, QString::fromStdString(from.packing.strategy));
    queues_->setValue(from.packing.queues);
    thresholds_->setText(from.packing.thresholds ? joined(*from.packing.thresholds) : kAuto);
    maxTokens_->setText(from.packing.maxTokens ? QString::number(*from.packing.maxTokens) : kAuto);
    delay_->setValue(from.packing.delayBudgetSteps);
    batches_->setValue(from.packing.batches);
    choose(sharding_, QString::fromStdString(from.sharding.strategy));
    choose(cost_, QString::fromStdString(from.cost.model));
    crossover_->setValue(static_cast<int>(from.cost.crossoverTokens.value_or(46000)));
    filling_ = false;
    validate();
    enableMatching();
}

void ScenarioForm::enableMatching() {
    const bool wlb = packing_->currentText() == QStringLiteral("wlb");
    for (QWidget* editor : std::initializer_list<QWidget*>{queues_, thresholds_, maxTokens_, delay_})
        editor->setEnabled(wlb);
    queues_->setEnabled(wlb && isAuto(thresholds_));
    delay_->setEnabled(wlb && isAuto(thresholds_));
    batches_->setEnabled(packing_->currentText() == QStringLiteral("greedy"));
    crossover_->setEnabled(cost_->currentText() == QStringLiteral("quadratic"));
    const Layout layout{tp_->value(), cp_->value(), dp_->value(), pp_->value()};
    gpus_->setText(tr("%1 GPUs, %2 windows a step")
                       .arg(formatCount(layout.worldSize()))
                       .arg(formatCount(static_cast<std::int64_t>(layout.dp) * microBatches_->value())));
}

void ScenarioForm::edited() {
    if (filling_)
        return;
    enableMatching();
    debounce_.start();
}

bool ScenarioForm::validate() {
    for (auto& [key, field] : fields_)
        showProblem(key, {});
    general_->hide();
    bool fine = true;
    const auto complain = [&](const char* key, const QString& sentence) {
        showProblem(QString::fromLatin1(key), sentence);
        fine = false;
    };
    if (source_->currentText().trimmed().isEmpty())
        complain("lengths.source", tr("Name a preset or a file."));
    const auto thresholds = parseTokens(thresholds_->text());
    if (!isAuto(thresholds_) && (!thresholds || !std::is_sorted(thresholds->begin(), thresholds->end())))
        complain("packing.thresholds", tr("Write auto, or ascending lengths such as 32K, 64K."));
    const auto most = parseTokens(maxTokens_->text());
    if (!isAuto(maxTokens_) && (!most || most->size() != 1))
        complain("packing.max_tokens", tr("Write auto, or one number of tokens."));
    return fine;
}

void ScenarioForm::showProblem(const QString& key, const QString& sentence) {
    const Field& field = fields_.at(key);
    field.problem->setText(sentence);
    field.problem->setVisible(!sentence.isEmpty());
}

QString ScenarioForm::problemAt(const QString& key) const {
    return fields_.at(key).problem->text();
}

void ScenarioForm::showSessionProblem() {
    if (!validate())
        return;
    const QString& problem = session_->problem();
    if (problem.isEmpty())
        return;
    // The core's sentences name the key; the longest one that occurs is the field to blame.
    QString best;
    for (const auto& [key, field] : fields_) {
        if (problem.contains(key) && key.size() > best.size())
            best = key;
    }
    if (!best.isEmpty() && best.contains(QLatin1Char('.'))) {
        showProblem(best, problem);
        return;
    }
    general_->setText(problem);
    general_->show();
}

}  // namespace ballast::studio
