"""vLLM as a supervised process: a checked port, a cleaned environment, phases read from its log, and a ready that means
it: one hidden chat and one hidden read were answered.

How the command line and the environment are made from a plan is the caller's business (``engine.launch.command``).
"""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.domain.chat import CanvasCommitted, Failed, Message
from engine.errors import EngineRefused, EngineUnreachable, UserError
from engine.supervise import processes
from engine.supervise.group import EngineGroup, StopOutcome
from engine.supervise.lifecycle import LIVE_VARIABLE, EngineCommand, EngineHandle, SupervisedEngine, url_of
from engine.supervise.state import EngineState

if TYPE_CHECKING:
    from engine.client.http import EngineClient

START_S = 1800.0  # weights from a slow disk and a first compilation take many minutes
STOP_S = 25.0  # the plan's --shutdown-timeout is 20
FOLLOW_S = 0.2
ANSWER_TOKENS = 16  # of the hidden chat; one canvas is denoised whatever is asked for
LAST_PHASE = "First chat and first read"
_VLLM_KEY = "VLLM_API_KEY"


@dataclass(frozen=True, slots=True)
class StartProgress:
    """Where a start is.

    Attributes:
        phase: a name out of the plan's phases.
        number: its place among ``count`` phases, from 0.
        fraction: of this phase, 0 to 1; None where the log does not say.
        detail: the line that told.
    """

    phase: str
    number: int
    count: int
    fraction: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A line of vLLM 0.33's log and the phase that begins with it."""

    pattern: re.Pattern[str]
    phase: str


_MARKS = tuple(
    _Mark(re.compile(pattern), phase)
    for pattern, phase in (
        (r"Resolved architecture: |Using max model len ", "Reading the checkpoint's configuration"),
        (r"Initializing a V1 LLM engine", "Starting the engine"),
        (r"vLLM is using nccl==", "Connecting the cards"),
        (r"Loading model from scratch|Loading safetensors checkpoint shards", "Loading the weights"),
        (r"Model loading took ", "Measuring memory"),
        (r"Available KV cache memory: ", "Making the KV cache"),
        (r"Capturing CUDA graphs", "Compiling and capturing CUDA graphs"),
        (r"KV cache size: |Graph capturing finished", "Warming up"),
        (r"init engine \(profile|Starting vLLM server on ", "Starting the server"),
        (r"Application startup complete", LAST_PHASE),
    )
)
_PERCENT = re.compile(r"(?:checkpoint shards|CUDA graphs)[^%]*?(\d{1,3})%")


class LogPhases:
    """Tells the phase of a start from the lines of the log, in order; it never goes back.

    Args:
        phases: the plan's, in order.
    """

    def __init__(self, phases: Sequence[str]) -> None:
        self._phases = tuple(phases)
        self.now = StartProgress(self._phases[0] if phases else "", 0, len(self._phases))

    def feed(self, line: str) -> StartProgress | None:
        """The progress after a line; None when the line changes nothing."""
        number = max((self._place(mark.phase) for mark in _MARKS if mark.pattern.search(line)), default=-1)
        percent = _PERCENT.search(line)
        fraction = min(int(percent[1]), 100) / 100 if percent else None
        if number < self.now.number or (number == self.now.number and fraction == self.now.fraction):
            return None
        self.now = StartProgress(self._phases[number], number, len(self._phases), fraction, _plain(line))
        return self.now

    def _place(self, phase: str) -> int:
        return self._phases.index(phase) if phase in self._phases else -1


class LogFollower:
    """Gives the complete lines that a log has grown by; a carriage return ends a line too (progress bars)."""

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest = path, 0, b""

    def lines(self) -> Iterator[str]:
        """What is new since the last call."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                grown = file.read()
        except OSError:
            return
        self._at += len(grown)
        *whole, self._rest = re.split(rb"[\r\n]+", self._rest + grown)
        yield from (line.decode("utf-8", "replace") for line in whole if line)


class VllmEngine(SupervisedEngine):
    """One vLLM server. Its key and port stay the same at every start.

    Args:
        argv: the command line for a port.
        env: the whole environment; the key is added.
        model: the name that it serves.
        phases: of the plan.
        host, port: where it listens, as the command line says too; port 0 takes a free one.
        api_key: what clients must send; random unless given.
        on_progress: hears of every step of the start, in the loop's thread.
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
        log_path: Path | None = None,
        pid_dir: Path | None = None,
        on_state: Callable[[EngineState], None] | None = None,
        on_progress: Callable[[StartProgress], None] = lambda progress: None,
        api_key: str | None = None,
    ) -> None:
        super().__init__(
            EngineCommand("vllm", argv, env),
            host=host,
            port=port,
            log_path=log_path,
            pid_dir=pid_dir,
            on_state=on_state,
            api_key=api_key,
        )
        self.on_progress = on_progress
        self._model, self._phases = model, tuple(phases)

    async def start(self, *, timeout_s: float = START_S) -> EngineHandle:
        """Start it and wait until it serves the model, a chat and a read. Call from the main thread.

        Raises:
            InputError: the port is taken; names its holder.
            UserError: it ended at its start, was not ready in time, serves another model, or fails its first requests.
        """
        return await super().start(timeout_s=timeout_s)

    async def stop(self, *, grace_s: float = STOP_S) -> StopOutcome:
        """As :meth:`SupervisedEngine.stop`, with the time that vLLM takes for running requests."""
        return await super().stop(grace_s=grace_s)

    def _launch(self, listener: socket.socket) -> EngineHandle:
        """vLLM takes no open socket. The port was ours a moment ago; if somebody takes it now, vLLM's log says so."""
        host, port = listener.getsockname()[:2]
        listener.close()
        self._port = port
        env = {**self._command.env, _VLLM_KEY: self._key}
        if self._live_socket is not None:
            env[LIVE_VARIABLE] = str(self._live_socket)
        self._group = EngineGroup.launch(
            self._command.argv(port),
            log_path=self.log_path,
            pid_dir=self._pid_dir,
            env=env,
            inherit=False,
            port=port,
            # TERM, not KILL: only the server can end the engine processes that it has started.
            death_signal=signal.SIGTERM,
        )
        record = self._group.record
        return EngineHandle(url_of(host, port), self._key, record.pid, record.started, self.log_path, self._live_socket)

    async def _until_ready(self, handle: EngineHandle, timeout_s: float) -> None:
        group = self._group
        assert group is not None
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow(handle.log_path))
            died = tasks.create_task(group.wait())
            proving = tasks.create_task(_outcome(_prove(handle, self._model)))
            await asyncio.wait({proving, died}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            code = died.result() if died.done() else None
            proof = proving.result() if proving.done() else None
            for task in (following, died, proving):
                task.cancel()
        if code is not None:
            raise self._error("engine.died_at_start", f"ended at its start ({processes.exit_text(code)})", group)
        if proof is None:
            raise self._error("engine.start_timeout", f"was not ready within {timeout_s:g} s of its start", group)
        if isinstance(proof, UserError):
            raise proof

    async def _follow(self, log: Path) -> None:
        follower, phases = LogFollower(log), LogPhases(self._phases)
        self.on_progress(phases.now)
        while True:
            for line in follower.lines():
                progress = phases.feed(line)
                if progress is not None:
                    self.on_progress(progress)
            await asyncio.sleep(FOLLOW_S)


async def _outcome(work: Coroutine[Any, Any, None]) -> UserError | bool:
    """The error that ended work as a value: a task group would wrap it and end its siblings."""
    try:
        await work
    except UserError as error:
        return error
    return True


async def _prove(handle: EngineHandle, model: str) -> None:
    """Wait for the server, then ask it what the program will ask it."""
    from engine.client.http import EngineClient  # brings aiohttp: not for a window that starts no engine

    async with EngineClient(handle.base_url, api_key=handle.api_key, timeout_s=300.0) as client:
        while not await client.health():  # noqa: ASYNC110  # another process tells nobody when it is ready
            await asyncio.sleep(FOLLOW_S)
        await check_server(client, model)


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
    said = False
    async for event in client.chat([Message("user", "Hello.")], model=model, max_tokens=ANSWER_TOKENS):
        if isinstance(event, Failed):
            raise EngineUnreachable("engine.probe_chat", "the first chat failed: {why}", why=event.message)
        said = said or isinstance(event, CanvasCommitted)
    if not said:
        raise EngineRefused("engine.probe_chat", "the first chat brought no canvas", status=200)


def _plain(line: str) -> str:
    """The line without vLLM's prefixes: process, level, time, place."""
    return re.sub(r"^(?:\([^)]*\)\s*)*(?:\w+ \d\d-\d\d [\d:.]+ )?(?:\[[^\]]*\]\s*)?", "", line).strip()
