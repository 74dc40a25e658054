"""``tools/decisions_grid.py``: what each setting starts, what is skipped, and rows of servers that do not start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.decisions_grid import BASE, TRIES, Row, Try

ROOT = Path(__file__).parents[2]


def grid(folder: Path, *more: str) -> tuple[int, str]:
    """Exit status and output; the interpreter has no vLLM."""
    ran = subprocess.run(
        [sys.executable, "-m", "tools.decisions_grid", "--python", sys.executable, "--model", "none", "--folder",
         str(folder), *more],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout + ran.stderr


def test_a_setting_is_the_base_with_something_changed() -> None:
    plain = Try("base").flags(())
    assert "--enforce-eager" in plain
    assert json.loads(plain[plain.index("--diffusion-config") + 1]) == {"canvas_length": 128}
    changed = Try("x", {"--max-num-seqs": "7", "--api-server-count": "-", "--flag": None}, 16, graphs="captured").flags(
        ("--z",)
    )
    assert changed[changed.index("--max-num-seqs") + 1] == "7"
    assert not {"--api-server-count", "--enforce-eager", "-"} & set(changed)
    assert {"--flag", "--z"} <= set(changed)
    assert plain[plain.index("--max-num-seqs") + 1] == BASE["--max-num-seqs"]
    assert len({one.name for one in TRIES}) == len({one.flags(()) for one in TRIES}) == len(TRIES), "no two are alike"


def test_a_setting_that_does_not_fit_is_skipped_and_said_to_be(tmp_path: Path) -> None:
    code, said = grid(tmp_path / "seen", "--only", "base", "canvas 16", "--budget", "20")
    assert code == 1
    assert said.count("skipped: ") == 4, "as it comes, and in the table at the end"
    rows = json.loads((tmp_path / "seen" / "grid.json").read_text())
    assert [row["name"] for row in rows] == ["base", "canvas 16"]
    assert all(row["fresh"] is None for row in rows)


def test_a_server_that_does_not_start_is_a_row_and_the_next_is_tried(tmp_path: Path) -> None:
    code, said = grid(tmp_path / "seen", "--only", "canvas 16", "base")
    assert code == 1
    rows = [line for line in (tmp_path / "seen" / "grid.md").read_text().splitlines() if "UserError" in line]
    assert [row.split(" | ")[0] for row in rows] == ["| canvas 16", "| base"], said
    assert "No module named" in rows[0]


MEASURED = Row("a", "", 61.04, 138.6, 1474.0, 281.0, 973.0, "0 of 48", 0.0021)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (MEASURED, "| a | 61.0 | 138.6 | 1474.0 | 281.0 | 973.0 | 0 of 48 | 0.0021 |"),
        (Row("a", "", said="skipped"), "| a | skipped | | | | | | |"),
        (Row("a", "", 61.0, 138.6, 9.0, said="died"), "| a | 61.0 | 138.6 | 9.0 | - | - | - | - died |"),
    ],
)
def test_a_row_of_the_table(row: Row, text: str) -> None:
    assert row.text() == text
