"""The numeric self-test, as far as it goes without a card: its cases, and what it says when it cannot run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.launch import selftest, shapes

SCRIPT = Path(selftest.__file__)


def run(*arguments: str, cwd: Path) -> tuple[int, list[dict[str, object]], str]:
    """In an interpreter of its own, isolated, as the engine's environment runs it."""
    ran = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr


def test_every_shard_of_the_plans_is_tested() -> None:
    found = {(case.kind, case.n, case.k) for case in selftest.cases((1, 2, 4), (1,))}
    for tp in (1, 2, 4):
        for shard in shapes.dense_shards(tp):
            assert ("dense", shard.n, shard.k) in found
        assert ("experts", shapes.HIDDEN, shapes.MOE_INTERMEDIATE // tp) in found
    assert {352, 176} <= {k for kind, _, k in found if kind == "experts"}
    assert {1056, 528} <= {k for kind, _, k in found if kind == "dense"}


def test_each_shape_once_for_each_number_of_rows() -> None:
    found = list(selftest.cases((1, 2, 4), (1, 256)))
    assert len(found) == len({(case.kind, case.n, case.k, case.rows) for case in found})
    assert {case.rows for case in found} == {1, 256}


def test_it_finds_the_shapes_beside_itself() -> None:
    module = selftest.shapes()
    assert module.dense_shards(2)[0].n == shapes.dense_shards(2)[0].n
    assert module.marlin_dense_pad(2816, 1056) == (2816, 1088)


def test_without_torch_it_says_so_in_json(tmp_path: Path) -> None:
    code, lines, _ = run(cwd=tmp_path)
    assert code == selftest.NOT_RUN
    assert [line["event"] for line in lines] == ["error"]
    assert "torch" in str(lines[0]["message"])


@pytest.mark.parametrize("arguments", [("--rows", "many"), ("--plant", "other")])
def test_wrong_arguments(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, lines, errors = run(*arguments, cwd=tmp_path)
    assert (code, lines) == (2, [])
    assert "usage:" in errors
