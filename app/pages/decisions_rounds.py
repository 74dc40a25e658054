"""Another round of the run that is open: asks what to read again, and begins it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.models.run_rounds import RoundChoice
from app.presenters.run import RunPresenter
from app.tasks import spawn
from app.widgets.decisions.again_dialog import AgainDialog
from app.widgets.decisions.run_setup import RunSetup
from engine.domain.form import Form


class RunRounds(QObject):
    """Asks with a dialog over the page.

    Args:
        setup: says how many rows are under way at once.
        page: parent of the dialog.
    """

    def __init__(self, runs: RunPresenter, setup: RunSetup, page: QWidget) -> None:
        super().__init__(page)
        self._runs, self._setup, self._page = runs, setup, page
        self._form: Form | None = None

    def set_form(self, form: Form) -> None:
        """The form that is open on the page: its questions can be added to a run about the same text."""
        self._form = form

    def ask(self, run_id: str) -> None:
        """Say what could be read again, and let the user choose."""
        if self._form is not None:
            spawn(self, self._ask(run_id, self._form), "offer another round")

    async def _ask(self, run_id: str, form: Form) -> None:
        offer = await self._runs.offer(run_id, form)
        if offer is None:
            return
        dialog = AgainDialog(offer, self._page)
        dialog.chosen.connect(lambda choice: self._begin(run_id, choice, form))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _begin(self, run_id: str, choice: RoundChoice, form: Form) -> None:
        self._runs.again(run_id, choice, form, self._setup.concurrency.value())
