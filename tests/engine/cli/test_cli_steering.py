"""A run whose engine goes away at a terminal: revived, or given up after a while."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from engine.batch.control import RunControl
from engine.cli import steering
from engine.cli.engines import OpenEngine
from engine.cli.reporting import TerminalReporter
from engine.cli.steering import REVIVALS, Keeper, obey_stdin, signals_cancel
from engine.errors import EngineUnreachable, InputError


class Engine:
    """Stands for an engine that comes back after some attempts, or never."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.revived = 0

    async def revive(self) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise EngineUnreachable("engine.silent", "no engine answers")
        self.revived += 1


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "DELAYS_S", (0.0, 0.0, 0.0))


def keeper_of(failures: int) -> tuple[Keeper, RunControl, Engine]:
    control, engine = RunControl(), Engine(failures)
    return Keeper(control, cast("OpenEngine", engine), TerminalReporter()), control, engine


async def test_a_run_is_resumed_when_its_engine_is_back(capsys: pytest.CaptureFixture[str]) -> None:
    keeper, control, engine = keeper_of(failures=2)
    async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(keeper.keep())
        control.pause("the engine is gone")
        await control.wait_running()
        keeping.cancel()
    assert (engine.revived, keeper.gave_up, control.cancelled) == (1, "", False)
    assert capsys.readouterr().err.count("the engine is not back") == 2


async def test_a_run_is_given_up_when_its_engine_stays_away() -> None:
    keeper, control, _ = keeper_of(failures=99)
    control.pause("the engine is gone")
    await asyncio.wait_for(keeper.keep(), 120)
    assert control.cancelled
    assert keeper.gave_up == "the engine is gone"


async def test_an_engine_that_keeps_dying_is_not_revived_for_ever() -> None:
    keeper, control, engine = keeper_of(failures=0)
    async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(keeper.keep())
        for _ in range(REVIVALS):
            control.pause("it died again")
            await control.wait_running()
        control.pause("it died for the last time")
        await keeping
    assert engine.revived == REVIVALS
    assert keeper.gave_up == "it died for the last time"


async def test_a_worker_outlives_commands_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    control = RunControl()
    with os.fdopen(reading) as stdin, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(signal, "alarm", lambda _: 0)
        async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
            obeying = tasks.create_task(obey_stdin(control, cast("OpenEngine", Engine(0)), TerminalReporter()))
            await asyncio.to_thread(os.write, writing, b"x" * 300_000 + b"\n[]\n\xff\n" + b'{"command": "pause"}\n')
            await control.wait_paused()
            os.close(writing)
            await obeying
    assert control.cancelled
    assert "not understood" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["file", "null", "closed", "none"])
async def test_a_worker_without_a_pipe_says_so(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "commands").touch()
    with (Path(os.devnull) if kind == "null" else tmp_path / "commands").open() as stdin:
        if kind == "closed":
            stdin.close()
        monkeypatch.setattr(sys, "stdin", None if kind == "none" else stdin)
        with pytest.raises(InputError, match="brings no commands"):
            await obey_stdin(RunControl(), cast("OpenEngine", Engine(0)), TerminalReporter())


async def test_signals_cancel_a_run_and_give_the_handlers_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    control = RunControl()
    with signals_cancel(control):
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(control.wait_cancelled(), 120)
    assert signal.getsignal(signal.SIGTERM) == before


def test_figures_in_words() -> None:
    from engine.batch.analysis.summary import Metric, QuestionSummary
    from engine.cli.metrics import metric_lines
    from engine.domain.run import Totals

    fields: dict[str, Any] = {"question_id": "q", "type": "noul", "totals": Totals(ok=8, unreadable=2)}
    summary = QuestionSummary(
        **fields,
        measured=8,
        bad_gold=1,
        first_bad="row 3, column gold: 'maybe'",
        metrics=(Metric("auc", 0.9341), Metric("brier", None, "no answer to measure")),
        readers={"constant": (Metric("auc", 0.5),), "words": (Metric("auc", 0.61),)},
        groups={"a": Totals(ok=4), "b": Totals(unreadable=2)},
    )
    assert metric_lines(summary) == [
        "AUC 0.934 (always the same answer 0.500, bag of words 0.610), 8 rows",
        "Brier score: none, no answer to measure",
        "1 gold cells name no answer, first row 3, column gold: 'maybe'",
        "unreadable by group: b 2",
    ]
    assert metric_lines(QuestionSummary(**fields)) == []
