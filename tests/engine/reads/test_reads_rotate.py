"""Rotations of a choice's options: labels mapped back, position bias averaged out, cost told; several denoise steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import pytest
from aiohttp import web
from fakes.wire_server import WireServer

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option, Question
from engine.domain.reading import Draw, Method
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import create_app
from engine.errors import InputError
from engine.paths import demo_model_dir
from engine.reads.reader import Reader
from engine.reads.rotate import rotated, turned, turned_back, turns
from engine.reads.trial import duration, try_row, try_rows

TEAM = Choice("team", "Which team?", (Option("red"), Option("green"), Option("blue")))
PAIR = Choice("pair", "Which of two?", (Option("left"), Option("right")))
NOUL = Noul("clash", "Do they contradict each other?")
STATE = "Clause 1: The deposit is 500 euros."


@pytest.fixture
async def client() -> AsyncIterator[EngineClient]:
    engine = await asyncio.to_thread(EmbeddedEngine.load, demo_model_dir())
    runner = web.AppRunner(create_app(engine), handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with EngineClient(f"http://{host}:{port}") as made:
        yield made
    await runner.cleanup()


@pytest.mark.parametrize("question", [TEAM, PAIR, Choice("many", "Which?", tuple(Option(str(n)) for n in range(26)))])
def test_every_option_stands_at_every_letter_once(question: Choice) -> None:
    size = turns(question)
    seen = {name: set() for name in question.answers}  # type: ignore[var-annotated]
    for turn in range(size):
        for place, name in enumerate(rotated(question, turn).answers):
            seen[name].add(place)
    assert all(places == set(range(size)) for places in seen.values())


def test_a_turned_draw_is_turned_back() -> None:
    for turn in range(3):
        by_name = {"red": 0.5, "green": 0.3, "blue": 0.1}
        draw = Draw(tuple(by_name[name] for name in rotated(TEAM, turn).answers), argmax_is_label=True)
        assert turned_back(draw, turn).masses == (0.5, 0.3, 0.1)


def test_what_is_asked_in_each_turn() -> None:
    questions: tuple[Question, ...] = (NOUL, TEAM, PAIR)
    assert [q.id for q in turned(questions, 0, joint=False)] == ["clash", "team", "pair"]
    assert [q.id for q in turned(questions, 1, joint=False)] == ["team", "pair"]
    assert [q.id for q in turned(questions, 2, joint=False)] == ["team"]
    assert [q.id for q in turned(questions, 2, joint=True)] == ["clash", "team", "pair"]


async def first_option(request: web.Request) -> web.Response:
    """System One's answer of a model that says the same letters to anything: 0.6, 0.2 and 0.1 of the whole mass."""
    question = (await request.json())["questions"]["1"]
    shares = dict(zip(question["criteria"], (0.6 / 0.9, 0.2 / 0.9, 0.1 / 0.9), strict=True))
    return web.json_response(
        {
            "answers": {"1": {"type": "choice", "probabilities": shares}},
            "diagnostics": {"1": {"label_mass": 0.9, "argmax_is_label": True}},
        }
    )


@pytest.mark.parametrize("wire", ["canvas", "native"])
async def test_a_model_that_loves_one_letter_is_averaged_out(wire: str) -> None:
    """It says A with 0.6 whatever the options are: read once, red wins; rotated, all are equal."""
    async with WireServer() as server, EngineClient(server.url) as client:
        toy = server.tokenizer

        def loves_a(prompt: Sequence[int], canvas: Sequence[int], position: int) -> Mapping[int, float]:
            return {toy.id_of("A"): 0.6, toy.id_of("B"): 0.2, toy.id_of("C"): 0.1}

        server.distribution = loves_a
        server.handlers["/v1/systemone"] = first_option
        plain = await Reader.open(client, [TEAM], Method(draws=1, wire=wire))  # type: ignore[arg-type]
        (once,) = await plain.read(STATE, row_key="1")
        assert once.value == "red"
        reader = await Reader.open(client, [TEAM], Method(draws=1, wire=wire, rotate=True))  # type: ignore[arg-type]
        (found,) = await reader.read(STATE, row_key="1")
        assert found.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
        assert found.draws == 3
        assert found.agreement == pytest.approx(1 / 3)
        assert found.method == f"alone/{wire}+rotate"
        assert found.label_mass == pytest.approx(0.9)
        assert any("3 reads instead of 1" in note for note in reader.notes)


async def test_a_model_that_reads_the_options_keeps_its_answer() -> None:
    async with WireServer() as server, EngineClient(server.url) as client:
        toy = server.tokenizer

        def finds_green(prompt: Sequence[int], canvas: Sequence[int], position: int) -> Mapping[int, float]:
            text = toy.decode(prompt)
            letter = text[text.find(". green") - 1] if ". green" in text else "A"
            return {toy.id_of(letter): 0.8, **{toy.id_of(other): 0.05 for other in "ABC" if other != letter}}

        server.distribution = finds_green
        reader = await Reader.open(client, [TEAM], Method(draws=1, rotate=True))
        (found,) = await reader.read(STATE, row_key="1")
        assert found.value == "green"
        assert found.shares[1] == pytest.approx(0.8 / 0.9)
        assert (found.stderr, found.agreement) == (pytest.approx(0.0, abs=1e-12), 1.0)


@pytest.mark.parametrize("joint", [False, True])
async def test_rotated_reads_are_means_of_the_rotations(client: EngineClient, joint: bool) -> None:
    """The reading of each rotation by hand, mapped back by name, gives the shares of the method."""
    questions: tuple[Question, ...] = (TEAM, NOUL)
    method = Method(draws=1, joint=joint, min_mass=0.0)
    found = await (await Reader.open(client, questions, Method(draws=1, joint=joint, min_mass=0.0, rotate=True))).read(
        STATE, row_key="7"
    )
    by_hand = []
    for turn in range(3):
        asked = (rotated(TEAM, turn), NOUL)
        (team, noul) = await (await Reader.open(client, asked, method)).previews(STATE)
        by_hand.append(dict(zip(asked[0].answers, team.draws[0].shares, strict=True)))
        if turn == 0:
            assert found[1].draws == 1
            if found[1].status == "ok":
                assert found[1].shares == pytest.approx(noul.draws[0].shares)
    if found[0].status == "ok" and found[0].draws == 3 and found[0].agreement is not None:
        means = [sum(shares[name] for shares in by_hand) / 3 for name in TEAM.answers]
        assert found[0].shares == pytest.approx(means, abs=1e-6)
    assert found[0].method == f"{'joint' if joint else 'alone'}/canvas+rotate"


async def test_without_a_choice_rotation_changes_nothing(client: EngineClient) -> None:
    plain = await (await Reader.open(client, [NOUL], Method())).read(STATE, row_key="1")
    reader = await Reader.open(client, [NOUL], Method(rotate=True))
    turned_ = await reader.read(STATE, row_key="1")
    assert turned_[0].shares == plain[0].shares
    assert reader.canvases == 1


async def test_more_steps_pin_the_template_and_repeat_nothing_of_one_step(client: EngineClient) -> None:
    one = await (await Reader.open(client, [NOUL, TEAM], Method(draws=1, min_mass=0.0))).read(STATE, row_key="1")
    for joint in (False, True):
        reader = await Reader.open(client, [NOUL, TEAM], Method(draws=1, steps=4, joint=joint, min_mass=0.0))
        before = (await client.metrics()).denoise_steps
        found = await reader.read(STATE, row_key="1")
        took = (await client.metrics()).denoise_steps - before
        assert 2 * reader.canvases <= took <= 4 * reader.canvases
        assert [reading.method for reading in found] == [f"{'joint' if joint else 'alone'}/canvas+4 steps"] * 2
        assert all(reading.status in ("ok", "unreadable") for reading in found)
    assert all(reading.method == "alone/canvas" for reading in one)


@pytest.mark.parametrize("steps", [0, 49])
async def test_steps_out_of_range_or_on_the_native_wire_are_refused(client: EngineClient, steps: int) -> None:
    with pytest.raises(InputError, match="steps must be 1 to 48"):
        await Reader.open(client, [NOUL], Method(steps=steps))
    with pytest.raises(InputError, match="native wire makes one"):
        await Reader.open(client, [NOUL], Method(steps=2, wire="native"))


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("wire", ["canvas", "native"])
async def test_one_row_is_tried_alone_and_jointly(client: EngineClient, wire: str, rotate: bool) -> None:
    method = Method(wire=wire, rotate=rotate)  # type: ignore[arg-type]
    tried = await try_row(client, [NOUL, TEAM], method, STATE)
    assert tried.joint is not None
    for way, joint in ((tried.alone, False), (tried.joint, True)):
        assert way.method.joint is joint
        assert way.latency_s > 0
        assert [preview.reading.question_id for preview in way.questions] == ["clash", "team"]
        for preview in way.questions:
            assert preview.reading.method.startswith("joint" if joint else "alone")
            assert len(preview.draws) == preview.reading.draws
            if wire == "canvas":
                assert STATE in preview.prompt
                assert preview.slot is not None
                assert preview.canvas[preview.slot] not in ("<pad>", "<turn|>")
    assert (await try_row(client, [NOUL], method, STATE)).joint is None


async def test_some_rows_give_an_estimate(client: EngineClient) -> None:
    reader = await Reader.open(client, [NOUL, TEAM], Method(draws=1))
    found = await try_rows(reader, [(str(n), f"row {n}") for n in range(5)], concurrency=2)
    assert len(found.readings) == 5
    assert found.estimate_s(10) == pytest.approx(2 * found.seconds)
    assert "5 rows in" in found.sentence(1_000_000)
    assert "1,000,000 rows would take about" in found.sentence(1_000_000)
    with pytest.raises(InputError, match="no row to try"):
        await try_rows(reader, [])


@pytest.mark.parametrize(("seconds", "said"), [(3, "3 s"), (600, "10 min"), (7200, "2.0 h"), (864_000, "10.0 days")])
def test_durations_are_said_in_one_unit(seconds: float, said: str) -> None:
    assert duration(seconds) == said
