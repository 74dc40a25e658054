"""POST /v1/chat/completions: an answer as one piece, or one SSE chunk per committed canvas."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from engine.embedded.generate import Committed, GenerationRequest, TokenLogprob
from engine.embedded.handlers.serving import SERVING, Serving, read_body, request_id, usage
from engine.embedded.parameters import chat_request, continued_ids, conversation_ids
from engine.embedded.refusals import error_body
from engine.embedded.tokenizer import DemoTokenizer
from engine.embedded.wire import ChatBody
from engine.errors import EngineError

_NO_LOGPROB = -9999.0  # what the wire says for minus infinity, which JSON cannot


@dataclass(frozen=True, slots=True)
class _Answer:
    """One chat completion on its way: its request and what its chunks have in common."""

    serving: Serving
    body: ChatBody
    request: GenerationRequest
    id: str
    created: int = field(default_factory=lambda: int(time.time()))

    def envelope(self, kind: str, choices: list[Any], **more: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.serving.model_id,
            "choices": choices,
            **more,
        }

    def details(self, piece: Committed) -> dict[str, Any]:
        """The parts of a choice that both forms of the answer share."""
        more: dict[str, Any] = {"logprobs": None}
        if self.body.logprobs:
            more["logprobs"] = {"content": self._logprobs(piece)}
        if self.body.return_token_ids:
            more["token_ids"] = list(piece.token_ids)
        return more

    def _logprobs(self, piece: Committed) -> list[dict[str, Any]]:
        tokenizer, as_ids = self.serving.engine.tokenizer, bool(self.body.return_tokens_as_token_ids)
        all_listed = bool(self.request.logprob_ids) or self.body.top_logprobs == -1
        limit = None if all_listed else self.body.top_logprobs or 0
        rows = []
        for row in piece.logprobs:
            entries = [_logprob(entry, tokenizer, as_ids) for entry in row]
            rows.append({**entries[0], "top_logprobs": entries[:limit]})
        return rows


async def complete(request: web.Request) -> web.StreamResponse:
    """Checks everything before the first byte, so that a refusal is a status and not a broken stream."""
    serving = request.app[SERVING]
    body = await read_body(request, ChatBody)
    serving.check_model(body.model)
    tokenizer, config = serving.engine.tokenizer, serving.engine.model.config
    if body.continue_final_message:
        prompt = continued_ids(body, tokenizer, config)
    else:
        ids = conversation_ids(body.messages, tokenizer, config, add_generation_prompt=body.add_generation_prompt)
        prompt = [*ids, *tokenizer.thought_ids]
    checked = chat_request(body, prompt, config)
    answer = _Answer(serving, body, checked, request_id(request, "chatcmpl"))
    return await (_stream(request, answer) if body.stream else _whole(answer))


async def _whole(answer: _Answer) -> web.Response:
    piece = await answer.serving.engine.collect(answer.request)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": piece.text},
        "finish_reason": piece.finish_reason,
        "stop_reason": piece.stop_reason,
        **answer.details(piece),
    }
    more: dict[str, Any] = {"usage": usage(len(answer.request.prompt_ids), len(piece.token_ids))}
    if answer.body.return_token_ids:
        more["prompt_token_ids"] = list(answer.request.prompt_ids)
    return web.json_response(answer.envelope("chat.completion", [choice], **more))


async def _stream(request: web.Request, answer: _Answer) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    # aiohttp ends this coroutine when the client goes; aclosing then ends the request in the engine.
    async with contextlib.aclosing(answer.serving.engine.stream(answer.request)) as pieces:
        await _send(response, _opening(answer))
        tokens = 0
        try:
            async for piece in pieces:
                tokens += len(piece.token_ids)
                await _send(response, _chunk(answer, piece, tokens))
        except EngineError as error:
            await _send(response, {"error": error_body(500, "InternalServerError", str(error))})
        else:
            if _wants_usage(answer):
                await _send(response, answer.envelope("chat.completion.chunk", [], usage=_usage(answer, tokens)))
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _opening(answer: _Answer) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
    more: dict[str, Any] = {}
    if answer.body.return_token_ids:
        more["prompt_token_ids"] = list(answer.request.prompt_ids)
    if answer.serving.force_usage:
        more["usage"] = _usage(answer, 0)
    return answer.envelope("chat.completion.chunk", [choice], **more)


def _chunk(answer: _Answer, piece: Committed, tokens: int) -> dict[str, Any]:
    choice = {
        "index": 0,
        "delta": {"content": piece.text},
        "finish_reason": piece.finish_reason,
        "stop_reason": piece.stop_reason,
        **answer.details(piece),
    }
    more = {"usage": _usage(answer, tokens)} if answer.serving.force_usage else {}
    return answer.envelope("chat.completion.chunk", [choice], **more)


def _wants_usage(answer: _Answer) -> bool:
    options = answer.body.stream_options
    return answer.serving.force_usage or bool(options and options.include_usage)


def _usage(answer: _Answer, tokens: int) -> dict[str, Any]:
    return usage(len(answer.request.prompt_ids), tokens)


async def _send(response: web.StreamResponse, chunk: Mapping[str, Any]) -> None:
    await response.write(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode())


def _logprob(entry: TokenLogprob, tokenizer: DemoTokenizer, as_id: bool) -> dict[str, Any]:
    text = tokenizer.decode([entry.token_id], skip_special=False)
    return {
        "token": f"token_id:{entry.token_id}" if as_id else text,
        "logprob": max(entry.logprob, _NO_LOGPROB),
        "bytes": list(text.encode()),
    }
