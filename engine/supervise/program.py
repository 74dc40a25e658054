"""A short-lived program, run to its end, that dies with us."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.errors import UserError
from engine.supervise import processes


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """What a program left.

    Attributes:
        code: its return code as ``subprocess`` gives it.
        output, errors: its stdout and stderr.
    """

    code: int
    output: str
    errors: str


async def run_program(argv: Sequence[str], *, timeout_s: float, env: Mapping[str, str] | None = None) -> ProgramEnd:
    """Run a program in our environment and ``env``. Call from the main thread.

    Raises:
        UserError: it did not end within ``timeout_s`` seconds (it is killed then).
    """
    # Files, not pipes: what it starts may hold a pipe open for ever.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: ASYNC220  # a fork takes milliseconds and must come from this thread
            processes.launcher_argv(argv, signal.SIGKILL),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=processes.child_environment(env or {}),
        )
        try:
            if not await processes.wait_gone([process.pid], timeout_s):
                raise UserError(
                    "program.timeout", "{program} did not end within {limit:g} s", program=argv[0], limit=timeout_s
                )
        finally:
            process.kill()
            await asyncio.shield(processes.wait_gone([process.pid], None))
            code = process.wait()
        output.seek(0)
        errors.seek(0)
        return ProgramEnd(code, output.read().decode("utf-8", "replace"), errors.read().decode("utf-8", "replace"))
