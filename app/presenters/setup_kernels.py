"""The numeric self-test as the setup shows it: how the cards stand, the test as work, the user's own decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.models.setup import KernelState, Step, Work
from app.tasks import cancel_all, spawn
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan
from engine.errors import UserError
from engine.local.kernels import NOT_RUN_CODE, KernelProgress, ensure_tested, waive
from engine.local.launch import Launch
from engine.local.tested import Ledger, wanted
from engine.runtime.places import Environment


class KernelTest(QObject):
    """Signals: changed(): read ``state``."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = KernelState()
        self._testing: asyncio.Task[None] | None = None
        self._about: object = None  # what the last finding was made on

    @property
    def phase(self) -> str:
        """Its name among the phases of a start."""
        return self.tr("Numeric self-test")

    def look(self, machine: Machine | None, plan: LaunchPlan | None, environment: Environment | None) -> None:
        """What is known of a plan's cards. Does not disturb a test, nor what the last one found on the same plan."""
        if plan is None or machine is None or not wanted(plan):
            self._show(KernelState())
        elif environment is None:
            self._show(KernelState(wanted=True, step=Step("open", self._before())))
        elif not self.state.step.busy:
            about = (environment.mark.id, plan.tensor_parallel, tuple(card.uuid for card in plan.cards))
            verdicts = [Ledger(machine, plan, environment).verdict(card.uuid) for card in plan.cards]
            if all(verdicts):
                self._show(KernelState(wanted=True, tested=True, step=self._stored(verdicts, machine)))
            elif self.state.step.phase != "failed" or about != self._about:
                self._show(KernelState(wanted=True, step=Step("open", self._before())))
            self._about = about

    async def ensure(self, launch: Launch) -> None:
        """Test what has not passed yet.

        Raises:
            UserError: as ``engine.local.kernels.ensure_tested``.
        """
        if not wanted(launch.plan):
            return
        try:
            await ensure_tested(launch, self._on_progress)
        except UserError as error:
            not_run = error.code == NOT_RUN_CODE
            text = self.tr("The test could not run.") if not_run else self.tr("The test found wrong numbers.")
            self._show(KernelState(wanted=True, can_waive=not_run, step=Step("failed", text)))
            raise
        except asyncio.CancelledError:
            self._show(KernelState(wanted=True, step=Step("open", self.tr("The test was stopped."))))
            raise
        self._show(KernelState(wanted=True))  # whatever it said before holds no more
        self.look(launch.machine, launch.plan, launch.environment)

    def again(self, make: Callable[[], Launch]) -> None:
        """Forget what has passed and test every card."""
        if self._testing is None or self._testing.done():
            self._testing = spawn(self, self._again(make), "numeric self-test")

    def stop(self) -> None:
        """End a test that :meth:`again` has begun."""
        if self._testing is not None:
            self._testing.cancel()

    async def waive(self, launch: Launch) -> None:
        """The user starts without it."""
        await asyncio.to_thread(waive, launch)
        self._show(KernelState(wanted=True))
        self.look(launch.machine, launch.plan, launch.environment)

    async def close_down(self) -> None:
        """When this returns no test runs."""
        await cancel_all(self)

    async def _again(self, make: Callable[[], Launch]) -> None:
        try:
            launch = await asyncio.to_thread(make)
            await asyncio.to_thread(Ledger(launch.machine, launch.plan, launch.environment).forget)
            await self.ensure(launch)
        except UserError as error:
            step = Step("failed", error.message, error.remedy)
            self._show(replace(self.state, step=step, can_waive=error.code == NOT_RUN_CODE))

    def _on_progress(self, progress: KernelProgress) -> None:
        detail = progress.detail
        if progress.cards > 1:
            card = self.tr("card {n} of {count}").format(n=progress.card + 1, count=progress.cards)
            detail = f"{card}: {detail}" if detail else card
        work = Work(self.phase, fraction=progress.fraction, detail=detail)
        self._show(KernelState(wanted=True, step=Step("running", self.tr("The test runs."), work=work)))

    def _before(self) -> str:
        return self.tr("Before the first start each card is tested once; it takes about a minute a card.")

    def _stored(self, verdicts: Sequence[str | None], machine: Machine) -> Step:
        if "waived" in verdicts:
            return Step("open", self.tr("Not tested: you chose to start without the test."))
        text = self.tr("Every shape is computed right (cards: {n}, driver {version}).")
        return Step("done", text.format(n=len(verdicts), version=machine.driver.version))

    def _show(self, state: KernelState) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit()
