"""``tools/ballast.py`` and what ``card_server`` makes of it: a stand-in for torch, a real process."""

from __future__ import annotations

import sys
import threading
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from tools.card_server import GIB, MostUsed, smaller_cards

TORCH = """
import types
uint8 = "uint8"
free = {0: 140 << 30, 1: 100 << 30, 2: 1 << 30}
contexts = set()


def get(card):
    return free[card], 140 << 30


def empty(count, dtype, device):
    card = int(device.removeprefix("cuda:"))
    if card not in contexts:  # the first allocation makes the context
        contexts.add(card)
        free[card] -= 1 << 29
    free[card] -= count
    return object()


cuda = types.SimpleNamespace(mem_get_info=get, device_count=lambda: 3)
"""


def interpreter(folder: Path) -> Path:
    """One whose torch is the stand-in; a path that our clean environment does not lose."""
    (folder / "torch.py").write_text(TORCH)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("cards", "free"),
    [("0,1", "23.06, 23.06"), ("1", "23.06"), ("", "23.06, 23.06, 1.00")],
)
def test_all_but_so_much_of_each_card_is_held(tmp_path: Path, cards: str, free: str) -> None:
    """The context of 0.5 GiB is made by the first allocation; what is free then is below what was asked for by it."""
    given = Namespace(python=interpreter(tmp_path), leave=23.56, cards=cards)
    with smaller_cards(given) as said:
        assert said == f"ballast is held; free: {free} GiB"


def test_nothing_is_held_unless_asked_for(tmp_path: Path) -> None:
    with smaller_cards(Namespace(python=tmp_path / "none", leave=0.0, cards="")) as said:
        assert said == ""


def test_a_ballast_that_cannot_be_held_ends_the_step(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch today')")
    given = Namespace(python=interpreter(tmp_path), leave=1.0, cards="")
    (tmp_path / "torch.py").write_text("raise ImportError('no torch today')")
    with pytest.raises(RuntimeError, match=r"ballast.py ended with status 1"), smaller_cards(given):
        pass


class Cards:
    """Cards whose use was 2 GiB before, and is what each look is told in turn."""

    before = (2 * GIB, 2 * GIB)

    def __init__(self, *uses: tuple[float, float]) -> None:
        self._uses = list(uses)
        self.seen = threading.Event()

    def used(self) -> list[int]:
        use = self._uses.pop(0) if len(self._uses) > 1 else self._uses[0]
        if len(self._uses) == 1:
            self.seen.set()
        return [round(part * GIB) for part in use]


def test_the_most_of_each_card_is_kept() -> None:
    cards: Any = Cards((20, 21), (25.5, 21), (22, 30), (3, 3))
    with MostUsed(cards) as most:
        assert cards.seen.wait(120)
    assert most.shown() == "23.50, 28.00 GiB"
