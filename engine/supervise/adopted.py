"""A server that somebody else runs: asked, watched, and never started, stopped or otherwise touched by us."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from engine.errors import EngineRefused, EngineUnreachable
from engine.supervise.state import EngineState, Phase

if TYPE_CHECKING:
    from engine.client.http import EngineClient
    from engine.client.wire import ModelCard

LOOK_S = 2.0
MISSES = 2  # in a row, before it counts as lost: a busy one may miss one


async def _pause() -> None:
    await asyncio.sleep(LOOK_S)


def silent(address: str) -> EngineUnreachable:
    """The error for a server that answers while the engine behind it does not; a server that is not there at all is
    ``engine.unreachable``."""
    return EngineUnreachable(
        "engine.silent",
        "the server at {address} answers, but its engine does not",
        remedy="wait while it loads its model; if it had, its engine has died: look into its log and restart it",
        address=address,
    )


class AdoptedEngine:
    """A server at an address.

    Attributes:
        card: of the model that it serves; of the last look that found one, once adopted.

    Args:
        client: to ask it with; stays the caller's.
        on_state: called at every change, in the loop's thread.
        pause: waits between two looks.
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        on_state: Callable[[EngineState], None] | None = None,
        pause: Callable[[], Awaitable[None]] = _pause,
    ) -> None:
        self.state = EngineState()
        self.card: ModelCard | None = None
        self._client, self._on_state, self._pause = client, on_state, pause

    async def adopt(self) -> ModelCard:
        """Ask it once; the model that it serves.

        Raises:
            EngineUnreachable: nobody answers there.
            EngineRefused: the key is wrong, or it serves nothing.
        """
        self.card = await self._served()
        self._move("adopted")
        return self.card

    async def watch(self) -> EngineState:
        """Tell of every loss and every return, until :meth:`release`. It may return with another model."""
        missed = 0
        while self.state.phase in ("adopted", "lost"):
            await self._pause()
            if self.state.phase == "lost":
                await self._take_back()
                missed = 0
            else:
                missed = 0 if await self._client.health() else missed + 1
                if missed >= MISSES:
                    self._lose()
        return self.state

    async def look(self) -> None:
        """Ask at once, after a request has failed: one miss is enough then."""
        if self.state.phase == "adopted" and not await self._client.health():
            self._lose()

    def release(self) -> None:
        """Look no more; the server goes on. Releasing what was released is fine."""
        if self.state.phase != "stopped":
            self._move("stopped")

    async def _served(self) -> ModelCard:
        cards = await self._client.models()  # first, since it says why nobody answers
        if not await self._client.health():  # vLLM lists its models without an engine, too
            raise silent(self._client.address)
        if not cards:
            raise EngineRefused(
                "engine.no_model",
                "the server at {url} serves no model",
                remedy="start it with a model, or give the address of the server behind it if this is a router",
                status=200,
                url=self._client.address,
            )
        return cards[0]

    async def _take_back(self) -> None:
        """A server that starts answers ``/health`` before it serves; then it is looked at again."""
        try:
            card = await self._served()
        except (EngineUnreachable, EngineRefused):
            return
        if self.state.phase == "lost":
            self.card = card
            self._move("adopted")

    def _lose(self) -> None:
        if self.state.phase == "adopted":  # not released, or noticed by another look, meanwhile
            self._move("lost", f"{self._client.address} does not answer")

    def _move(self, phase: Phase, reason: str = "") -> None:
        self.state = self.state.to(phase, reason)
        if self._on_state is not None:
            self._on_state(self.state)
