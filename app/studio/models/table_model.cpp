// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/models/table_model.h"

#include <QStringList>

namespace ballast::studio {

TableModel::TableModel(std::vector<Column> columns, QObject* parent)
    : QAbstractTableModel(parent), columns_(std::move(columns)) {}

void TableModel::setRows(std::vector<std::vector<Cell>> rows) {
    const int before = rowCount();
    const int after = static_cast<int>(rows.size());
    if (after < before) {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
        return;
    }
    if (after > before)
        beginInsertRows({}, before, after - 1);
    rows_ = std::move(rows);
    if (after > before)
        endInsertRows();
    if (before > 0)
        emit dataChanged(index(0, 0), index(before - 1, columnCount() - 1));
}

int TableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant TableModel::data(const QModelIndex& at, int role) const {
    if (!at.isValid() || at.row() >= rowCount() || at.column() >= columnCount())
        return {};
    const Cell& cell = rows_[static_cast<std::size_t>(at.row())][static_cast<std::size_t>(at.column())];
    switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::UserRole:
            return cell.value;
        case Qt::ToolTipRole:
            return cell.tip.isEmpty() ? QVariant() : QVariant(cell.tip);
        case Qt::TextAlignmentRole:
            return static_cast<int>(
                Qt::AlignVCenter |
                (columns_[static_cast<std::size_t>(at.column())].number ? Qt::AlignRight : Qt::AlignLeft));
        default:
            return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const Column& column = columns_[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return column.title;
    if (role == Qt::ToolTipRole && !column.tip.isEmpty())
        return column.tip;
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter | (column.number ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

QString TableModel::tabSeparated(const std::vector<int>& rows) const {
    QStringList lines;
    QStringList titles;
    for (const Column& column : columns_)
        titles << column.title;
    lines << titles.join(QLatin1Char('\t'));
    for (const int row : rows) {
        QStringList cells;
        for (const Cell& cell : rows_.at(static_cast<std::size_t>(row)))
            cells << cell.text;
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace ballast::studio
