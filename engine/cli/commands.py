"""The commands that whoever has started a worker sends on its stdin: pause, resume, cancel."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from engine.batch.control import RunControl
from engine.errors import InputError
from engine.supervise.protocol import Command, meant_for, parse_command

LAST_WORD_S = 15  # a cancelled worker has this long to end by itself


async def obey(
    control: RunControl,
    note: Callable[[str], None],
    resume: Callable[[], Awaitable[None]] | None = None,
    *,
    run: str = "",
) -> None:
    """Commands of the worker protocol, until stdin ends: then nobody wants the work any more, and it is cancelled.

    Args:
        note: hears of a line that is no command.
        resume: does what there is to do before ``control`` is resumed, and resumes it; without it that is all.
        run: the id of what is under way; commands that name another are for one that has ended.
    """
    async for command in commands(run):
        match command:
            case "pause":
                control.pause()
            case "resume" if resume is not None:
                await resume()
            case "resume":
                control.resume()
            case "cancel":
                break
            case None:
                note("a command was not understood")
    control.cancel()
    # Should something hang from here on, the default action of SIGALRM ends the process, and its engine with it.
    signal.alarm(LAST_WORD_S)


def check_stdin() -> None:
    """Refuse a stdin that can bring no commands: asked before anything is begun.

    Raises:
        InputError: it is closed, a file or a device such as /dev/null, which no event loop can wait for.
    """
    mode = 0
    with suppress(AttributeError, ValueError, OSError):  # None or closed
        mode = os.fstat(sys.stdin.fileno()).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (mode and sys.stdin.isatty())):
        raise InputError(
            "worker.stdin",
            "stdin brings no commands: it is no pipe",
            remedy="give a pipe that stays open, or take --json instead of --worker",
        )


async def commands(run: str = "") -> AsyncIterator[Command | None]:
    """The lines of stdin as commands, None for what is none, until it ends; without those that name another run.

    Raises:
        InputError: as ``check_stdin``.
    """
    check_stdin()
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    # A copy of stdin: closing it leaves stdin to the next run of a queue.
    pipe = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while True:
            try:
                line = await reader.readline()
            except ValueError:  # longer than any command
                yield None
                continue
            if not line:
                return
            if meant_for(line, run):
                yield parse_command(line)
    finally:
        transport.close()
