"""The chat's benchmark comes to its end. Whether its figures are good enough is for the benchmark to say."""

from __future__ import annotations

from engine.bench.chat import measure


async def test_a_short_run_yields_every_figure() -> None:
    result = await measure(share=0.02)
    assert set(result.figures) == {
        *("update_p95_4k", "update_p95_64k", "open_5000_messages"),
        *("tick_p99_streaming", "memory_growth", "frames_shown"),
    }
    figures = {name: figure.value for name, figure in result.figures.items()}
    assert all(figures[name] > 0 for name in figures if name != "memory_growth")
    assert figures["tick_p99_streaming"] >= 16  # ms; a tick never comes early
