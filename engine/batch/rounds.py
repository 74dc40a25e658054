"""Beginning another round of a finished run: what is read again, with which method, and which questions are new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.batch.form import check_columns, dump_form, form_sha256, load_form
from engine.batch.prepare import form_of
from engine.domain.form import Form
from engine.domain.reading import Method
from engine.domain.run import Round, RoundKind
from engine.errors import InputError
from engine.reads.reader import check_reading
from engine.store.run_rounds import check_begin, no_new_question
from engine.store.runs import RunStore

MORE_DRAWS = 8  # of a second reading: half of the draws must be readable, and four seldom tell


def check_round(store: RunStore, kind: RoundKind, method: Method | None = None, form_path: Path | None = None) -> None:
    """Raise what beginning such a round would, without beginning it: before an engine is started for it.

    Args:
        method: None: as the round takes it by itself.
        form_path: of questions.

    Raises:
        InputError: as ``retry``, ``reread`` and ``add_questions``.
    """
    store.query(lambda connection: check_begin(connection, kind))
    chosen = method or store.spec.method
    if kind == "reread":
        chosen = _reread_method(store, method)
    form = form_of(store)
    if form_path is not None:
        new = load_form(form_path)
        form, chosen = _extended(store, new, form_path), new.method
    check_reading(form.questions, chosen)


def retry(store: RunStore, engine: str, method: Method | None = None) -> Round:
    """Set out to read what failed again.

    Args:
        engine: in words.
        method: None: as the run was read.

    Raises:
        InputError: the run is not finished, or nothing failed.
    """
    return store.begin_round("retry", method or store.spec.method, engine)


def reread(store: RunStore, engine: str, method: Method | None = None) -> Round:
    """Set out to read what was unreadable again, with more draws.

    Raises:
        InputError: the run is not finished, nothing was unreadable, or the wire makes one draw only.
    """
    return store.begin_round("reread", _reread_method(store, method), engine)


def _reread_method(store: RunStore, method: Method | None) -> Method:
    chosen = method or replace(store.spec.method, draws=MORE_DRAWS)
    if chosen.wire == "native":
        raise InputError(
            "reread.native",
            "the native wire makes one draw a question: a second reading would say the same",
            remedy="read again over the canvas wire, or reword the question",
        )
    return chosen


def add_questions(store: RunStore, form_path: Path, engine: str) -> Round:
    """Set out to read the questions of a form that the run has not got yet.

    The form may hold the old questions too, unchanged; its state must be the run's.

    Raises:
        InputError: another state, a question that was changed, none that is new, or the run is not finished.
    """
    new = load_form(form_path)
    form = _extended(store, new, form_path)
    ids = [question.id for question in form.questions]
    return store.add_questions(dump_form(form), form_sha256(form_path), ids, new.method, engine)


def _extended(store: RunStore, new: Form, form_path: Path) -> Form:
    """The run's form with the new questions, checked."""
    old = form_of(store)
    form = extended(old, new, str(form_path))
    if len(form.questions) == len(old.questions):
        raise no_new_question()
    check_columns(form, store.spec.columns, str(form_path))
    return form


def extended(old: Form, new: Form, path: str) -> Form:
    """A run's form with the questions of another form that it has not got yet behind its own.

    Args:
        path: where the other form lies, for messages.

    Raises:
        InputError: another state or column of pictures, or a question that was changed.
    """
    if new.pictures != old.pictures:
        raise InputError(
            "round.other_pictures",
            "{path}: its column of pictures is not the run's; questions can only be added about the same pictures",
            remedy="take the run's pictures, or begin a new run",
            path=path,
        )
    if new.state != old.state:
        raise InputError(
            "round.other_state",
            "{path}: its state is not the run's; questions can only be added about the same text",
            remedy="take the run's state, or begin a new run",
            path=path,
        )
    known = {question.id: question for question in old.questions}
    for question in new.questions:
        if question.id in known and known[question.id] != question:
            message = "{path}: question {question} is in the run already, and was another"
            remedy = "give the changed question an id of its own"
            raise InputError("round.changed", message, remedy=remedy, path=path, question=repr(question.id))
    added = tuple(question for question in new.questions if question.id not in known)
    return replace(old, questions=(*old.questions, *added))
