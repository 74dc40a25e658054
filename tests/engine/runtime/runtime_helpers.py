"""What the tests of the engine's environment share: a listener that remembers, and a stand-in for the gigabytes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from wheel_helpers import STAND_INS, Wheel, write_lock

from engine.domain.hardware import Host
from engine.errors import UserError
from engine.runtime.create import Order
from engine.runtime.places import Places
from engine.runtime.progress import EnvironmentProgress
from engine.runtime.spec import EnvironmentSpec, load_spec
from engine.runtime.uv import Source

MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
HOST = Host(architecture="x86_64", glibc=(2, 36))


@dataclass
class Heard:
    """Everything that a listener heard."""

    progress_seen: list[EnvironmentProgress] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    waiting_for: int | None = None
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    def progress(self, progress: EnvironmentProgress) -> None:
        self.progress_seen.append(progress)
        if progress.phase == "fetch" and progress.packages_done == self.waiting_for:
            self.enough.set()

    def note(self, text: str) -> None:
        self.notes.append(text)

    @property
    def phases(self) -> list[str]:
        """In the order in which they came."""
        return list(dict.fromkeys(seen.phase for seen in self.progress_seen))


@dataclass
class StandIn:
    """Wheels in a folder and a lock of them."""

    wheels: Path
    lock: Path
    places: Places

    @property
    def spec(self) -> EnvironmentSpec:
        return load_spec(self.lock)

    def order(self, **changes: object) -> Order:
        """An order of it, offline."""
        given = {"spec": self.spec, "places": self.places, "source": Source(wheels=self.wheels), "host": HOST}
        return Order(**{**given, **changes})  # type: ignore[arg-type]

    def relock(self, *wheels: Wheel, **facts: object) -> None:
        """Another set of wheels."""
        write_lock(wheels or STAND_INS, self.wheels, self.lock, facts={"pythons": [MINOR], **facts})


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[UserError]]:
    """The block is refused with this code."""
    with pytest.raises(UserError) as caught:
        yield caught
    assert caught.value.code == code, str(caught.value)
