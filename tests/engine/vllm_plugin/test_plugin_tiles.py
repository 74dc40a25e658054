"""Two tensor-parallel ranks of vLLM's CPU build with unequal free memory: the tiles of a step must be the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from plugin_process import command, environment  # the folder is no package

pytestmark = [pytest.mark.vllm_cpu, pytest.mark.timeout(900)]
WAIT_S, HANG_S = 400.0, 40.0  # four steps of a tiny sampler take a fraction of a second


def ranks(folder: Path, parts: str, wait_s: float) -> list[Any]:
    """What each rank told, the one with more memory first; None for one that had to be ended."""
    with ExitStack() as stack:
        started = [stack.enter_context(rank(folder, number, parts)) for number in ("1", "0")]
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()  # the rank has joined the other; importing vLLM took most of the time
        rich = ended(started[0], wait_s)
        # A rank whose companion waits, or has gone with wrong numbers, waits for ever.
        return [rich, ended(started[1], wait_s) if right(rich) else None]


@contextmanager
def rank(folder: Path, number: str, parts: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended at the latest here."""
    argv = command("tiles_in_engine.py", folder, number, parts)
    log = folder / f"rank{number}.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment()) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str], wait_s: float) -> Any:
    """What a rank told; None when it did not end in time, or broke off."""
    try:
        out, _ = process.communicate(timeout=wait_s)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(out.splitlines()[-1]) if process.returncode == 0 else None


def right(told: Any) -> bool:
    """Whether a rank has what one rank alone computes."""
    return told is not None and bool(np.allclose(told["embeds"], told["alone"], atol=1e-5))


def test_unequal_memory_gives_the_same_steps_on_all_ranks(tmp_path: Path) -> None:
    told = ranks(tmp_path, "tiles", WAIT_S)
    assert [right(rank) for rank in told] == [True, True], (tmp_path / "rank1.log").read_text()[-2000:]
    assert [rank["installed"] for rank in told] == [["tiles"], ["tiles"]]
    # Once for three canvases, though two steps had them, and once for two; never for one.
    assert [len(rank["agreed"]) for rank in told] == [2, 2]
    assert told[0]["agreed"] > told[1]["agreed"]


def test_without_the_part_the_ranks_hang_or_come_apart(tmp_path: Path) -> None:
    """What the part is for: when this fails, stock has become safe and the part can go."""
    told = ranks(tmp_path, "", HANG_S)
    assert not all(right(rank) for rank in told)
