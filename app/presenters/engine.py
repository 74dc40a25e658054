"""The engine's life as the window sees it: start, readiness, health, death, stop.

Three kinds: the embedded toy and vLLM, which we start and own, and a server at an address, which we only talk to.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.models.engine_state import EngineKind, EngineState
from app.presenters.engine_process import memory_of, pids_of, remove_sockets
from app.presenters.engine_vllm import VllmStart
from app.tasks import cancel_all, spawn
from engine import paths
from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.client.wire import ModelCard
from engine.domain.diagnosis import Diagnosis
from engine.errors import EngineError
from engine.local.launch import LocalEngine
from engine.supervise.adopted import AdoptedEngine
from engine.supervise.diagnose_watch import EngineFailed, explains
from engine.supervise.embedded import embedded_engine
from engine.supervise.group import EngineGroup
from engine.supervise.keep import Keeper, RestartPolicy
from engine.supervise.leftovers import sweep
from engine.supervise.lifecycle import SupervisedEngine
from engine.supervise.logs import tail
from engine.supervise.processes import exit_text
from engine.supervise.state import EngineState as Life
from engine.supervise.vllm import VllmEngine

HEALTH_EVERY_S = 2.0
MISSES = 2  # health checks in a row that fail before a server counts as lost: a busy one may miss one
LOG_LINES = 400


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Which engine to use.

    Attributes:
        url, api_key: for kind ``url``.
        make: for kind ``vllm``: gives the engine, not started; may look at the machine first, and raise a UserError.
    """

    kind: EngineKind = "embedded"
    url: str = ""
    api_key: str | None = None
    make: Callable[[], Awaitable[SupervisedEngine]] | None = None


class EnginePresenter(QObject):
    """Owns the engine and its client.

    Signals:
        state_changed(EngineState)
        ready(EngineClient): a client that answers; it stays valid until the state leaves ``ready``.
    """

    state_changed = Signal(object)
    ready = Signal(object)

    def __init__(self, choice: EngineChoice | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice = choice or EngineChoice()
        self.policy = RestartPolicy()  # of a vLLM that crashes
        self.state = EngineState(kind=self.choice.kind)
        self.client: EngineClient | None = None
        self.live: LiveChannel | None = None
        self.vllm = VllmStart(self)
        self.vllm.hung.connect(self._on_hang)
        self._api_key: str | None = None
        self._engine: SupervisedEngine | None = None
        self._adopted: AdoptedEngine | None = None
        self._engine_kind: EngineKind = "embedded"
        self._busy = asyncio.Lock()
        self._starting: asyncio.Task[None] | None = None
        self._watchers: list[asyncio.Task[None]] = []
        self._closed = False

    @property
    def url(self) -> str:
        """Where the engine answers; empty unless ready."""
        return self.state.url if self.state.ready else ""

    @property
    def api_key(self) -> str | None:
        """For workers that talk to the same engine; hand it over in their environment, never in arguments."""
        return self._api_key

    @property
    def _group(self) -> EngineGroup | None:
        """The processes, where they are ours."""
        return self._engine.group if self._engine is not None else None

    def configure(self, choice: EngineChoice) -> None:
        """Another engine, from its next start on."""
        self.choice = choice
        if self.state.phase in ("stopped", "failed", "lost"):
            if self._adopted is not None:
                self._adopted.release()  # or it would come back instead of the new one
            self._set(EngineState(kind=choice.kind))

    def start(self) -> None:
        """Starts in the background, unless it runs already."""
        if not self._closed and not self.state.ready and not self.state.busy:
            spawn(self, self.start_now(), "engine start")

    def stop(self) -> None:
        spawn(self, self.stop_now(), "engine stop")

    def restart(self) -> None:
        spawn(self, self.restart_now(), "engine restart")

    async def start_now(self) -> None:
        """Starts and waits until the engine is ready or has failed; the state tells which."""
        task = asyncio.current_task()
        async with self._busy:
            if self.state.ready or self._closed:
                return
            self._starting = task
            choice = self.choice
            if self._watchers:  # it has crashed, and would be started by whoever keeps it
                await self._release()
            self._set(EngineState("starting", choice.kind, url=choice.url if choice.kind == "url" else ""))
            try:
                state = await self._open(choice)
            except EngineError as error:
                await self._release()
                self._set(self._failure(error))
            except asyncio.CancelledError:
                await self._release()
                self._set(EngineState(kind=choice.kind))
                raise
            else:
                self._set(state)
                self.ready.emit(self.client)
                self._watch()
            finally:
                self._starting = None

    async def stop_now(self) -> None:
        """Stops what we started and forgets what we did not; afterwards nothing of it runs."""
        if self._starting is not None:
            self._starting.cancel()
        async with self._busy:
            if self.state.phase == "stopped" and self.client is None:
                return
            self._set(replace(self.state, phase="stopping"))
            try:
                await self._release()
            except EngineError as error:
                self._set(replace(self.state, phase="failed", message=error.message, remedy=error.remedy))
                return
            self._set(EngineState(kind=self.choice.kind))

    async def restart_now(self) -> None:
        await self.stop_now()
        await self.start_now()

    async def replace_now(self, choice: EngineChoice) -> None:
        """Stops what runs and starts another engine, anew even when the choice is the same (its plan may differ)."""
        await self.stop_now()
        self._engine = None
        self.configure(choice)
        await self.start_now()

    async def close_down(self) -> None:
        """The window leaves: stops the engine and ends every task."""
        self._closed = True
        await self.stop_now()
        await cancel_all(self)
        await self._forget_embedded()

    async def check_now(self) -> None:
        """Looks at once, after a request has failed, instead of waiting for the next health check."""
        client = self.client
        if not self.state.ready or client is None:
            return
        if self._adopted is not None:
            await self._adopted.look()
        elif not await client.health():
            await self._lost(client, self.tr("it does not answer"))
        if client is not self.client:
            await client.close()  # it was let go meanwhile, and our question may have opened it again

    async def memory(self) -> int | None:
        """Resident bytes of all processes of the engine, or None when it is not ours or not running."""
        return await memory_of(self._group)

    async def pids(self) -> frozenset[int]:
        """Of all processes of the engine; empty when it is not ours or not running."""
        return await pids_of(self._group)

    async def log_tail(self, lines: int = LOG_LINES) -> str:
        """The end of the engine's log; empty for an engine that is not ours."""
        path = self.state.log
        return "" if path is None else await asyncio.to_thread(tail, path, lines)

    async def sweep_leftovers(self) -> int:
        """Ends engines that a crash of an earlier window left behind; how many there were."""
        await asyncio.to_thread(remove_sockets, paths.runtime_dir())
        return len(await sweep(paths.runtime_dir()))

    async def _open(self, choice: EngineChoice) -> EngineState:
        if choice.kind == "url":
            await self._forget_embedded()
            self._api_key = choice.api_key
            client = self.client = EngineClient(choice.url, api_key=choice.api_key)
            self._adopted = AdoptedEngine(client, on_state=lambda life: self._on_adopted(client, life))
            card = await self._adopted.adopt()
            return self._of_card(EngineState("ready", "url", url=client.address, since=time.time()), card)
        engine = await self._own_engine(choice)
        plan = engine.launch.plan if isinstance(engine, LocalEngine) and engine.launch else None
        self._set(replace(self.state, log=engine.log_path, plan=plan))
        handle = await (self.vllm.start(engine) if isinstance(engine, VllmEngine) else engine.start())
        self._api_key = handle.api_key
        self.client = EngineClient(handle.base_url, api_key=handle.api_key)
        state = EngineState(
            "ready",
            choice.kind,
            url=handle.base_url,
            pid=handle.pid,
            since=time.time(),
            log=handle.log_path,
            plan=plan,
        )
        return await self._with_model(state)

    async def _own_engine(self, choice: EngineChoice) -> SupervisedEngine:
        """The engine of a choice; the one from before where the kind is the same."""
        if self._engine is not None and self._engine_kind == choice.kind:
            return self._engine
        await self._forget_embedded()
        if choice.kind == "vllm" and choice.make is not None:
            made: SupervisedEngine = await choice.make()
        else:
            made = embedded_engine()
        self.live = await LiveChannel(paths.runtime_dir() / f"live-{os.getpid()}.sock").__aenter__()
        made.live_socket = self.live.path  # bound before its engine starts
        self._engine = made
        self._engine_kind = choice.kind
        return self._engine

    async def _with_model(self, state: EngineState) -> EngineState:
        """With what it serves; a start is not over before it serves something."""
        assert self.client is not None
        return self._of_card(state, (await self.client.models())[0])

    @staticmethod
    def _of_card(state: EngineState, card: ModelCard) -> EngineState:
        return replace(state, model=card.id, context=card.max_model_len, owner=card.owned_by)

    async def _release(self) -> None:
        """Lets go of the client and of the process, in this order."""
        for watcher in self._watchers:
            if watcher is not asyncio.current_task():
                watcher.cancel()
        self._watchers = []
        client, self.client = self.client, None
        adopted, self._adopted = self._adopted, None
        if adopted is not None:
            adopted.release()
        self._api_key = None
        if client is not None:
            await client.close()
        # Kept for the next start: the same engine comes back with the same port and key, so paused runs find it.
        if self._engine is not None:
            await self._engine.stop()

    async def _forget_embedded(self) -> None:
        """A server at an address sends no frames to us."""
        self._engine = None
        if self.live is not None:
            await self.live.close()
            self.live = None

    def _watch(self) -> None:
        client, engine = self.client, self._engine
        assert client is not None
        if self._adopted is not None:
            self._watchers = [spawn(self, self._watch_adopted(self._adopted), "server elsewhere")]
            return
        self._watchers = [spawn(self, self._watch_health(client), "engine health")]
        if isinstance(engine, VllmEngine):
            self._watchers.append(spawn(self, self._keep(client, engine), "engine process"))
            self._watchers.append(spawn(self, self.vllm.follow(), "engine log"))
        elif engine is not None:
            self._watchers.append(spawn(self, self._watch_process(client, engine), "engine process"))

    async def _watch_health(self, client: EngineClient) -> None:
        missed = 0
        while missed < MISSES:
            await asyncio.sleep(HEALTH_EVERY_S)
            # One that has crashed is being started again: whoever keeps it tells.
            missed = 0 if not self.state.ready or await client.health() else missed + 1
        await self._lost(client, self.tr("it does not answer"))

    async def _watch_adopted(self, adopted: AdoptedEngine) -> None:
        await adopted.watch()

    def _on_adopted(self, client: EngineClient, life: Life) -> None:
        """A server elsewhere that is lost comes back by itself; it is nobody else's business what it did meanwhile."""
        adopted = self._adopted
        if client is not self.client or adopted is None:
            return
        if life.phase == "lost" and self.state.ready:
            remedy = self.tr("It is used again as soon as it answers; answers that arrived are kept.")
            why = self.tr("nobody answers at {address}").format(address=client.address)
            self._set(replace(self.state, phase="lost", message=why, remedy=remedy))
        elif life.phase == "adopted" and self.state.phase == "lost" and adopted.card is not None:
            back = replace(self.state, phase="ready", message="", remedy="", since=time.time())
            self._set(self._of_card(back, adopted.card))
            self.ready.emit(client)

    async def _watch_process(self, client: EngineClient, engine: SupervisedEngine) -> None:
        ended = await engine.watch()
        if ended.ended:
            code = self._group.exit_code() if self._group is not None else None
            ending = self.tr("it ended") if code is None else self.tr("it ended ({how})").format(how=exit_text(code))
            await self._lost(client, ending)

    async def _keep(self, client: EngineClient, engine: VllmEngine) -> None:
        """A vLLM that crashes is started again, a few times and not into the same wall; its clients find it again."""
        engine.on_state = lambda life: self._on_life(client, engine, life)
        try:
            ended = await Keeper(engine, self.policy, verdict=self.vllm.hopeless, change=self.vllm.changed).keep()
        finally:
            engine.on_state = None
        if ended.ended:
            await self._given_up(client, ended.short)

    def _on_life(self, client: EngineClient, engine: VllmEngine, life: Life) -> None:
        match life.phase:
            case "crashed" | "waiting":
                self._set(replace(self.state, phase="lost", pid=None, message=life.short, remedy=""))
            case "starting":
                self.vllm.begin_again()
                plan = self.vllm.plan
                self._set(replace(self.state, phase="starting", message="", remedy="", diagnosis=None, plan=plan))
            case "ready" if engine.handle is not None and self.state.phase == "starting":
                self._set(replace(self.state, phase="ready", pid=engine.handle.pid, since=time.time()))
                self.ready.emit(client)
            case _:
                pass  # asked after a sleep, or stopped by us

    async def _given_up(self, client: EngineClient, why: str) -> None:
        async with self._busy:
            if client is not self.client:
                return
            found = await self.vllm.verdict()
            self._set(replace(self.state, phase="lost", pid=None, message=why, remedy="", diagnosis=found))
            await self._release()

    async def _lost(self, client: EngineClient, why: str) -> None:
        """The engine behind ``client`` is gone. A late finding about an engine before this one changes nothing."""
        async with self._busy:
            if not self.state.ready or client is not self.client:
                return
            state = replace(
                self.state,
                phase="lost",
                pid=None,
                message=why,
                remedy=self.tr("Restart it; answers that arrived and stored runs are kept."),
                diagnosis=await self.vllm.verdict() if self.state.kind == "vllm" else None,
            )
            if state.diagnosis is not None and explains(state.diagnosis):
                state = replace(state, message=state.diagnosis.cause)
            self._set(state)
            await self._release()

    def _on_hang(self, diagnosis: Diagnosis | None) -> None:
        if self.state.phase in ("starting", "ready"):
            self._set(replace(self.state, diagnosis=diagnosis))

    def _failure(self, error: EngineError) -> EngineState:
        state = replace(self.state, phase="failed", message=self._words(error), remedy=error.remedy)
        return replace(state, diagnosis=error.diagnosis if isinstance(error, EngineFailed) else None)

    def _words(self, error: EngineError) -> str:
        """The message without the end of the log, which the Engine page shows anyway."""
        if error.code in ("engine.died_at_start", "engine.start_timeout") and not isinstance(error, EngineFailed):
            return self.tr("it {what}").format(what=error.params["what"])
        return error.message

    def _set(self, state: EngineState) -> None:
        if state != self.state:
            self.state = state
            self.state_changed.emit(state)
