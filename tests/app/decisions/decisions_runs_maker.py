"""Makes a stored run without an engine: real rows, real SQLite, answers that are written down here."""

from __future__ import annotations

import random
from typing import Any

from engine import paths
from engine.domain.reading import Method, Reading, ReadStatus
from engine.domain.run import RunState
from engine.store.runs import RunSpec, RunStore

FORM: dict[str, Any] = {
    "version": 1,
    "name": "made",
    "state": "{{ text }}",
    "group": "site",
    "questions": [
        {"id": "urgent", "type": "noul", "instructions": "Is it urgent?", "gold": "urgent_gold"},
        {
            "id": "team",
            "type": "choice",
            "instructions": "Which team?",
            "criteria": {"billing": "money", "network": "lines", "other": "the rest"},
            "gold": "team_gold",
        },
        {"id": "anger", "type": "score", "instructions": "How angry?", "criteria": ["calm", "cross", "furious"]},
    ],
}
ROWS = 240
TEAMS = ("billing", "network", "other")
BAD_SITE = "Kiel"  # its answers to the first question are unreadable more often than luck explains


def make_run(*, gold: bool = True, rows: int = ROWS, answered: int = ROWS, state: RunState = "finished") -> str:
    """A run of three questions, finished unless told otherwise, with the answers of its first rows; its id."""
    columns = ("text", "site", "urgent_gold", "team_gold")
    form = FORM if gold else {**FORM, "questions": [_without_gold(each) for each in FORM["questions"]]}
    ids = tuple(each["id"] for each in FORM["questions"])
    spec = RunSpec("made", form, "f", "f" * 64, ids, Method(), 1, "t.csv", "t" * 64, {}, columns, "toy")
    chance = random.Random(6)
    cells = [_cells(row, chance) for row in range(1, rows + 1)]
    with RunStore.create(paths.runs_dir(), spec, cells) as store:
        for row, line in enumerate(cells[:answered], start=1):
            store.submit_answers([(row, _readings(row, line, chance))])
        store.set_state(state)
        return store.path.stem


def _without_gold(question: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in question.items() if key != "gold"}


def _cells(row: int, chance: random.Random) -> tuple[str, ...]:
    site = ("Bonn", "Essen", BAD_SITE, "Mainz")[row % 4]
    return (f"ticket {row} needle{row % 7}", site, chance.choice(("yes", "no")), chance.choice(TEAMS))


def _readings(row: int, cells: tuple[str, ...], chance: random.Random) -> tuple[Reading, ...]:
    yes = min(0.99, max(0.01, chance.gauss(0.68 if cells[2] == "yes" else 0.32, 0.2)))
    bad = cells[1] == BAD_SITE and row % 3 == 0
    told = cells[3] if chance.random() < 0.8 else chance.choice(TEAMS)
    best = 0.5 + chance.random() * 0.5
    shares = tuple(best if team == told else (1 - best) / 2 for team in TEAMS)
    angry = (0.2, 0.5, 0.3)
    return (
        _reading("urgent", "unreadable", None, ()) if bad else _reading("urgent", "ok", yes, (yes, 1 - yes)),
        _reading("team", "ok", told, shares),
        _reading("anger", "ok", sum(level * share for level, share in enumerate(angry)), angry),
    )


def _reading(question: str, status: ReadStatus, value: float | str | None, shares: tuple[float, ...]) -> Reading:
    mass = 0.2 if status == "unreadable" else 0.95
    entropy = None if not shares else 1.0 - max(shares)
    return Reading(question, status, value, shares, mass, True, entropy, mass, 4, 0.02, 0.75, "alone/canvas")
