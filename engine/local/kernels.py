"""The numeric self-test before the first launch: run in the engine's environment on every card of the plan.

    await ensure_tested(launch, show)      # at once where every card has passed; UserError where a launch is refused

``engine/launch/selftest.py`` does the arithmetic; this starts it, follows its lines, and remembers what has passed. A
card that fails refuses the launch. A test that cannot run is explained, and the user may start without it
(:func:`waive`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import paths
from engine.domain.plan import CardBudget
from engine.errors import UserError
from engine.launch.command import selftest_argv
from engine.launch.selftest import FAILED, PASSED
from engine.local.launch import Launch
from engine.local.tested import Ledger, cases_of, wanted
from engine.supervise.group import EngineGroup
from engine.supervise.processes import exit_text
from engine.supervise.vllm import LogFollower

FAILED_CODE, NOT_RUN_CODE = "selftest.failed", "selftest.not_run"
QUIET_S = 300.0  # importing vllm from a slow disk takes minutes; a comparison takes less than a second
FOLLOW_S = 0.2
SHOWN = 3  # wrong shapes named in the error
_EVENT = '{"event"'


@dataclass(frozen=True, slots=True)
class KernelProgress:
    """How far the test of a launch is.

    Attributes:
        card: of ``cards`` cards to be tested now, from 0.
        done: comparisons on this card, of ``total``.
        detail: what was compared last.
    """

    card: int
    cards: int
    done: int
    total: int
    detail: str = ""

    @property
    def fraction(self) -> float:
        return (self.card + self.done / max(self.total, 1)) / max(self.cards, 1)


@dataclass(slots=True)
class _Told:
    """What the test of one card has said."""

    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    all_right: bool = False
    why: str = ""
    heard: float = 0.0


def log_file() -> Path:
    """All that the last test has said."""
    return paths.logs_dir() / "selftest.log"


def ledger_of(launch: Launch) -> Ledger:
    return Ledger(launch.machine, launch.plan, launch.environment)


async def ensure_tested(
    launch: Launch, on_progress: Callable[[KernelProgress], None], *, quiet_s: float = QUIET_S
) -> None:
    """Test the cards of a launch that have not passed yet; cancelling ends it. Call from the main thread.

    Args:
        quiet_s: a test that says nothing for so long is ended.

    Raises:
        UserError: ``selftest.failed`` names the card and the wrong shapes: nothing may be started;
            ``selftest.not_run`` says why nothing could be compared: the user may decide.
    """
    if not wanted(launch.plan):
        return
    ledger = await asyncio.to_thread(ledger_of, launch)
    still_open = await asyncio.to_thread(ledger.open)
    for place, uuid in enumerate(still_open):
        device = next(number for number, card in enumerate(launch.plan.cards) if card.uuid == uuid)

        def show(done: int, detail: str, place: int = place) -> None:
            on_progress(KernelProgress(place, len(still_open), done, len(cases_of(launch.plan)), detail))

        code, told = await _test_card(launch, device, show, quiet_s)
        _judge(launch.plan.cards[device], code, told)
        await asyncio.to_thread(ledger.note, uuid, "passed")


def waive(launch: Launch) -> None:
    """The user starts without the test, on these cards with this driver and engine."""
    ledger = ledger_of(launch)
    for uuid in ledger.open():
        ledger.note(uuid, "waived")


async def _test_card(
    launch: Launch, device: int, show: Callable[[int, str], None], quiet_s: float
) -> tuple[int, _Told]:
    """Return code and words of the test of one card."""
    show(0, "")
    told = _Told(heard=time.monotonic())
    group = EngineGroup.launch(
        selftest_argv(launch.plan, launch.environment.python, device),
        log_path=log_file(),
        pid_dir=paths.runtime_dir(),
        env=launch.variables(),
        inherit=False,
    )
    follower = LogFollower(group.log_path)
    try:
        async with asyncio.TaskGroup() as tasks:
            ended = tasks.create_task(group.wait())
            while not ended.done():
                _hear(follower, told, show)
                if time.monotonic() - told.heard > quiet_s:
                    told.why = f"it said nothing for {quiet_s:g} s"
                    await group.stop(grace_s=1.0)
                await asyncio.wait({ended}, timeout=FOLLOW_S)
        _hear(follower, told, show)
        if not told.why and (ended.result() not in (PASSED, FAILED) or not told.compared):
            told.why = _last_words(group, ended.result())
        return ended.result(), told
    finally:
        await asyncio.shield(group.stop(grace_s=1.0))


def _hear(follower: LogFollower, told: _Told, show: Callable[[int, str], None]) -> None:
    """vLLM's own log goes to the same file, and may leave a progress bar before one of our lines."""
    for line in follower.lines():
        place = line.find(_EVENT)
        if place < 0:
            continue
        try:
            event: dict[str, Any] = json.loads(line[place:])
        except ValueError:
            continue
        told.heard = time.monotonic()
        match event["event"]:
            case "shape":
                told.compared += 1
                if not event["ok"]:
                    told.wrong.append(_wrong(event))
                show(told.compared, _shape(event))
            case "done":
                told.all_right = bool(event["ok"])
            case "error":
                told.why = event["message"]


def _judge(card: CardBudget, code: int, told: _Told) -> None:
    if code == FAILED and told.wrong:
        more = len(told.wrong) - SHOWN
        raise UserError(
            FAILED_CODE,
            "the kernels compute wrong numbers on {card}, in {failed} of {compared} comparisons: {shapes}",
            remedy="install the engine's environment again and update the driver, then test again; answers of this "
            "engine on this card cannot be trusted",
            card=card.name,
            failed=len(told.wrong),
            compared=told.compared,
            shapes="; ".join(told.wrong[:SHOWN]) + (f"; and {more} more" if more > 0 else ""),
        )
    if code != PASSED or not told.all_right:
        raise UserError(
            NOT_RUN_CODE,
            "the numeric self-test could not run on {card}: {why}",
            remedy="it shows whether padded weights are computed right; test again once the cause is gone, or start "
            "without it and look at the first answers with care",
            card=card.name,
            why=told.why or "it ended without a result",
        )


def _last_words(group: EngineGroup, code: int) -> str:
    last = [line for line in group.log_tail(20).splitlines() if line.strip() and _EVENT not in line][-1:]
    return ": ".join([f"it ended without a result ({exit_text(code)})", *last])


def _shape(event: dict[str, Any]) -> str:
    return f"{event['name']}, {event['n']} x {event['k']}, {event['rows']} rows"


def _wrong(event: dict[str, Any]) -> str:
    error = event.get("error")
    why = event.get("message") or (f"error {error:.3g}, allowed {event['limit']:g}" if error is not None else "wrong")
    return f"{_shape(event)} ({why})"
