"""From a remedy to what the program does about it: another plan, shown first, or another page, or a file.

remedies = EngineRemedies(engine)
remedies.apply(remedy)          # -> proposed(Proposal), refused(why), page_wanted(page, step), or it is done
remedies.accept()               # -> retry_wanted(Retry): whoever owns the setup remembers it and starts
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.engine_retry import Proposal
from app.presenters.engine import EnginePresenter
from app.tasks import spawn
from engine.cli.version import version
from engine.domain.diagnosis import Action, Diagnosis, Remedy, Retry
from engine.domain.plan import LaunchPlan, PlanResult, Profile, Refusal, Wishes
from engine.errors import EngineError, UserError
from engine.launch.proof import InstalledEngine
from engine.local.launch import Launch, cache_dir
from engine.local.stored import load_memory, memory_file
from engine.supervise.diagnose_changes import plan_changes
from engine.supervise.diagnose_report import Redactor, write_report
from engine.supervise.diagnose_retry import lighter, next_start

# Remedies that another page of the program follows: page, and step of the setup.
PAGES: dict[Action, tuple[str, str]] = {
    "free_memory": ("setup", "preflight"),
    "reinstall": ("setup", "engine"),
    "check_checkpoint": ("setup", "checkpoint"),
    "look_again": ("setup", "detect"),
}


class EngineRemedies(QObject):
    """What can be done about the diagnosis in the engine's state.

    Signals:
        proposed(Proposal or None): the next start to look at; None: it is off the table.
        refused(str): why a remedy cannot be followed here.
        told(str): it is done.
        page_wanted(str, str): page, and step of the setup.
        retry_wanted(Retry): remember it and start by it.
        failed(EngineError)
    """

    proposed = Signal(object)
    refused = Signal(str)
    told = Signal(str)
    page_wanted = Signal(str, str)
    retry_wanted = Signal(object)
    failed = Signal(object)

    def __init__(self, engine: EnginePresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._proposal: Proposal | None = None
        engine.state_changed.connect(lambda _state: self.dismiss())

    @property
    def proposal(self) -> Proposal | None:
        return self._proposal

    def apply(self, remedy: Remedy) -> None:
        """Follow a remedy of the diagnosis."""
        if remedy.action in PAGES:
            self.page_wanted.emit(*PAGES[remedy.action])
        elif remedy.action == "wait":
            self.told.emit(self.tr("The engine goes on; stop it if nothing comes of it."))
        elif remedy.action == "restart":
            self.restart()
        elif remedy.action == "clear_caches":
            spawn(self, self._clear_caches(), "clear the engine's caches")
        else:
            spawn(self, self._propose(remedy), "next start")

    def restart(self) -> None:
        """The same plan once more; not where it is known to want more memory than there is."""
        start = self._engine.vllm
        if start.plan is not None and not lighter(start.plan, start.failed):
            self.refused.emit(
                self.tr("The same plan would run out of memory again. Choose a remedy that wants less, or free memory.")
            )
            return
        self._engine.restart()

    def propose_profile(self, profile: Profile) -> None:
        """Show what another profile changes."""
        spawn(self, self._propose_profile(profile), "another profile")

    def accept(self) -> None:
        """Begin what was proposed."""
        proposal, self._proposal = self._proposal, None
        if proposal is not None:
            self.proposed.emit(None)
            self.retry_wanted.emit(proposal.retry)

    def dismiss(self) -> None:
        if self._proposal is not None:
            self._proposal = None
            self.proposed.emit(None)

    def save_report(self, path: Path) -> None:
        """Write the report of the last failure, without what names a person."""
        spawn(self, self._save_report(path), "engine report")

    def redactor(self) -> Callable[[str], str]:
        """Takes keys, names and addresses out of what is copied."""
        return Redactor([self._engine.api_key or ""])

    async def _propose(self, remedy: Remedy) -> None:
        diagnosis, launch = self._engine.state.diagnosis, self._engine.vllm.launch
        if diagnosis is None or launch is None:
            self.refused.emit(self.tr("There is no plan on this computer that this remedy could change."))
            return
        found = await asyncio.to_thread(self._next, diagnosis, remedy, launch)
        if found is None:
            self.refused.emit(
                self.tr("This computer has no plan with that change that would do better. Try another remedy.")
            )
            return
        retry, plan = found
        changes = plan_changes(launch.plan, plan)
        self._show(Proposal("; ".join(retry.changes), changes, retry, self._warning(), remedy))

    def _next(self, diagnosis: Diagnosis, remedy: Remedy, launch: Launch) -> tuple[Retry, LaunchPlan] | None:
        memory = load_memory(memory_file())

        def planner(wishes: Wishes) -> PlanResult:
            return memory.plan(launch.machine, wishes)

        one, failed = replace(diagnosis, remedies=(remedy,)), tuple(self._engine.vllm.failed)
        found = next_start(one, launch.plan, memory.wished.as_wishes(), planner, failed=failed)
        if found is None:
            return None
        # As the start will do it: what the engine needs or gets comes after the remedy, which may forbid it.
        plan = launch.fit(found[1])
        return (found[0], plan) if isinstance(plan, LaunchPlan) else None

    async def _propose_profile(self, profile: Profile) -> None:
        launch = self._engine.vllm.launch
        if launch is None:
            self.page_wanted.emit("setup", "plan")
            return
        memory = load_memory(memory_file())
        wishes = replace(memory.wished.as_wishes(), profile=profile)
        found = await asyncio.to_thread(lambda: launch.fit(memory.plan(launch.machine, wishes)))
        if isinstance(found, Refusal):
            self.refused.emit(f"{found.reason}. {next(iter(found.ways_out), '')}")
            return
        names = {"chat": self.tr("Chat profile"), "decisions": self.tr("Decisions profile")}
        retry = Retry("restart", wishes)
        self._show(Proposal(names[profile], plan_changes(launch.plan, found), retry, self._warning()))

    def _show(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self.proposed.emit(proposal)

    def _warning(self) -> str:
        if not self._engine.state.ready:
            return ""
        return self.tr("The engine stops first: an answer that is being written is cut off, a run pauses.")

    async def _clear_caches(self) -> None:
        folder = cache_dir()
        try:
            await asyncio.to_thread(_empty, folder)
        except OSError as error:
            why = error.strerror or str(error)
            self.failed.emit(UserError("engine.cache", "cannot empty {path}: {why}", path=folder, why=why))
            return
        self.told.emit(self.tr("The compiled kernels are gone; the next start makes them anew."))

    async def _save_report(self, path: Path) -> None:
        state, launch = self._engine.state, self._engine.vllm.launch
        if state.diagnosis is None or state.log is None:
            return
        versions = {"diffusion-desk": version(), "vllm": await asyncio.to_thread(_engine_version, launch)}
        try:
            await asyncio.to_thread(
                write_report,
                path,
                log=state.log,
                diagnosis=state.diagnosis,
                versions=versions,
                plan=launch.plan if launch else None,
                machine=launch.machine if launch else None,
                redact=self.redactor(),
            )
        except EngineError as error:
            self.failed.emit(error)
            return
        self.told.emit(self.tr("The report is {path}. Nothing was sent; read it before you send it.").format(path=path))


def _empty(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)


def _engine_version(launch: Launch | None) -> str:
    try:
        return InstalledEngine(launch.environment.site_packages).version_text if launch else ""
    except EngineError:
        return "unknown"
