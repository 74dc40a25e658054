"""What ``engine-env install`` and ``repair`` say: a bar and lines for people, JSON lines for programs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any, Protocol

import click
from tqdm import tqdm

from engine.runtime.places import Environment
from engine.runtime.progress import EnvironmentProgress, Listener

PHASES = {
    "checks": "looking at the system and the disk",
    "uv": "looking for uv",
    "python": "looking for Python",
    "fetch": "fetching and unpacking",
    "install": "installing",
    "files": "comparing the files",
    "verify": "importing it once (about a minute)",
}


class Reporter(Listener, Protocol):
    """Hears of everything that the commands do."""

    def ready(self, environment: Environment) -> None: ...
    def stopped(self) -> None: ...
    def paused(self, reason: str) -> None: ...
    def resumed(self) -> None: ...
    def close(self) -> None: ...


class JsonReporter:
    """One JSON object a line.

    ``environment_progress``, ``note``, ``paused``, ``resumed``, ``environment_ready``, ``environment_cancelled``.
    """

    def progress(self, progress: EnvironmentProgress) -> None:
        self._say("environment_progress", **asdict(progress))

    def note(self, text: str) -> None:
        self._say("note", text=text)

    def ready(self, environment: Environment) -> None:
        self._say(
            "environment_ready",
            folder=str(environment.path),
            interpreter=str(environment.python),
            **asdict(environment.mark),
        )

    def stopped(self) -> None:
        self._say("environment_cancelled")

    def paused(self, reason: str) -> None:
        self._say("paused", reason=reason)

    def resumed(self) -> None:
        self._say("resumed")

    def close(self) -> None:
        pass

    def _say(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), flush=True)


class TerminalReporter:
    """Lines on stderr, a bar there when it is a terminal, the interpreter on stdout at the end."""

    def __init__(self) -> None:
        self._phase = ""
        self._bar: tqdm[Any] | None = None

    def progress(self, progress: EnvironmentProgress) -> None:
        if progress.phase != self._phase:
            if {progress.phase, self._phase} != {"fetch", "install"}:  # these two share a bar
                self.close()
            self._phase = progress.phase
            self.note(PHASES[progress.phase])
        if progress.phase not in {"fetch", "install", "files"} or progress.bytes_total is None:
            return
        if self._bar is None:
            # disable=None: no bar where stderr is a file or a pipe
            self._bar = tqdm(
                total=progress.bytes_total, initial=progress.bytes_done, unit="B", unit_scale=True, disable=None
            )
        if progress.phase != "files":
            self._bar.set_postfix_str(f"{progress.packages_done}/{progress.packages} packages", refresh=False)
        self._bar.update(progress.bytes_done - self._bar.n)

    def note(self, text: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            click.echo(text, err=True)

    def ready(self, environment: Environment) -> None:
        mark = environment.mark
        versions = ", ".join(f"{name} {version}" for name, version in mark.versions.items())
        self.note(f"ready: {versions}; {mark.packages} packages, {gigabytes(mark.bytes)}, Python {mark.python}")
        click.echo(str(environment.python))

    def stopped(self) -> None:
        self.note("stopped; the same command goes on")

    def paused(self, reason: str) -> None:
        self.close()
        self.note(f"paused: {reason}")

    def resumed(self) -> None:
        self.note("going on")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def gigabytes(count: int) -> str:
    """``9.3 GB``."""
    return f"{count / 1e9:.1f} GB"
