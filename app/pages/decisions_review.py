"""The review queue of a run: the least certain answer, what it was made from, and one key for what is right."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QProgressBar, QStackedWidget, QWidget

from app.presenters.review import ReviewPresenter
from app.widgets.decisions.answer_view import AnswerView
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import (
    EmptyState,
    FixedText,
    ScrollPane,
    bare_splitter,
    button,
    clear_layout,
    hbox,
    label,
    named,
    vbox,
)
from engine.batch.review import CANNOT_TELL, ReviewItem
from engine.domain.question import Question, Score

LATER, UNDO = "s", "u"
LONGEST = 40  # characters of an answer on its button


class ReviewPart(QWidget):
    """Keys: those on the buttons say what is right, S leaves it for later, U or Ctrl+Z takes the last word back."""

    def __init__(self, presenter: ReviewPresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("review")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Review of the answers"))
        self._presenter = presenter
        self._run_id, self._begun = "", False
        self.question = named(QComboBox(), "review_question", self.tr("Review only this question"))
        self.author = named(QLineEdit(presenter.author), "review_author", self.tr("Reviewer"))
        self.author.setMaximumWidth(180)
        self.bar = named(QProgressBar(), "review_bar", self.tr("Answers reviewed"))
        self.bar.setTextVisible(False)
        self._progress = named(label("", "muted"), "review_progress")
        self._head = label("", "heading", wrap=True)
        self._asked = named(label("", "strong", wrap=True), "review_asked")
        self.input = FixedText("review_input", self.tr("The row as the table has it"), read_only=True)
        self.answer = AnswerView("review_answer")
        self._keys = FlowLayout(spacing=8)
        self._stack = QStackedWidget()
        self._build()
        presenter.shown.connect(self._show)
        self.question.currentIndexChanged.connect(lambda _index: self._begin())
        self.author.editingFinished.connect(self._on_author)

    def set_run(self, run_id: str, questions: tuple[Question, ...]) -> None:
        """Another run is open; its first answer is fetched when this can be seen."""
        self._run_id, self._begun = run_id, False
        self.question.blockSignals(True)
        self.question.clear()
        self.question.addItem(self.tr("All questions"), "")
        for each in questions:
            self.question.addItem(each.id, each.id)
        self.question.blockSignals(False)
        if self.isVisible() or not run_id:
            self._begin()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.setFocus()
        if not self._begun:
            self._begin()

    def event(self, event: QEvent) -> bool:
        """Undo is ours here, not the form's."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_undo(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, item = event.text().lower(), self._presenter.item
        if _is_undo(event) or key == UNDO:
            self._presenter.undo()
        elif key == LATER:
            self._presenter.skip()
        elif item is not None and key in item.keys:
            self._presenter.say(item.keys[key])
        else:
            super().keyPressEvent(event)

    # ---- private
    def _build(self) -> None:
        top = FlowLayout(spacing=8)
        reviewer = QWidget()
        reviewer.setLayout(hbox(label(self.tr("Reviewer"), "muted"), self.author))
        for part in (self.question, reviewer, self._progress):
            top.addWidget(part)
        left = QWidget()
        left.setLayout(vbox(self._head, self._asked, self.input))
        right = QWidget()
        right.setLayout(vbox(label(self.tr("The model"), "strong"), self.answer, 1))
        splitter = bare_splitter("review_splitter", left, ScrollPane(right), sizes=(560, 300))
        undo = button(self.tr("Ctrl+Z  Undo"), "review_undo", self._presenter.undo, role="quiet")
        later = button(self.tr("S  Later"), "review_skip", self._presenter.skip, role="quiet")
        keys = QWidget()
        keys.setLayout(self._keys)
        bottom = hbox(keys, later, undo)
        bottom.setStretchFactor(keys, 1)
        at_work = QWidget()
        box = vbox(splitter, bottom, spacing=12)
        box.setStretchFactor(splitter, 1)
        at_work.setLayout(box)
        for made in (undo, later):
            made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        done = EmptyState(
            "review_empty",
            self.tr("Nothing is left to review"),
            self.tr("Every readable or unreadable answer of this choice has been looked at, or was left for later."),
            [("again", self.tr("Show those left for later")), ("undo", self.tr("Undo the last label"))],
        )
        done.chosen.connect(lambda key: self._presenter.undo() if key == "undo" else self._presenter.take_up())
        self._stack.addWidget(at_work)
        self._stack.addWidget(done)
        outer = vbox(top, self.bar, self._stack)
        outer.setStretchFactor(self._stack, 1)
        self.setLayout(outer)

    def _begin(self) -> None:
        self._begun = True
        self._presenter.begin(self._run_id, self.question.currentData() or "")

    def _on_author(self) -> None:
        name = self.author.text().strip()
        if name and name.isprintable() and name != self._presenter.author:
            self._presenter.author = name
            self._begin()
        elif not name:
            self.author.setText(self._presenter.author)

    def _show(self, item: ReviewItem | None) -> None:
        presenter = self._presenter
        self.bar.setRange(0, max(1, presenter.total))
        self.bar.setValue(presenter.reviewed)
        text = self.tr("{done} of {total} reviewed").format(
            done=f"{presenter.reviewed:,}", total=f"{presenter.total:,}"
        )
        if presenter.passed:
            text += self.tr(" · {n} left for later").format(n=presenter.passed)
        self._progress.setText(text)
        self._stack.setCurrentIndex(0 if item is not None else 1)
        if item is not None:
            self._show_item(item)

    def _show_item(self, item: ReviewItem) -> None:
        question, answer = item.question, item.answer
        self._head.setText(self.tr("Row {row} · {question}").format(row=answer.row, question=question.id))
        self._asked.setText(question.instructions)
        self.answer.show_answer(question, answer.reading)
        cells = zip(item.names, answer.cells, strict=True)
        self.input.setPlainText("\n\n".join(f"{column}:\n{cell}" for column, cell in cells))
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        clear_layout(self._keys)
        for key, value in item.keys.items():
            made = button(
                f"{key.upper()}  {self._named(question, value)}",
                f"review_key.{key}",
                partial(self._presenter.say, value),
                tip=self._named(question, value, len(value) + 1000),
            )
            made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self._keys.addWidget(made)
        if had_focus:
            self.setFocus()

    def _named(self, question: Question, value: str, most: int = LONGEST) -> str:
        if value == CANNOT_TELL:
            return self.tr("cannot tell")
        text = question.levels[int(value)] if isinstance(question, Score) else value
        return text if len(text) <= most else f"{text[:most]}…"


def _is_undo(event: QKeyEvent) -> bool:
    return event.matches(QKeySequence.StandardKey.Undo)
