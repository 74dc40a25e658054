"""One supervised engine server: socket, group, readiness, state."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import paths
from engine.errors import EngineRefused, EngineUnreachable, UserError
from engine.supervise import processes
from engine.supervise.group import EngineGroup, StopOutcome
from engine.supervise.ports import bind_port
from engine.supervise.state import EngineState, Phase

POLL_S = 0.05
KEY_VARIABLE = "DIFFUSION_DESK_API_KEY"
LIVE_VARIABLE = "DG_LIVE_SOCK"


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

    Port and key are the same at every start, so that the clients of an engine that died find its successor.

    Args:
        command: what to start.
        host, port: where it listens; port 0 takes a free one.
        live_socket: a bound Unix datagram socket that gets the canvas frames.
        log_path: default ``engine-NAME.log`` in the log folder.
        pid_dir: default the runtime folder.
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
        on_state: Callable[[EngineState], None] | None = None,
        api_key: str | None = None,
    ) -> None:
        self.state = EngineState()
        self.handle: EngineHandle | None = None
        self.log_path = log_path or paths.logs_dir() / f"engine-{command.name}.log"
        self._command = command
        self._host, self._port = host, port
        self._key = api_key or secrets.token_urlsafe(32)
        self._live_socket = live_socket
        self._pid_dir = pid_dir or paths.runtime_dir()
        self._on_state = on_state
        self._group: EngineGroup | None = None

    @property
    def group(self) -> EngineGroup | None:
        """The running group, for its members and their memory; None while stopped."""
        return self._group

    async def start(self, *, timeout_s: float = 60.0) -> EngineHandle:
        """Start it and wait until it answers ``/health`` and ``/v1/models``. Call from the main thread.

        Raises:
            InputError: the port is taken or not ours to take.
            UserError: it ended at its start or did not answer in time; the message ends with its log.
        """
        self._move("starting")
        try:
            if self._group is not None:  # it died; what it started may live on
                self._group.kill_now()
                self._group = None
            with bind_port(self._host, self._port) as listener:
                handle = self._launch(listener)
            # Our copy of the socket is closed: when the engine dies, its clients are told at once.
            await self._until_ready(handle, timeout_s)
        except BaseException as error:
            if self._group is not None:
                # Not awaited: a cancelled start must not leave the engine either.
                self._group.kill_now()
                self._group = None
            self._move("failed", str(error) or type(error).__name__)
            raise
        self.handle = handle
        self._move("ready")
        return handle

    def _launch(self, listener: socket.socket) -> EngineHandle:
        env = {**self._command.env, KEY_VARIABLE: self._key}
        if self._live_socket is not None:
            env[LIVE_VARIABLE] = str(self._live_socket)
        host, port = listener.getsockname()[:2]
        self._port = port
        self._group = EngineGroup.launch(
            self._command.argv(listener.fileno()),
            log_path=self.log_path,
            pid_dir=self._pid_dir,
            env=env,
            port=port,
            pass_fds=[listener.fileno()],
        )
        record = self._group.record
        return EngineHandle(url_of(host, port), self._key, record.pid, record.started, self.log_path, self._live_socket)

    async def _until_ready(self, handle: EngineHandle, timeout_s: float) -> None:
        group = self._group
        assert group is not None
        async with asyncio.TaskGroup() as tasks:
            ready = tasks.create_task(_answers(handle))
            died = tasks.create_task(group.wait())
            await asyncio.wait({ready, died}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            code = died.result() if died.done() else None
            answered = ready.done()
            ready.cancel()
            died.cancel()
        if code is not None:
            raise self._error("engine.died_at_start", f"ended at its start ({processes.exit_text(code)})", group)
        if not answered:
            raise self._error("engine.start_timeout", f"did not answer within {timeout_s:g} s of its start", group)

    def _error(self, code: str, what: str, group: EngineGroup) -> UserError:
        log = group.log_tail()
        return UserError(
            code,
            "the {name} engine {what}" + ("; the end of its log:\n{log}" if log else ""),
            remedy="the whole log is in {path}",
            name=self._command.name,
            what=what,
            log=log,
            path=self.log_path,
        )

    async def watch(self) -> EngineState:
        """Wait until the engine ends, by itself or by :meth:`stop`; the state it is in then."""
        group = self._group
        if group is not None:
            code = await group.wait()
            if group is self._group and self.state.phase == "ready":
                self.handle = None
                self._move("failed", str(self._error("engine.died", f"ended ({processes.exit_text(code)})", group)))
        return self.state

    async def stop(self, *, grace_s: float = 10.0) -> StopOutcome:
        """End the group and prove it gone. Stopping what is stopped is fine.

        Raises:
            UserError: processes of the group survive every signal; the message names them.
        """
        if self._group is None:
            if self.state.phase == "failed":
                self._move("stopping")
                self._move("stopped")
            return StopOutcome("none", None)
        group = self._group
        self.handle = None
        self._move("stopping")
        outcome = await group.stop(grace_s=grace_s)
        if not outcome.clean:
            error = UserError(
                "engine.survivors",
                "processes of the {name} engine survive SIGKILL: {pids}",
                remedy="they hang in a driver or belong to another user; a restart of the machine ends them",
                name=self._command.name,
                pids=", ".join(map(str, outcome.survivors)),
            )
            self._move("failed", str(error))
            raise error
        self._group = None
        self._move("stopped")
        return outcome

    def _move(self, phase: Phase, reason: str = "") -> None:
        self.state = self.state.to(phase, reason)
        if self._on_state is not None:
            self._on_state(self.state)


def url_of(host: str, port: int) -> str:
    """The base URL of an address that somebody listens on."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _answers(handle: EngineHandle) -> None:
    from engine.client.http import EngineClient  # brings aiohttp: not for a window that starts no engine

    async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
        while True:
            try:
                if await client.health() and await client.models():
                    return
            except (EngineUnreachable, EngineRefused):
                pass
            await asyncio.sleep(POLL_S)
