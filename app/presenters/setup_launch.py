"""From what the setup knows to a launch: the facts for preflight, the engine itself, the first questions to it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.models.setup import ProbeAnswer
from app.presenters.setup_seen import Seen
from engine import paths
from engine.client.http import EngineClient
from engine.domain.chat import CanvasCommitted, Failed, Message
from engine.domain.plan import LaunchPlan
from engine.domain.question import Noul
from engine.domain.reading import Method
from engine.errors import EngineRefused, EngineUnreachable, InputError, UserError
from engine.launch.command import MODEL_NAME, argv, environment, shell_line
from engine.launch.fixes import require
from engine.launch.preflight import Facts, look_at_disk
from engine.reads.reader import Reader
from engine.runtime.places import Environment
from engine.supervise.leftovers import find_leftovers
from engine.supervise.ports import bind_port, port_holder
from engine.supervise.vllm import StartProgress, VllmEngine

HOST = "127.0.0.1"
CHAT = "Say hello in one short sentence."
STATE = "The kettle is on the stove and the water is boiling."
QUESTION = "Is the water hot?"
CHAT_TOKENS = 128  # one canvas; a greeting needs no more
_LOOK_S = 5.0


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything that a start needs."""

    plan: LaunchPlan
    environment: Environment
    checkpoint: Path
    port: int

    def engine(self, on_progress: Callable[[StartProgress], None]) -> VllmEngine:
        """The engine, not started."""
        python = self.environment.python
        return VllmEngine(
            lambda port: argv(self.plan, python, self.checkpoint, port, host=HOST),
            environment(self.plan, base=_clean_base(), cache_dir=cache_dir(), bin_dir=python.parent),
            model=MODEL_NAME,
            phases=self.plan.phases,
            port=self.port,
            on_progress=on_progress,
        )


def launch_of(seen: Seen, port: int) -> Launch:
    """The launch of what the steps have found.

    Raises:
        UserError: a step before the launch is not done, or the engine lacks a fix that the plan needs.
    """
    there = seen.disk.found if seen.disk is not None else None
    if seen.plan is None or seen.disk is None or there is None or seen.checkpoint is None or not seen.checkpoint_there:
        raise UserError(
            "setup.unfinished", "vLLM is not set up on this computer", remedy="go through the steps of the page Setup"
        )
    require(seen.disk.fixes)
    return Launch(seen.plan, there, seen.checkpoint, port)


def command_line(plan: LaunchPlan, found: Environment | None, checkpoint: Path, port: int) -> str:
    """The line to copy; paths as they will be where nothing is there yet. Empty for the embedded engine."""
    if plan.checkpoint == "embedded":
        return ""
    return shell_line(plan, found.python if found else "python", checkpoint, port)


def cache_dir() -> Path:
    """Where the engine keeps compiled kernels."""
    return paths.data_dir() / "cache"


def _clean_base() -> dict[str, str]:
    """Our environment without what is about our own Python and Qt."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QT_", "VIRTUAL_ENV"))}


async def gather_facts(environment: Environment | None, checkpoint: Path | None, port: int, api_key: str) -> Facts:
    """What preflight wants to know beside the machine; blocking looks are made on a thread.

    Args:
        api_key: to ask with when something answers on the port; empty for none.
    """
    taken, holder = await asyncio.to_thread(_look_at_port, port)
    leftovers = await asyncio.to_thread(find_leftovers, paths.runtime_dir())
    return Facts(
        environment=environment.path if environment else None,
        checkpoint=checkpoint,
        port=port,
        port_taken=taken,
        port_holder=holder,
        served=await _served(f"http://{HOST}:{port}", api_key) if taken else "",
        leftovers=tuple(process.pid for leftover in leftovers for process in leftover.processes),
        cache_free=await asyncio.to_thread(look_at_disk, cache_dir()),
    )


def _look_at_port(port: int) -> tuple[bool, str]:
    try:
        bind_port(HOST, port).close()
    except InputError:
        return True, port_holder(port)
    return False, ""


async def _served(url: str, api_key: str) -> str:
    """What a server serves; empty when none that is like ours answers."""
    async with EngineClient(url, api_key=api_key or None, timeout_s=_LOOK_S) as client:
        if not await client.health():
            return ""
        try:
            cards = await client.models()
        except EngineRefused as error:
            return "a model behind a key" if error.status == 401 else ""
        except EngineUnreachable:
            return ""
        return ", ".join(card.id for card in cards)


async def look_at_server(url: str, api_key: str) -> str:
    """What a server elsewhere says about itself, in words.

    Raises:
        UserError: the address is none, nobody answers, the key is wrong, or it serves nothing.
    """
    async with EngineClient(url, api_key=api_key or None, timeout_s=_LOOK_S) as client:
        cards = await client.models()
        if not cards:
            raise UserError("setup.no_model", "the server at {url} serves no model", url=client.address)
        card = cards[0]
        return f"{card.id}, {card.max_model_len:,} tokens of context" if card.max_model_len else card.id


async def first_questions(client: EngineClient) -> ProbeAnswer:
    """One chat and one read, as the pages ask them.

    Raises:
        UserError: one of them fails; says which and why.
    """
    began = time.monotonic()
    said: list[str] = []
    async for event in client.chat([Message("user", CHAT)], max_tokens=CHAT_TOKENS):
        if isinstance(event, Failed):
            raise UserError("setup.probe_chat", "the first chat failed: {why}", why=event.message)
        if isinstance(event, CanvasCommitted):
            said.append(event.text)
    chatted = time.monotonic()
    question = Noul(id="probe", instructions=QUESTION)
    reader = await Reader.open(client, (question,), Method())
    (reading,) = await reader.read(STATE, row_key="probe")
    if reading.status == "error":
        raise UserError("setup.probe_read", "the first read failed: {why}", why=reading.error)
    return ProbeAnswer(
        chat="".join(said).strip(),
        chat_s=chatted - began,
        canvases=len(said),
        question=f"{STATE} {QUESTION}",
        answer=_answer(reading.shares, question.answers),
        label_mass=reading.label_mass or 0.0,
        read_s=time.monotonic() - chatted,
    )


def _answer(shares: tuple[float, ...], labels: tuple[str, ...]) -> str:
    if not shares:
        return "unreadable"
    best = max(range(len(shares)), key=shares.__getitem__)
    return f"{labels[best]}, {shares[best]:.0%}"
