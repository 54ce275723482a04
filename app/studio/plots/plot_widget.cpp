// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/plot_widget.h"

#include <qcustomplot.h>

#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>

namespace ballast::studio {

PlotWidget::PlotWidget(const QString& title, QWidget* parent)
    : QWidget(parent),
      title_(new QLabel(title, this)),
      legend_(new LegendStrip(this)),
      plot_(new QCustomPlot(this)),
      empty_(new QLabel(this)) {
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    title_->setVisible(!title.isEmpty());
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->hide();
    legend_->hide();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(title_);
    column->addWidget(legend_);
    column->addWidget(plot_, 1);
    column->addWidget(empty_, 1);
    setMinimumSize(220, 120);
    plot_->setMinimumSize(160, 80);
    plot_->setNoAntialiasingOnDrag(true);
    applyTheme();
    connect(plot_, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
        const QString tip = tipAt(event->position());
        if (tip.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(event->globalPosition().toPoint(), tip, plot_);
    });
}

PlotWidget::~PlotWidget() = default;

void PlotWidget::setTitle(const QString& title) {
    title_->setText(title);
    title_->setVisible(!title.isEmpty());
}

void PlotWidget::setEmptyText(const QString& sentence) {
    empty_->setText(sentence);
    empty_->setVisible(!sentence.isEmpty());
    plot_->setVisible(sentence.isEmpty());
    legend_->setVisible(sentence.isEmpty() && !legend_->entries().empty());
}

bool PlotWidget::isShowingDrawing() const {
    return empty_->text().isEmpty();
}

void PlotWidget::setRenderScale(double scale) {
    plot_->setBufferDevicePixelRatio(scale);
    plot_->replot();
}

QString PlotWidget::tipAt(const QPointF&) const {
    return {};
}

void PlotWidget::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        applyTheme();
}

void PlotWidget::applyTheme() {
    const QColor ink = palette().color(QPalette::Text);
    const QColor faint = QColor(0xe4, 0xe4, 0xe4);
    plot_->setBackground(palette().brush(QPalette::Base));
    for (QCPAxisRect* rectangle : plot_->axisRects()) {
        for (QCPAxis* axis : rectangle->axes()) {
            axis->setBasePen(QPen(ink));
            axis->setTickPen(QPen(ink));
            axis->setSubTickPen(QPen(ink));
            axis->setTickLabelColor(ink);
            axis->setLabelColor(ink);
            axis->setTickLabelFont(font());
            axis->setLabelFont(font());
            axis->grid()->setPen(QPen(faint, 1));
            axis->grid()->setZeroLinePen(Qt::NoPen);
        }
    }
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace ballast::studio
