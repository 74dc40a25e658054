"""A stand-in for the window: starts a stand-in vLLM, says how far it is, and waits to be killed.

    python stand_in_window.py

For each line on stdin (a :class:`Spec` as JSON) it forks a process that starts the engine. That one prints one line of
JSON, a :class:`Reached`, when the engine is where it is wanted, and stays. When somebody has killed it, the next line
is read. (A fork takes milliseconds, the imports most of a second.)
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from engine.client.http import EngineClient
from engine.domain.chat import CanvasCommitted, Message
from engine.supervise import group, lifecycle, processes, vllm
from engine.supervise.vllm import LAST_PHASE, VllmEngine

TREE = Path(__file__).with_name("stand_in_tree.py")
MODEL = "stand-in"
HELD = {
    "boot": "Reading the checkpoint's configuration",
    "core": "Starting the engine",
    "workers": "Loading the weights",
    "memory": "Making the KV cache",
}
PHASES = ("Starting", *HELD.values(), LAST_PHASE)


@dataclass(frozen=True)
class Spec:
    """Which engine, and how far: one of HELD, ``ready`` or ``request`` (a chat has its first canvas)."""

    folder: str
    until: str
    modes: list[str]


@dataclass(frozen=True)
class Reached:
    """Process numbers, of the tree's by title; the window's own is ``window``."""

    window: int
    guardian: int
    api: int
    parts: dict[str, int]

    def pid(self, name: str) -> int:
        return {"window": self.window, "guardian": self.guardian, "api": self.api}.get(name) or self.parts[name]

    @property
    def pids(self) -> list[int]:
        """All but the window's."""
        return [self.guardian, self.api, *self.parts.values()]


def hurry(patch: Callable[[object, str, float], None]) -> None:
    """Shorter times than those that cards need."""
    for module, name, seconds in (
        (group, "ORPHAN_GRACE_S", 0.2),
        (lifecycle, "ABANDON_S", 0.2),
        (lifecycle, "REST_S", 0.2),
        (vllm, "LAST_WORDS_S", 0.2),
        (lifecycle, "LAST_WORDS_S", 0.2),
        (vllm, "FOLLOW_S", 0.02),
        (vllm, "CENSUS_S", 0.2),
    ):
        patch(module, name, seconds)


def make_engine(spec: Spec, **more: Any) -> VllmEngine:
    """The engine, not started; ``more`` goes to VllmEngine. A file ``broken`` in the folder makes every start fail."""
    folder = Path(spec.folder)
    options = {"hold": spec.until if spec.until in HELD else "", "modes": spec.modes}
    program = ("-I", "-S", str(TREE), "serve", "--host", "127.0.0.1", "--served-model-name", MODEL)
    return VllmEngine(
        lambda port: (
            ["/bin/false"] if (folder / "broken").exists() else [sys.executable, *program, "--port", str(port)]
        ),
        {"PATH": os.environ["PATH"], "STAND_IN_TREE": json.dumps(options)},
        model=MODEL,
        phases=PHASES,
        log_path=folder / "engine.log",
        pid_dir=folder,
        **more,
    )


async def reached(engine: VllmEngine, spec: Spec, go_on: Callable[[Reached], Awaitable[None]]) -> None:
    """Start the engine; call when it is where the spec wants it. Ends with the start, or with what was called."""
    if spec.until in HELD:
        there = asyncio.Event()
        engine.on_progress = lambda progress: there.set() if progress.phase == HELD[spec.until] else None
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(engine.start(timeout_s=240))
            await there.wait()
            await go_on(tree(engine))
            await asyncio.wait({starting})
        return
    handle = await engine.start(timeout_s=240)
    if spec.until == "ready":
        await go_on(tree(engine))
        return
    async with (
        EngineClient(handle.base_url, api_key=handle.api_key) as client,
        aclosing(client.chat([Message("user", "hang")], model=MODEL)) as events,
    ):
        assert isinstance(await anext(events), CanvasCommitted)
        await go_on(tree(engine))


def tree(engine: VllmEngine) -> Reached:
    found = engine.group
    assert found is not None
    parts = {processes.title(member).removeprefix("VLLM::"): member.pid for member in found.note_members()}
    return Reached(os.getpid(), found.guardian_pid, found.pid, parts)


async def stay(where: Reached) -> None:
    sys.stdout.write(json.dumps(asdict(where)) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def be_window(line: str) -> NoReturn:
    hurry(setattr)
    spec = Spec(**json.loads(line))
    asyncio.run(reached(make_engine(spec), spec, stay))
    os._exit(1)


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            be_window(line)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
