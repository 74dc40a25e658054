"""Which cards have passed the numeric self-test, so that it runs once: ``<data>/selftest.json``.

An entry holds for one card, one driver, one engine environment and one set of shapes; any other of them is tested anew.
A user who starts an engine whose test could not run says so once for the same four.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from engine import paths
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan
from engine.launch.selftest import ROWS, Case, cases
from engine.local.stored import replace_json
from engine.runtime.places import Environment

Verdict = Literal["passed", "waived"]


class Entry(BaseModel):
    """One card with everything that its result depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    environment: str
    card: str
    driver: str
    shapes: str
    verdict: Verdict


class Tested(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    entries: tuple[Entry, ...] = ()


class Ledger:
    """What is known of the cards of a plan, read and written at once.

    Args:
        machine: for its driver.
        environment: that the test runs in.
    """

    def __init__(self, machine: Machine, plan: LaunchPlan, environment: Environment) -> None:
        self.plan = plan
        self._path = ledger_file()
        self._common = {
            "environment": environment.mark.id,
            "driver": machine.driver.version,
            "shapes": _digest(cases_of(plan)),
        }

    def verdict(self, card: str) -> Verdict | None:
        """Of a card, by its UUID; None when it is to be tested."""
        asked = {**self._common, "card": card}
        found = (entry for entry in self._load() if entry.model_dump(exclude={"verdict"}) == asked)
        return next((entry.verdict for entry in found), None)

    def open(self) -> tuple[str, ...]:
        """The cards of the plan that are to be tested, by UUID."""
        return tuple(card.uuid for card in self.plan.cards if self.verdict(card.uuid) is None)

    def note(self, card: str, verdict: Verdict) -> None:
        """Raises UserError when it cannot be written."""
        new = Entry(card=card, verdict=verdict, **self._common)
        self._store((*self._others(card), new))

    def forget(self) -> None:
        """The cards of the plan are to be tested again. Raises UserError when that cannot be written."""
        cards = {card.uuid for card in self.plan.cards}
        self._store(tuple(entry for entry in self._load() if entry.card not in cards))

    def _others(self, card: str) -> tuple[Entry, ...]:
        asked = {**self._common, "card": card}
        return tuple(entry for entry in self._load() if entry.model_dump(exclude={"verdict"}) != asked)

    def _load(self) -> tuple[Entry, ...]:
        try:
            return Tested.model_validate_json(self._path.read_bytes()).entries
        except (OSError, ValidationError):
            return ()  # tested again

    def _store(self, entries: tuple[Entry, ...]) -> None:
        replace_json(self._path, Tested(entries=entries))


def wanted(plan: LaunchPlan) -> bool:
    """Whether a plan depends on kernels that the test can look at: FP8 weights unpacked by Marlin."""
    return plan.marlin and plan.checkpoint == "fp8"


def cases_of(plan: LaunchPlan) -> tuple[Case, ...]:
    """Every comparison on each card of a plan."""
    return tuple(cases((plan.tensor_parallel,), ROWS))


def _digest(found: tuple[Case, ...]) -> str:
    return hashlib.sha256(repr(sorted((case.kind, case.n, case.k, case.rows) for case in found)).encode()).hexdigest()


def ledger_file() -> Path:
    return paths.data_dir() / "selftest.json"
