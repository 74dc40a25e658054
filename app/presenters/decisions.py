"""Between the Decisions page and the engine: form files, problems, label checks, previews of one read."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from app.models.decisions_check import Problem, check_form
from app.models.decisions_document import FormDocument, empty_form
from app.models.decisions_preview import JointPrice, PreviewFacts
from app.models.engine_state import EngineState
from app.presenters.decisions_draft import Draft, load_draft, save_draft
from app.presenters.decisions_table import TablePresenter, missing_columns, renamed
from app.tasks import cancel_all, spawn, spawn_late
from engine import paths
from engine.batch.form import dump_form, load_form, parse_form
from engine.batch.selection import Selection
from engine.client.http import EngineClient
from engine.domain.form import Form
from engine.domain.question import Question
from engine.errors import EngineError, InputError
from engine.reads.interference import SAMPLE_ROWS, measure_interference
from engine.reads.labels import JointLines, Tokenize, alone_labels
from engine.reads.reader import Reader, ReadPreview

LABEL_CHECK_AFTER_MS = 350  # of silence while typing
DRAFT_AFTER_MS = 1000  # likewise; a crash loses at most this much
log = logging.getLogger(__name__)


class EngineHandle(Protocol):
    """What this room needs of the shell's engine presenter."""

    client: EngineClient | None
    state: EngineState
    state_changed: SignalInstance

    @property
    def url(self) -> str: ...

    @property
    def api_key(self) -> str | None: ...


class DecisionsPresenter(QObject):
    """Owns the form under edit and the table.

    Signals:
        problems_changed(): read ``problems``.
        labels_checked(): read ``label_findings``.
        row_changed(): the rendered row is another one; read ``row``, ``rendered``.
        mapping_changed(list): columns that the form names and the table lacks, each with the nearest.
        form_failed(str): a form file cannot be read or written.
        preview_ready(object): ``PreviewFacts``; preview_failed(str).
        price_ready(object): ``JointPrice``; price_failed(str).
    """

    problems_changed = Signal()
    labels_checked = Signal()
    row_changed = Signal()
    mapping_changed = Signal(list)
    form_failed = Signal(str)
    preview_ready = Signal(object)
    preview_failed = Signal(str)
    price_ready = Signal(object)
    price_failed = Signal(str)

    def __init__(self, engine: EngineHandle, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.document = FormDocument(self)
        self.table = TablePresenter(self)
        self.problems: tuple[Problem, ...] = ()
        self.label_findings: dict[str, tuple[str, bool]] = {}
        self.row = 0
        self.rendered = ("", "")
        self._tokens: dict[str, tuple[int, ...]] = {}
        self._missing: list[tuple[str, str]] = []
        self._closed = False
        self._draft_timer = self._timer("draft", DRAFT_AFTER_MS)
        self._draft_timer.timeout.connect(self.keep_draft)
        self._label_timer = self._timer("label check", LABEL_CHECK_AFTER_MS)
        self._label_timer.timeout.connect(lambda: spawn_late(self, self.check_labels, "label check"))
        self.document.changed.connect(self._on_form)
        self.document.origin_changed.connect(self._keep_draft_soon)
        self.table.changed.connect(self._on_table)
        self.table.selection_changed.connect(self._keep_draft_soon)
        engine.state_changed.connect(lambda _state: self._on_engine())
        self._on_form()

    # ---- what was open
    def restore(self) -> None:
        """Open what was open when the window was left, or a new form."""
        draft = load_draft()
        if draft is None:
            self.new_form()
            return
        self.document.load(draft.form, draft.path, edited=draft.edited)
        if draft.table is not None and draft.table.is_file():
            self.table.selection = Selection(**draft.selection)
            spawn(self, self.table.load(draft.table, draft.reading), "open table")

    def keep_draft(self) -> None:
        """Write down what is open; a disk that is full must not stop the user from going on."""
        facts = self.table.facts
        table = Path(facts.path) if facts is not None else None
        document = self.document
        draft = Draft(document.form, document.path, document.dirty, table, self.table.overruled)
        draft = replace(draft, selection=self.table.selection.as_json())
        try:
            save_draft(draft)
        except OSError as error:
            log.warning("the draft of the form cannot be kept: %s", error)

    # ---- form files
    def new_form(self) -> None:
        self.document.load(empty_form(self.tr("New form")), None)

    def open_form(self, path: Path) -> bool:
        """Read a form file; when it is bad, what is open stays open."""
        try:
            form = load_form(path)
        except EngineError as error:
            self.form_failed.emit(str(error))
            return False
        self.form_failed.emit("")
        self.document.load(form, path)
        return True

    def open_example(self, name: str) -> None:
        """A bundled form with its table, as a copy: saving asks for a place."""
        folder = paths.resources_dir() / "examples" / name
        if self.open_form(folder / "form.json"):
            self.document.load(self.document.form, None)
            self.table.open(folder / "table.csv")

    def save_form(self, path: Path) -> bool:
        """Write the form; a form that could not be read again is refused, and the old file stays as it was."""
        incomplete = next(iter(check_form(self.document.form)), None)
        if incomplete is not None:
            place = incomplete.question
            name = self.document.form.questions[place].id if place is not None else self.document.form.name
            why = f"{name}: {incomplete.text}"
            self.form_failed.emit(self.tr("Not saved, the form is not complete. {why}").format(why=why))
            return False
        try:
            text = form_text(self.document.form, str(path))
            replace_file(path, text)
        except EngineError as error:
            self.form_failed.emit(self.tr("Not saved: {why}").format(why=error))
            return False
        except OSError as error:
            reason = error.strerror or str(error)
            self.form_failed.emit(self.tr("Cannot write {path}: {why}").format(path=path, why=reason))
            return False
        self.form_failed.emit("")
        self.document.mark_saved(path)
        return True

    # ---- the row that is previewed
    def show_row(self, index: int) -> None:
        self.row = min(max(index, 0), max(0, self.table.sample_size - 1))
        self._render()

    def rendered_document(self) -> tuple[str, str]:
        """(text, error) of the document of the row that is shown."""
        return self.table.render(self.document.form.document or "", self.row)

    def apply_mapping(self, names: dict[str, str]) -> None:
        """Use other columns wherever the form names the old ones: one step of undo."""
        form = self.document.form
        questions = tuple(
            replace(question, gold=names.get(question.gold, question.gold)) if question.gold else question
            for question in form.questions
        )
        group = names.get(form.group, form.group) if form.group else None
        document = renamed(form.document, names) if form.document else None
        state = renamed(form.state, names)
        after = replace(form, state=state, questions=questions, group=group, document=document)
        self.document.edit(after, self.tr("use other columns"))

    # ---- reads
    def preview(self, row: int, question_id: str, joint: bool) -> None:
        spawn(self, self._preview(row, question_id, joint), "preview read")

    async def read_once(self, row: int, question_id: str, joint: bool) -> None:
        """One read of one row, laid open; nothing is stored.

        Raises:
            EngineError: the engine refuses, is gone, or cannot read such a question.
        """
        client, form = self._engine.client, self.document.form
        question = next((each for each in form.questions if each.id == question_id), None)
        if client is None or question is None or row >= self.table.sample_size:
            self.preview_failed.emit(self.tr("Nothing to read: the engine, the row or the question is not there."))
            return
        state, error = self.table.state(form, row)
        if error:
            self.preview_failed.emit(error)
            return
        asked = form.questions if joint else (question,)
        pictured = form.pictures is not None
        reader = await Reader.open(client, asked, replace(form.method, joint=joint), pictures=pictured)
        begun = time.perf_counter()
        seen = await reader.preview(state, question_id)
        seconds = time.perf_counter() - begun
        self.preview_ready.emit(preview_facts(question, replace(seen, latency_s=seconds)))

    def measure_joint(self) -> None:
        spawn(self, self._measure_joint(), "compare joint and alone")

    async def check_labels(self) -> None:
        """Ask the engine's tokenizer whether every label is one token; findings by question id."""
        client, form = self._engine.client, self.document.form
        if client is None:
            self._set_findings({})
            return
        findings: dict[str, tuple[str, bool]] = {}
        broken = {problem.question for problem in self.problems if problem.field.startswith("criteria")}
        try:
            for index, question in enumerate(form.questions):
                if index not in broken and question.id:
                    findings[question.id] = await self._label_finding(client, question)
            if form.method.joint and not broken and form.questions:
                await self._check_joint(client, form.questions, findings)
        except EngineError:  # the engine went away: the next state change asks again
            return
        self._set_findings(findings)

    async def close_down(self) -> None:
        """The window leaves: nothing is asked any more."""
        self._closed = True
        self._label_timer.stop()
        if self._draft_timer.isActive():
            self._draft_timer.stop()
            self.keep_draft()
        await cancel_all(self.table)
        await cancel_all(self)

    # ---- private
    async def _label_finding(self, client: EngineClient, question: Question) -> tuple[str, bool]:
        try:
            await alone_labels(self._tokenizer(client), [question])
        except InputError as error:
            return str(error), False
        labels = question.labels
        shown = " / ".join(labels) if len(labels) <= 4 else f"{labels[0]} … {labels[-1]}"
        return self.tr("Labels {labels}: one token each in this engine").format(labels=shown), True

    async def _check_joint(
        self, client: EngineClient, questions: Sequence[Question], findings: dict[str, tuple[str, bool]]
    ) -> None:
        try:
            await JointLines.open(self._tokenizer(client), questions)
        except InputError as error:
            name = str(error.params.get("question", questions[0].id))
            findings[name] = (str(error), False)

    def _tokenizer(self, client: EngineClient) -> Tokenize:
        async def tokenize(text: str) -> tuple[int, ...]:
            if text not in self._tokens:
                self._tokens[text] = await client.tokenize(text)
            return self._tokens[text]

        return tokenize

    def _set_findings(self, findings: dict[str, tuple[str, bool]]) -> None:
        if findings != self.label_findings:
            self.label_findings = findings
            self.labels_checked.emit()

    def _on_form(self) -> None:
        self._check()
        self._render()
        self._check_labels_soon()
        self._keep_draft_soon()

    def _on_table(self) -> None:
        self.row = min(self.row, max(0, self.table.sample_size - 1))
        self._check()
        self._render()
        self._keep_draft_soon()

    def _on_engine(self) -> None:
        self._tokens.clear()
        self._check_labels_soon()

    def _check_labels_soon(self) -> None:
        if not self._closed:
            self._label_timer.start()

    def _keep_draft_soon(self) -> None:
        if not self._closed:
            self._draft_timer.start()

    def _timer(self, name: str, milliseconds: int) -> QTimer:
        timer = QTimer(self)
        timer.setObjectName(name)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        return timer

    def _check(self) -> None:
        form, facts = self.document.form, self.table.facts
        self.problems = check_form(form, facts.columns if facts is not None else None)
        missing: list[tuple[str, str]] = []
        if facts is not None and form.state.strip():
            others = [question.gold for question in form.questions if question.gold]
            texts = f"{form.state}\n{form.document or ''}"
            missing = missing_columns(texts, facts.columns, [*others, *([form.group] if form.group else [])])
        self.problems_changed.emit()
        if missing != self._missing:
            self._missing = missing
            self.mapping_changed.emit(missing)

    def _render(self) -> None:
        self.rendered = self.table.render(self.document.form.state, self.row)
        self.row_changed.emit()

    async def _measure_joint(self) -> None:
        client, form = self._engine.client, self.document.form
        if client is None:
            self.price_failed.emit(self.tr("No engine is running."))
            return
        try:
            rows = await self.table.sampled(form, SAMPLE_ROWS)
            found = await measure_interference(client, form.questions, form.method, rows)
        except EngineError as error:
            self.price_failed.emit(str(error))
            return
        self.price_ready.emit(
            JointPrice(
                found.rows,
                found.shift,
                found.rank_correlation,
                found.flips,
                found.compared,
                found.letter_copying,
                found.advice,
            )
        )

    async def _preview(self, row: int, question_id: str, joint: bool) -> None:
        try:
            await self.read_once(row, question_id, joint)
        except EngineError as error:
            self.preview_failed.emit(str(error))


def preview_facts(question: Question, seen: ReadPreview) -> PreviewFacts:
    """One read as the page shows it."""
    slot = -1 if seen.slot is None else seen.slot
    shown = tuple(each.path for each in seen.pictures)
    return PreviewFacts(question, seen.prompt, seen.canvas, slot, seen.reading, seen.latency_s, seen.draws, shown)


def form_text(form: Form, source: str) -> str:
    """The form as the text of its file.

    Raises:
        InputError: the form is not complete, so nothing could read it again.
    """
    dumped = dump_form(form)
    if parse_form(dumped, source) != form:  # equal option names would become one
        raise InputError("form.not_faithful", "{source}: two options have the same name", source=source)
    return json.dumps(dumped, ensure_ascii=False, indent=2) + "\n"


def replace_file(path: Path, text: str) -> None:
    """Write a text file in one step: the old one stays until the new one is whole.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
