"""The checks before a run as commands, on the embedded engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("command", "expected"),
    [("check-interference", {"rows": 6, "compared": 18}), ("check-order", {"rows": 6, "reads": 30})],
)
def test_a_check_reads_a_sample(desk: Callable[..., Any], root: Path, command: str, expected: dict[str, int]) -> None:
    folder = root / "resources" / "examples" / "tickets"
    ended = desk(command, folder / "form.json", folder / "table.csv", "--sample", 6, "--draws", 1, "--json")
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert expected.items() <= report.items()
    assert report["sentence"].endswith(".")


def test_a_form_without_a_choice_has_no_order(desk: Callable[..., Any], small: tuple[Path, Path]) -> None:
    ended = desk("check-order", *small)
    assert ended.code == 2
    assert "no choice question" in ended.err
