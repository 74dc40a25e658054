"""First part of the Decisions page: the questions of the form."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.decisions_questions import QuestionsModel
from app.presenters.decisions import DecisionsPresenter
from app.theme import set_role
from app.widgets.decisions.parts import EmptyState, bare_splitter, vbox
from app.widgets.decisions.question_editor import QuestionEditor
from app.widgets.decisions.question_list import QuestionList
from engine.batch.form_advice import advise


class FormPart(QWidget):
    """The list of questions beside the editor of the one that is selected.

    Signals:
        example_requested(str): open a bundled example.
        open_requested(): open a form file.
    """

    example_requested = Signal(str)
    open_requested = Signal()

    def __init__(self, presenter: DecisionsPresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("form_part")
        self._presenter = presenter
        self._document = presenter.document
        self.model = QuestionsModel(self._document, self)
        self.list = QuestionList(self.model)
        self.editor = QuestionEditor()
        self._empty = self._make_empty()
        self._stack = QStackedWidget()
        self._build()
        self._connect()
        self._show()

    def _make_empty(self) -> EmptyState:
        empty = EmptyState(
            "form_empty",
            self.tr("What do you want to decide?"),
            self.tr(
                "A form asks typed questions about every row of a table: yes or no, one of several options, or a "
                "level. Each answer comes as a probability with the evidence whether to trust it."
            ),
            [
                ("noul", self.tr("Add a yes/no question")),
                ("tickets", self.tr("Tickets example")),
                ("contradictions", self.tr("Contracts example")),
                ("open", self.tr("Open a form…")),
            ],
        )
        empty.chosen.connect(self._on_empty)
        return empty

    def _build(self) -> None:
        left = QWidget()
        left.setLayout(vbox(self.list))
        left.setMinimumWidth(220)
        splitter = bare_splitter("form_splitter", left, self.editor, sizes=(280, 640))
        splitter.setHandleWidth(1)
        splitter.setStretchFactor(1, 1)
        set_role(splitter, "")
        left_layout = left.layout()
        if left_layout is not None:
            left_layout.setContentsMargins(16, 12, 12, 12)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(splitter)
        self.setLayout(vbox(self._stack))

    def _connect(self) -> None:
        document, presenter = self._document, self._presenter
        self.list.add_requested.connect(self._add)
        self.list.duplicate_requested.connect(document.duplicate)
        self.list.delete_requested.connect(document.delete)
        self.list.move_requested.connect(document.move)
        self.list.current_changed.connect(lambda _row: self._show())
        self.editor.edited.connect(self._on_edited)
        document.changed.connect(self._show)
        document.focus_requested.connect(self.list.select)
        presenter.problems_changed.connect(self._show_problems)
        presenter.labels_checked.connect(self._show_labels)
        presenter.table.changed.connect(lambda: self.editor.set_columns(presenter.table.columns))

    def _add(self, kind: str) -> None:
        self._document.add(kind)  # type: ignore[arg-type]  # the menu knows the three types only
        self.editor.focus_first()

    def _on_empty(self, key: str) -> None:
        if key == "noul":
            self._add("noul")
        elif key == "open":
            self.open_requested.emit()
        else:
            self.example_requested.emit(key)

    def _on_edited(self, question: object, field: str) -> None:
        self._document.set_question(self.list.current(), question, field)  # type: ignore[arg-type]

    def _show(self) -> None:
        questions = self._document.form.questions
        self._stack.setCurrentIndex(1 if questions else 0)
        row = self.list.current()
        if questions and row < 0:
            self.list.select(0)
            return
        self.editor.show_question(questions[row] if 0 <= row < len(questions) else None)
        self._show_problems()
        self._show_labels()

    def _show_problems(self) -> None:
        counts: dict[int, int] = {}
        for problem in self._presenter.problems:
            if problem.question is not None:
                counts[problem.question] = counts.get(problem.question, 0) + 1
        self.model.set_problems(counts)
        row = self.list.current()
        wrong = [problem for problem in self._presenter.problems if problem.question == row]
        self.editor.show_problems(wrong)
        place = f"questions[{row}]."
        advice = () if wrong or row < 0 else advise(self._document.form)
        self.editor.show_advice([each.text for each in advice if each.place.startswith(place)])

    def _show_labels(self) -> None:
        row, questions = self.list.current(), self._document.form.questions
        question_id = questions[row].id if 0 <= row < len(questions) else ""
        text, good = self._presenter.label_findings.get(question_id, ("", True))
        self.editor.show_labels(text, good=good)
