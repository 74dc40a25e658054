"""The queue on the Decisions page: what waits, the buttons that change it, and what is said at its end."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.notify import NotificationSink
from app.presenters.run import RunPresenter
from app.presenters.run_queue import QueuePresenter
from app.tasks import spawn
from app.widgets.decisions.parts import counted
from app.widgets.decisions.queue_view import QueueView
from app.widgets.decisions.run_setup import RunSetup


class RunsQueue(QObject):
    """Puts the queue's view and presenter together.

    Args:
        setup: says how many rows are under way at once.
    """

    def __init__(self, runs: RunPresenter, setup: RunSetup, notifier: NotificationSink, page: QWidget) -> None:
        super().__init__(page)
        self._runs, self._setup, self._notifier = runs, setup, notifier
        self.presenter = QueuePresenter(runs, self)
        self.view = QueueView()
        presenter, view = self.presenter, self.view
        presenter.changed.connect(lambda: view.show_queue(presenter.look))
        presenter.failed.connect(notifier.error)
        presenter.ended.connect(self._on_queue_ended)
        runs.ended.connect(self._on_run_ended)
        view.arranged.connect(presenter.arrange)
        view.moved.connect(presenter.move)
        view.remove_requested.connect(presenter.remove)
        view.retry_requested.connect(presenter.retry)
        view.start_requested.connect(presenter.start)
        view.stop_requested.connect(presenter.stop)
        spawn(presenter, presenter.restore(), "read the queue")  # its close_down waits for what it owns

    def add_stored(self, run_id: str) -> None:
        """Let the unfinished run that is open wait for its turn."""
        self.presenter.add_stored(run_id, self._setup.concurrency.value())

    def place(self, run_id: str) -> int:
        """Which number a waiting run has; 0 when it does not wait."""
        waiting = self.presenter.look.waiting
        return waiting.index(run_id) + 1 if run_id in waiting else 0

    def _on_run_ended(self, run_id: str, how: str) -> None:
        info = self._runs.info(run_id)
        name = info.name if info is not None else run_id
        if how == "finished":
            self._notifier.success(self.tr("{name}: every row is answered.").format(name=name))

    def _on_queue_ended(self, finished: int, failed: int) -> None:
        if finished + failed < 2:
            return  # the run has said so itself
        one = self.tr("The queue is done: {n} run is finished")
        text = counted(finished, one, self.tr("The queue is done: {n} runs are finished"))
        text += self.tr(", {n} failed.").format(n=failed) if failed else "."
        (self._notifier.warning if failed else self._notifier.success)(text)
