"""The Decisions page: a form, a table, one row tried, and runs; each a step, all in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QFrame, QLineEdit, QMenu, QPushButton, QTabWidget, QWidget

from app.notify import NotificationSink
from app.pages.decisions_files import DecisionsFiles
from app.pages.decisions_form import FormPart
from app.pages.decisions_method import MethodPart
from app.pages.decisions_runs import RunsPart
from app.pages.decisions_table import TablePart
from app.presenters.decisions import DecisionsPresenter, EngineHandle
from app.presenters.decisions_method import MethodPresenter
from app.presenters.decisions_pictures import PicturesPresenter
from app.presenters.decisions_trial import TrialPresenter
from app.presenters.run import RunPresenter
from app.presenters.run_results import ResultsPresenter
from app.theme import set_role
from app.widgets.decisions.parts import ElidedLabel, FieldMessage, button, counted, form_field, hbox, named, vbox
from app.widgets.decisions.preview_pane import PreviewPane

if TYPE_CHECKING:
    from engine.store.settings import Settings

FORM, TABLE, TRY, RUNS, METHOD = range(5)
CONTRACTS = "contradictions"  # a bundled example
TABLE_FIELDS = ("state", "group", "pictures")  # of the form, that step 2 edits
NAME_WIDTHS = (110, 260)  # pixels; least and most of the form's name


class DecisionsPage(QWidget):
    """Puts the parts together and owns their presenters.

    Args:
        engine_presenter: the shell's; its client and address are used, it is never started or stopped from here.
        settings: the shell's settings.
        notifier: where messages go.
    """

    def __init__(
        self,
        engine_presenter: EngineHandle,
        settings: Settings | None,
        notifier: NotificationSink,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page.decisions")
        self._engine, self._settings, self._notifier = engine_presenter, settings, notifier
        self.presenter = DecisionsPresenter(engine_presenter, self)
        self.trial = TrialPresenter(engine_presenter, self.presenter, self)
        self.pictures = PicturesPresenter(engine_presenter, self.presenter, self)
        self.methods = MethodPresenter(engine_presenter, self.presenter, self)
        self.runs = RunPresenter(engine_presenter, self)
        self.results = ResultsPresenter(self)
        self.files = DecisionsFiles(self.presenter, self)
        self.form_part = FormPart(self.presenter)
        self.table_part = TablePart(self.presenter)
        self.preview = PreviewPane()
        self.method_part = MethodPart(self.methods, self.presenter)
        self.runs_part = RunsPart(self.runs, self.results, notifier)
        self.name_edit = form_field(named(QLineEdit(), "form_name", self.tr("Name of the form")))
        self._origin = ElidedLabel("muted")
        self._message = FieldMessage("form_message")
        self.tabs = named(QTabWidget(), "decision_steps")
        self._build()
        self._connect()
        self.presenter.restore()
        self.runs.refresh()
        self._on_engine()

    async def close_down(self) -> None:
        """The window leaves: the worker ends, files are closed. What is stored stays."""
        await self.pictures.close_down()
        await self.trial.close_down()
        await self.methods.close_down()
        await self.presenter.close_down()
        await self.runs_part.queue.presenter.close_down()
        await self.runs.close_down()
        await self.results.close_down()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "table_part"):
            self.table_part.state.highlighter.set_palette(self.palette())

    # ---- building
    def _build(self) -> None:
        bar = QFrame()
        bar.setObjectName("form_bar")
        self.name_edit.setMinimumWidth(NAME_WIDTHS[0])
        self.name_edit.setMaximumWidth(NAME_WIDTHS[1])
        self.name_edit.setPlaceholderText(self.tr("Name of the form"))
        document = self.presenter.document
        self.undo = self._history(self.tr("Undo"), "form_undo", document.stack.createUndoAction(self), "Ctrl+Z")
        self.redo = self._history(self.tr("Redo"), "form_redo", document.stack.createRedoAction(self), "Ctrl+Shift+Z")
        self.new_button = self._menu_button()
        self.save_button = button(self.tr("Save"), "form_save", self.files.save)
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Save), self.files.save)
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Open), self.files.ask_open)
        layout = hbox(self.name_edit, self._origin, 1, self.undo, self.redo, self.new_button, self.save_button)
        layout.setStretchFactor(self.name_edit, 3)
        layout.setContentsMargins(16, 12, 16, 4)
        bar.setLayout(layout)
        for part, text in (
            (self.form_part, self.tr("1  Questions")),
            (self.table_part, self.tr("2  Table and text")),
            (self.preview, self.tr("3  Try one row")),
            (self.runs_part, self.tr("4  Runs and results")),
            (self.method_part, self.tr("Which method?")),
        ):
            self.tabs.addTab(part, text)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        message = hbox(self._message)
        message.setContentsMargins(16, 0, 16, 0)
        self.setLayout(vbox(bar, message, self.tabs, spacing=2))
        self.setFocusProxy(self.tabs)

    def _history(self, text: str, name: str, action: QAction, keys: str) -> QPushButton:
        """Undo and redo as actions of the whole page: one history for every edit of the form."""
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(action)
        made = button(text, name, action.trigger, role="quiet")
        made.setEnabled(action.isEnabled())
        action.enabledChanged.connect(made.setEnabled)
        made.setToolTip(f"{text} ({keys})")
        return made

    def _menu_button(self) -> QPushButton:
        made = named(QPushButton(self.tr("Open")), "form_open_menu")
        menu = QMenu(made)
        files = self.files
        _fill_menu(
            menu,
            [
                ("form_new", self.tr("New form"), files.new_form),
                ("form_open", self.tr("Open a form file…"), files.ask_open),
                ("form_tickets", self.tr("Example: support tickets"), partial(files.open_example, "tickets")),
                ("form_contradictions", self.tr("Example: contract clauses"), partial(files.open_example, CONTRACTS)),
            ],
        )
        library = menu.addMenu(self.tr("From the library"))
        library.setObjectName("form_library")
        _fill_menu(
            library,
            [(f"form_template.{name}", text, partial(files.open_template, name)) for name, text in self._library()],
        )
        menu.addSeparator()
        _fill_menu(
            menu,
            [
                ("form_import", self.tr("Import a request…"), files.ask_import),
                (
                    "form_export.system-one",
                    self.tr("Export as a System One request…"),
                    partial(files.ask_export, "system-one"),
                ),
                (
                    "form_export.decisions",
                    self.tr("Export as an OpenAI Decisions request…"),
                    partial(files.ask_export, "decisions"),
                ),
                ("form_save_as", self.tr("Save as…"), files.ask_save),
            ],
        )
        made.setMenu(menu)
        return made

    def _library(self) -> tuple[tuple[str, str], ...]:
        """The templates of ``engine.batch.form_library`` and what they are for."""
        return (
            ("contradiction", self.tr("Contradiction between two texts")),
            ("triage", self.tr("Triage of tickets")),
            ("routing", self.tr("Routing to a team")),
            ("rubric", self.tr("Rubric score")),
            ("moderation", self.tr("Moderation")),
            ("relevance", self.tr("Relevance judgement")),
        )

    def _shortcut(self, keys: QKeySequence, on: Callable[[], object]) -> None:
        action = QAction(self)
        action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda _checked=False: on())
        self.addAction(action)

    def _connect(self) -> None:
        presenter, document = self.presenter, self.presenter.document
        self.name_edit.textEdited.connect(document.set_name)
        document.changed.connect(self._show_form)
        document.origin_changed.connect(self._show_origin)
        presenter.form_failed.connect(self._message.say)
        self.files.exchange.failed.connect(self._message.say)
        self.files.exchange.told.connect(lambda text: self._message.say(text, "muted"))
        presenter.problems_changed.connect(self._show_readiness)
        presenter.table.changed.connect(self._show_readiness)
        presenter.table.selection_changed.connect(self._show_readiness)
        presenter.row_changed.connect(lambda: self.preview.set_rows(presenter.row, presenter.table.sample_size))
        presenter.preview_ready.connect(self._on_preview)
        presenter.preview_failed.connect(self._on_preview_failed)
        self.preview.read_requested.connect(self._read)
        self._connect_trial()
        self._connect_pictures()
        for part in (self.form_part, self.table_part, self.runs_part):
            part.example_requested.connect(self.files.open_example)
        self.form_part.open_requested.connect(self.files.ask_open)
        self.table_part.open_requested.connect(self.files.ask_table)
        self.runs_part.setup.method_edited.connect(document.set_method)
        self.runs_part.setup.start_requested.connect(self.start_run)
        self.runs_part.setup.price_requested.connect(presenter.measure_joint)
        presenter.price_ready.connect(self.runs_part.setup.show_price)
        presenter.price_failed.connect(self.runs_part.setup.show_price_error)
        self.runs.status_changed.connect(self._show_readiness)
        self.form_part.list.current_changed.connect(self._follow_question)
        self._engine.state_changed.connect(lambda _state: self._on_engine())

    def _connect_trial(self) -> None:
        trial, preview, setup = self.trial, self.preview, self.runs_part.setup
        preview.both_requested.connect(trial.try_row)
        preview.rows_requested.connect(lambda: trial.try_rows(setup.concurrency.value()))
        trial.row_tried.connect(preview.show_trial)
        trial.rows_tried.connect(preview.show_estimate)
        trial.failed.connect(self._on_preview_failed)
        setup.order_requested.connect(trial.check_order)
        trial.order_found.connect(setup.show_order)

    def _connect_pictures(self) -> None:
        pictures, table, document = self.pictures, self.table_part, self.presenter.document
        pictures.row_ready.connect(table.state.pictures.show_pictures)
        pictures.checked.connect(table.show_check)
        for strip in (self.preview.pictures, self.runs_part.answers.pictures):
            strip.wanted.connect(lambda paths, strip=strip: pictures.load(paths, strip.receive))
        for signal in (pictures.sight_changed, document.changed):
            signal.connect(lambda: table.show_sight(pictures.sight))
            signal.connect(self._show_readiness)

    # ---- reads and runs
    def start_run(self, concurrency: int) -> None:
        """Begin a run of the form over the table; while another is under way it waits in the queue."""
        facts = self.presenter.table.facts
        if facts is not None:
            form, table = self.presenter.document.form, self.presenter.table
            begin = self.runs_part.queue.presenter.add if self.runs.busy else self.runs.start
            begin(form, Path(facts.path), table.overruled, concurrency, table.selection)

    def _read(self, row: int, question_id: str, joint: bool) -> None:
        self.preview.set_busy(True)
        self.presenter.preview(row, question_id, joint)

    def _on_preview(self, facts: object) -> None:
        self.preview.set_busy(False)
        self.preview.show_preview(facts)  # type: ignore[arg-type]

    def _on_preview_failed(self, text: str) -> None:
        self.preview.set_busy(False)
        self.preview.show_error(text)

    # ---- showing
    def _show_form(self) -> None:
        form = self.presenter.document.form
        if self.name_edit.text() != form.name:
            self.name_edit.setText(form.name)
            self.name_edit.setCursorPosition(0)  # its beginning tells most
        self.preview.set_questions([question.id for question in form.questions])
        self.preview.set_method(form.method)
        self.runs_part.setup.show_method(form.method)
        self.runs_part.rounds.set_form(form)
        self._show_origin()
        self._show_readiness()

    def _show_origin(self) -> None:
        document = self.presenter.document
        place = document.path.name if document.path is not None else self.tr("not saved to a file")
        set_role(self._origin, "strong" if document.dirty else "muted")
        self._origin.setText(self.tr("● edited · {place}").format(place=place) if document.dirty else place)
        self._origin.setToolTip(str(document.path or self._origin.text()))

    def _show_readiness(self) -> None:
        """What stands between now and a run, in the order of the steps."""
        presenter, facts = self.presenter, self.presenter.table.facts
        in_form = sum(1 for problem in presenter.problems if problem.field not in TABLE_FIELDS)
        in_table = sum(1 for problem in presenter.problems if problem.field in TABLE_FIELDS)
        in_table += bool(presenter.rendered[1] or presenter.table.fault or presenter.table.selection_fault)
        self._mark(FORM, self.tr("1  Questions"), in_form if presenter.document.form.questions else 0)
        self._mark(TABLE, self.tr("2  Table and text"), in_table if presenter.document.form.questions else 0)
        reason = ""
        if not presenter.document.form.questions:
            reason = self.tr("Add a question first (step 1).")
        elif in_form:
            reason = self.tr("The questions are not complete yet (step 1).")
        elif facts is None:
            reason = self.tr("No table is open (step 2).")
        elif in_table:
            reason = self.tr("The table or the row text needs mending (step 2).")
        elif self._engine.client is None:
            starting = self._engine.state.phase == "starting"
            reason = (
                self.tr("The engine is still starting …")
                if starting
                else self.tr("No engine is running. Start it on the Engine page.")
            )
        elif self.pictures.blind:
            reason = self.tr("The engine sees no pictures: {why}.").format(why=self.pictures.blind)
        self.preview.set_ready(reason)
        self.method_part.show_state()
        if not reason and not presenter.document.form.name.strip():
            reason = self.tr("Give the form a name.")
        busy = ""
        if self.runs.busy:
            starting = self.runs.status.phase == "starting"
            busy = self.tr("A run is starting; a new one waits.") if starting else self.tr("A run is under way.")
        self.runs_part.setup.show_summary(self._summary(), reason, busy)
        self.runs_part.setup.show_questions(presenter.document.form.questions, presenter.table.remaining)

    def _summary(self) -> str:
        remaining, questions = self.presenter.table.remaining, self.presenter.document.form.questions
        if not questions or remaining is None:
            return ""
        rows = counted(remaining, self.tr("{n} row"), self.tr("{n} rows"))
        asked = counted(len(questions), self.tr("{n} question"), self.tr("{n} questions"))
        answers = counted(remaining * len(questions), self.tr("{n} answer"), self.tr("{n} answers"))
        return f"{rows} × {asked} = {answers}"

    def _mark(self, step: int, text: str, problems: int) -> None:
        marked = f"{text}  ✕ {problems}" if problems else text
        if self.tabs.tabText(step) != marked:  # setting it lays the tabs out anew
            self.tabs.setTabText(step, marked)

    def _follow_question(self, row: int) -> None:
        questions = self.presenter.document.form.questions
        if 0 <= row < len(questions):
            self.preview.choose_question(questions[row].id)

    def _on_engine(self) -> None:
        self.runs_part.set_engine_ready(self._engine.client is not None and bool(self._engine.url))
        self._show_readiness()


def _fill_menu(menu: QMenu, entries: Sequence[tuple[str, str, Callable[[], object]]]) -> None:
    """Adds (object name, text, what it does) to a menu."""
    for name, text, act in entries:
        action = menu.addAction(text)
        action.setObjectName(name)
        action.triggered.connect(lambda _checked=False, act=act: act())
