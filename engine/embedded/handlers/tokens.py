"""Token ids in and out: /v1/chat/completions/render, /inference/v1/generate, /tokenize, /detokenize."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from engine.embedded.generate import TokenLogprob
from engine.embedded.handlers.serving import SERVING, Serving, read_body, request_id, usage
from engine.embedded.parameters import chat_request, conversation_ids, token_request
from engine.embedded.refusals import Refused
from engine.embedded.wire import ChatBody, ChatMessage, DetokenizeBody, GenerateBody, TokenizeBody

_NO_LOGPROB = -9999.0


async def render(request: web.Request) -> web.Response:
    """The token ids of a conversation, without the thought block, as a request for /inference/v1/generate."""
    serving = request.app[SERVING]
    body = await read_body(request, ChatBody)
    serving.check_model(body.model)
    ids = _prompt(serving, body.messages, body.add_generation_prompt)
    checked = chat_request(body, ids, serving.engine.model.config)
    return web.json_response(
        {
            "request_id": request_id(request, "chatcmpl"),
            "token_ids": ids,
            "sampling_params": {
                "max_tokens": checked.max_tokens,
                "logprob_token_ids": list(checked.logprob_ids) or None,
                "extra_args": body.vllm_xargs,
            },
            "model": serving.model_id,
            "stream": bool(body.stream),
        }
    )


async def generate(request: web.Request) -> web.Response:
    """Continues token ids exactly as they are given: no template, no thought block."""
    serving = request.app[SERVING]
    body = await read_body(request, GenerateBody)
    serving.check_model(body.model)
    if body.stream:
        raise Refused("stream: this engine streams chats only", param="stream")
    checked = token_request(body.sampling_params, body.token_ids, serving.engine.model.config)
    piece = await serving.engine.collect(checked)
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": piece.finish_reason,
        "stop_reason": piece.stop_reason,
        "token_ids": list(piece.token_ids),
        "logprobs": {"content": [_row(row) for row in piece.logprobs]} if piece.logprobs else None,
    }
    if body.output_mode == "text":
        choice["text"] = piece.text
    return web.json_response(
        {
            "request_id": request_id(request, "generate-tokens", body.request_id),
            "model": serving.model_id,
            "created": int(time.time()),
            "usage": usage(len(checked.prompt_ids), len(piece.token_ids)),
            "prompt_token_ids": list(checked.prompt_ids) if body.return_token_ids else None,
            "output_mode": body.output_mode,
            "choices": [choice],
        }
    )


async def tokenize(request: web.Request) -> web.Response:
    """The ids of a text (with the beginning-of-text token unless told otherwise) or of a conversation."""
    serving = request.app[SERVING]
    body = await read_body(request, TokenizeBody)
    serving.check_model(body.model)
    tokenizer = serving.engine.tokenizer
    if body.messages is not None:
        ids = _prompt(serving, body.messages, body.add_generation_prompt)
    elif body.prompt is not None:
        start = () if body.add_special_tokens is False else tokenizer.bos_ids
        ids = [*start, *await asyncio.to_thread(tokenizer.encode, body.prompt)]
    else:
        raise Refused("prompt: needed, or messages", param="body.prompt", kind="Bad Request")
    strings = [tokenizer.token_string(i) for i in ids] if body.return_token_strs else None
    limit = serving.engine.model.config.max_model_len
    return web.json_response({"count": len(ids), "max_model_len": limit, "tokens": ids, "token_strs": strings})


async def detokenize(request: web.Request) -> web.Response:
    """The text of token ids, special tokens written out."""
    serving = request.app[SERVING]
    body = await read_body(request, DetokenizeBody)
    serving.check_model(body.model)
    size = serving.engine.model.config.vocab_size
    outside = [i for i in body.tokens if i >= size]
    if outside:
        raise Refused("tokens: {ids} are not below {size}", param="tokens", ids=outside[:5], size=size)
    return web.json_response({"prompt": serving.engine.tokenizer.decode(body.tokens, skip_special=False)})


def _prompt(serving: Serving, messages: Sequence[ChatMessage], add_generation_prompt: bool) -> list[int]:
    engine = serving.engine
    return conversation_ids(
        messages, engine.tokenizer, engine.model.config, add_generation_prompt=add_generation_prompt
    )


def _row(row: Sequence[TokenLogprob]) -> dict[str, Any]:
    entries = [
        {"token_id": entry.token_id, "logprob": max(entry.logprob, _NO_LOGPROB), "rank": entry.rank} for entry in row
    ]
    return {**entries[0], "top_logprobs": entries}
