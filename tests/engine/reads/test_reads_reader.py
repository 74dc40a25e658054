"""The reader against a stand-in engine: draws, failures, probes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fakes.wire_server import ToyTokenizer, WireServer, abort, error

from engine.client.http import EngineClient
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Method
from engine.errors import EngineRefused, EngineUnreachable, InputError
from engine.reads.canvas_wire import AT_ONCE
from engine.reads.noise import draw_noise, prompt_noise
from engine.reads.reader import Reader
from engine.reads.served import Served

GENERATE, RENDER = "/inference/v1/generate", "/v1/chat/completions/render"
NOUL = Noul("clash?", "Do they clash?", true_means="they do")
CHOICE = Choice("a:b", "Which team?", (Option("bills", "money"), Option("bugs")))
SCORE = Score("mood", "How angry?", ("calm", "cross", "furious"))
QUESTIONS: tuple[Question, ...] = (NOUL, CHOICE, SCORE)


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as running:
        running.distribution = answers(running.tokenizer, yes=0.97, A=0.97)
        yield running


@pytest.fixture
async def client(server: WireServer) -> AsyncIterator[EngineClient]:
    async with EngineClient(server.url) as made:
        yield made


def answers(toy: ToyTokenizer, **shares: float) -> Any:
    """Every slot wants these labels, with and without a leading space."""

    def distribution(prompt: Sequence[int], canvas: Sequence[int], position: int) -> Mapping[int, float]:
        space = " " if len(canvas) > position + 1 and position > 0 else ""
        return {toy.id_of(space + label): share for label, share in shares.items()}

    return distribution


def reads_of(server: WireServer, reader: Reader) -> list[dict[str, Any]]:
    """The read bodies since the reader was opened."""
    return [body["sampling_params"] for body in server.bodies(GENERATE)]


async def test_a_sure_question_takes_one_render_and_one_read(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, [NOUL], Method())
    server.requests.clear()
    (reading,) = await reader.read("Two clauses.", row_key="1")
    assert (reading.status, reading.draws, reading.method) == ("ok", 1, "alone/canvas")
    assert reading.value == pytest.approx(1.0)
    assert [path for path, _ in server.requests] == [RENDER, GENERATE]
    body = server.bodies(GENERATE)[0]
    prompt = server.prompt_ids(server.bodies(RENDER)[0]["messages"])
    assert server.bodies(RENDER)[0]["messages"][0]["content"].startswith("Two clauses.\n\nQuestion: Do they clash?\n")
    assert "clash?" not in server.bodies(RENDER)[0]["messages"][0]["content"].split("Question")[0]
    assert server.tokenizer.decode(body["token_ids"][len(prompt) :]) == "<|channel>thought\n<channel|>"
    args = body["sampling_params"]["extra_args"]
    noise = prompt_noise(prompt, 1, server.vocab_size)
    assert args == {
        "diffusion_seed_canvas": [*noise, server.tokenizer.id_of("<turn|>"), *[0] * 14],
        "diffusion_canvas_length": 16,
        "diffusion_max_steps": 1,
        "diffusion_read_only": 1,
    }


async def test_an_unsure_question_is_drawn_four_times_with_seeded_noise(
    server: WireServer, client: EngineClient
) -> None:
    method = Method(seed=7)
    reader = await Reader.open(client, [NOUL], method)
    server.distribution = answers(server.tokenizer, yes=0.55, no=0.4)
    server.requests.clear()
    (reading,) = await reader.read("x", row_key="row 9")
    assert reading.draws == 4
    assert reading.stderr == pytest.approx(0.0)
    assert reading.agreement == 1.0
    prompt = server.prompt_ids(server.bodies(RENDER)[0]["messages"])
    sent = [params["extra_args"]["diffusion_seed_canvas"][0] for params in reads_of(server, reader)]
    later = [draw_noise(7, "row 9", ("clash?",), draw, 1, server.vocab_size)[0] for draw in (1, 2, 3)]
    assert sent[0] == prompt_noise(prompt, 1, server.vocab_size)[0]
    assert sorted(sent[1:]) == sorted(later)
    assert len(server.bodies(RENDER)) == 1


async def test_a_fixed_number_of_draws(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, [NOUL, SCORE], Method(draws=5))
    server.requests.clear()
    readings = await reader.read("x", row_key="1")
    assert [reading.draws for reading in readings] == [5, 5]
    assert len(server.bodies(GENERATE)) == 10


async def test_questions_of_a_row_come_in_order_and_bounded(server: WireServer, client: EngineClient) -> None:
    questions = [Noul(f"q{n}", f"Number {n}?") for n in range(40)]
    reader = await Reader.open(client, questions, Method(draws=2))
    server.most_under_way = 0
    readings = await reader.read("x", row_key="1")
    assert [reading.question_id for reading in readings] == [question.id for question in questions]
    assert 1 < server.most_under_way <= AT_ONCE


async def test_joint_questions_share_a_canvas_and_are_redrawn_together(
    server: WireServer, client: EngineClient
) -> None:
    reader = await Reader.open(client, QUESTIONS, Method(joint=True))
    server.distribution = answers(server.tokenizer, yes=0.5, no=0.45, A=0.01, B=0.005)
    server.requests.clear()
    readings = await reader.read("State.", row_key="1")
    assert [reading.draws for reading in readings] == [4, 4, 4]
    assert [reading.method for reading in readings] == ["joint/canvas"] * 3
    assert len(server.bodies(RENDER)) == 1
    params = reads_of(server, reader)[0]
    canvas = server.tokenizer.decode(params["extra_args"]["diffusion_seed_canvas"])
    lines = canvas.split("<turn|>")[0].split("\n")
    assert [line[:2] for line in lines] == ["1:", "2:", "3:", ""]
    assert len(params["extra_args"]["diffusion_pinned"]) == 16 - 3
    assert [reading.status for reading in readings] == ["ok", "unreadable", "unreadable"]
    assert readings[1].entropy is not None


async def test_joint_with_one_question_reads_alone_and_says_so(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, [NOUL], Method(joint=True))
    assert (await reader.read("x", row_key="1"))[0].method == "alone/canvas"


async def test_many_joint_questions_spread_over_even_canvases(server: WireServer, client: EngineClient) -> None:
    questions = [Noul(f"q{n}", "?") for n in range(20)]
    reader = await Reader.open(client, questions, Method(joint=True))
    assert reader.served is not None
    assert reader.served.canvas_length == 64
    server.requests.clear()
    readings = await reader.read("x", row_key="1")
    assert [reading.question_id for reading in readings] == [question.id for question in questions]
    widths = [params["extra_args"]["diffusion_canvas_length"] for params in reads_of(server, reader)]
    # Lines 1 to 9 take 4 slots, line 10 takes 5: 10 lines, end and pad are 43, so two canvases of 48.
    assert widths == [48, 48]


@pytest.mark.parametrize("status", [400, 403, 501])
async def test_a_refused_question_is_an_error_and_the_others_are_read(
    server: WireServer, client: EngineClient, status: int
) -> None:
    reader = await Reader.open(client, QUESTIONS, Method())

    async def refuse_choices(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        wanted = server.tokenizer.id_of("A") in body["sampling_params"]["logprob_token_ids"]
        return error(status, "not this one") if wanted else server.generate(body)

    server.handlers[GENERATE] = refuse_choices
    readings = await reader.read("x", row_key="1")
    assert [reading.status for reading in readings] == ["ok", "error", "unreadable"]
    assert "not this one" in readings[1].error
    assert readings[1].draws == 0


async def test_a_500_is_read_again_alone_and_marked(server: WireServer, client: EngineClient) -> None:
    """vLLM issue 45689: reads that run together fail with an IndexError."""
    reader = await Reader.open(client, [Noul(f"q{n}", f"Number {n}?") for n in range(8)], Method())
    seen: set[str] = set()
    again = most_again = 0

    async def first_time_fails(request: web.Request) -> web.StreamResponse:
        nonlocal again, most_again
        body = await request.json()
        key = json.dumps(body)
        if key not in seen:
            seen.add(key)
            return error(500, "IndexError")
        again += 1
        most_again = max(most_again, again)
        for _ in range(20):  # leaves the loop to whoever else would come in between
            await asyncio.sleep(0)
        again -= 1
        return server.generate(body)

    server.handlers[GENERATE] = first_time_fails
    readings = await reader.read("x", row_key="1")
    assert [reading.status for reading in readings] == ["ok"] * 8
    assert all("500" in reading.error for reading in readings)
    assert most_again == 1


async def test_a_500_that_stays_is_an_error_of_its_row(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, [NOUL], Method())

    async def broken(request: web.Request) -> web.StreamResponse:
        return error(500, "IndexError")

    server.handlers[GENERATE] = broken
    (reading,) = await reader.read("x", row_key="1")
    assert reading.status == "error"
    assert "IndexError" in reading.error


async def test_an_engine_that_goes_away_is_raised(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, QUESTIONS, Method())

    async def die(request: web.Request) -> web.StreamResponse:
        await abort(request)
        return web.Response()

    server.handlers[GENERATE] = die
    with pytest.raises(EngineUnreachable):
        await reader.read("x", row_key="1")


async def test_garbage_instead_of_a_read_is_an_error_of_its_row(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, [NOUL], Method())

    async def garbage(request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>gateway</html>")

    server.handlers[GENERATE] = garbage
    (reading,) = await reader.read("x", row_key="1")
    assert reading.status == "error"
    assert "expected shape" in reading.error


@pytest.mark.parametrize("size", [300, 5000, 262_144])
@pytest.mark.parametrize("canvas", [16, 48, 256])
async def test_what_is_served_is_found_out(server: WireServer, client: EngineClient, size: int, canvas: int) -> None:
    server.vocab_size, server.canvas_length = size, canvas
    reader = await Reader.open(client, QUESTIONS, Method(joint=True))
    assert reader.served == Served(size, canvas)


async def test_a_model_folder_on_this_machine_saves_the_search(
    server: WireServer, client: EngineClient, tmp_path: Path
) -> None:
    config = {"canvas_length": 64, "text_config": {"vocab_size": 5000}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    server.models[0]["root"] = str(tmp_path)
    await Reader.open(client, QUESTIONS, Method(joint=True))
    near = len(server.bodies(GENERATE))
    (tmp_path / "config.json").write_text("{broken")
    await Reader.open(client, QUESTIONS, Method(joint=True))
    far = len(server.bodies(GENERATE)) - near
    assert near <= 6 < far


async def test_the_truncation_of_vllm_032_loses_no_label(server: WireServer, client: EngineClient) -> None:
    server.truncates = True
    reader = await Reader.open(client, QUESTIONS, Method())
    assert reader.served is not None
    assert reader.served.spare_id is not None
    server.distribution = answers(server.tokenizer, B=0.6, A=0.3)  # a noul's argmax is then no label of it
    readings = await reader.read("x", row_key="1")
    assert readings[1].value == "bugs"
    assert readings[0].status == "unreadable"


async def test_a_limit_on_logprobs_is_found_before_the_first_row(server: WireServer, client: EngineClient) -> None:
    server.max_logprobs = 20
    many = Choice("c", "?", tuple(Option(f"o{n}") for n in range(26)))
    with pytest.raises(EngineRefused, match="logprobs: at most 20"):
        await Reader.open(client, [NOUL, many], Method())
    await Reader.open(client, [NOUL], Method())


async def test_a_served_canvas_that_is_too_short(server: WireServer, client: EngineClient) -> None:
    server.canvas_length = 8
    with pytest.raises(InputError, match="no canvas of 16 slots"):
        await Reader.open(client, [NOUL], Method())
    with pytest.raises(InputError, match="canvas_length 16 is more than the 8"):
        await Reader.open(client, [NOUL], Method(), served=Served(5000, 8))


async def test_scale_out_that_is_off_is_told_with_the_way_out(server: WireServer, client: EngineClient) -> None:
    async def forbidden(request: web.Request) -> web.StreamResponse:
        return error(403, "not enabled")

    server.handlers[GENERATE] = forbidden
    with pytest.raises(EngineRefused, match="--enable-scale-out"):
        await Reader.open(client, [NOUL], Method())


@pytest.mark.parametrize(
    ("questions", "method", "code"),
    [
        ((), Method(), "reads.no_questions"),
        (QUESTIONS, Method(draws=0), "reads.draws_out_of_range"),
        (QUESTIONS, Method(draws=33), "reads.draws_out_of_range"),
        (QUESTIONS, Method(canvas_length=1), "reads.canvas_too_short"),
        (QUESTIONS, Method(min_mass=1.5), "reads.mass_out_of_range"),
        (QUESTIONS, Method(wire="native", draws=4), "reads.native_has_one_draw"),
    ],
)
async def test_settings_that_cannot_be(
    client: EngineClient, questions: tuple[Question, ...], method: Method, code: str
) -> None:
    with pytest.raises(InputError) as caught:
        await Reader.open(client, questions, method)
    assert caught.value.code == code


async def test_a_label_of_two_tokens_fails_at_open(server: WireServer, client: EngineClient) -> None:
    server.tokenizer = ToyTokenizer(split_labels=["no"])
    with pytest.raises(InputError, match='question "clash\\?": the label "no"'):
        await Reader.open(client, QUESTIONS, Method())


async def test_the_preview_shows_what_is_sent(server: WireServer, client: EngineClient) -> None:
    reader = await Reader.open(client, QUESTIONS, Method())
    server.requests.clear()
    preview = await reader.preview("A state.", "a:b")
    sent = server.bodies(GENERATE)[0]
    assert preview.prompt == server.tokenizer.decode(sent["token_ids"])
    assert preview.prompt.endswith("<|turn>model\n<|channel>thought\n<channel|>")
    assert preview.slot == 0
    canvas = sent["sampling_params"]["extra_args"]["diffusion_seed_canvas"]
    assert "".join(preview.canvas) == server.tokenizer.decode(canvas)
    assert len(preview.canvas) == 16
    assert preview.reading.question_id == "a:b"
    with pytest.raises(InputError, match='no question "x"'):
        await reader.preview("A state.", "x")
