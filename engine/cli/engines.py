"""``--engine embedded|vllm|URL``: one engine to talk to, started when it is ours, checked when it is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine import paths
from engine.client.http import EngineClient
from engine.client.sight import BLIND_PLAN, BLIND_TOY, blind, find_sight
from engine.domain.picture import Sight
from engine.errors import InputError
from engine.supervise.adopted import AdoptedEngine, silent
from engine.supervise.embedded import embedded_engine
from engine.supervise.leftovers import sweep

if TYPE_CHECKING:
    from engine.local.kernels import KernelProgress
    from engine.supervise.lifecycle import EngineHandle, SupervisedEngine
    from engine.supervise.start_log import StartProgress

EMBEDDED, VLLM = "embedded", "vllm"
HELP = "embedded (the bundled toy model), vllm (as the setup has it), or the URL of a running server."

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class OpenEngine:
    """An engine that answered.

    Attributes:
        name: in words, kept with a run: ``embedded: MODEL`` or ``URL: MODEL``.
        model: the id of the model it serves.
        supervised: the process behind it when we started it.
    """

    client: EngineClient
    name: str
    model: str
    supervised: SupervisedEngine | None

    async def revive(self) -> None:
        """Make sure that it answers again, by a new start where it is ours.

        Raises:
            UserError: it cannot be started again, or does not answer.
        """
        if self.supervised is not None and self.supervised.group is not None:
            if self.supervised.group.exit_code() is None:
                return
            await self.supervised.watch()  # it has ended: this notes it
            await self.supervised.start()
        elif not await self.client.health():
            await self.client.models()  # says why nobody answers, where nobody does
            raise silent(self.client.address)


def check_choice(choice: str, *, sees: bool = False) -> None:
    """Refuse what is no engine, before anything runs.

    Args:
        sees: it must see pictures.

    Raises:
        InputError: neither a name nor a URL.
        UserError: ``engine.blind``: it is known not to see.
    """
    if sees and choice == EMBEDDED:
        raise blind(Sight("no", BLIND_TOY))
    if choice not in (EMBEDDED, VLLM) and not choice.startswith(("http://", "https://", "unix:")):
        raise InputError(
            "engine.unknown",
            "--engine {choice}: not an engine",
            remedy="use embedded, vllm, or a URL such as http://127.0.0.1:8000",
            choice=choice,
        )


@asynccontextmanager
async def open_engine(choice: str, api_key: str | None, say: Say, *, sees: bool = False) -> AsyncIterator[OpenEngine]:
    """The engine of ``--engine``, answering; ended afterwards when it is ours.

    Args:
        api_key: for a URL.
        sees: it will be shown pictures; told before it is started where that is known, else as soon as it answers.
        say: told what happens on the way (a start, leftovers that were ended).

    Raises:
        UserError: as :func:`check_choice`; it does not start, does not answer, refuses the key, or serves nothing.
    """
    check_choice(choice, sees=sees)
    if choice not in (EMBEDDED, VLLM):
        async with EngineClient(choice, api_key=api_key) as client:
            model = (await AdoptedEngine(client).adopt()).id
            if sees:
                await _check_sight(client, say)
            yield OpenEngine(client, f"{client.address}: {model}", model, None)
        return
    for leftover in await sweep(paths.runtime_dir()):
        say(f"ended an engine that a crash had left behind (pid {leftover.record.pid})")
    async with (
        _started_vllm(say, sees=sees) if choice == VLLM else _started_toy(say) as (engine, handle),
        EngineClient(handle.base_url, api_key=handle.api_key) as client,
    ):
        model = await _model(client)
        if sees:
            await _check_sight(client, say)
        yield OpenEngine(client, f"{choice}: {model}", model, engine)


@asynccontextmanager
async def _started_toy(say: Say) -> AsyncIterator[tuple[SupervisedEngine, EngineHandle]]:
    engine = embedded_engine()
    try:
        handle = await engine.start()
        say(f"started the embedded engine (pid {handle.pid}): a toy of a few million parameters")
        yield engine, handle
    finally:
        await engine.stop()


@asynccontextmanager
async def _started_vllm(say: Say, *, sees: bool) -> AsyncIterator[tuple[SupervisedEngine, EngineHandle]]:
    """vLLM as the setup has it."""
    from engine.cli.vllm_launch import VllmOptions, prepare
    from engine.launch.fixes import require
    from engine.local.kernels import ensure_tested
    from engine.supervise.diagnose_watch import LogWatch, start_watched

    prepared = await prepare(VllmOptions(port=0))  # a free port: a window may serve on the setup's
    if sees and prepared.plan.text_only:
        raise blind(Sight("no", BLIND_PLAN))
    require(prepared.fixes())
    if prepared.launch is not None:
        await ensure_tested(prepared.launch, _card_teller(say))
    say(f"starting vLLM: {prepared.plan.title}")
    engine = prepared.engine(_phase_teller(say))
    watch = LogWatch(engine, machine=prepared.machine, plan=prepared.plan, wishes=prepared.wishes)
    try:
        handle = await start_watched(engine, watch, on_hang=lambda found: say(found.cause if found else "it goes on"))
        say(f"vLLM is ready (pid {handle.pid})")
        yield engine, handle
    finally:
        await engine.stop()


def _card_teller(say: Say) -> Callable[[KernelProgress], None]:
    """Says every card once that is tested."""

    def tell(progress: KernelProgress) -> None:
        if progress.done == 0:
            say(f"numeric self-test, card {progress.card + 1} of {progress.cards}")

    return tell


def _phase_teller(say: Say) -> Callable[[StartProgress], None]:
    """Says every phase once."""
    told = -1

    def tell(progress: StartProgress) -> None:
        nonlocal told
        if progress.number != told:
            told = progress.number
            say(f"[{progress.number + 1}/{progress.count}] {progress.phase}")

    return tell


async def _check_sight(client: EngineClient, say: Say) -> None:
    sight = await find_sight(client)
    if sight.sees == "no":
        raise blind(sight)
    if sight.sees == "unknown":
        say(f"whether the engine sees pictures is not known: {sight.why}")


async def _model(client: EngineClient) -> str:
    cards = await client.models()
    return cards[0].id if cards else "no model"
