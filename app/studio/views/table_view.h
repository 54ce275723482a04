// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

namespace ballast::studio {

class TableModel;

/// A table of records: whole rows are selected, nothing is edited, and the clipboard gets tab-separated text
/// of the selection, or of all rows without one.
class RecordTable : public QTableView {
    Q_OBJECT

  public:
    explicit RecordTable(TableModel* model, QWidget* parent = nullptr);

    /// Gives `column` the room that the others leave.
    void stretchColumn(int column);
    /// Closer rows, for a table that should be seen whole.
    void setCompact();
    /// Pixels that `rows` rows and the titles take.
    int heightFor(int rows) const;

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    TableModel* records_;
};

}  // namespace ballast::studio
