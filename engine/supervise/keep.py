"""Keeps an engine alive: one that crashes is started again, a few times, with pauses, and never into the same wall."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.supervise.lifecycle import SupervisedEngine
from engine.supervise.state import EngineState

Verdict = Callable[[Path], Awaitable[str | None]]
"""From the log of an engine that has ended: why a start of the same plan would end the same way, else None.

A plan that ran out of a card's memory would again; a worker that was killed may have been bad luck.
"""


Change = Callable[[Path], Awaitable[str]]
"""From the same log, once a restart is certain: what the next start has otherwise, in words, done by whoever tells it;
empty where it is the same start again."""


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How often, and how soon.

    Attributes:
        limit: restarts within ``within_s`` seconds; 0 for none at all.
        delays_s: before the first, second... restart in that time; the last one counts for all that follow.
    """

    limit: int = 2
    within_s: float = 600.0
    delays_s: tuple[float, ...] = (2.0, 15.0)


OnRestart = Callable[[int, float], None]
"""Hears of a restart before its pause: its number within the limit, and the pause in seconds."""


async def no_verdict(log: Path) -> str | None:
    """Every end may have been bad luck."""
    return None


async def no_change(log: Path) -> str:
    """The same start again."""
    return ""


class Keeper:
    """Watches one engine that is ready. To stop the engine, cancel :meth:`keep` and then stop it.

    Args:
        verdict: asked after every end, before a restart.
        change: asked before every restart; what it says stands in the reason of the state ``waiting``.
        on_restart: told of every restart.
        sleep, clock: the time between restarts, and the time itself (seconds, monotonic).
    """

    def __init__(
        self,
        engine: SupervisedEngine,
        policy: RestartPolicy | None = None,
        *,
        verdict: Verdict = no_verdict,
        change: Change = no_change,
        on_restart: OnRestart = lambda number, delay_s: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._policy = engine, policy or RestartPolicy()
        self._verdict, self._change, self._on_restart = verdict, change, on_restart
        self._sleep, self._clock = sleep, clock
        self._restarts: deque[float] = deque()

    async def keep(self) -> EngineState:
        """Watch and start again until the engine is stopped or given up; the state it is in then.

        The engine's own states tell all of it: ``crashed``, ``waiting`` with the reason and the number of the restart,
        ``starting``, ``ready``; ``failed`` with the reason once it is given up.
        """
        while True:
            ended = await self._engine.watch()
            while ended.phase in ("crashed", "failed"):
                if not await self._may_restart(ended):
                    return self._engine.state
                ended = await self._restart()
            if ended.phase != "ready":
                return ended

    async def _may_restart(self, ended: EngineState) -> bool:
        """Wait for the next start; False when there will be none."""
        hopeless = await self._verdict(self._engine.log_path)
        if hopeless is not None:
            return self._gave_up(ended, f"it is not started again, since the same plan would fail again: {hopeless}")
        policy, now = self._policy, self._clock()
        while self._restarts and now - self._restarts[0] >= policy.within_s:
            self._restarts.popleft()
        number = len(self._restarts) + 1
        if number > policy.limit:
            minutes = f"{policy.within_s / 60:g} minutes"
            return self._gave_up(ended, f"it is not started again after {policy.limit} restarts within {minutes}")
        delay = policy.delays_s[min(number, len(policy.delays_s)) - 1] if policy.delays_s else 0.0
        changed = await self._change(self._engine.log_path)
        self._on_restart(number, delay)
        otherwise = f", {changed}" if changed else ""
        self._engine.wait_for_restart(f"restart {number} of {policy.limit} in {delay:g} s{otherwise}: {ended.reason}")
        await self._sleep(delay)
        return self._engine.state.phase == "waiting"  # not stopped meanwhile

    async def _restart(self) -> EngineState:
        self._restarts.append(self._clock())
        with suppress(UserError):  # the state says why
            await self._engine.start()
        return self._engine.state

    def _gave_up(self, ended: EngineState, why: str) -> bool:
        if ended.phase == "crashed":
            self._engine.give_up(f"{why}; {ended.reason}")
        return False
