"""Last part of the Decisions page: begin a run, watch it, look at what came out, export it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QMessageBox, QScrollArea, QStackedWidget, QTabWidget, QWidget

from app.models.results_detail import AnswerDetail
from app.models.results_runs import RunsModel
from app.notify import NotificationSink
from app.pages.decisions_analysis import AnalysisPart
from app.pages.decisions_export import RunExport
from app.pages.decisions_queue import RunsQueue
from app.pages.decisions_review import ReviewPart
from app.pages.decisions_rounds import RunRounds
from app.presenters.analysis import AnalysisPresenter
from app.presenters.review import ReviewPresenter
from app.presenters.run import RunPresenter
from app.presenters.run_draws import DrawsPresenter
from app.presenters.run_results import ResultsPresenter
from app.presenters.run_results_read import QuestionOutcome
from app.tasks import spawn
from app.widgets.decisions.flow import WrappingPane
from app.widgets.decisions.parts import EmptyState, ScrollPane, card, counted, named, vbox
from app.widgets.decisions.results_view import ResultsView
from app.widgets.decisions.run_header import RunControls, RunHeader
from app.widgets.decisions.run_list import RunList
from app.widgets.decisions.run_setup import RunSetup
from app.widgets.decisions.run_summary import QuestionSummary, RunSummary
from app.widgets.decisions.side_by_side import SideBySide
from engine.domain.run import Progress, RunInfo, Totals

ANSWERS, SUMMARY, REVIEW, ANALYSIS = range(4)  # tabs


class RunsPart(QWidget):
    """Left the new run and the stored ones, right the run that is open.

    Signals:
        example_requested(str): open a bundled example.
    """

    example_requested = Signal(str)

    def __init__(
        self, runs: RunPresenter, results: ResultsPresenter, notifier: NotificationSink, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("runs_part")
        self._runs, self._results, self._notifier = runs, results, notifier
        self._engine_ready = False
        self._watched = ""  # the run that ended last
        self._engine_was_away = False  # since the run that is under way went on last
        self.setup = RunSetup()
        self.runs_model = RunsModel(self)
        self.rounds = RunRounds(runs, self.setup, self)
        self.queue = RunsQueue(runs, self.setup, notifier, self)
        self.exports = RunExport(results, notifier, self)
        self.list = RunList(self.runs_model)
        self.header = RunHeader()
        self.summary = RunSummary()
        self.answers = ResultsView(results.model)
        self.reviews = ReviewPresenter(results)
        self.review = ReviewPart(self.reviews)
        self.analyses = AnalysisPresenter(results)
        self.analysis = AnalysisPart(self.analyses, notifier)
        self.draws = DrawsPresenter(runs.engine, self)
        results.companions += [self.reviews.close_down, self.analyses.close_down, self.draws.close_down]
        self._stack = QStackedWidget()
        self._outcomes: list[QuestionOutcome] = []
        self._build()
        self._connect()

    def set_engine_ready(self, ready: bool) -> None:
        """Whether an engine answers; a run can be resumed only then."""
        self._engine_ready = ready
        self._engine_was_away = self._engine_was_away or not ready
        self._show_controls()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._results.seen = True
        self._results.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._results.seen = False

    # ---- building
    def _build(self) -> None:
        left = QWidget()
        box = vbox(self.queue.view, card(vbox(self.setup)), spacing=14)  # what waits is seen without scrolling
        box.addWidget(self.list, 1)
        left.setLayout(box)
        tabs = named(QTabWidget(), "run_tabs")
        tabs.setDocumentMode(True)
        tabs.tabBar().setDrawBase(False)
        scroll = named(QScrollArea(), "summary_scroll", self.tr("Summary"))
        scroll.setWidgetResizable(True)
        holder = QWidget()
        inner = vbox(self.summary)
        inner.setContentsMargins(0, 12, 8, 8)
        holder.setLayout(inner)
        scroll.setWidget(holder)
        tabs.addTab(self._padded(self.answers), self.tr("Answers"))
        tabs.addTab(scroll, self.tr("Summary"))
        tabs.addTab(self._padded(self.review), self.tr("Review"))
        tabs.addTab(self._padded(self.analysis), self.tr("Analysis"))
        opened = ScrollPane(WrappingPane(vbox(self.header, tabs, spacing=10)))
        self._stack.addWidget(self._make_empty())
        self._stack.addWidget(opened)
        self._offered = ScrollPane(left)
        self.panes = SideBySide("runs_splitter", self._offered, self._stack, (270, 720))
        outer = vbox(self.panes)
        outer.setContentsMargins(16, 12, 16, 12)
        self.setLayout(outer)
        self.tabs = tabs

    def _padded(self, widget: QWidget) -> QWidget:
        box = vbox(widget)
        box.setContentsMargins(0, 12, 0, 0)
        return WrappingPane(box)

    def _make_empty(self) -> EmptyState:
        empty = EmptyState(
            "run_empty",
            self.tr("Choose a run, or start one"),
            self.tr(
                "A run asks every question about every row. Each answer is stored the moment it is there: pause it, "
                "close the program, or lose the engine, and it goes on where it stopped."
            ),
            [("tickets", self.tr("Open the tickets example"))],
        )
        empty.chosen.connect(self.example_requested)
        return empty

    def _connect(self) -> None:
        runs, results = self._runs, self._results
        runs.runs_changed.connect(self._show_runs)
        runs.status_changed.connect(self._show_status)
        runs.started.connect(self._on_started)
        runs.ended.connect(self._on_ended)
        runs.failed.connect(self._notifier.error)
        runs.noted.connect(self._notifier.info)
        results.opened.connect(self._on_opened)
        results.counted.connect(self.answers.show_count)
        results.outcome_changed.connect(self._show_outcome)
        results.detail_ready.connect(self._show_detail)
        results.failed.connect(self._notifier.error)
        self.reviews.failed.connect(self._notifier.error)
        self.tabs.currentChanged.connect(self._on_tab)
        self.list.opened.connect(self._open)
        self.list.delete_requested.connect(self._ask_delete)
        self.answers.browse_changed.connect(results.browse)
        self.answers.answer_chosen.connect(results.choose)
        self.answers.draws_wanted.connect(lambda detail: self.draws.read(results.run_id, detail))
        self.draws.ready.connect(self.answers.show_draws)
        self.draws.failed.connect(self.answers.draws.show_error)
        self.panes.narrow_changed.connect(self.header.back.setVisible)
        self.header.back_requested.connect(self._go_back)
        self.list.activated.connect(lambda: self.panes.turn_to(self._stack))
        self.header.pause_requested.connect(runs.pause)
        self.header.cancel_requested.connect(lambda: self.queue.presenter.cancel(results.run_id))
        self.header.queue_requested.connect(lambda: self.queue.add_stored(results.run_id))
        self.header.dequeue_requested.connect(lambda: self.queue.presenter.remove(results.run_id))
        self.queue.presenter.changed.connect(self._show_controls)
        self.queue.view.opened.connect(self._open)
        self.queue.view.opened.connect(lambda _run: self.panes.turn_to(self._stack))
        self.header.resume_requested.connect(self._resume)
        self.header.again_requested.connect(lambda: self.rounds.ask(results.run_id))
        self.header.export_requested.connect(lambda: self.exports.ask(runs.info(results.run_id)))
        self.header.delete_requested.connect(lambda: self._ask_delete(results.run_id))

    def _on_tab(self, index: int) -> None:
        if index == SUMMARY:
            self._show_summary()
        elif index == ANSWERS and self.reviews.settled():
            self._results.reread()

    # ---- runs
    def _open(self, run_id: str) -> None:
        if run_id != self._results.wanted:  # which may still be loading
            self._results.open(run_id)

    def _resume(self) -> None:
        self._runs.resume(self._results.run_id, self.setup.concurrency.value())

    def _on_started(self, run_id: str) -> None:
        shown = self._results.wanted
        # What begins by itself is shown to those who watched the run before it, and takes nobody else's away.
        asked_for = not self._runs.status.queue or shown in ("", self._watched)
        if run_id != shown and asked_for:
            self._results.open(run_id)
            self.panes.turn_to(self._stack)

    def _go_back(self) -> None:
        self.panes.turn_to(self._offered)
        self.list.view.setFocus()

    def _on_ended(self, run_id: str, _how: str) -> None:
        self._watched = run_id
        if run_id and run_id == self._results.run_id:
            self._results.follow(False)
            self.analysis.set_run(run_id)

    def _show_runs(self) -> None:
        self.runs_model.show_runs(self._runs.runs)
        if self._results.wanted:
            self.list.select(self._results.wanted)
        self._follow_questions()
        self._show_controls()

    def _follow_questions(self) -> None:
        """A run that was asked more questions is opened anew: filters, cards and tabs have one for each."""
        run, form = self._runs.info(self._results.wanted), self._results.form
        if self._results.wanted != self._results.run_id:
            return  # another is being opened
        if run is not None and form is not None and run.question_ids != tuple(each.id for each in form.questions):
            self._results.open(run.id)

    def _show_status(self) -> None:
        status = self._runs.status
        if status.phase == "running":
            self._engine_was_away = not self._engine_ready
        self.runs_model.show_runs(self._runs.runs)
        if status.run and status.run == self._results.run_id:
            self._results.follow(status.phase in ("running", "stopping"))
            if status.progress is not None and status.phase == "running":
                self._show_progress(status.progress)
        self._show_controls()

    def _show_progress(self, progress: Progress) -> None:
        if progress.totals.answers or not progress.done:
            self.header.show_progress(progress)

    def _show_stored(self, run: RunInfo, totals: Sequence[Totals]) -> None:
        """How far the run that is open is on disk: what a worker told last may be a second old."""
        added = Totals(
            sum(each.ok for each in totals),
            sum(each.unreadable for each in totals),
            sum(each.error for each in totals),
            sum(each.skipped for each in totals),
        )
        whole = run.rows * len(run.question_ids)
        self.header.show_progress(Progress(added.answers, whole, 0.0, None, added))

    def _show_controls(self) -> None:
        run = self._runs.info(self._results.run_id)
        status = self._runs.status
        ours = bool(status.run) and status.run == self._results.run_id
        self.header.show_controls(self._own_controls() if ours else self._stored_controls(run))
        going = status.phase != "paused" if ours else run is not None and run.state == "running"
        finished = run is None or run.state == "finished"
        self.answers.show_state("running" if going else "finished" if finished else "unfinished")

    def _own_controls(self) -> RunControls:
        status = self._runs.status
        match status.phase:
            case "running":
                return RunControls(pause=True, cancel=True)
            case "paused":
                if status.reason:
                    return self._stuck_controls(status.reason)
                return RunControls(resume=True, cancel=True, export=True, notice=self.tr("Paused."))
            case "stopping":
                return RunControls(notice=self.tr("Stopping; what is under way is finished first."))
        return RunControls(notice=self.tr("Starting …"))

    def _stuck_controls(self, why: str) -> RunControls:
        """The run paused by itself: the engine is gone, or the disk is full."""
        if not self._engine_ready:
            notice = self.tr("Paused: {why}. Start the engine again, then resume; all answers so far are stored.")
            return RunControls(cancel=True, export=True, notice=notice.format(why=why), bad=True)
        if self._engine_was_away:
            notice = self.tr("Paused while the engine was away. It is back: resume to go on.")
            return RunControls(resume=True, cancel=True, export=True, notice=notice)
        notice = self.tr("Paused: {why}. Resume tries again; all answers so far are stored.").format(why=why)
        return RunControls(resume=True, cancel=True, export=True, notice=notice, bad=True)

    def _stored_controls(self, run: RunInfo | None) -> RunControls:
        if run is None:
            return RunControls()
        if run.state == "finished":
            return RunControls(again=self._engine_ready and not self._runs.busy, export=True, delete=True)
        if run.state in ("running", "paused"):
            return RunControls(export=True, notice=self.tr("Another process works on this run."))
        if place := self.queue.place(run.id):
            notice = self.tr("Waits in the queue, number {place}.").format(place=place)
            return RunControls(dequeue=True, export=True, delete=True, notice=notice)
        left = run.rows * len(run.question_ids) - run.done
        notice = counted(left, self.tr("Unfinished: {n} answer to go."), self.tr("Unfinished: {n} answers to go."))
        if not self._engine_ready:
            notice += self.tr(" Start an engine to resume.")
        elif self._runs.busy:
            notice += self.tr(" Another run is under way.")
        ready, busy = self._engine_ready, self._runs.busy
        return RunControls(resume=ready and not busy, queue=ready and busy, export=True, delete=True, notice=notice)

    # ---- the run that is open
    def _on_opened(self, info: RunInfo | None) -> None:
        self._stack.setCurrentIndex(0 if info is None else 1)
        if info is None:
            self.panes.turn_to(self._offered)
        form = self._results.form
        questions = form.questions if form is not None else ()
        self.review.set_run("" if info is None else info.id, questions)
        self.analysis.set_run("" if info is None else info.id)
        if info is None:
            return
        self.header.show_run(info)
        self._show_stored(info, [info.totals.get(question, Totals()) for question in info.question_ids])
        self.answers.set_questions(questions)
        self._show_outcome([])
        self.list.select(info.id)
        self._show_status()

    def _show_outcome(self, outcomes: list[QuestionOutcome]) -> None:
        self._outcomes = outcomes
        run, status = self._runs.info(self._results.run_id), self._runs.status
        if outcomes and run is not None and not (status.run == run.id and status.phase == "running"):
            self._show_stored(run, [outcome.totals for outcome in outcomes])
        if self.tabs.currentIndex() == SUMMARY:
            self._show_summary()

    def _show_summary(self) -> None:
        """Draw the cards; only while they can be seen, since a running run changes them every second."""
        self.summary.show_questions(
            [
                QuestionSummary(
                    outcome.question,
                    outcome.totals,
                    outcome.histogram,
                    outcome.low,
                    outcome.high,
                    outcome.named,
                    tuple((self._metric(name), self._value(value, why)) for name, value, why in outcome.metrics),
                    outcome.groups,
                )
                for outcome in self._outcomes
            ]
        )

    def _metric(self, name: str) -> str:
        names = {
            "auc": self.tr("AUC"),
            "brier": self.tr("Brier score"),
            "accuracy": self.tr("Accuracy"),
            "largest_class": self.tr("Share of the largest class"),
            "spearman": self.tr("Spearman correlation"),
            "mae": self.tr("Mean absolute error"),
        }
        return names.get(name, name)

    @staticmethod
    def _value(value: float | None, why_not: str) -> str:
        return why_not or "–" if value is None else f"{value:.3f}"

    def _show_detail(self, detail: AnswerDetail) -> None:
        self.answers.show_answer(detail)

    # ---- delete
    def _ask_delete(self, run_id: str) -> None:
        run = self._runs.info(run_id)
        if run is None:
            return
        box = QMessageBox(self)
        box.setObjectName("delete_dialog")
        box.setWindowTitle(self.tr("Delete run"))
        answers = counted(run.done, self.tr("{n} answer"), self.tr("{n} answers"))
        box.setText(self.tr("Delete “{name}” with its {answers}?").format(name=run.name, answers=answers))
        box.setInformativeText(self.tr("This cannot be undone. The table and the form stay."))
        confirm = box.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        confirm.setObjectName("delete_confirm")
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        confirm.clicked.connect(lambda _checked=False: spawn(self, self._delete(run_id), "delete run"))
        box.finished.connect(box.deleteLater)
        box.open()

    async def _delete(self, run_id: str) -> None:
        if run_id == self._results.run_id:
            await self.reviews.load("")
            await self._results.load("")  # closed first: an open file would leave its lock files behind
        await self.queue.presenter.forget(run_id)
        await self._runs.delete(run_id)
