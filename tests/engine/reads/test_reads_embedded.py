"""Reads and chat through the real embedded engine: both wires agree, noise is what the method says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.client.http import EngineClient
from engine.client.live import LiveChannel
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import CanvasCommitted, CanvasFrame, Finished, Message, Usage
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method, Reading
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import create_app
from engine.paths import demo_model_dir
from engine.reads.canvas_wire import CanvasWire
from engine.reads.interference import measure_interference
from engine.reads.native import system_one_request
from engine.reads.reader import Reader
from engine.reads.served import Served

QUESTIONS: tuple[Question, ...] = (
    Noul("clash", "Do the two clauses contradict each other?", "they cannot both hold", "they can both hold"),
    Choice("team", "Which team should answer?", (Option("billing", "money"), Option("technical"), Option("sales"))),
    Score("mood", "How upset is the writer?", ("calm", "annoyed", "angry", "furious")),
)
STATE = "Clause 1: The deposit is 500 euros.\nClause 2: The deposit is 900 euros."
# Whatever the demo model has learnt: every read is readable by its mass, so that shares are compared.
ANY = {"min_mass": 0.0}


@pytest.fixture
async def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LiveChannel]:
    async with LiveChannel(tmp_path / "live.sock") as channel:
        monkeypatch.setenv("DG_LIVE_SOCK", str(channel.path))
        yield channel


@pytest.fixture
async def client(live: LiveChannel) -> AsyncIterator[EngineClient]:
    engine = await asyncio.to_thread(EmbeddedEngine.load, demo_model_dir())
    runner = web.AppRunner(create_app(engine), handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with EngineClient(f"http://{host}:{port}") as made:
        yield made
    await runner.cleanup()


def diagnostics(reading: Reading) -> tuple[object, ...]:
    return (
        reading.status,
        reading.argmax_is_label,
        pytest.approx(reading.label_mass, rel=1e-6),
        pytest.approx(reading.entropy, rel=1e-6),
    )


@pytest.mark.parametrize("joint", [False, True])
async def test_both_wires_give_the_same_shares_for_the_same_noise(client: EngineClient, joint: bool) -> None:
    canvas = await Reader.open(client, QUESTIONS, Method(draws=1, joint=joint, **ANY))  # type: ignore[arg-type]
    native = await Reader.open(client, QUESTIONS, Method(draws=1, joint=joint, wire="native", **ANY))  # type: ignore[arg-type]
    for state in (STATE, "", "An invoice was paid twice. \u00e4\U0001f600"):
        one, other = await canvas.read(state, row_key="1"), await native.read(state, row_key="1")
        assert [diagnostics(reading) for reading in one] == [diagnostics(reading) for reading in other]
        assert [reading.method for reading in one] == [f"{'joint' if joint else 'alone'}/canvas"] * 3
        # Shares are compared whether or not the demo model is readable: straight from the draws.
        wire = canvas._wire
        assert isinstance(wire, CanvasWire)
        answer = await client.systemone(system_one_request(state, QUESTIONS, joint=joint))
        seen = [draws[0] for sheet in wire.sheets for draws in (await wire.look(sheet, state, "1")).draws]
        for number, (question, draw) in enumerate(zip(QUESTIONS, seen, strict=True), start=1):
            expected = [answer.answers[str(number)].probabilities[name] for name in question.answers]
            assert draw.shares == pytest.approx(expected, rel=1e-6)


async def test_draws_differ_by_their_noise_and_repeat_by_their_seed(client: EngineClient) -> None:
    reader = await Reader.open(client, QUESTIONS[:1], Method(draws=4, seed=3))
    wire = reader._wire
    assert isinstance(wire, CanvasWire)
    (sheet,) = wire.sheets
    first = await wire.look(sheet, STATE, "row 1")
    assert len({draw.masses for draw in first.draws[0]}) == 4
    assert await wire.look(sheet, STATE, "row 1") == first
    other = await wire.look(sheet, STATE, "row 2")
    assert other.draws[0][0] == first.draws[0][0]  # draw 0 is a function of the prompt
    assert other.draws[0][1:] != first.draws[0][1:]


async def test_what_the_embedded_engine_serves_is_found(client: EngineClient) -> None:
    reader = await Reader.open(client, QUESTIONS, Method(joint=True))
    assert reader.served is not None
    config = json.loads((demo_model_dir() / "config.json").read_bytes())
    assert reader.served == Served(config["text_config"]["vocab_size"], config["canvas_length"])


async def test_the_preview_is_the_exact_prompt(client: EngineClient) -> None:
    reader = await Reader.open(client, QUESTIONS, Method())
    preview = await reader.preview(STATE, "team")
    assert preview.prompt.startswith(
        f"<bos><|turn>user\n{STATE}\n\nQuestion: Which team should answer?\nA. billing: money\n"
    )
    assert preview.prompt.endswith("<turn|>\n<|turn>model\n<|channel>thought\n<channel|>")
    assert preview.canvas[1:] == ("<turn|>", *["<pad>"] * 14)
    assert preview.slot == 0


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(state=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
async def test_any_text_can_be_read(client: EngineClient, state: str) -> None:
    reader = await Reader.open(client, QUESTIONS, Method(draws=1, joint=True))
    for reading in await reader.read(state, row_key="1"):
        assert reading.status in ("ok", "unreadable")
        assert reading.label_mass is not None
        assert 0.0 <= reading.label_mass <= 1.0


async def test_a_row_that_is_too_long_is_an_error_of_its_row(client: EngineClient) -> None:
    reader = await Reader.open(client, QUESTIONS, Method())
    (card,) = await client.models()
    assert card.max_model_len is not None
    readings = await reader.read("yes " * card.max_model_len, row_key="1")
    assert {reading.status for reading in readings} == {"error"}
    assert all(str(card.max_model_len) in reading.error for reading in readings)


async def test_interference_is_measured(client: EngineClient) -> None:
    rows = [(str(n), f"Ticket {n}: the invoice is wrong.") for n in range(6)]
    found = await measure_interference(client, QUESTIONS, Method(draws=1), rows, sample=3)
    assert found.rows == 3
    assert found.sentence.startswith("On 3 rows")


async def test_a_chat_shows_its_canvases_denoise(client: EngineClient, live: LiveChannel) -> None:
    before = await client.metrics()
    seen = [event async for event in client.chat([Message("user", "Hello")], max_tokens=80, live=live)]
    frames = [event for event in seen if isinstance(event, CanvasFrame)]
    text = "".join(event.text for event in seen if isinstance(event, CanvasCommitted))
    assert isinstance(seen[-1], Finished)
    assert frames
    assert frames[-1].converged
    assert any(isinstance(event, Usage) for event in seen)
    assert (await client.metrics()).denoise_steps > before.denoise_steps
    # The last frame of the first canvas is the text that was committed.
    vocabulary = Vocabulary.from_file(demo_model_dir() / "tokenizer.json")
    last = next(frame for frame in frames if frame.converged)
    assert text.strip()[:4] in "".join(vocabulary.pieces(last.argmax))


async def test_leaving_a_chat_ends_it_in_the_engine(client: EngineClient) -> None:
    answer = client.chat([Message("user", "Write a long story.")])
    await anext(answer)
    await answer.aclose()
    (reading,) = await (await Reader.open(client, QUESTIONS[:1], Method())).read(STATE, row_key="1")
    assert reading.status != "error"
