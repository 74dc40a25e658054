"""The form that is being edited: one immutable ``Form`` at a time, with every edit on an undo stack.

An edit swaps the whole form for another one. Undo is therefore exact by construction, and a form that is not valid yet
(an empty id, one option) is simply a ``Form`` with problems, see ``app.models.decisions_check``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from engine.domain.form import Form
from engine.domain.picture import PictureColumn
from engine.domain.question import MAX_QUESTIONS, Choice, Noul, Option, Question, QuestionType, Score
from engine.domain.reading import Method

UNDO_LIMIT = 500


def empty_form(name: str = "") -> Form:
    """A form without questions and without a state."""
    return Form(name=name, state="", questions=())


def fresh_id(base: str, taken: Iterable[str]) -> str:
    """``base`` itself, or ``base_2``, ``base_3``, ... when it is taken."""
    used = set(taken)
    stem = base or "question"
    if stem not in used:
        return stem
    number = 2
    while f"{stem}_{number}" in used:
        number += 1
    return f"{stem}_{number}"


def new_question(kind: QuestionType, taken: Iterable[str]) -> Question:
    """A question of this type with the fewest options or levels that are allowed, still to be filled in."""
    match kind:
        case "noul":
            return Noul(fresh_id("yes_no", taken), "")
        case "choice":
            return Choice(fresh_id("choice", taken), "", (Option(""), Option("")))
        case "score":
            return Score(fresh_id("score", taken), "", ("", ""))


def converted(question: Question, kind: QuestionType) -> Question:
    """The question as another type; id, instructions, gold and the texts that have a place there are kept."""
    if question.type == kind:
        return question
    texts = _texts(question)
    padded = (*texts, *("",) * (2 - len(texts)))
    match kind:
        case "noul":
            return Noul(question.id, question.instructions, padded[0], padded[1], gold=question.gold)
        case "choice":
            return Choice(question.id, question.instructions, tuple(map(Option, padded)), gold=question.gold)
        case "score":
            return Score(question.id, question.instructions, tuple(padded[:10]), gold=question.gold)


def _texts(question: Question) -> tuple[str, ...]:
    match question:
        case Noul(true_means=true_means, false_means=false_means):
            return (true_means, false_means)
        case Choice():
            return question.answers
        case Score(levels=levels):
            return levels


class FormDocument(QObject):
    """Holds the form, the file it belongs to and the undo stack.

    Signals:
        changed: the form is another one; read ``form``.
        focus_requested: an edit, undo or redo touched this question (index), which should be shown.
        origin_changed: the file or the dirty marker changed.
    """

    changed = Signal()
    focus_requested = Signal(int)
    origin_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._form = empty_form()
        self._path: Path | None = None
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(UNDO_LIMIT)
        self.stack.cleanChanged.connect(self.origin_changed)

    @property
    def form(self) -> Form:
        return self._form

    @property
    def path(self) -> Path | None:
        """The file that the form was read from or saved to; None for a new form and for a copy of an example."""
        return self._path

    @property
    def dirty(self) -> bool:
        """Whether there are edits that no file holds."""
        return not self.stack.isClean()

    def load(self, form: Form, path: Path | None, *, edited: bool = False) -> None:
        """Replace everything; the undo stack starts anew.

        Args:
            edited: the form has edits already that no file holds.
        """
        self._form = form
        self._path = path
        self.stack.clear()
        self.stack.setClean()
        if edited:
            self.stack.resetClean()
        self.changed.emit()
        self.origin_changed.emit()
        if form.questions:
            self.focus_requested.emit(0)

    def mark_saved(self, path: Path) -> None:
        """The form as it is now lies in this file."""
        self._path = path
        self.stack.setClean()
        self.origin_changed.emit()

    def edit(self, after: Form, text: str, *, key: str = "", focus: int = -1) -> None:
        """Put an edit on the stack.

        Args:
            after: the form with the edit made.
            text: names the edit in the undo button.
            key: edits in a row with the same key (typing into one field) become one; empty never merges.
            focus: the question that the edit is about, -1 for none.
        """
        if after != self._form:
            self.stack.push(_Edit(self, after, text, key, focus))

    def apply(self, form: Form, focus: int) -> None:
        """Show this form. Called by the undo commands only."""
        self._form = form
        self.changed.emit()
        if focus >= 0:
            self.focus_requested.emit(min(focus, len(form.questions) - 1))

    # ---- edits of the form itself
    def set_name(self, name: str) -> None:
        self.edit(replace(self._form, name=name), self.tr("name"), key="name")

    def set_state(self, state: str) -> None:
        self.edit(replace(self._form, state=state), self.tr("row text"), key="state")

    def set_document(self, document: str) -> None:
        """The template of the whole document; blank for none."""
        self.edit(
            replace(self._form, document=document if document.strip() else None), self.tr("document"), key="document"
        )

    def set_group(self, group: str) -> None:
        self.edit(replace(self._form, group=group or None), self.tr("group column"), key="group")

    def set_pictures(self, column: str, separator: str) -> None:
        """The column that names pictures, empty for none, and what stands between several of a cell."""
        chosen = PictureColumn(column, separator) if column else None
        self.edit(replace(self._form, pictures=chosen), self.tr("column of pictures"), key="pictures")

    def set_method(self, method: Method) -> None:
        self.edit(replace(self._form, method=method), self.tr("reading method"), key="method")

    # ---- edits of the list of questions
    def add(self, kind: QuestionType) -> None:
        """Append a new question; does nothing at the limit of 64."""
        if len(self._form.questions) < MAX_QUESTIONS:
            question = new_question(kind, self._ids())
            self._set_questions((*self._form.questions, question), self.tr("add question"), len(self._form.questions))

    def duplicate(self, index: int) -> None:
        """A copy with an id of its own, right behind the original; does nothing at the limit of 64."""
        questions = self._form.questions
        if 0 <= index < len(questions) < MAX_QUESTIONS:
            copy = replace(questions[index], id=fresh_id(f"{questions[index].id}_copy", self._ids()))
            after = (*questions[: index + 1], copy, *questions[index + 1 :])
            self._set_questions(after, self.tr("duplicate question"), index + 1)

    def delete(self, index: int) -> None:
        questions = self._form.questions
        if 0 <= index < len(questions):
            after = (*questions[:index], *questions[index + 1 :])
            self._set_questions(after, self.tr("delete question"), min(index, len(after) - 1))

    def move(self, index: int, target: int) -> bool:
        """Let the question at ``index`` stand at ``target``; False when that changes nothing."""
        questions = list(self._form.questions)
        if index == target or not (0 <= index < len(questions) and 0 <= target < len(questions)):
            return False
        questions.insert(target, questions.pop(index))
        self._set_questions(tuple(questions), self.tr("move question"), target)
        return True

    def set_question(self, index: int, question: Question, field: str) -> None:
        """Replace one question; typing on in the same field is one edit."""
        questions = self._form.questions
        if 0 <= index < len(questions) and questions[index] != question:
            after = (*questions[:index], question, *questions[index + 1 :])
            key = f"{index}/{field}" if field else ""
            self._set_questions(after, self.tr("edit %1").replace("%1", question.id or "?"), index, key)

    def _set_questions(self, questions: tuple[Question, ...], text: str, focus: int, key: str = "") -> None:
        self.edit(replace(self._form, questions=questions), text, key=key, focus=focus)

    def _ids(self) -> tuple[str, ...]:
        return tuple(question.id for question in self._form.questions)


class _Edit(QUndoCommand):
    """One step: the form before and the form after."""

    def __init__(self, document: FormDocument, after: Form, text: str, key: str, focus: int) -> None:
        super().__init__(text)
        self._document = document
        self._before = document.form
        self._after = after
        self._key = key
        self._focus = focus

    def id(self) -> int:
        # Qt asks mergeWith only for equal ids other than -1; the key itself decides there.
        return 1 if self._key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Edit) or other._key != self._key:
            return False
        self._after = other._after
        return True

    def redo(self) -> None:
        self._document.apply(self._after, self._focus)

    def undo(self) -> None:
        self._document.apply(self._before, self._focus)
