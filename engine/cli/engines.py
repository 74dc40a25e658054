"""``--engine embedded|vllm|URL``: one engine to talk to, started when it is ours, checked when it is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine import paths
from engine.client.http import EngineClient
from engine.errors import EngineUnreachable, InputError, UserError
from engine.supervise.embedded import embedded_engine
from engine.supervise.leftovers import sweep

if TYPE_CHECKING:
    from engine.supervise.lifecycle import SupervisedEngine

EMBEDDED, VLLM = "embedded", "vllm"
HELP = "embedded (the bundled toy model), vllm, or the URL of a running server."

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
            raise _silent(self.client.address)


def check_choice(choice: str) -> None:
    """Refuse what is no engine, before anything runs.

    Raises:
        InputError: neither a name nor a URL.
        UserError: vLLM, which this version cannot start.
    """
    if choice == VLLM:
        raise UserError(
            "engine.vllm_not_yet",
            "this version cannot start vLLM by itself yet",
            remedy="start `vllm serve` yourself and give its URL, or use --engine embedded",
        )
    if choice != EMBEDDED and not choice.startswith(("http://", "https://", "unix:")):
        raise InputError(
            "engine.unknown",
            "--engine {choice}: not an engine",
            remedy="use embedded, or a URL such as http://127.0.0.1:8000",
            choice=choice,
        )


@asynccontextmanager
async def open_engine(choice: str, api_key: str | None, say: Say) -> AsyncIterator[OpenEngine]:
    """The engine of ``--engine``, answering; ended afterwards when it is ours.

    Args:
        api_key: for a URL.
        say: told what happens on the way (a start, leftovers that were ended).

    Raises:
        UserError: as :func:`check_choice`; it does not start, does not answer, or refuses the key.
    """
    check_choice(choice)
    if choice != EMBEDDED:
        async with EngineClient(choice, api_key=api_key) as client:
            if not await client.health():
                raise _silent(client.address)
            model = await _model(client)
            yield OpenEngine(client, f"{client.address}: {model}", model, None)
        return
    for leftover in await sweep(paths.runtime_dir()):
        say(f"ended an engine that a crash had left behind (pid {leftover.record.pid})")
    engine = embedded_engine()
    try:
        handle = await engine.start()
        async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
            model = await _model(client)
            say(f"started the embedded engine (pid {handle.pid}): a toy of a few million parameters")
            yield OpenEngine(client, f"{EMBEDDED}: {model}", model, engine)
    finally:
        await engine.stop()


async def _model(client: EngineClient) -> str:
    cards = await client.models()
    return cards[0].id if cards else "no model"


def _silent(address: str) -> EngineUnreachable:
    return EngineUnreachable(
        "engine.silent",
        "no engine answers at {address}",
        remedy="check the address and whether the server runs",
        address=address,
    )
