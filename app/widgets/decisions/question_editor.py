"""The editor of one question. It never holds state of its own: it shows a question and reports every edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.models.decisions_check import Problem
from app.models.decisions_document import converted
from app.widgets.decisions.criteria import NoulCriteria, levels_editor, options_editor, set_text
from app.widgets.decisions.parts import Field, FieldMessage, form_field, hbox, label, named, vbox
from engine.domain.question import Choice, Noul, Option, Question, QuestionType, Score

KINDS: tuple[QuestionType, ...] = ("noul", "choice", "score")
BESIDE = 76  # average characters of the font that three fields beside one another need


class ColumnBox(QComboBox):
    """A column of the table, or none; one may also type a column that no open table has yet.

    Signals:
        column_edited(str): another column, empty for none.
    """

    column_edited = Signal(str)

    def __init__(self, name: str, spoken: str) -> None:
        super().__init__()
        named(self, name, spoken)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        edit = self.lineEdit()
        if edit is not None:
            form_field(named(edit, f"{name}.edit", spoken))
            edit.setPlaceholderText(self.tr("none"))
            edit.textEdited.connect(self.column_edited)
        self.textActivated.connect(self.column_edited)

    def show_column(self, column: str) -> None:
        if self.currentText() != column:
            self.setEditText(column)

    def set_columns(self, columns: Sequence[str]) -> None:
        """Offer these columns; what is chosen stays."""
        text = self.currentText()
        blocked = self.blockSignals(True)
        self.clear()
        self.addItems(["", *columns])
        self.setEditText(text)
        self.blockSignals(blocked)


class ThresholdEdit(QLineEdit):
    """A number, or nothing. It reports when the number is complete; what is no number is told and changes nothing.

    Signals:
        edited(object): float, or None.
        refused(str): what was typed is no number.
    """

    edited = Signal(object)
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        form_field(named(self, "question_threshold", self.tr("Threshold")))
        self.setPlaceholderText(self.tr("none"))
        self.setToolTip(self.tr("Used by the analysis and the review; no read depends on it"))
        self.editingFinished.connect(self._report)

    def show_threshold(self, value: float | None) -> None:
        """Show this one, unless its user is at it."""
        shown = "" if value is None else f"{value:g}"
        if not self.isModified() and self.text() != shown:
            self.setText(shown)

    def _report(self) -> None:
        text = self.text().strip().replace(",", ".")
        self.setModified(False)
        try:
            value = float(text) if text else None
        except ValueError:
            self.refused.emit(self.tr("“{text}” is no number.").format(text=text))
            return
        self.edited.emit(value)


class QuestionEditor(QScrollArea):
    """Signals:
    edited(object, str): the changed question and the field that was edited ("" starts a new undo step).
    """

    edited = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "question_editor", self.tr("Question"))
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self._question: Question | None = None
        tip = self.tr("Names the columns of the export; the model never sees it")
        self.id_edit = form_field(named(QLineEdit(), "question_id", tip=tip))
        self.id_edit.textEdited.connect(lambda text: self._change("id", id=text))
        self.instructions = self._make_instructions()
        self.noul = NoulCriteria()
        self.noul.edited.connect(self._on_noul)
        self.options = options_editor(self)
        self.options.edited.connect(self._on_options)
        self.levels = levels_editor(self)
        self.levels.edited.connect(self._on_levels)
        self.gold = ColumnBox("question_gold", self.tr("Gold column"))
        self.gold.setToolTip(self.tr("A column with the right answers; the run is measured against it"))
        self.gold.column_edited.connect(lambda text: self._change("gold", gold=text or None))
        self.threshold = ThresholdEdit()
        self.threshold.edited.connect(lambda value: self._change("", threshold=value))
        self.threshold.refused.connect(lambda text: self.threshold_field.message.say(text))
        self.advice = FieldMessage("question_advice")
        self.labels_message = FieldMessage("labels_message")
        self._kinds = QButtonGroup(self)
        self._stack = QStackedWidget()
        self._pages: list[QWidget] = []
        self._holder = self._build()
        self.setWidget(self._holder)

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        needed = self._holder.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        needed += 2 * self.frameWidth()
        return QSize(needed, least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_names"):
            self._arrange()

    def _arrange(self) -> None:
        beside = self.viewport().width() >= BESIDE * self.fontMetrics().averageCharWidth()
        ways = QBoxLayout.Direction
        self._names.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def show_question(self, question: Question | None) -> None:
        """Show a question; fields whose text is already right are left alone."""
        self._question = question
        self._holder.setEnabled(question is not None)
        if question is None:
            return
        set_text(self.id_edit, question.id)
        if self.instructions.toPlainText() != question.instructions:
            self.instructions.blockSignals(True)
            self.instructions.setPlainText(question.instructions)
            self.instructions.blockSignals(False)
        self.gold.show_column(question.gold or "")
        self.threshold.show_threshold(question.threshold)
        self.threshold_field.hint.setText(self._threshold_hint(question))
        self._kinds.button(KINDS.index(question.type)).setChecked(True)
        self._show_criteria(question)

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """Say what is wrong beside the fields of the question that is shown."""
        by_field = {problem.field: problem.text for problem in reversed(tuple(problems))}
        rows = {int(key.partition(".")[2]): text for key, text in by_field.items() if key.startswith("criteria.")}
        self.id_field.message.say(by_field.get("id", ""))
        self.text_field.message.say(by_field.get("instructions", ""))
        self.gold_field.message.say(by_field.get("gold", ""))
        self.threshold_field.message.say(by_field.get("threshold", ""))
        for editor in (self.options, self.levels):
            editor.show_problems(by_field.get("criteria", ""), rows)

    def show_labels(self, text: str, *, good: bool) -> None:
        """What the engine's tokenizer says about the labels; empty while unknown."""
        self.labels_message.say(text, "success" if good else "danger")

    def show_advice(self, texts: Sequence[str]) -> None:
        """What experience says against a question that is valid; it stops nothing."""
        self.advice.say("\n".join(self.tr("Advice: {text}.").format(text=text) for text in texts), "warning")

    def set_columns(self, columns: Sequence[str]) -> None:
        self.gold.set_columns(columns)

    def focus_first(self) -> None:
        """Put the cursor where a new question is begun."""
        self.instructions.setFocus()

    # ---- building
    def _make_instructions(self) -> QPlainTextEdit:
        edit = form_field(named(QPlainTextEdit(), "question_instructions"))
        edit.setPlaceholderText(self.tr("Ask one thing, for instance: Does the customer ask for money back?"))
        edit.setTabChangesFocus(True)
        edit.setFixedHeight(QFontMetrics(edit.font()).lineSpacing() * 4 + 18)
        edit.textChanged.connect(lambda: self._change("instructions", instructions=edit.toPlainText()))
        return edit

    def _make_kinds(self) -> QWidget:
        box = hbox(spacing=6)
        texts = (self.tr("Yes / no"), self.tr("Choice"), self.tr("Score"))
        for place, (kind, text) in enumerate(zip(KINDS, texts, strict=True)):
            made = named(QPushButton(text), f"question_kind.{kind}")
            made.setCheckable(True)
            made.clicked.connect(lambda _checked=False, kind=kind: self._on_kind(kind))
            self._kinds.addButton(made, place)
            box.addWidget(made)
        box.addStretch(1)
        holder = named(QWidget(), "question_kind", self.tr("Type of the question"))
        holder.setLayout(box)
        return holder

    def _build(self) -> QWidget:
        self.id_field = Field(self.tr("Id"), self.id_edit, hint=self.tr("names the columns"))
        self.text_field = Field(self.tr("Question"), self.instructions)
        self.gold_field = Field(self.tr("Gold column"), self.gold, hint=self.tr("optional"))
        self.threshold_field = Field(self.tr("Threshold"), self.threshold, hint=" ")
        for editor in (self.noul, self.options, self.levels):
            page = QWidget()
            page.setLayout(vbox(editor, 1))
            self._pages.append(page)
            self._stack.addWidget(page)
        self._names = hbox(self.id_field, self.gold_field, self.threshold_field, spacing=16)
        meaning = label(self.tr("Answers"), "strong")
        column = vbox(
            Field(self.tr("Type"), self._make_kinds()),
            self.text_field,
            vbox(meaning, self._stack, self.labels_message, self.advice, spacing=4),
            self._names,
            1,
            spacing=16,
        )
        column.setContentsMargins(20, 12, 20, 12)
        content = QWidget()
        content.setMaximumWidth(860)
        content.setLayout(column)
        holder = QWidget()
        outer = QVBoxLayout(holder)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(content)
        return holder

    def _threshold_hint(self, question: Question) -> str:
        match question:
            case Noul():
                return self.tr("p(yes) of a yes")
            case Choice():
                return self.tr("share to trust")
            case Score():
                return self.tr("level that counts")

    # ---- showing and editing
    def _show_criteria(self, question: Question) -> None:
        self._stack.setCurrentIndex(KINDS.index(question.type))
        for page in self._pages:
            # Only the visible page may claim height: a choice of 26 must not stretch a yes/no question.
            ignored = page is not self._stack.currentWidget()
            page.setSizePolicy(
                QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored if ignored else QSizePolicy.Policy.Preferred
            )
        match question:
            case Noul():
                self.noul.show_texts(question.true_means, question.false_means)
            case Choice():
                self.options.show_rows(list(question.options))
            case Score():
                self.levels.show_rows([Option(level) for level in question.levels])

    def _change(self, field: str, **values: object) -> None:
        if self._question is None:
            return
        changed = replace(self._question, **values)  # type: ignore[arg-type]
        if changed != self._question:
            self._question = changed
            self.edited.emit(changed, field)

    def _on_kind(self, kind: QuestionType) -> None:
        if self._question is not None and self._question.type != kind:
            self._question = converted(self._question, kind)
            self.edited.emit(self._question, "")

    def _on_noul(self, true_means: str, false_means: str, field: str) -> None:
        if isinstance(self._question, Noul):
            self._change(field, true_means=true_means, false_means=false_means)

    def _on_options(self, options: list[Option], field: str) -> None:
        if isinstance(self._question, Choice):
            self._change(field, options=tuple(options))

    def _on_levels(self, levels: list[Option], field: str) -> None:
        if isinstance(self._question, Score):
            self._change(field, levels=tuple(level.name for level in levels))
