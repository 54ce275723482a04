// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "app/studio/models/format.h"
#include "app/studio/models/table_model.h"
#include "app/studio/models/tables.h"
#include "core/workload/length_statistics.h"
#include "tests/app/studio/studio_fixture.h"

namespace ballast::studio {
namespace {

std::vector<std::vector<Cell>> rowsOf(int count) {
    std::vector<std::vector<Cell>> rows;
    for (int i = 0; i < count; ++i)
        rows.push_back({{QString::number(i), i, {}}, {QStringLiteral("name %1").arg(i), {}, {}}});
    return rows;
}

TEST(TableModel, StaysConsistentForItemViewsWhileRowsComeAndGo) {
    TableModel model({{"Number", {}, true}, {"Name", {}, false}});
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    for (const int count : {0, 3, 3, 10, 2, 0, 5})
        model.setRows(rowsOf(count));
    EXPECT_EQ(model.rowCount(), 5);
    EXPECT_EQ(model.data(model.index(4, 0), Qt::UserRole).toInt(), 4);
}

TEST(TableModel, KeepsRowsInPlaceWhileARunGrows) {
    TableModel model({{"Number", {}, true}, {"Name", {}, false}});
    model.setRows(rowsOf(3));
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    model.setRows(rowsOf(4));
    EXPECT_EQ(resets.count(), 0);
    EXPECT_EQ(model.rowCount(), 4);
}

TEST(TableModel, CopiesAsTabSeparatedTextWithItsTitles) {
    TableModel model({{"Number", {}, true}, {"Name", {}, false}});
    model.setRows(rowsOf(3));
    EXPECT_EQ(model.tabSeparated({2}), QStringLiteral("Number\tName\n2\tname 2\n"));
}

TEST(PercentileTable, StatesTheCoresPercentiles) {
    const std::vector<std::string> names = {"wlb-4k"};
    const LengthStatistics statistics = lengthStatistics(*openLengthSource(names, 1), 4096);
    TableModel model(percentileColumns());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setRows(percentileRows(statistics));
    ASSERT_EQ(model.rowCount(), static_cast<int>(statistics.percentiles.size()) + 1);
    for (std::size_t i = 0; i < statistics.percentiles.size(); ++i) {
        const int row = static_cast<int>(i);
        EXPECT_EQ(model.data(model.index(row, 0), Qt::UserRole).toDouble(), statistics.percentiles[i].first);
        EXPECT_EQ(model.data(model.index(row, 1), Qt::UserRole).toLongLong(),
                  statistics.percentiles[i].second);
    }
    EXPECT_EQ(model.data(model.index(model.rowCount() - 1, 1), Qt::UserRole).toLongLong(),
              statistics.maximum);
}

TEST(SettingDifferences, ListOnlyWhatDiffersWithBothValues) {
    const Scenario a = testing::smallScenario("sequential", "per-sequence");
    Scenario b = testing::smallScenario("wlb", "per-sequence");
    b.layout.cp = 4;
    const auto rows = differenceRows(scenarioJson(a), scenarioJson(b));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0][0].text, QStringLiteral("layout.cp"));
    EXPECT_EQ(rows[0][1].text, QStringLiteral("2"));
    EXPECT_EQ(rows[0][2].text, QStringLiteral("4"));
    EXPECT_EQ(rows[1][0].text, QStringLiteral("packing.strategy"));
    EXPECT_EQ(rows[1][1].text, QStringLiteral("sequential"));
    EXPECT_EQ(rows[1][2].text, QStringLiteral("wlb"));
}

TEST(Format, WritesThreeDigitsAndAUnit) {
    EXPECT_EQ(formatSeconds(0.01234), QStringLiteral("12.3 ms"));
    EXPECT_EQ(formatSeconds(9.996), QStringLiteral("10.0 s"));
    EXPECT_EQ(formatSeconds(2.5e-7), QStringLiteral("250 ns"));
    EXPECT_EQ(formatCount(131072), QStringLiteral("131,072"));
    EXPECT_EQ(formatShort(1250000), QStringLiteral("1.25 M"));
    EXPECT_EQ(formatPercent(0.123), QStringLiteral("12.3 %"));
    EXPECT_EQ(formatChange(-0.05), QStringLiteral("\u22125.0 %"));
    EXPECT_EQ(formatTokenLength(65536), QStringLiteral("64K"));
}

}  // namespace
}  // namespace ballast::studio
