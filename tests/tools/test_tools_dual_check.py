"""``tools/dual_check.py``: its table, its steps against stand-ins, its comparison against the embedded engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from engine.bench.reads_load import difference
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.live import LivePublisher
from engine.embedded.model import DemoModel
from engine.embedded.server import create_app
from engine.embedded.tokenizer import DemoTokenizer
from engine.paths import demo_model_dir
from engine.supervise.pidfile import PATTERN
from tools.dual_check import Dual, _more_activations
from tools.dual_table import Table
from tools.live_check import Check

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / name) for name in ("fakes", "engine/launch")]
from launch_helpers import FILES  # noqa: E402  # these folders are no packages
from stand_in_engine import FAKES, make_environment  # noqa: E402

KEY = "dual-check"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter whose vllm is a tree of four processes, with two ranks."""
    make_environment(tmp_path / "env", {name: text for name, text in FILES.items() if name != "__init__.py"})
    (package,) = (tmp_path / "env" / "lib").glob("*/site-packages/vllm")
    (package / "entrypoints" / "cli" / "main.py").write_text((FAKES / "stand_in_tree.py").read_text())
    return tmp_path / "env" / "bin" / "python"


def dual_check(what: str, folder: Path, *more: str) -> tuple[int, str, dict[str, list[list[str]]]]:
    """Exit status, output, and the rows by their step."""
    ran = subprocess.run(
        [sys.executable, "-m", "tools.dual_check", what, "--folder", str(folder), *more],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "STAND_IN_TREE": json.dumps({"hold": None, "modes": []})},
    )
    return ran.returncode, ran.stdout + ran.stderr, json.loads((folder / "dual.json").read_text())


def test_rows_of_a_call_take_the_place_of_its_earlier_ones(tmp_path: Path) -> None:
    first = Table(tmp_path, "a")
    first.add("what", "this", "that", well=False)
    first.add("more", "x | y", "two\nlines")
    Table(tmp_path, "b").add("other", "-", "seen")
    again = Table(tmp_path, "a")
    assert "that" in again.text()
    again.add("what", "this", "this")
    assert again.text().splitlines()[2:] == ["| a | what | this | this |  |", "| b | other | - | seen |  |"]
    assert (tmp_path / "dual.md").read_text().strip() == again.text()
    assert (first.well, again.well) == (False, True)
    assert first.text().splitlines()[3] == "| a | more | x / y | two lines |  |"
    first.keep("answers", [1, 2])
    assert (again.kept("answers"), again.kept("nothing")) == ([1, 2], None)


def test_the_plan_of_the_machine_that_is_followed(tmp_path: Path) -> None:
    code, said, rows = dual_check("plan", tmp_path / "seen", "--serve=--text-only --skip-preflight")
    assert code == 0, said
    ours, theirs = rows["plan"]
    assert ours[0] == "`plan` for this machine"
    assert theirs[2].startswith("2x RTX 3090, tensor parallel 2, FP8, utilisation 0.82, 262,144 tokens")
    assert "weights 13.5" in theirs[2], "without the vision tower, as it will be started"
    assert json.loads((tmp_path / "seen" / "plan.json").read_text())["tensor_parallel"] == 2


@pytest.mark.parametrize(("here", "more"), [("h200", 0.92), ("2x3090-pcie", 0.0), ("1x4090", 0.05)])
def test_what_another_card_takes_beside_the_weights_is_no_fault_of_the_plan(here: str, more: float) -> None:
    """1.27 GiB on an H200 at 2,048 batched tokens, 0.35 on a 3090; the batches of the two plans differ."""
    options = {name: ["--checkpoint", "fp8"] if name == "h200" else [] for name in ("h200", "2x3090-pcie", "1x4090")}

    def planned(name: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "engine.cli", "plan", "--json", *options[name]]
        machine = str(ROOT / "resources" / "machines" / f"{name}.json")
        ran = subprocess.run([*command, "--machine", machine], cwd=ROOT, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(ran.stdout)["plan"]
        return found

    assert _more_activations(planned("2x3090-pcie"), planned(here)) == pytest.approx(more, abs=0.005)
    assert _more_activations({}, planned(here)) == 0.0


def test_each_rank_is_killed_of_a_fresh_start_and_nothing_is_left(
    tmp_path: Path, python: Path, desk_home: Path
) -> None:
    options = ["--python", str(python), "--model", str(demo_model_dir()), "--serve=--skip-preflight"]
    victims = ["worker 0", "worker 1", "command"]
    code, said, rows = dual_check("kills", tmp_path / "seen", *options, "--victims", *victims)
    assert code == 0, said
    assert list(rows) == [f"kills, {victim}" for victim in victims]
    for victim in victims:
        start, killed = rows[f"kills, {victim}"]
        assert start[2].startswith("ready after ")
        assert killed[0] == f"SIGKILL of the {victim}"
        assert killed[2].endswith("left: nothing")
    assert not list((desk_home / "run").glob(PATTERN))


def test_a_pair_without_answers_of_one_card_says_so_and_ends_its_engine(
    tmp_path: Path, python: Path, desk_home: Path
) -> None:
    options = ["--python", str(python), "--model", str(demo_model_dir()), "--serve=--skip-preflight"]
    code, said, rows = dual_check("pair", tmp_path / "seen", *options, "--victim", "worker 1", "--p2p")
    assert code == 1, said
    found = {row[0]: row for row in rows["pair, sequences 1, P2P on"]}
    assert found["SIGKILL of the worker 1"][2].endswith("left: nothing"), "a step that fails does not end the next"
    assert {row[0] for row in found.values() if row[3]} == {"compare", "mixture"}, "the stand-in has no such wire"
    assert not list((desk_home / "run").glob(PATTERN))


def test_a_start_that_fails_is_a_row(tmp_path: Path, python: Path) -> None:
    options = ["--python", str(python), "--model", str(demo_model_dir()), "--serve=--skip-preflight --cards 9"]
    code, said, rows = dual_check("whole", tmp_path / "seen", *options)
    assert code == 1, said
    assert [row[0] for row in rows["whole"]] == ["start"]
    assert rows["whole"][0][3] == "**MISSED**"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Check, str, aiohttp.ClientSession]]:
    folder, live = demo_model_dir(), tmp_path / "live"
    engine = EmbeddedEngine(DemoModel(folder), DemoTokenizer(folder), LivePublisher(str(live)))
    runner = web.AppRunner(create_app(engine, api_key=KEY), handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    url = f"http://{host}:{port}"
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as session:
        yield Check(session, url, KEY, live, folder), url, session
    await runner.cleanup()


async def test_what_is_kept_of_one_card_is_compared_with_two(
    tmp_path: Path, served: tuple[Check, str, aiohttp.ClientSession]
) -> None:
    given = Namespace(
        what="pair", sequences=1, p2p=False, folder=tmp_path / "seen", model=demo_model_dir(), reads=6, tokens=60,
        mixed=8, work_limit=120.0,
    )  # fmt: skip
    check, url, session = served
    dual = Dual(given)
    answers = await dual._answers(url, session)
    dual.table.keep("answers", answers)
    await dual._compare(check, url, session)
    await dual._mixture(check, url, session)
    await dual._live(check, url, session)
    assert dual.table.well, dual.table.text()
    rows: Any = {row[0]: row for row in json.loads((tmp_path / "seen" / "dual.json").read_text())[dual.table.part]}
    assert float(rows["label shares"][2]) < 1e-5
    assert rows["another argmax"][2].startswith("0 of ")
    assert rows["8 mixed requests"][2].rstrip().endswith("0 lost")
    assert "1 ends of 1 canvases" in rows["live canvas"][2]
    together = await dual._answers(url, session, 3)
    assert difference(answers, together).logprob < 1e-4, "in the same order, whoever was quicker"

    top = answers[3]["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0]
    top["logprob"] += 0.06
    dual.table.keep("answers", answers)
    other = Dual(given)
    await other._compare(check, url, session)
    assert not other.table.well
    assert "**MISSED**" in other.table.text()

    other.table.keep("own", [0.02, 0.07])
    again = Dual(given)
    await again._compare(check, url, session)
    assert again.table.well, "no more than one card differs from itself by"
    assert "or 0.07" in again.table.text()
