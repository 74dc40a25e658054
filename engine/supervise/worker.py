"""A bulk run in a process of its own, watched and steered over pipes.

The worker is ``python -m engine.cli SUBCOMMAND ... --worker``. It ends by itself when we die: its stdin ends, which it
takes for "cancel", and the launcher's death signal follows. What it has stored stays.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from engine.errors import BugError, UserError
from engine.supervise import processes
from engine.supervise.logs import rotate, tail
from engine.supervise.protocol import LAST_WORDS, Command, RunFailed, WorkerEvent, command_line, parse_event

LINE_LIMIT = 1 << 20  # bytes; a form of 64 questions with metrics stays far below


class Worker:
    """A running worker; made by :meth:`spawn`."""

    def __init__(self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, log_path: Path) -> None:
        self._process = process
        self._reader = reader
        self.log_path = log_path

    @classmethod
    async def spawn(cls, arguments: Sequence[str], *, log_path: Path, env: Mapping[str, str] | None = None) -> Self:
        """Start a subcommand as a worker. Call from the main thread.

        Args:
            arguments: of ``engine.cli``, for instance ``["decide", form, table, "--out", out]``.
            log_path: where its stderr goes.
            env: added to our environment; the place for an API key (``DIFFUSION_DESK_API_KEY``).

        Raises:
            UserError: the log cannot be written or no process can be started.
        """
        return await cls.spawn_program(
            [sys.executable, "-m", "engine.cli", *arguments, "--worker"], log_path=log_path, env=env
        )

    @classmethod
    async def spawn_program(cls, argv: Sequence[str], *, log_path: Path, env: Mapping[str, str] | None = None) -> Self:
        """Start any program that speaks the protocol; see :meth:`spawn`."""
        if threading.current_thread() is not threading.main_thread():
            raise BugError("supervise.thread", "a worker is spawned from the main thread only")
        try:
            process = _popen(argv, log_path, processes.child_environment(env or {}))
        except OSError as error:
            raise UserError(
                "worker.cannot_launch", "cannot start {program}: {why}", program=argv[0], why=str(error)
            ) from error
        reader = asyncio.StreamReader(limit=LINE_LIMIT)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        return cls(process, reader, log_path)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def events(self) -> AsyncIterator[WorkerEvent]:
        """Everything it says, to the end. The last event is always finished, cancelled or failed.

        A worker that dies without a last word gets one here (``worker.died``, with the end of its log).
        """
        last: WorkerEvent | None = None
        while line := await self._line():
            event = parse_event(line)
            if event is not None:
                last = event
                yield event
        code = await self.wait()
        if not isinstance(last, LAST_WORDS):
            yield self._died(code)

    async def _line(self) -> bytes:
        while True:
            try:
                return await self._reader.readline()
            except ValueError:  # longer than the limit, so no event: the rest of it follows
                continue

    def _died(self, code: int) -> RunFailed:
        log = tail(self.log_path, 5)
        return RunFailed(
            code="worker.died",
            message=f"the run's process ended without a word ({processes.exit_text(code)})"
            + (f"\n{log}" if log else ""),
            remedy="every stored answer is kept: resume the run",
        )

    def send(self, command: Command, run: str = "") -> None:
        """Tell it to pause, resume or cancel. To one that is gone this does nothing.

        Args:
            run: the run that is meant: a worker that has gone on to the next one ignores it; empty: any.
        """
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(BrokenPipeError):
                os.write(self._process.stdin.fileno(), command_line(command, run).encode() + b"\n")

    async def wait(self) -> int:
        """Wait until it ends; its return code as ``subprocess`` gives it."""
        await processes.wait_gone([self.pid], None)
        code = self._process.wait()  # it has ended: this reaps it at once
        self._close_stdin()
        return code

    async def stop(self, *, grace_s: float = 10.0) -> int:
        """Cancel it, and end it by force when it does not listen within ``grace_s`` seconds.

        Its own engine goes with it: that is tied to it by the same death signal.
        """
        self.send("cancel")
        self._close_stdin()
        if not await processes.wait_gone([self.pid], grace_s):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        return await self.wait()

    def _close_stdin(self) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()


def _popen(argv: Sequence[str], log_path: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    log_path.parent.mkdir(parents=True, exist_ok=True)
    rotate(log_path)
    with log_path.open("ab") as log:
        return subprocess.Popen(
            processes.launcher_argv(argv, signal.SIGTERM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=env,
            start_new_session=True,
        )
