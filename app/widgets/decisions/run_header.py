"""The run that is open: what it is, how far, how fast, what came out, and the buttons that steer it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from app.models.results_runs import local_time
from app.theme import set_role
from app.widgets.decisions.answer_view import STATUS_ROLES, STATUS_SIGNS
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import ElidedLabel, button, counted, hbox, icon_button, label, named, vbox
from engine.domain.reading import STATUSES
from engine.domain.run import Progress, RunInfo, Totals

STEPS = 1000  # of the progress bar; finer than a pixel on most screens


@dataclass(frozen=True, slots=True)
class RunControls:
    """Which buttons make sense now.

    Attributes:
        pause, resume, cancel, queue, dequeue, again, export, delete: whether the action is possible.
        notice: a sentence about the state: why it is paused, that it can be resumed; empty for none.
        bad: whether the notice is about something that went wrong.
    """

    pause: bool = False
    resume: bool = False
    cancel: bool = False
    queue: bool = False
    dequeue: bool = False
    again: bool = False
    export: bool = False
    delete: bool = False
    notice: str = ""
    bad: bool = False


class RunHeader(QWidget):
    """Signals:
    pause_requested(), resume_requested(), cancel_requested(), queue_requested(), dequeue_requested(),
    again_requested(), export_requested(), delete_requested().
    back_requested(): to the runs, whose place the run has taken on a narrow page.
    """

    pause_requested = Signal()
    resume_requested = Signal()
    cancel_requested = Signal()
    queue_requested = Signal()
    dequeue_requested = Signal()
    again_requested = Signal()
    export_requested = Signal()
    delete_requested = Signal()
    back_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_header")
        self.back = icon_button("left", "run_back", self.tr("All runs, and a new one"), self.back_requested.emit)
        self.back.hide()
        self._title = ElidedLabel("title")
        self._facts = ElidedLabel("muted")
        self._progress = named(label("", "muted"), "run_progress")
        self._notice = named(label("", "muted", wrap=True), "run_notice")
        self.bar = named(QProgressBar(), "run_bar", self.tr("Progress of the run"))
        self.bar.setRange(0, STEPS)
        self.bar.setTextVisible(False)
        self._counts = {status: named(label("", STATUS_ROLES[status]), f"run_count.{status}") for status in STATUSES}
        self.pause = button(self.tr("Pause"), "run_pause", self.pause_requested.emit)
        self.resume = button(self.tr("Resume"), "run_resume", self.resume_requested.emit, role="primary")
        self.cancel = button(self.tr("Cancel"), "run_cancel", self.cancel_requested.emit)
        tip = self.tr("It goes on when it is its turn")
        self.queue = button(self.tr("Add to the queue"), "run_queue", self.queue_requested.emit, tip=tip)
        self.dequeue = button(self.tr("Take out of the queue"), "run_dequeue", self.dequeue_requested.emit)
        tip = self.tr("Read what failed or was unreadable once more, or ask more questions")
        self.again = button(self.tr("Read again…"), "run_again", self.again_requested.emit, tip=tip)
        self.export = button(self.tr("Export…"), "run_export", self.export_requested.emit)
        self.delete = button(self.tr("Delete…"), "run_delete", self.delete_requested.emit, role="quiet")
        title = hbox(self.back, self._title)
        title.setStretchFactor(self._title, 1)
        buttons, counts = FlowLayout(spacing=8), FlowLayout(spacing=16)
        for shown in self._buttons().values():
            buttons.addWidget(shown)
        for count in (*self._counts.values(), self._progress):
            counts.addWidget(count)
        self.setLayout(vbox(title, self._facts, buttons, self.bar, counts, self._notice, spacing=6))
        self.show_controls(RunControls())  # what is never shown shall take no room either

    def show_run(self, run: RunInfo) -> None:
        """Name and facts of a run."""
        self._title.setText(run.name or run.id)
        self._title.setToolTip(self._title.text())
        parts = (
            local_time(run.created),
            counted(run.rows, self.tr("{n} row"), self.tr("{n} rows")),
            counted(len(run.question_ids), self.tr("{n} question"), self.tr("{n} questions")),
            run.engine,
            run.method,
        )
        self._facts.setText(" · ".join(part for part in parts if part))
        self._facts.setToolTip(f"{self._facts.text()}\n{run.id}\n{run.table_path}")

    def show_progress(self, progress: Progress) -> None:
        """How far it is; rate and time to go only while it runs."""
        done, total = progress.done, progress.total
        self.bar.setValue(int(STEPS * done / total) if total else 0)
        texts = [self.tr("{done} of {total}").format(done=f"{done:,}", total=f"{total:,}")]
        if progress.rate > 0 and done < total:
            texts.append(self.tr("{rate} answers/s").format(rate=f"{progress.rate:,.1f}"))
        if progress.eta_s is not None and done < total:
            texts.append(self.tr("{time} left").format(time=duration(progress.eta_s)))
        self._progress.setText(" · ".join(texts))
        self._show_totals(progress.totals)

    def show_controls(self, controls: RunControls) -> None:
        """Which buttons are there, and what is to be said about the state."""
        for action, shown in self._buttons().items():
            shown.setVisible(getattr(controls, action))
        set_role(self._notice, "danger" if controls.bad else "muted")
        self._notice.setText(controls.notice)
        self._notice.setVisible(bool(controls.notice))

    def _buttons(self) -> dict[str, QPushButton]:
        """By the field of ``RunControls``, in the order in which they stand."""
        return {
            "resume": self.resume,
            "pause": self.pause,
            "cancel": self.cancel,
            "queue": self.queue,
            "dequeue": self.dequeue,
            "again": self.again,
            "export": self.export,
            "delete": self.delete,
        }

    def _show_totals(self, totals: Totals) -> None:
        names = {
            "ok": self.tr("ok"),
            "unreadable": self.tr("unreadable"),
            "error": self.tr("error") if totals.error == 1 else self.tr("errors"),
            "skipped": self.tr("skipped"),
        }
        for status, shown in self._counts.items():
            count = getattr(totals, status)
            shown.setText(f"{STATUS_SIGNS[status]} {count:,} {names[status]}")
            shown.setVisible(bool(count) or status == "ok")


def duration(seconds: float) -> str:
    """A time to go for the eye: ``45 s``, ``12 min``, ``3 h 05 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s" if whole < 600 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
