// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/table_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>

#include "app/studio/models/table_model.h"

namespace ballast::studio {

RecordTable::RecordTable(TableModel* model, QWidget* parent) : QTableView(parent), records_(model) {
    setModel(model);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setAlternatingRowColors(true);
    setShowGrid(false);
    setWordWrap(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
}

void RecordTable::stretchColumn(int column) {
    horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
}

void RecordTable::setCompact() {
    verticalHeader()->setMinimumSectionSize(fontMetrics().height());
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 1);
}

int RecordTable::heightFor(int rows) const {
    return rows * verticalHeader()->defaultSectionSize() + horizontalHeader()->sizeHint().height() +
           2 * frameWidth();
}

void RecordTable::keyPressEvent(QKeyEvent* event) {
    if (!event->matches(QKeySequence::Copy))
        return QTableView::keyPressEvent(event);
    std::vector<int> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows())
        rows.push_back(index.row());
    if (rows.empty()) {
        for (int row = 0; row < records_->rowCount(); ++row)
            rows.push_back(row);
    }
    QGuiApplication::clipboard()->setText(records_->tabSeparated(rows));
}

}  // namespace ballast::studio
