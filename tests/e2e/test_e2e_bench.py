"""Every benchmark runs and yields its figures. Whether they are good enough is the benchmark's to say, not a test's."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench import engine as engine_bench
from engine.bench import memory, peers, runner, startup, tables
from engine.errors import UserError
from engine.supervise import processes
from engine.supervise.program import run_program


async def test_the_window_paints_and_imports_no_engine_library() -> None:
    told = await startup.paint_once()
    assert told["first_paint_ms"] > 0
    assert told["modules"] == []
    assert 0 < told["rss_mb"] <= startup.RSS_MB


async def test_the_runner_is_measured_beside_a_bare_loop() -> None:
    result = await runner.measure(rows=40, rounds=1, slow_rows=8, slow_rounds=1)
    assert set(result.figures) == {
        *("runner", "bare_aiohttp", "ratio"),
        *("slow_runner", "slow_bare_aiohttp", "slow_ratio"),
    }
    assert all(figure.value > 0 for figure in result.figures.values())


async def test_tables_and_memory_are_measured() -> None:
    result = await tables.measure(rows=3000, rounds=1)
    assert set(result.figures) == {"rows", "preview", "first_page", "sort", "export", "export_ratio"}
    assert all(figure.value > 0 for figure in result.figures.values())
    found = await memory.measure(rows=800)
    assert set(found.figures) == {"rows", "rows_per_s", "peak", "early", "late", "growth"}
    assert 20 < found.figures["early"].value <= found.figures["peak"].value


async def test_a_peer_that_cannot_be_had_is_left_out_loudly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "PEER", "this is no requirement")
    found = await peers.measure(rows=60)
    assert set(found.figures) == {
        *("rows", "ours_canvas_rows_per_s", "ours_canvas_peak", "ours_native_rows_per_s", "ours_native_peak"),
        "jev_col_left_out",
    }
    assert all(figure.value > 0 for figure in found.figures.values())
    assert "is left out: it cannot be installed" in capsys.readouterr().err


async def test_the_embedded_engine_is_measured() -> None:
    result = await engine_bench.measure(reads=2, chats=1)
    assert set(result.figures) == {"start", "read_60_tokens", "read_300_tokens", "canvas"}


async def test_a_window_without_figures_is_an_error() -> None:
    with pytest.raises(UserError, match=r"no figures|could not be measured"):
        await startup.ask_window("no such bench", 60.0)


async def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    script = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); import signal; signal.pause()"
    with pytest.raises(UserError, match="did not end"):
        await run_program(["/usr/bin/env", "python3", "-c", script, str(tmp_path / "pid")], timeout_s=2.0)
    assert processes.create_time(int((tmp_path / "pid").read_text())) is None
