"""Reads through /v1/systemone: one draw, safe ids, honest about what the server cannot do."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from fakes.wire_server import WireServer, error

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method
from engine.errors import EngineRefused
from engine.reads.reader import Reader

NATIVE = "/v1/systemone"
NOUL = Noul("clash?", "Do they clash?", true_means="they do")
CHOICE = Choice("a:b", "Which team?", (Option("bills", "money"), Option("bugs")))
SCORE = Score("mood", "How angry?", ("calm", "cross", "furious"))
QUESTIONS: tuple[Question, ...] = (NOUL, CHOICE, SCORE)


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as running:
        yield running


@pytest.fixture
async def client(server: WireServer) -> AsyncIterator[EngineClient]:
    async with EngineClient(server.url) as made:
        yield made


def system_one(server: WireServer, *, joint: bool | None = None, mass: float = 0.9) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        found, seen = {}, {}
        for name, spec in body["questions"].items():
            keys = {"noul": ["yes", "no"], "score": ["0", "1", "2"]}.get(spec["type"], list(spec["criteria"] or ()))
            shares = [0.8, *[0.2 / (len(keys) - 1)] * (len(keys) - 1)]
            found[name] = {"type": spec["type"], "probabilities": dict(zip(keys, shares, strict=True)), "confidence": 1}
            seen[name] = {"label_mass": mass, "argmax_is_label": True}
        shared = {"canvases": []} if (body.get("joint", False) if joint is None else joint) else None
        return web.json_response({"id": "x", "answers": found, "diagnostics": seen, "joint": shared, "usage": {}})

    server.handlers[NATIVE] = answer


async def test_native_reads_one_request_a_row_with_safe_ids(server: WireServer, client: EngineClient) -> None:
    system_one(server)
    reader = await Reader.open(client, QUESTIONS, Method(wire="native"))
    assert "one draw" in reader.notes[0]
    server.requests.clear()
    readings = await reader.read("A state.", row_key="1")
    ((_, body),) = server.requests
    assert body == {
        "state": "A state.",
        "questions": {
            "1": {"type": "noul", "instructions": "Do they clash?", "criteria": {"true": "they do"}},
            "2": {"type": "choice", "instructions": "Which team?", "criteria": {"bills": "money", "bugs": None}},
            "3": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "cross", "furious"]},
        },
    }
    assert [reading.question_id for reading in readings] == ["clash?", "a:b", "mood"]
    assert [reading.value for reading in readings] == [pytest.approx(0.8), "bills", pytest.approx(0.3)]
    assert readings[0].label_mass == pytest.approx(0.9)
    assert {reading.draws for reading in readings} == {1}
    assert {reading.stderr for reading in readings} == {None}
    assert {reading.method for reading in readings} == {"alone/native"}


async def test_native_joint_and_a_server_that_does_not_know_it(server: WireServer, client: EngineClient) -> None:
    system_one(server)
    reader = await Reader.open(client, QUESTIONS, Method(wire="native", joint=True))
    assert (await reader.read("x", row_key="1"))[0].method == "joint/native"
    assert server.requests[-1][1]["joint"] is True
    system_one(server, joint=False)
    with pytest.raises(EngineRefused, match=r"vLLM 0\.33"):
        await Reader.open(client, QUESTIONS, Method(wire="native", joint=True))
    single = await Reader.open(client, [NOUL], Method(wire="native", joint=True))
    assert (await single.read("x", row_key="1"))[0].method == "alone/native"


async def test_a_native_endpoint_that_is_off_names_the_flag(server: WireServer, client: EngineClient) -> None:
    async def off(request: web.Request) -> web.StreamResponse:
        return error(501, "The model does not support the structured decision API")

    server.handlers[NATIVE] = off
    with pytest.raises(EngineRefused, match="--logprobs-mode"):
        await Reader.open(client, QUESTIONS, Method(wire="native"))


async def test_a_native_500_is_read_again_too(server: WireServer, client: EngineClient) -> None:
    system_one(server)
    reader = await Reader.open(client, QUESTIONS, Method(wire="native"))
    built_in, failures = server.handlers[NATIVE], [error(500, "IndexError")]

    async def fails_once(request: web.Request) -> web.StreamResponse:
        return failures.pop() if failures else await built_in(request)

    server.handlers[NATIVE] = fails_once
    readings = await reader.read("x", row_key="1")
    assert {(reading.status, "500" in reading.error) for reading in readings} == {("ok", True)}


async def test_native_refusals_and_gaps_are_errors_of_the_row(server: WireServer, client: EngineClient) -> None:
    system_one(server)
    reader = await Reader.open(client, QUESTIONS, Method(wire="native"))

    async def gap(request: web.Request) -> web.StreamResponse:
        return web.json_response({"answers": {}, "diagnostics": {}})

    server.handlers[NATIVE] = gap
    assert {reading.status for reading in await reader.read("x", row_key="1")} == {"error"}
    system_one(server, mass=0.3)
    assert {reading.status for reading in await reader.read("x", row_key="1")} == {"unreadable"}
    preview = await reader.preview("x", "mood")
    assert (preview.prompt, preview.canvas, preview.slot) == ("", (), None)
    assert preview.reading.question_id == "mood"
