"""One supervised engine server: socket, group, readiness, state, and what becomes of all that."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine import paths
from engine.errors import EngineRefused, EngineUnreachable, UserError
from engine.supervise import processes
from engine.supervise.group import REST_S, EngineGroup, StopOutcome
from engine.supervise.memory import CardAfter, MemoryWatch
from engine.supervise.ports import bind_port
from engine.supervise.sleep import SleepWatch
from engine.supervise.state import LOG_FOLLOWS, EngineState, Phase

POLL_S = 0.05
ABANDON_S = (
    3.0  # from TERM to KILL for an engine that is not ready: a half-started vLLM does not hear TERM for a minute
)
LAST_WORDS_S = 2.0  # for an engine that has lost a part of itself to say so in its log
RESUME_S = 60.0  # for an engine to answer after the computer slept: cards wake up too
KEY_VARIABLE = "DIFFUSION_DESK_API_KEY"
LIVE_VARIABLE = "DG_LIVE_SOCK"
HIDDEN = "[key]"


@dataclass(frozen=True, slots=True)
class EngineHandle:
    """A running engine, as its clients need it.

    Attributes:
        base_url: ``http://127.0.0.1:PORT``.
        started: ISO 8601, UTC.
        live_socket: where it sends the frames of the denoising canvas, or None.
    """

    base_url: str
    api_key: str
    pid: int
    started: str
    log_path: Path
    live_socket: Path | None


@dataclass(frozen=True, slots=True)
class EngineCommand:
    """How to start a kind of engine.

    Attributes:
        name: for messages and file names, for instance ``embedded``.
        argv: from the number of the listening socket's file descriptor to the command line.
        env: added to the environment.
    """

    name: str
    argv: Callable[[int], Sequence[str]]
    env: Mapping[str, str]


class SupervisedEngine:
    """Starts, watches and stops one engine. Not for use from two tasks at once, but for :meth:`watch`.

    A start that is cancelled ends what it has started. Port and key are the same at every start, so that the clients of
    an engine that died find its successor.

    Args:
        command: what to start.
        host, port: where it listens; port 0 takes a free one.
        live_socket: a bound Unix datagram socket that gets the canvas frames.
        log_path: default ``engine-NAME.log`` in the log folder.
        pid_dir: default the runtime folder.
        memory: of the cards that it uses; looked at before a start and after an end.
        sleep: tells that the computer slept.
        on_state: called at every change, in the loop's thread.
        api_key: what clients must send; random unless given.
    """

    def __init__(
        self,
        command: EngineCommand,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        live_socket: Path | None = None,
        log_path: Path | None = None,
        pid_dir: Path | None = None,
        memory: MemoryWatch | None = None,
        sleep: SleepWatch | None = None,
        on_state: Callable[[EngineState], None] | None = None,
        api_key: str | None = None,
    ) -> None:
        self.state = EngineState()
        self.handle: EngineHandle | None = None
        self.log_path = log_path or paths.logs_dir() / f"engine-{command.name}.log"
        self.cards: tuple[CardAfter, ...] = ()  # how the last end left them
        self._command = command
        self._host, self._port = host, port
        self._key = api_key or secrets.token_urlsafe(32)
        self.live_socket = live_socket
        self._pid_dir = pid_dir or paths.runtime_dir()
        self._memory, self._sleep = memory, sleep or SleepWatch()
        self.on_state = on_state
        self._group: EngineGroup | None = None

    @property
    def group(self) -> EngineGroup | None:
        """The running group, for its members and their memory; None while stopped."""
        return self._group

    async def start(self, *, timeout_s: float = 60.0) -> EngineHandle:
        """Start it and wait until it answers ``/health`` and ``/v1/models``.

        Raises:
            InputError: the port is taken or not ours to take.
            UserError: it ended at its start or did not answer in time; the message ends with its log.
        """
        self._move("starting")
        try:
            if self._group is not None:  # it died, and what it had started would not
                await self._end(self._group, REST_S)
                self._group = None
            if self._memory is not None:
                await self._memory.note()
            with self._bind() as listener:
                handle = self._launch(listener)
                await self._until_ready(handle, timeout_s)
        except BaseException as error:
            await self._abandon(error)
            raise
        self.handle = handle
        self._move("ready")
        return handle

    async def watch(self) -> EngineState:
        """Wait until the engine ends, by itself or by :meth:`stop`; the state it is in then.

        One that ends by itself is ``crashed`` at once, and when this returns nothing of it is left.
        """
        group = self._group
        if group is None:
            return self.state
        why = await self._first(*self._fates(group))
        if group is self._group and self.state.phase in ("ready", "resuming"):
            self.handle = None
            self._move("crashed", str(self._error("engine.died", why, group)))
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_S):
                    await group.wait()
            await self._end(group, REST_S)
        return self.state

    async def stop(self, *, grace_s: float = 10.0) -> StopOutcome:
        """End the group and prove it gone. Stopping what is stopped is fine.

        Raises:
            UserError: processes of the group survive every signal; the message names them.
        """
        group = self._group
        if group is None:
            if self.state.phase != "stopped":
                self._move("stopping")
                self._move("stopped")
            return StopOutcome("none", None)
        self.handle = None
        served = self.state.phase in ("ready", "resuming")  # a half-started one does not hear TERM for a minute
        self._move("stopping")
        outcome = await self._end(group, grace_s, leader_first=served)
        if not outcome.clean:
            error = self._survived(outcome)
            self._move("failed", str(error))
            raise error
        self._group = None
        self._move("stopped", outcome.left)
        return outcome

    # --- what kinds of engines do in their own way --------------------------------------------------------------------

    def _bind(self) -> socket.socket:
        return bind_port(self._host, self._port)

    def _launch(self, listener: socket.socket) -> EngineHandle:
        host, port = listener.getsockname()[:2]
        handle = self._spawn(
            self._command.argv(listener.fileno()),
            host,
            port,
            env={**self._command.env, KEY_VARIABLE: self._key},
            pass_fds=[listener.fileno()],
        )
        listener.close()  # our copy: when the engine dies, its clients are told at once
        return handle

    async def _until_ready(self, handle: EngineHandle, timeout_s: float) -> None:
        group = self._running()
        try:
            async with asyncio.timeout(timeout_s):
                why = await self._first(_answers(handle), self._ended(group))
        except TimeoutError:
            what = f"did not answer within {timeout_s:g} s of its start"
            raise self._error("engine.start_timeout", what, group) from None
        if why:
            raise self._error("engine.died_at_start", f"ended at its start ({why})", group)

    def _fates(self, group: EngineGroup) -> list[Coroutine[Any, Any, str]]:
        """Each returns when the engine is to be given up, with the reason."""
        return [self._leader_ended(group), self._broken_by_sleep()]

    async def _check(self, handle: EngineHandle) -> None:
        """Return when it works."""
        await _answers(handle)

    # --- what is common ----------------------------------------------------------------------------------------------

    def _running(self) -> EngineGroup:
        assert self._group is not None
        return self._group

    def _spawn(
        self,
        argv: Sequence[str],
        host: str,
        port: int,
        *,
        env: Mapping[str, str],
        inherit: bool = True,
        pass_fds: Sequence[int] = (),
        death_signal: signal.Signals = signal.SIGKILL,
    ) -> EngineHandle:
        live = {} if self.live_socket is None else {LIVE_VARIABLE: str(self.live_socket)}
        self._port = port
        self._group = EngineGroup.launch(
            argv,
            log_path=self.log_path,
            pid_dir=self._pid_dir,
            env={**env, **live},
            inherit=inherit,
            port=port,
            pass_fds=pass_fds,
            death_signal=death_signal,
        )
        record = self._group.record
        return EngineHandle(url_of(host, port), self._key, record.pid, record.started, self.log_path, self.live_socket)

    async def _first(self, *works: Coroutine[Any, Any, str]) -> str:
        """The result of whichever ends first; the rest is cancelled. Its error is raised as it is."""
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(_outcome(work)) for work in works]
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            ended = next(task.result() for task in running if task.done())
            for task in running:
                task.cancel()
        if isinstance(ended, UserError):
            raise ended
        return ended

    async def _ended(self, group: EngineGroup) -> str:
        code = await group.wait()
        return "its guardian was killed" if group.unguarded else processes.exit_text(code)

    async def _leader_ended(self, group: EngineGroup) -> str:
        return f"ended ({await self._ended(group)})"

    async def _broken_by_sleep(self) -> str:
        """Whenever the computer has slept, ask the engine; returns when it does not work any more."""
        while True:
            slept = await self._sleep.resumed()
            handle = self.handle
            if handle is None or self.state.phase != "ready":
                continue
            self._move("resuming", f"the computer slept for {slept:.0f} s")
            try:
                async with asyncio.timeout(RESUME_S):
                    await self._check(handle)
            except (UserError, TimeoutError) as error:
                return f"does not work any more after the computer slept ({str(error) or 'no answer'})"
            if self.handle is handle:  # nobody stops it meanwhile
                self._move("ready")

    async def _end(self, group: EngineGroup, grace_s: float, *, leader_first: bool = False) -> StopOutcome:
        """End the group, and see what is left."""
        outcome = await group.stop(grace_s=grace_s, leader_first=leader_first)
        if self._memory is not None:
            self.cards = await self._memory.after(group.seen)
        return replace(outcome, cards=self.cards)

    async def _abandon(self, error: BaseException) -> None:
        """A start has failed or was cancelled: nothing of it may live on, even if this is cancelled as well."""
        starting = self.state.phase == "starting"  # else somebody has stopped it
        cancelled = isinstance(error, asyncio.CancelledError)
        if starting and cancelled:
            self._move("stopping")
        group, self._group = self._group, None
        try:
            if group is not None and not (await self._end(group, ABANDON_S)).clean:
                self._group = group
        except asyncio.CancelledError:
            if group is not None:
                group.kill_now()
            raise
        finally:
            if starting and cancelled:
                self._move("stopped")
            elif starting:
                self._move("failed", self._hide(str(error) or type(error).__name__))

    def _error(self, code: str, what: str, group: EngineGroup) -> UserError:
        log = self._hide(group.log_tail())
        return UserError(
            code,
            "the {name} engine {what}" + (f"{LOG_FOLLOWS}\n{{log}}" if log else ""),
            remedy="the whole log is in {path}",
            name=self._command.name,
            what=what,
            log=log,
            path=self.log_path,
        )

    def _survived(self, outcome: StopOutcome) -> UserError:
        return UserError(
            "engine.survivors",
            "processes of the {name} engine survive SIGKILL: {pids}",
            remedy="they hang in a driver or belong to another user; a restart of the machine ends them",
            name=self._command.name,
            pids=", ".join(map(str, outcome.survivors)),
        )

    def _hide(self, text: str) -> str:
        """What is shown or sent never holds the key, should an engine print its environment."""
        return text.replace(self._key, HIDDEN)

    def _move(self, phase: Phase, reason: str = "") -> None:
        self.state = self.state.to(phase, reason)
        if self.on_state is not None:
            self.on_state(self.state)

    def wait_for_restart(self, reason: str) -> None:
        """It has crashed or failed and will be started again soon; see :mod:`engine.supervise.keep`."""
        self._move("waiting", reason)

    def give_up(self, reason: str) -> None:
        """It has crashed and will not be started again by itself."""
        self._move("failed", reason)


def url_of(host: str, port: int) -> str:
    """The base URL of an address that somebody listens on."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _outcome(work: Coroutine[Any, Any, str]) -> str | UserError:
    """The error that ended work as a value: a task group would wrap it and end its siblings."""
    try:
        return await work
    except UserError as error:
        return error


async def _answers(handle: EngineHandle) -> str:
    from engine.client.http import EngineClient  # brings aiohttp: not for a window that starts no engine

    async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
        while True:
            try:
                if await client.health() and await client.models():
                    return ""
            except (EngineUnreachable, EngineRefused):
                pass
            await asyncio.sleep(POLL_S)
