"""Every edge between two states of an engine: those of the table can be gone, no other can."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from engine.errors import BugError
from engine.supervise.state import MOVES, PHASES, EngineState, Phase

EDGES = {
    "stopped": {"starting", "adopted"},
    "starting": {"ready", "failed", "stopping"},
    "ready": {"resuming", "crashed", "stopping"},
    "resuming": {"ready", "crashed", "stopping"},
    "crashed": {"waiting", "starting", "failed", "stopping"},
    "waiting": {"starting", "stopping"},
    "failed": {"waiting", "starting", "stopping"},
    "stopping": {"stopped", "failed"},
    "adopted": {"lost", "stopped"},
    "lost": {"adopted", "stopped"},
}


@pytest.mark.parametrize(("old", "new"), list(itertools.product(PHASES, PHASES)))
def test_every_edge(old: Phase, new: Phase) -> None:
    state = EngineState(old, "before")
    if new in EDGES[old]:
        assert state.to(new, "why") == EngineState(new, "why")
    else:
        with pytest.raises(BugError, match=f"from {old} to {new}"):
            state.to(new)


def test_the_table_is_complete_and_stopped_can_be_reached_from_everywhere() -> None:
    assert set(MOVES) == set(PHASES) == set(EDGES)
    reached: set[Phase] = {"stopped"}
    while more := {old for old, news in MOVES.items() if news & reached} - reached:
        reached |= more
    assert reached == set(PHASES)


def test_a_state_says_why() -> None:
    assert str(EngineState("failed", "out of memory")) == "failed: out of memory"
    assert str(EngineState("ready")) == "ready"
    assert [phase for phase in PHASES if EngineState(phase).ended] == ["crashed", "failed", "lost"]


def test_the_documents_table_is_the_programs(root: Path) -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", (root / "docs" / "lifecycle.md").read_text(), re.M)
    assert {old: set(re.findall(r"`(\w+)`", news)) for old, news in rows} == EDGES
