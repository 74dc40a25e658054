"""POST /v1/systemone, and the same reads through token ids."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method, Reading
from engine.reads.reader import Reader

STATE = "The hall is closed. The meeting was moved to Friday."
BODY = {
    "moved": {"type": "noul", "instructions": "Was the meeting moved?", "criteria": {"true": "moved", "false": None}},
    "day": {
        "type": "choice",
        "instructions": "Which day is it?",
        "criteria": {"Monday": None, "Friday": "a weekday"},
    },
    "urgency": {"type": "score", "instructions": "How urgent is it?", "criteria": ["not", "somewhat", "very"]},
}
QUESTIONS: tuple[Question, ...] = (
    Noul("moved", "Was the meeting moved?", "moved"),
    Choice("day", "Which day is it?", (Option("Monday"), Option("Friday", "a weekday"))),
    Score("urgency", "How urgent is it?", ("not", "somewhat", "very")),
)


async def decide(served: Any, **body: Any) -> dict[str, Any]:
    answer = await served.post("/v1/systemone", {"state": STATE, "questions": BODY, **body})
    assert answer.status == 200, answer.body
    return answer.body


async def test_answers_of_every_type(served: Any) -> None:
    result = await decide(served)
    assert result["object"] == "structured_decision"
    assert result.get("joint") is None
    moved, day, urgency = (result["answers"][name] for name in ("moved", "day", "urgency"))
    assert [answer["type"] for answer in (moved, day, urgency)] == ["noul", "choice", "score"]
    assert [list(answer["probabilities"]) for answer in (moved, day, urgency)] == [
        ["yes", "no"], ["Monday", "Friday"], ["0", "1", "2"],
    ]  # fmt: skip
    for answer in (moved, day, urgency):
        assert math.fsum(answer["probabilities"].values()) == pytest.approx(1.0)
    assert moved["noul"] == moved["probabilities"]["yes"]
    assert day["choice"] == max(day["probabilities"], key=day["probabilities"].get)
    assert urgency["score"] == pytest.approx(urgency["probabilities"]["1"] + 2 * urgency["probabilities"]["2"])
    assert urgency["legend"] == {"0": "not", "1": "somewhat", "2": "very"}
    for name, answer in result["answers"].items():
        mass = result["diagnostics"][name]["label_mass"]
        assert 0.0 < mass <= 1.0 + 1e-6
        assert answer["confidence"] == pytest.approx(max(answer["probabilities"].values()) * mass)
        assert isinstance(result["diagnostics"][name]["argmax_is_label"], bool)
    assert result["usage"]["input_tokens"] > 0
    assert result["usage"]["output_tokens"] == 6


async def test_a_repeated_read_is_the_same(served: Any) -> None:
    first, second = await decide(served), await decide(served)
    for name in BODY:
        assert second["answers"][name]["probabilities"] == pytest.approx(
            first["answers"][name]["probabilities"], abs=1e-5
        )


async def test_reads_at_once_equal_reads_singly(served: Any) -> None:
    states = [f"{STATE} Row {number}." for number in range(32 if served.embedded else 8)]  # vLLM's take a second each
    body = {"questions": {"moved": BODY["moved"]}}

    async def share(state: str) -> float:
        return (await decide(served, **body, state=state))["answers"]["moved"]["noul"]

    singly = [await share(state) for state in states]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(share(state)) for state in states]
    assert [task.result() for task in tasks] == pytest.approx(singly, abs=1e-5)


async def test_questions_of_one_request_are_read_one_by_one(served: Any) -> None:
    together = await decide(served)
    for name, question in BODY.items():
        alone = await decide(served, questions={name: question})
        assert alone["answers"][name]["probabilities"] == pytest.approx(
            together["answers"][name]["probabilities"], abs=1e-5
        )


async def test_a_state_may_be_json(served: Any) -> None:
    as_object = await decide(served, state={"a": [1, "\u00fc"]})
    as_text = await decide(served, state='{"a": [1, "\u00fc"]}')
    assert as_object["answers"]["moved"]["noul"] == pytest.approx(as_text["answers"]["moved"]["noul"], abs=1e-5)


async def test_instructions_change_the_prompt(served: Any) -> None:
    plain, told = await decide(served), await decide(served, instructions="You check notices.")
    assert told["usage"]["input_tokens"] > plain["usage"]["input_tokens"]


async def test_joint_questions_share_a_canvas(served: Any) -> None:
    await served.needs("0.33.0", "joint reads on /v1/systemone")
    result = await decide(served, joint=True)
    (canvas,) = result["joint"]["canvases"]
    assert canvas["questions"] == list(BODY)
    assert len(canvas["slots"]) == 3
    assert canvas["width"] % 16 == 0 or canvas["width"] == served.canvas_length
    assert max(canvas["slots"]) < canvas["width"] - 2
    assert result["usage"]["output_tokens"] == canvas["slots"][-1] + 1
    assert set(result["answers"]) == set(result["diagnostics"]) == set(BODY)


async def test_one_joint_question_is_read_alone(served: Any) -> None:
    await served.needs("0.33.0", "joint reads on /v1/systemone")
    questions = {"moved": BODY["moved"]}
    joint, alone = await decide(served, questions=questions, joint=True), await decide(served, questions=questions)
    assert joint["joint"] is None
    assert joint["answers"]["moved"]["noul"] == pytest.approx(alone["answers"]["moved"]["noul"], abs=1e-5)


async def test_many_joint_questions_take_the_fewest_even_canvases(served: Any) -> None:
    await served.needs("0.33.0", "joint reads on /v1/systemone")
    questions = {f"q{number}": BODY["moved"] for number in range(64)}
    result = await decide(served, questions=questions, joint=True)
    canvases = result["joint"]["canvases"]
    assert [name for canvas in canvases for name in canvas["questions"]] == list(questions)
    sizes = [len(canvas["questions"]) for canvas in canvases]
    assert max(sizes) - min(sizes) <= 1
    for canvas in canvases:
        assert canvas["width"] <= served.canvas_length
        # Behind the last label: a newline, the end of the turn and one pad at least.
        assert canvas["slots"][-1] + 4 <= canvas["width"]


def agree(one: tuple[Reading, ...], other: tuple[Reading, ...]) -> None:
    for first, second in zip(one, other, strict=True):
        assert (first.question_id, first.argmax_is_label, first.status) == (
            second.question_id, second.argmax_is_label, second.status,
        )  # fmt: skip
        assert first.label_mass == pytest.approx(second.label_mass, rel=1e-3)
        assert first.shares == pytest.approx(second.shares, abs=1e-4)
        assert first.entropy == pytest.approx(second.entropy, abs=1e-4)


@pytest.mark.parametrize("joint", [False, True])
async def test_both_wires_give_the_same_numbers(only_embedded: Any, joint: bool) -> None:
    """Here the words of both wires are ours; against vLLM the prompts differ (see the issue on supervised vLLM)."""
    served = only_embedded
    readings = []
    async with EngineClient(served.url, api_key=served.key) as client:
        for wire in ("canvas", "native"):
            method = Method(draws=1, joint=joint, wire=wire, min_mass=0.0)
            reader = await Reader.open(client, QUESTIONS, method)
            readings.append(await reader.read(STATE, row_key="1"))
    agree(*readings)


async def test_many_joint_questions_on_both_wires(only_embedded: Any) -> None:
    served = only_embedded
    many = tuple(Noul(f"q{number}", f"Is it {number}?") for number in range(30))
    readings = []
    async with EngineClient(served.url, api_key=served.key) as client:
        for wire in ("canvas", "native"):
            reader = await Reader.open(client, many, Method(draws=1, joint=True, wire=wire, min_mass=0.0))
            readings.append(await reader.read(STATE, row_key="1"))
    agree(*readings)
