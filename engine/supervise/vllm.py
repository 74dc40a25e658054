"""vLLM as a supervised process: a held port, a cleaned environment, phases read from its log, every process of its tree
watched, and a ready that means it: one hidden chat and one hidden read were answered.

How the command line and the environment are made from a plan is the caller's business (``engine.launch.command``).
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from engine.domain.chat import Failed, Finished, Message
from engine.errors import EngineRefused, EngineUnreachable
from engine.supervise import processes
from engine.supervise.group import EngineGroup, StopOutcome
from engine.supervise.lifecycle import LAST_WORDS_S, EngineCommand, EngineHandle, SupervisedEngine
from engine.supervise.memory import MemoryWatch
from engine.supervise.ports import bind_port
from engine.supervise.sleep import SleepWatch
from engine.supervise.start_log import LAST_PHASE, LogFollower, LogPhases, StartClock, StartProgress
from engine.supervise.state import EngineState
from engine.supervise.timings import StartTimings

if TYPE_CHECKING:
    from engine.client.http import EngineClient

__all__ = ["LAST_PHASE", "LogFollower", "LogPhases", "StartProgress", "VllmEngine", "check_server"]

START_S = 1800.0  # weights from a slow disk and a first compilation take many minutes
STOP_S = 25.0  # the plan's --shutdown-timeout is 20
FOLLOW_S = 0.2
TICK_S = 1.0  # between two reports of a phase that says nothing new: its times go on
CENSUS_S = 1.0  # between two looks at the tree while it grows
ANSWER_TOKENS = 16  # of the hidden chat; one canvas is denoised whatever is asked for
_VLLM_KEY = "VLLM_API_KEY"
_SPAWNED = "spawn_main"  # in the command line of Python's multiprocessing


class VllmEngine(SupervisedEngine):
    """One vLLM server. Its key and port stay the same at every start.

    Args:
        argv: the command line for a port.
        env: the whole environment; the key is added.
        model: the name that it serves.
        phases: of the plan.
        host, port: where it listens, as the command line says too; port 0 takes a free one.
        api_key: what clients must send; random unless given.
        memory, sleep: as of :class:`SupervisedEngine`.
        timings: of earlier starts of this kind; None: the progress has no ETA.
        on_progress: hears of every step of the start, and once a second between them, in the loop's thread.
    """

    def __init__(
        self,
        argv: Callable[[int], Sequence[str]],
        env: Mapping[str, str],
        *,
        model: str,
        phases: Sequence[str],
        host: str = "127.0.0.1",
        port: int = 0,
        live_socket: Path | None = None,
        log_path: Path | None = None,
        pid_dir: Path | None = None,
        memory: MemoryWatch | None = None,
        sleep: SleepWatch | None = None,
        timings: StartTimings | None = None,
        on_state: Callable[[EngineState], None] | None = None,
        on_progress: Callable[[StartProgress], None] = lambda progress: None,
        api_key: str | None = None,
    ) -> None:
        super().__init__(
            EngineCommand("vllm", argv, env),
            host=host,
            port=port,
            live_socket=live_socket,
            log_path=log_path,
            pid_dir=pid_dir,
            memory=memory,
            sleep=sleep,
            on_state=on_state,
            api_key=api_key,
        )
        self.on_progress = on_progress
        self._model, self._phases, self._timings = model, tuple(phases), timings
        self._parts: dict[int, str] = {}

    async def start(self, *, timeout_s: float = START_S) -> EngineHandle:
        """Start it and wait until it serves the model, a chat and a read.

        Raises:
            InputError: the port is taken; names its holder.
            UserError: it ended at its start, was not ready in time, serves another model, fails its first requests, or
                somebody else answers on its port.
        """
        return await super().start(timeout_s=timeout_s)

    async def stop(self, *, grace_s: float = STOP_S) -> StopOutcome:
        """As :meth:`SupervisedEngine.stop`, with the time that vLLM takes for running requests."""
        return await super().stop(grace_s=grace_s)

    def _bind(self) -> socket.socket:
        """vLLM takes no open socket, but the port can be held until it listens."""
        return bind_port(self._host, self._port, listen=False)

    def _launch(self, listener: socket.socket) -> EngineHandle:
        host, port = listener.getsockname()[:2]
        return self._spawn(
            self._command.argv(port),
            host,
            port,
            env={**self._command.env, _VLLM_KEY: self._key},
            inherit=False,
            # TERM, not KILL: the server should end its engine in order, and with it the shared memory that they have.
            death_signal=signal.SIGTERM,
        )

    async def _until_ready(self, handle: EngineHandle, timeout_s: float) -> None:
        group, self._parts = self._running(), {}
        clock = StartClock(self._phases, self._timings.usual() if self._timings else {})
        try:
            async with asyncio.timeout(timeout_s):
                why = await self._first(
                    _prove(handle, self._model),
                    self._ended(group),
                    self._lost_at_start(group),
                    self._follow(handle.log_path, clock, group),
                )
        except TimeoutError:
            what = f"was not ready within {timeout_s:g} s of its start"
            raise self._error("engine.start_timeout", what, group) from None
        if why:
            raise self._error("engine.died_at_start", f"ended at its start ({why})", group)
        if self._timings is not None:
            self._timings.add(clock.finish())
        members = group.note_members()
        self._parts |= _parts(members)
        if not self._parts:  # they cannot set their titles
            self._parts = {member.pid: f"process {member.pid}" for member in members if _is_spawned(member)}

    def _fates(self, group: EngineGroup) -> list[Coroutine[Any, Any, str]]:
        return [*super()._fates(group), self._part_ended()]

    async def _check(self, handle: EngineHandle) -> None:
        from engine.client.http import EngineClient

        async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
            await check_server(client, self._model)

    async def _lost_at_start(self, group: EngineGroup) -> str:
        """Until a process of the tree that had named itself is gone. vLLM mostly ends then, but not always."""
        while True:
            self._parts |= _parts(group.note_members())
            for pid, name in self._parts.items():
                if processes.create_time(pid) is None:
                    return await self._last_words(group, f"has lost {name}")
            await asyncio.sleep(CENSUS_S)

    async def _last_words(self, group: EngineGroup, what: str) -> str:
        """What has happened, after the time for the rest to say so in the log and to end in order."""
        try:
            async with asyncio.timeout(LAST_WORDS_S):
                return f"{what}; {await self._ended(group)}"
        except TimeoutError:
            return what

    async def _part_ended(self) -> str:
        """Until one of vLLM's own processes ends: alone it can do nothing, and the server may go on for ever.

        They were noted when it became ready: one may have died before anybody watches.
        """
        if not self._parts:
            await asyncio.Event().wait()
        return await self._first(*(_gone(pid, name) for pid, name in self._parts.items()))

    async def _follow(self, log: Path, clock: StartClock, group: EngineGroup) -> str:
        """Reports the progress; never returns. With a new phase the tree has often grown, so it is looked at."""
        follower, phases = LogFollower(log), LogPhases(self._phases)
        while True:
            self.on_progress(clock.timed(phases.now))
            told = time.monotonic()
            changed = False
            while not changed and time.monotonic() - told < TICK_S:
                await asyncio.sleep(FOLLOW_S)
                for line in follower.lines():
                    progress = phases.feed(line)
                    if progress is not None:
                        changed = True
                        self._parts |= _parts(group.note_members())
                        self.on_progress(clock.timed(progress))


def _parts(members: Sequence[psutil.Process]) -> dict[int, str]:
    """vLLM's own processes, from number to the name that they gave themselves (``Worker_TP0``)."""
    names = {member.pid: processes.title(member) for member in members}
    return {
        pid: f"{name.removeprefix(processes.VLLM_TITLE)} (pid {pid})"
        for pid, name in names.items()
        if name.startswith(processes.VLLM_TITLE)
    }


def _is_spawned(process: psutil.Process) -> bool:
    try:
        return any(_SPAWNED in part for part in process.cmdline())
    except psutil.Error:
        return False


async def _gone(pid: int, name: str) -> str:
    await processes.wait_gone([pid], None)
    return f"has lost {name}"


async def _prove(handle: EngineHandle, model: str) -> str:
    """Wait for the server, see that it is ours, then ask it what the program will ask it."""
    from engine.client.http import EngineClient  # brings aiohttp: not for a window that starts no engine

    async with EngineClient(handle.base_url, api_key=handle.api_key, timeout_s=300.0) as client:
        while not await client.health():  # noqa: ASYNC110  # another process tells nobody when it is ready
            await asyncio.sleep(FOLLOW_S)
        await _refuses_strangers(handle)
        await check_server(client, model)
    return ""


async def _refuses_strangers(handle: EngineHandle) -> None:
    """Ours knows our key and no other; a program that took the port in the meantime does not know it."""
    from engine.client.http import EngineClient

    for key, expected in ((None, 401), (handle.api_key, 200)):
        async with EngineClient(handle.base_url, api_key=key) as client:
            try:
                await client.models()
                status = 200
            except EngineRefused as error:
                status = error.status
        if status != expected:
            raise EngineRefused(
                "engine.other_server",
                "another program answers at {url}: it does not know the key of this engine",
                status=status,
                remedy="choose another port, or none",
                url=handle.base_url,
            )


async def check_server(client: EngineClient, model: str) -> None:
    """The model, one chat and one read.

    Raises:
        EngineUnreachable, EngineRefused: it does not answer, or not as it should.
    """
    from engine.client.wire import QuestionSpec, SystemOneRequest

    served = [card.id for card in await client.models()]
    if model not in served:
        raise EngineRefused(
            "engine.other_model",
            "the server at {url} serves {served}, not {model}",
            status=200,
            url=client.address,
            served=", ".join(served) or "no model",
            model=model,
        )
    await _first_chat(client, model)
    question = QuestionSpec(type="noul", instructions="Is water wet?")
    answer = await client.systemone(SystemOneRequest(state="Water is wet.", questions={"probe": question}, model=model))
    if "probe" not in answer.answers:
        raise EngineRefused("engine.probe_read", "the first read was not answered", status=200)


async def _first_chat(client: EngineClient, model: str) -> None:
    finished = False  # with or without a text: the first canvas may hold nothing but tokens that are not shown
    async for event in client.chat([Message("user", "Hello.")], model=model, max_tokens=ANSWER_TOKENS):
        if isinstance(event, Failed):
            raise EngineUnreachable("engine.probe_chat", "the first chat failed: {why}", why=event.message)
        finished = finished or isinstance(event, Finished)
    if not finished:
        raise EngineRefused("engine.probe_chat", "the first chat did not end", status=200)
