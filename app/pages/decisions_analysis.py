"""What the answers of a run are worth: figures, numbers and sentences, a question at a time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QStackedWidget,
    QWidget,
)

from app.models.results_figures import Figure
from app.notify import NotificationSink
from app.presenters.analysis import AnalysisPresenter
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import (
    EmptyState,
    ScrollPane,
    button,
    card,
    clear_layout,
    hbox,
    label,
    named,
    vbox,
)

if TYPE_CHECKING:
    from engine.batch.analysis.report import Analysis

FIGURE_WIDTH = 362  # pixels
FIGURES, WAITING = range(2)


class AnalysisPart(QWidget):
    """Nothing is computed, and no library of plots loaded, before it is shown for the first time."""

    def __init__(self, presenter: AnalysisPresenter, notifier: NotificationSink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("analysis")
        self._presenter, self._notifier = presenter, notifier
        self._run_id, self._stale = "", True
        self.views: dict[str, Any] = {}
        self.question = named(QComboBox(), "analysis_question", self.tr("Question"))
        self.goal = named(QComboBox(), "analysis_goal", self.tr("What the threshold is chosen for"))
        self.least = self._share("analysis_least", self.tr("At least"), 0.9)
        self.at = self._share("analysis_at", self.tr("Try a threshold"), 0.5)
        self._picked = named(label("", "", wrap=True), "analysis_pick")
        self._tried = named(label("", "muted", wrap=True), "analysis_tried")
        self._words = named(label("", "muted", wrap=True), "analysis_words")
        self._facts = FlowLayout(spacing=10)
        self._figures = FlowLayout(spacing=12)
        self._groups = QGridLayout()
        self._group_card = QFrame()
        self._picker = QFrame()
        self._stack = QStackedWidget()
        self._build()
        self._connect()

    def set_run(self, run_id: str) -> None:
        """Another run is open, or it has changed; it is analysed when this can be seen."""
        self._run_id, self._stale = run_id, True
        if self.isVisible():
            self._begin()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._begin()

    # ---- building
    def _share(self, name: str, spoken: str, value: float) -> QDoubleSpinBox:
        made = named(QDoubleSpinBox(), name, spoken)
        made.setRange(0.0, 1.0)
        made.setDecimals(3)
        made.setSingleStep(0.01)
        made.setValue(value)
        made.setKeyboardTracking(False)
        made.lineEdit().setTextMargins(6, 0, 0, 0)  # a style sheet's padding does not reach the field inside
        return made

    def _build(self) -> None:
        for text, goal in (
            (self.tr("Best F1"), "f1"),
            (self.tr("Best accuracy"), "accuracy"),
            (self.tr("Precision at least"), "precision"),
            (self.tr("Recall at least"), "recall"),
        ):
            self.goal.addItem(text, goal)
        self.least.hide()
        save = button(self.tr("Save all numbers…"), "analysis_save_all", self._ask_folder)
        top = FlowLayout(spacing=8)
        for part in (self.question, save):
            top.addWidget(part)
        picked = hbox(label(self.tr("Threshold for"), "strong"), self.goal, self.least, 1)
        tried = hbox(label(self.tr("Try"), "strong"), self.at, self._tried)
        tried.setStretchFactor(self._tried, 1)
        self._picker = card(vbox(picked, self._picked, tried), "analysis_picker")
        self._group_card = card(self._groups, "analysis_groups")
        content = QWidget()
        box = vbox(self._words, self._facts, self._picker, self._figures, self._group_card, 1, spacing=14)
        box.setContentsMargins(0, 0, 10, 8)
        content.setLayout(box)
        waiting = EmptyState(
            "analysis_waiting", self.tr("Measuring the run"), self.tr("Every row is gone through once.")
        )
        self._stack.addWidget(ScrollPane(content))
        self._stack.addWidget(waiting)
        outer = vbox(top, self._stack, spacing=10)
        outer.setStretchFactor(self._stack, 1)
        self.setLayout(outer)

    def _connect(self) -> None:
        presenter = self._presenter
        presenter.started.connect(lambda: self._stack.setCurrentIndex(WAITING))
        presenter.ready.connect(self._on_ready)
        presenter.saved.connect(lambda path: self._notifier.success(self.tr("Saved {path}").format(path=path)))
        presenter.failed.connect(self._notifier.error)
        presenter.failed.connect(lambda *_words: self._on_failed())
        self.question.currentIndexChanged.connect(lambda _index: self._show())
        self.goal.currentIndexChanged.connect(lambda _index: self._on_goal())
        self.least.valueChanged.connect(lambda _value: self._begin())
        self.at.valueChanged.connect(lambda _value: self._try())

    # ---- analysing
    def _on_goal(self) -> None:
        self.least.setVisible(self.goal.currentData() in ("precision", "recall"))
        self._begin()

    def _begin(self) -> None:
        self._stale = False
        if self._run_id:
            least = None if self.least.isHidden() else self.least.value()
            self._presenter.begin(self._run_id, self.goal.currentData(), least)

    def _on_ready(self, analyses: tuple[Analysis, ...]) -> None:
        ids = [each.question.id for each in analyses]
        if ids != [self.question.itemText(place) for place in range(self.question.count())]:
            self.question.blockSignals(True)
            self.question.clear()
            self.question.addItems(ids)
            self.question.blockSignals(False)
        self._stack.setCurrentIndex(FIGURES)
        self._show()

    def _on_failed(self) -> None:
        """Of an earlier run nothing stays; a file that cannot be written changes nothing."""
        self._stack.setCurrentIndex(FIGURES)
        if not self._presenter.analyses:
            self._words.setText(self.tr("The run cannot be measured."))
            self.views = {}
            for layout in (self._facts, self._figures, self._groups):
                clear_layout(layout)
            for part in (self._picker, self._group_card):
                part.hide()

    # ---- showing
    def _analysis(self) -> Analysis | None:
        place = self.question.currentIndex()
        analyses = self._presenter.analyses
        return analyses[place] if 0 <= place < len(analyses) else None

    def _show(self) -> None:
        from app.presenters.analysis_figures import facts_of, figures_of, sentences_of

        analysis = self._analysis()
        if analysis is None:
            return
        self._words.setText("\n".join([*self._presenter.price, *sentences_of(analysis)]))
        clear_layout(self._facts)
        for name, value in facts_of(analysis):
            shown = label(value, "strong")
            shown.setAccessibleName(f"{name}: {value}")
            self._facts.addWidget(card(vbox(label(name, "muted"), shown, spacing=2)))
        self._show_picker(analysis)
        clear_layout(self._figures)
        self.views = {}
        for figure in figures_of(analysis):
            self._figures.addWidget(self._card(figure))
        self._show_groups(analysis)

    def _card(self, figure: Figure) -> QWidget:
        from app.widgets.decisions.plots import view_of  # pyqtgraph, when the first figure is shown

        view = view_of(figure)
        self.views[figure.name] = view
        save = button(
            self.tr("Save…"), f"analysis_save.{figure.name}", partial(self._ask_file, figure), role="quiet",
            tip=self.tr("As PNG or SVG, or its numbers as CSV"),
        )  # fmt: skip
        save.setAccessibleName(self.tr("Save {figure}").format(figure=figure.title))
        head = hbox(label(figure.title, "strong"), 1, save)
        made = card(vbox(head, label(figure.note, "muted", wrap=True), view), f"analysis_figure.{figure.name}")
        made.setFixedWidth(FIGURE_WIDTH)
        return made

    def _show_picker(self, analysis: Analysis) -> None:
        found = analysis.yes_no
        self._picker.setVisible(found is not None)
        if found is not None:
            none = self.tr("No threshold reaches what is demanded.")
            self._picked.setText(none if found.pick is None else found.pick.sentence)
            self.at.blockSignals(True)
            self.at.setValue(self.at.value() if found.pick is None else found.pick.threshold)
            self.at.blockSignals(False)
            self._try()

    def _try(self) -> None:
        from app.presenters.analysis_figures import threshold_sentence

        analysis = self._analysis()
        if analysis is not None and analysis.yes_no is not None:
            self._tried.setText(threshold_sentence(analysis.yes_no, self.at.value()))

    def _show_groups(self, analysis: Analysis) -> None:
        from app.presenters.analysis_figures import group_heads, group_rows

        clear_layout(self._groups)
        rows, heads = group_rows(analysis), group_heads(analysis)
        self._group_card.setVisible(bool(rows))
        for column, text in enumerate(heads):
            side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
            self._groups.addWidget(label(text, "muted"), 0, column, side)
        for line, (cells, odd) in enumerate(rows, start=1):
            for column, text in enumerate(cells):
                shown = label(f"▲ {text}" if odd and not column else text, "warning" if odd else "")
                shown.setAccessibleName(f"{cells[0]}, {heads[column]}: {text}" if column else text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                self._groups.addWidget(shown, line, column, side)

    # ---- saving
    def _ask_file(self, figure: Figure) -> None:
        filters = ";;".join((self.tr("Picture (*.png)"), self.tr("Drawing (*.svg)"), self.tr("Numbers (*.csv)")))
        place = str(Path.home() / f"{self.question.currentText()}-{figure.name}.png")
        dialog = QFileDialog(self, self.tr("Save figure"), place, filters)
        dialog.setObjectName("analysis_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("png")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen[-4:-1]))
        dialog.fileSelected.connect(lambda path: self.save(figure.name, Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save(self, figure: str, path: Path) -> None:
        """Write a figure that is shown: its numbers for ``.csv``, a drawing for ``.svg``, else a picture."""
        if path.suffix.lower() == ".csv":
            self._presenter.save_numbers(path, self.question.currentIndex(), figure)
            return
        from app.widgets.decisions.plots import save_picture

        try:
            save_picture(self.views[figure], path)
        except OSError as error:
            self._notifier.error(self.tr("Cannot write {path}: {why}").format(path=path, why=error.strerror), "")
            return
        self._presenter.saved.emit(str(path))

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("A folder for the numbers"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self._presenter.save_all(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
