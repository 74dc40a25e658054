"""The step Launch: the numeric self-test, the start of vLLM with its phases and its log, and how it stands since."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.models.setup import Step
from app.presenters.engine import EngineChoice, EnginePresenter
from app.presenters.setup_kernels import KernelTest
from app.presenters.setup_seen import Seen
from app.presenters.setup_work import start_work
from app.tasks import spawn
from engine.local.launch import Launch, launch_of
from engine.supervise.lifecycle import SupervisedEngine
from engine.supervise.vllm import StartProgress

LOG_LINES = 200  # of the start's log lines that told something


class SetupStart(QObject):
    """Signals: stood(Step): how the step stands now.

    Args:
        now: how it stands.
        port: where the engine is to listen.
        look: looks at the machine, for a start that nobody has looked for yet.
    """

    stood = Signal(object)

    def __init__(
        self,
        engine: EnginePresenter,
        seen: Seen,
        *,
        now: Callable[[], Step],
        port: Callable[[], int],
        look: Callable[[], Awaitable[None]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine, self._seen = engine, seen
        self._now, self._port, self._look = now, port, look
        self._launching = False
        self.kernels = KernelTest(self)
        self.kernels.changed.connect(self._on_kernels)

    @property
    def choice(self) -> EngineChoice:
        """vLLM as the setup has it."""
        return EngineChoice("vllm", make=self._make)

    @property
    def phases(self) -> tuple[str, ...]:
        """Of a start, in order."""
        found = self._seen.plan
        before = (self.kernels.phase,) if self.kernels.state.wanted else ()
        return (*before, *found.phases) if found is not None else ()

    @property
    def runs(self) -> bool:
        """The engine of this setup is there already."""
        state = self._engine.state
        return state.ready and state.kind == "vllm" and not self._seen.embedded

    def what(self) -> Launch:
        """The launch of what was seen; looks at the disk. Raises UserError when a step before is not done."""
        seen = self._seen
        return launch_of(seen.machine, seen.plan, seen.disk, seen.checkpoint, self._port())

    async def run(self) -> bool:
        """Start it, and whether it is ready; tells how it stands, a failure with the end of the log."""
        self._seen.log = []
        self.stood.emit(Step("running"))
        # In a task of its own: a stop of the engine cancels whoever starts it.
        self._launching = True  # how it ends is told below, with the end of the log
        await asyncio.wait([spawn(self._engine, self._engine.replace_now(self.choice), "start of vLLM")])
        self._launching = False
        state = self._engine.state
        if state.ready:
            self.follow_engine()
            return True
        log = await self._engine.log_tail(12)
        last = log.strip().splitlines()[-1:] if state.phase == "failed" else []
        stopped = self.tr("The start was stopped.")
        self.stood.emit(Step("failed", "\n".join([state.message or stopped, *last]), state.remedy))
        return False

    def follow_engine(self) -> None:
        """The step follows the app's engine, whoever has started it."""
        state, now = self._engine.state, self._now()
        if state.kind != ("embedded" if self._seen.embedded else "vllm"):
            if now.done:
                self.stood.emit(Step())
            return
        match state.phase:
            case "ready":
                text = self.tr("{model} answers at {url}").format(model=state.model, url=state.url)
                self.stood.emit(Step("done", text))
            case "starting" if not now.busy:
                self.stood.emit(Step("running"))
            case "failed" | "lost" if not self._launching:
                self.stood.emit(Step("failed", state.message, state.remedy))
            case "stopped" if now.phase in ("running", "done") and not self._launching:
                self.stood.emit(Step())

    async def _make(self) -> SupervisedEngine:
        if self._seen.machine is None:
            await self._look()
        launch = await asyncio.to_thread(self.what)
        await self.kernels.ensure(launch)
        return launch.engine(self._on_start)

    def _on_kernels(self) -> None:
        """While the start waits for the test, the test is its work."""
        work, now = self.kernels.state.step.work, self._now()
        if work is not None and now.phase == "running":
            share = (work.fraction or 0.0) / max(len(self.phases), 1)
            now = Step("running", work=replace(work, fraction=share))
        self.stood.emit(now)

    def _on_start(self, progress: StartProgress) -> None:
        if self._now().phase == "running":
            seen, before = self._seen, int(self.kernels.state.wanted)
            seen.log = [*seen.log[-LOG_LINES:], progress.detail] if progress.detail else seen.log
            self.stood.emit(Step("running", work=start_work(progress, before)))
