// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/models/tables.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <map>

#include "app/studio/models/format.h"
#include "app/studio/models/span_names.h"

namespace ballast::studio {
namespace {

Cell textCell(const QString& text) {
    return {text, text, {}};
}

Cell numberCell(const QString& text, double value) {
    return {text, value, {}};
}

const QString kNone = QStringLiteral("\u2013");

QString jsonText(const QJsonValue& value) {
    switch (value.type()) {
        case QJsonValue::String:
            return value.toString();
        case QJsonValue::Null:
            return QStringLiteral("none");
        case QJsonValue::Undefined:
            return kNone;
        default: {
            const QString inArray =
                QString::fromUtf8(QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact));
            return inArray.mid(1, inArray.size() - 2);
        }
    }
}

void flatten(const QString& path, const QJsonValue& value, std::map<QString, QString>& into) {
    if (!value.isObject()) {
        into[path] = jsonText(value);
        return;
    }
    const QJsonObject object = value.toObject();
    for (auto entry = object.begin(); entry != object.end(); ++entry)
        flatten(path.isEmpty() ? entry.key() : path + QLatin1Char('.') + entry.key(), entry.value(), into);
}

std::map<QString, QString> settingsOf(const std::string& json) {
    std::map<QString, QString> settings;
    flatten({}, QJsonDocument::fromJson(QByteArray::fromStdString(json)).object(), settings);
    return settings;
}

void sortBySize(std::vector<Delta>& deltas) {
    std::stable_sort(deltas.begin(), deltas.end(), [](const Delta& a, const Delta& b) {
        return std::abs(a.change()) > std::abs(b.change());
    });
}

/// Seconds of one rank per million tokens from seconds summed over ranks and steps.
double perRank(double seconds, const RunFigures& figures, double tokens) {
    return tokens > 0 ? seconds / figures.run.layout.worldSize() / tokens * 1e6 : 0;
}

double valueAt(const std::map<SpanKind, double>& map, SpanKind kind) {
    const auto found = map.find(kind);
    return found == map.end() ? 0 : found->second;
}

double sumOf(const std::map<SpanKind, double>& map) {
    double sum = 0;
    for (const auto& [kind, seconds] : map)
        sum += seconds;
    return sum;
}

std::vector<double> rankComputeSeconds(const std::vector<RankStepRecord>& records, int ranks) {
    std::vector<double> seconds(static_cast<std::size_t>(ranks), 0.0);
    for (const RankStepRecord& record : records) {
        if (record.rank >= 0 && record.rank < ranks)
            seconds[static_cast<std::size_t>(record.rank)] += record.breakdown.computeSeconds();
    }
    return seconds;
}

}  // namespace

QString runTitle(const RunRecord& record) {
    return QStringLiteral("%1 (run %2, %3)")
        .arg(QString::fromStdString(record.name))
        .arg(record.id)
        .arg(clockTitle(record.clock).toLower());
}

QString stateTitle(RunState state) {
    const std::string_view name = runStateName(state);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

std::vector<Column> percentileColumns() {
    return {{QObject::tr("Percentile"), {}, true},
            {QObject::tr("Length (tokens)"), QObject::tr("this share of the documents is at most this long"),
             true}};
}

std::vector<std::vector<Cell>> percentileRows(const LengthStatistics& statistics) {
    std::vector<std::vector<Cell>> rows;
    for (const auto& [percent, length] : statistics.percentiles)
        rows.push_back({numberCell(QString::number(percent) + QStringLiteral(" %"), percent),
                        {formatCount(length), static_cast<qlonglong>(length), {}}});
    rows.push_back({numberCell(QObject::tr("longest"), 100),
                    {formatCount(statistics.maximum), static_cast<qlonglong>(statistics.maximum), {}}});
    return rows;
}

std::vector<Column> bucketColumns() {
    return {{QObject::tr("Length from"), QObject::tr("tokens; up to the next row's"), true},
            {QObject::tr("Documents"), {}, true},
            {QObject::tr("Tokens"), {}, true},
            {QObject::tr("Attention"), QObject::tr("query-key pairs of whole documents"), true}};
}

std::vector<std::vector<Cell>> bucketRows(const LengthStatistics& statistics) {
    const auto share = [](double part, double whole) {
        const double held = whole > 0 ? part / whole : 0;
        return numberCell(held > 0 && held < 1e-5 ? QStringLiteral("< 0.001 %") : formatPercent(held), held);
    };
    std::vector<std::vector<Cell>> rows;
    for (const LengthBucket& bucket : statistics.buckets)
        rows.push_back(
            {{formatTokenLength(bucket.from), static_cast<qlonglong>(bucket.from), {}},
             share(static_cast<double>(bucket.documents), static_cast<double>(statistics.documents)),
             share(static_cast<double>(bucket.tokens), static_cast<double>(statistics.tokens)),
             share(bucket.attentionWork, statistics.attentionWork)});
    return rows;
}

std::vector<Column> runColumns() {
    return {{QObject::tr("Run"), {}, true},
            {QObject::tr("Name"), {}, false},
            {QObject::tr("Kind"), {}, false},
            {QObject::tr("State"), {}, false},
            {QObject::tr("Clock"), QObject::tr("times of different clocks are never mixed"), false},
            {QObject::tr("Layout (tp\u00d7cp\u00d7dp\u00d7pp)"), {}, false},
            {QObject::tr("Steps"), QObject::tr("complete steps stored"), true},
            {QObject::tr("s per M tokens"), QObject::tr("sum of step times / sum of tokens"), true},
            {QObject::tr("Tokens/s"), {}, true},
            {QObject::tr("Imbalance"), QObject::tr("micro-batch workloads, sum of max / sum of mean"), true},
            {QObject::tr("Loss"), QObject::tr("target-weighted mean of the last three steps"), true},
            {QObject::tr("Started"), {}, false}};
}

std::vector<std::vector<Cell>> runRows(const RunList& list) {
    std::vector<std::vector<Cell>> rows;
    for (const RunRow& row : list.runs) {
        const RunRecord& record = row.record;
        const RunFigures& figures = row.figures;
        const QString steps = record.plannedSteps > figures.steps
                                  ? QStringLiteral("%1 of %2").arg(figures.steps).arg(record.plannedSteps)
                                  : QString::number(figures.steps);
        const auto measured = [&figures](const QString& text) { return figures.steps > 0 ? text : kNone; };
        const std::string_view kind = runKindName(record.kind);
        rows.push_back(
            {{QString::number(record.id), static_cast<qlonglong>(record.id), {}},
             textCell(QString::fromStdString(record.name)),
             textCell(QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size()))),
             {stateTitle(row.state), stateTitle(row.state), QString::fromStdString(record.failure)},
             textCell(clockTitle(record.clock)),
             textCell(QStringLiteral("%1\u00d7%2\u00d7%3\u00d7%4")
                          .arg(record.layout.tp)
                          .arg(record.layout.cp)
                          .arg(record.layout.dp)
                          .arg(record.layout.pp)),
             {steps, static_cast<qlonglong>(figures.steps), {}},
             numberCell(measured(formatSignificant(figures.secondsPerToken * 1e6)), figures.secondsPerToken),
             numberCell(measured(formatShort(figures.tokensPerSecond)), figures.tokensPerSecond),
             numberCell(measured(formatRatio(figures.imbalanceDegree)), figures.imbalanceDegree),
             figures.lossLast ? numberCell(QString::number(*figures.lossLast, 'f', 4), *figures.lossLast)
                              : Cell{kNone, {}, {}},
             {QDateTime::fromSecsSinceEpoch(record.createdAt).toString(QStringLiteral("yyyy-MM-dd HH:mm")),
              static_cast<qlonglong>(record.createdAt),
              {}}});
    }
    return rows;
}

std::vector<Column> differenceColumns(const QString& baseline, const QString& other) {
    return {{QObject::tr("Setting"), {}, false}, {baseline, {}, false}, {other, {}, false}};
}

std::vector<std::vector<Cell>> differenceRows(const std::string& baseline, const std::string& other) {
    const std::map<QString, QString> a = settingsOf(baseline);
    const std::map<QString, QString> b = settingsOf(other);
    std::map<QString, std::pair<QString, QString>> all;
    for (const auto& [key, value] : a)
        all[key] = {value, kNone};
    for (const auto& [key, value] : b)
        all.try_emplace(key, kNone, value).first->second.second = value;
    std::vector<std::vector<Cell>> rows;
    for (const auto& [key, values] : all) {
        if (values.first != values.second)
            rows.push_back({textCell(key), textCell(values.first), textCell(values.second)});
    }
    return rows;
}

std::vector<Column> figureColumns(const QString& baseline, const QString& other) {
    return {{QObject::tr("Figure"), {}, false},
            {baseline, {}, true},
            {other, {}, true},
            {QObject::tr("Change"), {}, true}};
}

std::vector<std::vector<Cell>> figureRows(const RunComparison& read) {
    const RunFigures& a = read.comparison.baseline;
    const RunFigures& b = read.comparison.other;
    std::vector<std::vector<Cell>> rows;
    const auto add = [&rows](const QString& name, double before, double after, QString (*format)(double)) {
        rows.push_back({textCell(name), numberCell(format(before), before), numberCell(format(after), after),
                        before != 0 ? numberCell(formatChange(after / before - 1), after / before - 1)
                                    : Cell{kNone, {}, {}}});
    };
    add(QObject::tr("Seconds per million tokens"), a.secondsPerToken * 1e6, b.secondsPerToken * 1e6,
        formatSignificant);
    add(QObject::tr("Tokens per second"), a.tokensPerSecond, b.tokensPerSecond, formatShort);
    add(QObject::tr("Steps"), static_cast<double>(a.steps), static_cast<double>(b.steps),
        [](double steps) { return formatCount(static_cast<std::int64_t>(steps)); });
    add(QObject::tr("Imbalance of micro-batches"), a.imbalanceDegree, b.imbalanceDegree, formatRatio);
    add(QObject::tr("Imbalance of ranks' compute"), a.rankImbalance, b.rankImbalance, formatRatio);
    const double aRanks = a.run.layout.worldSize();
    const double bRanks = b.run.layout.worldSize();
    add(QObject::tr("Compute, mean of ranks"), a.computeSeconds / aRanks, b.computeSeconds / bRanks,
        formatSeconds);
    add(QObject::tr("Waiting in collectives, mean of ranks"), sumOf(a.waitingSeconds) / aRanks,
        sumOf(b.waitingSeconds) / bRanks, formatSeconds);
    add(QObject::tr("Pipeline idle, mean of ranks"), a.pipelineIdleSeconds / aRanks,
        b.pipelineIdleSeconds / bRanks, formatSeconds);
    if (a.lossLast && b.lossLast)
        add(QObject::tr("Loss, last three steps"), *a.lossLast, *b.lossLast,
            [](double loss) { return QString::number(loss, 'f', 4); });
    return rows;
}

double tokensOf(const std::vector<StepRecord>& steps) {
    double tokens = 0;
    for (const StepRecord& step : steps)
        tokens += step.complete ? static_cast<double>(step.tokens) : 0;
    return tokens;
}

std::vector<Delta> kindDeltas(const RunComparison& read) {
    const RunFigures& a = read.comparison.baseline;
    const RunFigures& b = read.comparison.other;
    const double aTokens = tokensOf(read.baselineSteps);
    const double bTokens = tokensOf(read.otherSteps);
    std::vector<Delta> deltas;
    const auto add = [&](const QString& name, double before, double after) {
        if (before != 0 || after != 0)
            deltas.push_back({name, perRank(before, a, aTokens), perRank(after, b, bTokens)});
    };
    for (int value = 1; value <= kSpanKindCount; ++value) {
        const auto kind = static_cast<SpanKind>(value);
        add(spanTitle(kind), valueAt(a.kindSeconds, kind), valueAt(b.kindSeconds, kind));
        add(QObject::tr("Waiting: %1").arg(spanTitle(kind)), valueAt(a.waitingSeconds, kind),
            valueAt(b.waitingSeconds, kind));
    }
    add(QObject::tr("Pipeline idle"), a.pipelineIdleSeconds, b.pipelineIdleSeconds);
    sortBySize(deltas);
    return deltas;
}

std::vector<Delta> rankDeltas(const RunComparison& read) {
    const Layout& layout = read.comparison.baseline.run.layout;
    const int ranks = layout.worldSize();
    if (ranks != read.comparison.other.run.layout.worldSize())
        return {};
    const double aTokens = tokensOf(read.baselineSteps);
    const double bTokens = tokensOf(read.otherSteps);
    const std::vector<double> a = rankComputeSeconds(read.baselineRanks, ranks);
    const std::vector<double> b = rankComputeSeconds(read.otherRanks, ranks);
    std::vector<Delta> deltas;
    for (std::size_t rank = 0; rank < a.size(); ++rank)
        deltas.push_back({QObject::tr("rank %1").arg(rank), aTokens > 0 ? a[rank] / aTokens * 1e6 : 0,
                          bTokens > 0 ? b[rank] / bTokens * 1e6 : 0});
    sortBySize(deltas);
    return deltas;
}

}  // namespace ballast::studio
