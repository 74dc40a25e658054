"""What is refused, with which status and which parameter: the same on every engine, in whatever words."""

from __future__ import annotations

import io
from typing import Any

import pytest

from engine.client.http import EngineClient
from engine.client.sight import find_sight, probe_picture

HELLO = [{"role": "user", "content": "Hello!"}]
PIXEL = probe_picture().data_url
QUESTION = {"type": "noul", "instructions": "Is it so?"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0.0),
        ("temperature", 0.7),
        ("seed", 1),
        ("seed", 0),
        ("min_p", 0.1),
        ("min_tokens", 3),
        ("logit_bias", {"10": 5.0}),
        ("bad_words", ["word"]),
        ("allowed_token_ids", [10, 11]),
    ],
)
async def test_sampling_parameters_that_a_canvas_has_not(served: Any, name: str, value: Any) -> None:
    answer = await served.chat(**{name: value})
    assert answer.status == 400
    assert answer.error["type"] == "BadRequestError"
    assert name in answer.error["message"]
    assert answer.error["param"] in (None, name)
    assert (await served.chat()).status == 200, "the engine lives on"


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", 3.0), ("temperature", -1.0), ("max_tokens", 0), ("max_tokens", 10**9)]
)
async def test_parameters_out_of_range(served: Any, name: str, value: Any) -> None:
    answer = await served.chat(**{name: value})
    assert (answer.status, answer.error["param"]) == (400, name)


@pytest.mark.parametrize(
    "body",
    [
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}},
        {"structured_outputs": {"choice": ["yes", "no"]}},
    ],
)
async def test_grammars(served: Any, body: dict[str, Any]) -> None:
    answer = await served.chat(**body)
    assert answer.status == 400
    assert answer.error["param"] in (None, *body)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tools": []}, "tools"),
        ({"logprob_token_ids": [1]}, "logprob_token_ids"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
    ],
)
async def test_fields_that_need_another(served: Any, body: dict[str, Any], param: str) -> None:
    answer = await served.chat(**body)
    assert (answer.status, answer.error["param"]) == (400, param)


@pytest.mark.parametrize(
    "extra",
    [
        {"diffusion_seed_canvas": [5] * 15, "diffusion_canvas_length": 16},
        {"diffusion_seed_canvas": [5] * 17, "diffusion_canvas_length": 16},
        {"diffusion_seed_canvas": [5]},
        {"diffusion_seed_canvas": "noise"},
        {"diffusion_seed_canvas": [10**9] * 16, "diffusion_canvas_length": 16},
        {"diffusion_canvas_length": 0},
        {"diffusion_canvas_length": 10**6},
        {"diffusion_pinned": [1]},
        {"diffusion_pinned": [16], "diffusion_seed_canvas": [5] * 16, "diffusion_canvas_length": 16},
        {"diffusion_max_steps": 0},
        {"diffusion_max_steps": 1.5},
        {"diffusion_read_only": 2},
        {"diffusion_constrained": 1},
    ],
)
async def test_diffusion_arguments(served: Any, extra: dict[str, Any]) -> None:
    answer = await served.chat(vllm_xargs=extra)
    assert (answer.status, answer.error["param"]) == (400, "extra_args")
    assert any(name in answer.error["message"] for name in extra)


async def test_too_many_label_ids(served: Any) -> None:
    answer = await served.chat(logprobs=True, logprob_token_ids=list(range(129)))
    assert (answer.status, answer.error["param"]) == (400, "logprob_token_ids")


async def test_label_ids_outside_the_vocabulary(served: Any) -> None:
    answer = await served.chat(logprobs=True, logprob_token_ids=[served.vocab_size])
    assert (answer.status, answer.error["param"]) == (400, "logprob_token_ids")


@pytest.mark.parametrize("ids", [[1, 2], []])
async def test_logprobs_must_be_the_number_of_label_ids(served: Any, ids: list[int]) -> None:
    body = {"token_ids": [2, 5], "sampling_params": {"max_tokens": 1, "logprobs": 129, "logprob_token_ids": ids}}
    answer = await served.post("/inference/v1/generate", body)
    assert answer.status == 400
    assert answer.error["param"] in ("logprobs", "logprob_token_ids")


async def test_a_prompt_longer_than_the_window(served: Any) -> None:
    limit = (await served.get("/v1/models")).body["data"][0]["max_model_len"]
    messages = [{"role": "user", "content": "yes " * (limit + 1)}]
    answer = await served.chat(messages=messages)
    assert answer.status == 400
    assert answer.error["param"] in ("input_tokens", "input_text")
    assert str(limit) in answer.error["message"]
    questions = {"state": "yes " * (limit + 1), "questions": {"a": QUESTION}}
    assert (await served.post("/v1/systemone", questions)).status == 400
    assert (await served.chat()).status == 200, "the engine lives on"


async def test_a_model_that_is_not_served(served: Any) -> None:
    for path, body in (
        ("/v1/chat/completions", {"messages": HELLO}),
        ("/v1/chat/completions/render", {"messages": HELLO}),
        ("/v1/systemone", {"state": "x", "questions": {"a": QUESTION}}),
        ("/inference/v1/generate", {"token_ids": [2], "sampling_params": {"max_tokens": 1}}),
        ("/tokenize", {"prompt": "x"}),
        ("/detokenize", {"tokens": [5]}),
    ):
        answer = await served.post(path, {**body, "model": "nobody"})
        assert (answer.status, answer.error["type"], answer.error["param"]) == (404, "NotFoundError", "model")


async def test_a_wrong_key(served: Any) -> None:
    if not served.key:
        pytest.skip("the server asks for no key")
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": served.key}):
        answer = await served.post("/v1/chat/completions", {"messages": HELLO}, headers=headers)
        assert (answer.status, answer.body) == (401, {"error": "Unauthorized"})
    async with served.session.get(f"{served.url}/health") as health:
        assert health.status == 200
    answer = await served.post("/inference/v1/generate", {}, headers={})
    assert answer.status == 401


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/v1/chat/completions", {}, "body.messages"),
        ("/v1/chat/completions", {"messages": HELLO, "max_tokens": "many"}, "body.max_tokens"),
        ("/v1/systemone", {"questions": {"a": QUESTION}}, "body.state"),
        ("/inference/v1/generate", {"sampling_params": {"max_tokens": 1}}, "body.token_ids"),
    ],
)
async def test_bodies_of_the_wrong_shape(served: Any, path: str, body: dict[str, Any], param: str) -> None:
    answer = await served.post(path, body)
    assert (answer.status, answer.error["param"], answer.error["type"]) == (400, param, "Bad Request")


@pytest.mark.parametrize(("field", "value"), [("draws", 3), ("joint", 1)])
async def test_unknown_and_mistyped_fields_of_a_read(served: Any, field: str, value: Any) -> None:
    await served.needs("0.33.0", "refusal of unknown fields on /v1/systemone")
    answer = await served.post("/v1/systemone", {"state": "x", "questions": {"a": QUESTION}, field: value})
    assert (answer.status, answer.error["param"], answer.error["type"]) == (400, f"body.{field}", "Bad Request")


@pytest.mark.parametrize(
    "options",
    [
        {"data": b"{", "headers": {"Content-Type": "application/json"}},
        {"data": b"[1]", "headers": {"Content-Type": "application/json"}},
        {"data": b'{"messages": []}', "headers": {"Content-Type": "text/plain"}},
    ],
)
async def test_bodies_that_are_no_json_object(served: Any, options: dict[str, Any]) -> None:
    headers = {**served.headers, **options["headers"]}
    answer = await served.post("/v1/chat/completions", None, json=None, data=options["data"], headers=headers)
    assert answer.status == 400
    assert answer.error["type"] == "Bad Request"


@pytest.mark.parametrize(
    ("questions", "named"),
    [
        ({}, "questions"),
        ({f"q{n}": QUESTION for n in range(65)}, "64"),
        ({"a": {"type": "maybe"}}, "maybe"),
        ({"a": {**QUESTION, "hint": "x"}}, "hint"),
        ({"a": {**QUESTION, "criteria": {"perhaps": "x"}}}, "a"),
        ({"a": {"type": "choice", "criteria": ["x", "y"]}}, "a"),
        ({"a": {"type": "choice", "criteria": {}}}, "a"),
        ({"a": {"type": "choice", "criteria": {f"o{n}": None for n in range(27)}}}, "26"),
        ({"a": {"type": "score", "criteria": ["only"]}}, "a"),
        ({"a": {"type": "score", "criteria": ["x", "x"]}}, "a"),
        ({"a": {"type": "score", "criteria": [str(n) for n in range(11)]}}, "10"),
        ({"": QUESTION}, "question"),
    ],
)
async def test_questions(served: Any, questions: dict[str, Any], named: str) -> None:
    answer = await served.post("/v1/systemone", {"state": "x", "questions": questions})
    assert answer.status == 400
    assert named in answer.error["message"]


async def test_a_read_does_not_think(served: Any) -> None:
    body = {"state": "x", "questions": {"a": QUESTION}, "chat_template_kwargs": {"enable_thinking": True}}
    assert (await served.post("/v1/systemone", body)).status == 400


async def test_unknown_paths_and_methods(served: Any) -> None:
    assert (await served.get("/v1/nothing")).status == 404
    assert (await served.get("/v1/chat/completions")).status == 405


async def test_a_huge_body(only_embedded: Any) -> None:
    """vLLM takes any size; the embedded engine stops reading at one MiB."""
    headers = {**only_embedded.headers, "Content-Type": "application/json"}
    body = io.BytesIO(b'{"messages": [{"role": "user", "content": "' + b"x" * 2**21 + b'"}]}')
    answer = await only_embedded.post("/v1/chat/completions", None, json=None, data=body, headers=headers)
    assert answer.status == 413
    assert answer.error["code"] == 413


async def test_parts_that_are_not_text(only_embedded: Any) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,x"}}
    answer = await only_embedded.chat(messages=[{"role": "user", "content": [picture]}])
    assert answer.status == 400
    assert "image_url" in answer.error["message"]


TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize(
    "body",
    [
        {"n": 2},
        {"prompt_logprobs": 1},
        {"vllm_xargs": {"diffusion_constrained": 1}},
        # vLLM's parser of Gemma's tool calls, which our plans name, turns it into a wish and not a grammar.
        {"tools": TOOLS, "tool_choice": "required"},
    ],
)
async def test_what_only_the_embedded_engine_lacks(only_embedded: Any, body: dict[str, Any]) -> None:
    answer = await only_embedded.chat(logprobs=True, logprob_token_ids=[1], **body)
    assert answer.status == 400


async def test_pictures_where_there_is_no_vision_tower(served: Any) -> None:
    """The toy has none, vLLM was started without it (``--limit-mm-per-prompt image=0``): asked, they say so."""
    content = [{"type": "image_url", "image_url": {"url": PIXEL}}, {"type": "text", "text": "What is it?"}]
    for path in ("/v1/chat/completions", "/v1/chat/completions/render", "/tokenize"):
        answer = await served.post(path, {"messages": [{"role": "user", "content": content}]})
        assert answer.status == 400, path
        assert "image" in answer.error["message"]
    answer = await served.post("/v1/systemone", {"state": "x", "questions": {"q": QUESTION}, "images": [PIXEL]})
    assert answer.status == 400
    async with EngineClient(served.url, api_key=served.key or None) as client:
        sight = await find_sight(client)
    assert (sight.sees, sight.tokens) == ("no", None)
    assert "image" in sight.why
    assert (await served.chat()).status == 200, "the engine lives on"
