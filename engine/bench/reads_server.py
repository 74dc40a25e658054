"""A vLLM that ``bench reads`` and ``tools.decisions_grid`` start for themselves, with and without our parts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from engine.bench.reads_load import JOINT
from engine.errors import UserError
from engine.launch.plugin import FLAG, on_path
from engine.supervise.group import EngineGroup
from engine.supervise.ports import bind_port
from engine.vllm_plugin.protocol import ARCHITECTURE, MODEL_CLASS, PARTS_VARIABLE

PARTS = "tiles,reads"
IN_FLIGHT = 192
WHAT = ("rates", "pairs")
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Setting:
    """What is measured, and for how long.

    Attributes:
        python, model: of the engine.
        flags, env: of both servers.
        seconds: of each rate.
        reads: that are compared under load.
        pairs: that are compared one at a time.
        pairs_s: seconds after which no further pair is begun.
        tokens: of a state.
        limit_s: for a start.
        what: of ``WHAT``.
        cards: of the stock server and of the fast one, by index; empty: one server after the other, on what there is.
    """

    python: str
    model: str
    flags: tuple[str, ...]
    env: Mapping[str, str]
    in_flight: int = IN_FLIGHT
    seconds: float = 8.0
    reads: int = 500
    tokens: int = 400
    limit_s: float = 300.0
    parts: str = PARTS
    joint_slots: int = JOINT
    pairs: int = 500
    pairs_s: float = 1e9
    what: tuple[str, ...] = WHAT
    cards: tuple[str, ...] = ()


def session() -> aiohttp.ClientSession:
    """As many connections as there are requests in flight."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=300))


def tell(text: str) -> None:
    print(f"[{time.monotonic():.0f}] {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Start:
    """A server that was launched, and may not be ready yet."""

    url: str
    log: Path
    group: EngineGroup
    name: str

    async def ready(self, limit_s: float) -> str:
        """Its address, as soon as it answers.

        Raises:
            UserError: it has ended, or the time is over; with the end of its log.
        """
        await _ready(self.url, self.log, limit_s, self.group)
        tell(f"{self.name} server ready")
        return self.url


@asynccontextmanager
async def server(asked: Setting, folder: Path, *, fast: bool) -> AsyncIterator[str]:
    """A server of its own; gives its address."""
    async with launched(asked, folder, fast=fast) as start:
        yield await start.ready(asked.limit_s)


@asynccontextmanager
async def launched(asked: Setting, folder: Path, *, fast: bool, card: str = "") -> AsyncIterator[Start]:
    """A server of its own, not waited for.

    Args:
        folder: of its log; made when it is missing.
        card: the only one that it sees, by index; empty leaves it what there is.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    with bind_port() as listener:
        port = listener.getsockname()[1]
    argv = [asked.python, "-m", "vllm.entrypoints.cli.main", "serve", "--model", asked.model]
    argv += ["--served-model-name", "bench", "--host", "127.0.0.1", "--port", str(port), "--enable-scale-out"]
    argv += ["--max-logprobs", "128", "--limit-mm-per-prompt", '{"image":0,"video":0}', *asked.flags]
    env = {"VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "VLLM_WORKER_MULTIPROC_METHOD": "spawn", **asked.env}
    if card:
        env["CUDA_VISIBLE_DEVICES"] = card
    if fast:
        argv += [FLAG, json.dumps({ARCHITECTURE: MODEL_CLASS})]
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(on_path()), env.get("PYTHONPATH"))))
        env[PARTS_VARIABLE] = asked.parts
    log = folder / "server.log"
    # Our interpreter's variables are not the engine's.
    base = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    group = EngineGroup.launch(argv, log_path=log, pid_dir=folder, env={**base, **env}, inherit=False, port=port)
    try:
        yield Start(f"http://127.0.0.1:{port}", log, group, "fast" if fast else "stock")
    finally:
        _tell_log(log)
        await group.stop()


async def _ready(url: str, log: Path, limit_s: float, group: EngineGroup) -> None:
    async with session() as client:
        for _ in range(int(limit_s / LOOK_S)):
            try:
                async with client.get(f"{url}/health") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            if not group.members():
                break
            await asyncio.sleep(LOOK_S)
    tail = (await asyncio.to_thread(log.read_text, errors="replace")).splitlines()[-15:]
    raise UserError("bench.no_server", "the server did not start: {log}", log="\n".join(tail))


def _tell_log(log: Path) -> None:
    words = ("Diffusion Desk", "fast reads", "KV cache size", "ERROR")
    for line in [line for line in log.read_text(errors="replace").splitlines() if any(w in line for w in words)][-8:]:
        tell(line[:240])
