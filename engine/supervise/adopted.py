"""A server that somebody else runs: asked, watched, and never started, stopped or otherwise touched by us."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from engine.errors import EngineRefused, EngineUnreachable
from engine.supervise.state import EngineState, Phase

if TYPE_CHECKING:
    from engine.client.http import EngineClient

LOOK_S = 2.0
MISSES = 2  # in a row, before it counts as lost: a busy one may miss one


async def _pause() -> None:
    await asyncio.sleep(LOOK_S)


class AdoptedEngine:
    """A server at an address.

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
        self._client, self._on_state, self._pause = client, on_state, pause

    async def adopt(self) -> str:
        """Ask it once; the id of the model that it serves.

        Raises:
            EngineUnreachable: nobody answers there.
            EngineRefused: the key is wrong, or it serves nothing.
        """
        if not await self._client.health():
            raise EngineUnreachable(
                "engine.silent",
                "no engine answers at {address}",
                remedy="check the address and whether the server runs",
                address=self._client.address,
            )
        cards = await self._client.models()
        if not cards:
            raise EngineRefused(
                "engine.no_model", "the server at {url} serves no model", status=200, url=self._client.address
            )
        self._move("adopted")
        return cards[0].id

    async def watch(self) -> EngineState:
        """Tell of every loss and every return, until :meth:`release`."""
        missed = 0
        while self.state.phase in ("adopted", "lost"):
            await self._pause()
            well = await self._client.health()
            missed = 0 if well else missed + 1
            if well and self.state.phase == "lost":
                self._move("adopted")
            elif missed >= MISSES and self.state.phase == "adopted":
                self._move("lost", f"{self._client.address} does not answer")
        return self.state

    def release(self) -> None:
        """Look no more; the server goes on. Releasing what was released is fine."""
        if self.state.phase != "stopped":
            self._move("stopped")

    def _move(self, phase: Phase, reason: str = "") -> None:
        self.state = self.state.to(phase, reason)
        if self._on_state is not None:
            self._on_state(self.state)
