"""The live canvas' check, against the embedded engine: chats in turn, and a short mixture of everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.live import LivePublisher
from engine.embedded.model import DemoModel
from engine.embedded.server import create_app
from engine.embedded.tokenizer import DemoTokenizer
from engine.paths import demo_model_dir
from tools.live_check import Check

KEY = "live-check"


@pytest.fixture
async def check(tmp_path: Path) -> AsyncIterator[Check]:
    folder, live = demo_model_dir(), tmp_path / "live"
    engine = EmbeddedEngine(DemoModel(folder), DemoTokenizer(folder), LivePublisher(str(live)))
    runner = web.AppRunner(create_app(engine, api_key=KEY), handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with aiohttp.ClientSession() as session:
        yield Check(session, f"http://{host}:{port}", KEY, live, folder)
    await runner.cleanup()


async def test_chats_in_turn_and_what_more_they_take(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    await check.cost(0.01, 1)  # one round
    said = capsys.readouterr().out
    assert "chats of 1 canvases, 1 rounds" in said
    assert [line.split(" | ")[0] for line in said.splitlines() if line.startswith("| w") or line.startswith("| u")] == [
        *("| without", "| with", "| unheard")
    ]
    assert "last frames of a canvas: 0 not what was committed" in said


async def test_a_mixture_loses_nothing(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    await check.stress(12, 60, 4)
    said = capsys.readouterr().out
    assert "stress: 12 requests" in said
    assert "lost: 0" in said
    assert "left in the engine: 0" in said
