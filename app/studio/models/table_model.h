// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

namespace ballast::studio {

/// A cell: what is read, and the number behind it (role Qt::UserRole), which sorting and tests use.
struct Cell {
    QString text;
    QVariant value;
    QString tip;
};

struct Column {
    QString title;  ///< with its unit
    QString tip;
    bool number = false;  ///< right-aligned
};

/// A list of records as Qt's item views take it. New rows replace the old ones in place, so that the
/// selection stays while a run grows.
class TableModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    explicit TableModel(std::vector<Column> columns, QObject* parent = nullptr);

    void setRows(std::vector<std::vector<Cell>> rows);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// Tab-separated text of the given rows with the titles, for the clipboard.
    QString tabSeparated(const std::vector<int>& rows) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace ballast::studio
