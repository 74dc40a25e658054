"""uv: where it is, what it is told, and how it is run."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import paths
from engine.errors import InputError, UserError
from engine.runtime.failures import failure
from engine.runtime.places import Places
from engine.runtime.progress import Listener
from engine.supervise.group import EngineGroup
from engine.supervise.processes import exit_text
from engine.supervise.program import ProgramEnd, run_program

UV_VERSION = "0.13.9"  # what we install when there is none
MIN_UV = (0, 5)  # --relocatable, --only-binary and --require-hashes behave as used here
TICK_S = 0.5
ASK_S, INSTALL_S = 30.0, 900.0
# uv keeps a wheel when it has all of it. With few at once a kill loses little, and large wheels fill the line anyway.
CONCURRENT_DOWNLOADS = 6


@dataclass(frozen=True, slots=True)
class Source:
    """Where packages come from.

    Attributes:
        index_url: of a package index, else what uv is configured for. May hold credentials: it is passed in the
            environment, never on a command line, and kept nowhere.
        wheels: a folder of wheels; then no network is asked.
    """

    index_url: str | None = None
    wheels: Path | None = None

    def __post_init__(self) -> None:
        if self.wheels is not None and not self.wheels.is_dir():
            raise InputError("env.no_wheel_folder", "{path} is no folder", path=self.wheels)

    @property
    def offline(self) -> bool:
        return self.wheels is not None

    def arguments(self) -> list[str]:
        """Options of ``uv pip`` and ``pip``."""
        return [] if self.wheels is None else ["--no-index", "--find-links", str(self.wheels.absolute())]

    def environment(self) -> dict[str, str]:
        """Variables for uv and pip."""
        if self.wheels is not None:
            return {"UV_OFFLINE": "1"}
        if self.index_url is None:
            return {}
        return {"UV_DEFAULT_INDEX": self.index_url, "PIP_INDEX_URL": self.index_url}


@dataclass(frozen=True, slots=True)
class Uv:
    """A uv that works."""

    program: str
    version: str
    places: Places

    def environment(self, source: Source) -> dict[str, str]:
        """What every uv of ours gets."""
        return {
            "UV_CACHE_DIR": str(self.places.cache),
            "UV_PYTHON_INSTALL_DIR": str(self.places.pythons),
            "UV_CONCURRENT_DOWNLOADS": str(CONCURRENT_DOWNLOADS),
            "UV_LINK_MODE": "hardlink",
            "NO_COLOR": "1",
            **source.environment(),
        }

    async def ask(self, arguments: Sequence[str], source: Source, *, timeout_s: float) -> ProgramEnd:
        """Run it to its end. Raises UserError when it takes too long."""
        argv = [self.program, "--directory", str(self.places.root), *arguments]
        return await run_program(argv, timeout_s=timeout_s, env=self.environment(source))

    async def run(self, arguments: Sequence[str], source: Source, tick: Callable[[int], None]) -> None:
        """Run it watched; cancelling ends it. Call from the main thread.

        Args:
            tick: called twice a second with its process number.

        Raises:
            UserError: it failed; see :mod:`engine.runtime.failures`.
        """
        argv = [self.program, "--directory", str(self.places.root), *arguments]
        code = await _watched(argv, self.environment(source), tick)
        if code != 0:
            log = log_file().read_text(encoding="utf-8", errors="replace")
            raise failure(log, exit_text(code), folder=self.places.root)


def log_file() -> Path:
    """uv's output of the last creation or repair."""
    return paths.logs_dir() / "environment.log"


async def _watched(argv: Sequence[str], env: Mapping[str, str], tick: Callable[[int], None]) -> int:
    group = EngineGroup.launch(argv, log_path=log_file(), pid_dir=paths.runtime_dir(), env=env)
    try:
        async with asyncio.TaskGroup() as tasks:
            ticking = tasks.create_task(_tick(group.pid, tick))
            code = await group.wait()
            ticking.cancel()
        tick(group.pid)
        return code
    finally:
        await asyncio.shield(group.stop(grace_s=3.0))


async def _tick(pid: int, tick: Callable[[int], None]) -> None:
    while True:
        tick(pid)
        await asyncio.sleep(TICK_S)


async def find_uv(places: Places, source: Source, listener: Listener) -> Uv:
    """uv from the PATH when it works, else our own; that is installed with pip when it is missing.

    Raises:
        UserError: ``env.no_uv``, when it cannot be installed.
    """
    places.root.mkdir(parents=True, exist_ok=True)
    own = str(places.own_uv / "bin" / "uv")
    for program in filter(None, (shutil.which("uv"), shutil.which(own))):
        version = await _version(program)
        if version is not None:
            return Uv(program, version, places)
    listener.note(f"installing uv {UV_VERSION}")
    await _install_uv(places, source)
    version = await _version(own)
    if version is None:
        raise _no_uv("what pip installed does not start")
    return Uv(own, version, places)


async def _version(program: str) -> str | None:
    end = await run_program([program, "--version"], timeout_s=ASK_S)
    match = re.match(r"uv (\d+)\.(\d+)\S*", end.output)
    if end.code != 0 or match is None or (int(match[1]), int(match[2])) < MIN_UV:
        return None
    return match[0].removeprefix("uv ")


async def _install_uv(places: Places, source: Source) -> None:
    made = await run_program([sys.executable, "-I", "-m", "venv", "--clear", str(places.own_uv)], timeout_s=INSTALL_S)
    if made.code != 0:
        raise _no_uv((made.errors or made.output).strip()[-500:])
    pip = [str(places.own_uv / "bin" / "python"), "-I", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    end = await run_program(
        [*pip, *source.arguments(), f"uv=={UV_VERSION}"], timeout_s=INSTALL_S, env=source.environment()
    )
    if end.code != 0:
        raise _no_uv(end.errors.strip()[-500:])


def _no_uv(why: str) -> UserError:
    return UserError(
        "env.no_uv",
        "uv, which makes the engine's environment, is not here and could not be installed: {why}",
        remedy="install uv so that it is on the PATH, and start again",
        why=why,
    )
