"""The setup from an unknown machine to a running engine, step by step; every step can be done again.

What can be seen on the machine or the disk is looked at, never remembered. What was under way when the window died goes
on at its next start: downloads and the environment from what is on disk, a launch from its beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.setup import STEPS, Step, StepName
from app.presenters import setup_words as words
from app.presenters.engine import EngineChoice, EnginePresenter
from app.presenters.setup_elsewhere import Elsewhere
from app.presenters.setup_probe import first_questions
from app.presenters.setup_seen import Seen
from app.presenters.setup_start import SetupStart
from app.presenters.setup_work import checkpoint_entry, command_line, download_argv, install_argv, source_problems
from app.presenters.setup_workers import SetupWorkers
from app.tasks import cancel_all, spawn
from engine.checkpoints.hf_home import default_endpoint
from engine.domain.diagnosis import Retry
from engine.domain.hardware import Machine
from engine.errors import EngineError, UserError
from engine.hardware.findings import find_findings
from engine.launch.preflight import in_order, preflight
from engine.local.disk import checkpoint_complete, engine_lock, engine_on_disk, look_at_machine
from engine.local.facts import gather_facts
from engine.local.stored import Memory, Wished, load_memory, memory_file, save_memory
from engine.supervise.ports import next_free_port

NEEDED_BY_VLLM: tuple[StepName, ...] = ("engine", "checkpoint", "preflight")


class SetupPresenter(QObject):
    """Owns the setup.

    Signals:
        changed(): read ``steps``, ``seen`` and ``memory``.
        choice_made(EngineChoice): the user wants this engine instead; the app is to use and remember it.
        launched(): vLLM answers and is the app's engine; the app is to remember that.
        noted(EngineError): something that did not stop a step (the file of the setup cannot be written).
    """

    changed = Signal()
    choice_made = Signal(object)
    launched = Signal()
    noted = Signal(object)

    def __init__(
        self, engine: EnginePresenter, probe: Callable[[], Machine] = look_at_machine, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine, self._probe = engine, probe
        self._closing = False
        self._lock = engine_lock()
        self._begun: asyncio.Task[None] | None = None
        self.memory: Memory = load_memory(memory_file())
        self.seen = Seen()
        self.steps: dict[StepName, Step] = dict.fromkeys(STEPS, Step())
        self.workers = SetupWorkers(self)
        self.workers.stood.connect(self._set)
        self.workers.under_way.connect(self._on_under_way)
        self.workers.ended.connect(lambda _step: spawn(self, self.look_at_disk(), "setup disk"))
        self.start = SetupStart(
            engine,
            self.seen,
            now=lambda: self.steps["launch"],
            port=lambda: self.memory.port,
            look=self.detect_now,
            parent=self,
        )
        self.start.stood.connect(lambda step: self._set("launch", step))
        self.elsewhere = Elsewhere(self)
        engine.state_changed.connect(lambda _state: self._on_engine())

    # ---- what the page asks
    @property
    def choice(self) -> EngineChoice:
        """vLLM as this setup has it."""
        return self.start.choice

    def command_line(self) -> str:
        found = self.seen.plan
        if found is None or found.checkpoint == "embedded" or self.seen.checkpoint is None:
            return ""
        there = self.seen.disk.found if self.seen.disk else None
        return command_line(found, there, self.seen.checkpoint, self.memory.port)

    @property
    def engine_ready(self) -> bool:
        return self._engine.state.ready

    def checkpoint_title(self) -> str:
        """What the plan needs, in words; empty without a plan for vLLM."""
        found = self.seen.plan
        return "" if found is None or self.seen.embedded else checkpoint_entry(found).repo

    @property
    def source(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Mirror and folder as the user has named them, and the usual ones."""
        found = self.seen.plan
        if found is None or self.seen.embedded:
            return ("", ""), ("", "")
        named = (self.memory.endpoint, self.memory.folders.get(found.checkpoint, ""))
        return named, (default_endpoint(), str(checkpoint_entry(found).folder))

    def begin(self) -> None:
        """The first look, once; then goes on with what was under way when the window died."""
        if self._begun is None:
            self._begun = spawn(self, self._begin_now(), "setup begin")

    def show_step(self, step: StepName) -> None:
        self._remember(step=step)
        self.changed.emit()

    def detect(self) -> None:
        spawn(self, self.detect_now(), "setup detect")

    def wish(self, **changes: Any) -> None:
        """Overrule values of the plan; the consequence is there at once."""
        wished = Wished.model_validate({**self.memory.wished.model_dump(), **changes})
        self._remember(wished=wished)
        self._replan()
        spawn(self, self.look_at_disk(), "setup disk")

    def forget_wishes(self) -> None:
        self._remember(overrides=())
        self.wish(**Wished(profile=self.memory.wished.profile).model_dump())

    def take(self, retry: Retry) -> None:
        """What a failed start has taught counts from now on: other wishes, flags and variables, another port."""
        memory = self.memory.after(retry)
        port = next_free_port(memory.port) if retry.new_port else memory.port
        self._remember(wished=memory.wished, overrides=memory.overrides, port=port)
        self._replan()

    def set_port(self, port: int) -> None:
        self._remember(port=port)
        self.steps["preflight"] = Step()
        self.changed.emit()

    def set_wheels(self, folder: str) -> None:
        """Install from a folder of wheels; empty for the network."""
        self._remember(wheels=folder)
        self.changed.emit()

    def install(self) -> None:
        wheels = Path(self.memory.wheels) if self.memory.wheels else None
        self._work("engine", install_argv(self._lock, wheels), self.tr("Starting the installation"))

    def fetch(self) -> None:
        self._work("checkpoint", download_argv(self.seen.plan, self.memory), self.tr("Asking the hub"))

    def adopt(self, folder: str) -> None:
        """Use a checkpoint that lies in a folder already, verified there."""
        self._work("checkpoint", download_argv(self.seen.plan, self.memory, folder), self.tr("Looking at the files"))

    def set_source(self, endpoint: str, folder: str) -> None:
        """A mirror of the hub and a folder for the plan's checkpoint; empty for the usual ones.

        What cannot be used is told in ``seen.source_problems`` and not taken.
        """
        found = self.seen.plan
        if found is None:
            return
        self.seen.source_problems = source_problems(endpoint, folder)
        if not any(self.seen.source_problems):
            target = str(Path(folder).expanduser()) if folder else ""
            self._remember(endpoint=endpoint, folders={**self.memory.folders, found.checkpoint: target})
            spawn(self, self.look_at_disk(), "setup disk")
        self.changed.emit()

    def pause(self) -> None:
        self.workers.send("pause")

    def resume(self) -> None:
        self.workers.send("resume")

    def cancel(self) -> None:
        self.workers.cancel()

    def check(self) -> None:
        spawn(self, self.check_now(), "setup preflight")

    def end_leftovers(self) -> None:
        spawn(self, self._end_leftovers(), "setup leftovers")

    def adopt_server(self) -> None:
        """Use the engine that answers on the port already."""
        self.choice_made.emit(EngineChoice("url", f"http://127.0.0.1:{self.memory.port}"))

    def launch(self) -> None:
        spawn(self, self.launch_now(), "setup launch")

    def stop_launch(self) -> None:
        self._engine.stop()

    def probe(self) -> None:
        spawn(self, self.probe_now(), "setup probe")

    def test_kernels(self) -> None:
        """The numeric self-test once more; not beside an engine, which has the memory."""
        if not self.steps["launch"].busy and not self.start.runs:
            self.start.kernels.again(self.start.what)

    def launch_untested(self) -> None:
        """Start although the numeric self-test could not run."""
        spawn(self, self._launch_untested(), "setup launch")

    async def close_down(self) -> None:
        """The window leaves; what is under way goes on at its next start."""
        self._closing = True
        await self.workers.close_down()
        await self.start.kernels.close_down()
        await self.elsewhere.close_down()
        await cancel_all(self)

    # ---- the steps
    async def detect_now(self) -> None:
        """Look at the machine and plan anew."""
        self._set("detect", Step("running", self.tr("Looking at the machine …")))
        try:
            self.seen.machine = await asyncio.to_thread(self._probe)
        except UserError as error:
            self._fail("detect", error)
            return
        self.seen.findings = find_findings(self.seen.machine)
        self._set("detect", words.detected(self.seen.machine, self.seen.findings))
        self._replan()
        await self.look_at_disk()

    async def look_at_disk(self) -> None:
        """What of engine and checkpoint is there already."""
        found = self.seen.plan
        if found is None or found.checkpoint == "embedded":
            self.start.kernels.look(None, None, None)
            return
        try:
            self.seen.disk = await asyncio.to_thread(engine_on_disk, self._lock, found)
            folder = self.memory.checkpoint_folder(found)
            self.seen.checkpoint = folder
            self.seen.checkpoint_there = await asyncio.to_thread(checkpoint_complete, folder)
        except UserError as error:
            self._fail("engine", error)
            return
        if self.seen.result is found:  # no other wish meanwhile
            self.seen.result = self.seen.disk.plan or found
        self.start.kernels.look(self.seen.machine, found, self.seen.disk.found)
        if not self.steps["engine"].busy:
            self._set("engine", words.engine_step(self.seen.disk))
        if not self.steps["checkpoint"].busy:
            self._set("checkpoint", self._checkpoint_step())

    async def check_now(self) -> bool:
        """Preflight; whether nothing is in the way."""
        machine, found = self.seen.machine, self.seen.plan
        if machine is None or found is None:
            return False
        if self.start.runs:
            self.seen.in_the_way, self.seen.right = (), ()
            self._set("preflight", Step("done", self.tr("vLLM runs already; a new start ends it first.")))
            return True
        self._set("preflight", Step("running", self.tr("Looking …")))
        machine = self.seen.machine = await asyncio.to_thread(self._probe)
        there = self.seen.disk.found if self.seen.disk else None
        checkpoint = self.seen.checkpoint if self.seen.checkpoint_there else None
        self.seen.facts = await gather_facts(there, checkpoint, self.memory.port, self._engine.api_key or "")
        self.seen.in_the_way = preflight(machine, found, self.seen.facts)
        self.seen.right = in_order(machine, found, self.seen.facts)
        first = next(iter(self.seen.in_the_way), None)
        if first is not None and first.severity == "blocker":
            self._set("preflight", Step("failed", first.text, first.remedy))
            return False
        self._set("preflight", Step("done", self.tr("Nothing is in the way.")))
        return True

    async def launch_now(self) -> None:
        """Preflight, then start; the app's engine is the new one, or its failure is told."""
        if self.seen.embedded:
            self.choice_made.emit(EngineChoice())
            return
        if self.steps["launch"].busy or self.start.kernels.state.step.busy:
            return
        if not await self.check_now():
            self._set("launch", self.steps["preflight"])
            return
        self._remember(active="launch", step="launch")
        ready = await self.start.run()
        if self._closing:
            return
        self._remember(active=None)
        if ready:
            self.launched.emit()
            await self.probe_now()

    async def _launch_untested(self) -> None:
        try:
            await self.start.kernels.waive(await asyncio.to_thread(self.start.what))
        except UserError as error:
            self._fail("launch", error)
            return
        await self.launch_now()

    async def probe_now(self) -> None:
        """The first chat and the first read, over the engine that the app uses."""
        client = self._engine.client
        if client is None or self.steps["probe"].busy:
            return
        self._remember(active="probe", step="probe")
        self._set("probe", Step("running", self.tr("Asking the first questions …")))
        try:
            self.seen.answer = await first_questions(client)
        except EngineError as error:
            self._fail("probe", error)
        else:
            self._set("probe", Step("done", self.tr("Chat and decisions work.")))
        if not self._closing:
            self._remember(active=None)

    # ---- private
    def _replan(self) -> None:
        machine = self.seen.machine
        if machine is None:
            return
        self.seen.result = self.memory.plan(machine)
        self.seen.in_the_way, self.seen.right = (), ()
        for step in STEPS[2:]:
            if self.seen.embedded and step in NEEDED_BY_VLLM:
                self.steps[step] = words.not_needed()
            elif not self.steps[step].busy:
                self.steps[step] = Step()
        self._set("plan", words.planned(self.seen.result))
        self._on_engine()

    async def _begin_now(self) -> None:
        active = self.memory.active
        await self.detect_now()
        match active:
            case "engine":
                self.install()
            case "checkpoint":
                self.fetch()
            case "launch":
                await self.launch_now()
            case "probe":
                self._on_engine()  # it may be ready already, or will be

    def _checkpoint_step(self) -> Step:
        found, folder = self.seen.plan, self.seen.checkpoint
        if found is None or folder is None:
            return Step()
        return words.checkpoint_step(checkpoint_entry(found), folder, there=self.seen.checkpoint_there)

    def _work(self, step: StepName, argv: list[str], phase: str) -> None:
        if self.seen.plan is not None and self.workers.step is None:
            self._remember(active=step, step=step)  # first: a kill right after the start must find it
            self.workers.run(step, argv, phase)

    def _on_under_way(self, step: StepName, going: bool) -> None:
        """A pause holds over a restart; a window that leaves lets its work go on at the next start."""
        if not self._closing:
            self._remember(active=step if going else None)

    def _on_engine(self) -> None:
        self.start.follow_engine()
        ready = self.start.runs or (self._engine.state.ready and self.seen.embedded)
        if ready and self.memory.active == "probe" and self._begun is not None and not self.steps["probe"].busy:
            self.probe()

    async def _end_leftovers(self) -> None:
        try:
            await self._engine.sweep_leftovers()
        except EngineError as error:
            self._fail("preflight", error)
            return
        await self.check_now()

    def _fail(self, step: StepName, error: EngineError) -> None:
        self._set(step, Step("failed", error.message, error.remedy))

    def _set(self, step: StepName, value: Step) -> None:
        self.steps[step] = value
        self.changed.emit()

    def _remember(self, **changes: Any) -> None:
        memory = self.memory.model_copy(update=changes)
        if memory == self.memory:
            return
        self.memory = memory
        try:
            save_memory(memory_file(), memory)
        except UserError as error:
            self.noted.emit(error)
