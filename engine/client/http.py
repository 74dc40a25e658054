"""The client of an engine: everything that the program asks of vLLM or of the embedded engine over HTTP."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncGenerator, Sequence
from types import TracebackType

from pydantic import ValidationError

from engine.client.chat import PATH as CHAT
from engine.client.chat import chat_events
from engine.client.live import LiveChannel
from engine.client.transport import Transport
from engine.client.wire import (
    ChatRequest,
    DetokenizeRequest,
    DetokenizeResponse,
    DiffusionMetrics,
    FramedRead,
    GenerateRequest,
    GenerateResponse,
    ModelCard,
    ModelList,
    Received,
    RenderResponse,
    StreamOptions,
    SystemOneRequest,
    SystemOneResponse,
    TokenCount,
    TokenizeChatRequest,
    TokenizeRequest,
    TokenizeResponse,
    WireMessage,
)
from engine.domain.chat import ChatEvent, Message
from engine.errors import EngineRefused, UserError

HEALTH_S = 5.0
_COUNTERS = {
    "vllm:diffusion_num_denoising_steps_total": "denoise_steps",
    "vllm:diffusion_num_canvas_positions_total": "canvas_positions",
    "vllm:diffusion_num_committed_tokens_total": "committed_tokens",
}
# Prometheus text format: name, labels in braces (may be absent), value.
_SAMPLE = re.compile(r"^(?P<name>[\w:]+)(?:\{.*\})?\s+(?P<value>[\d.eE+]+)(?:\s|$)")


class EngineClient:
    """One engine, one connection pool. Use as an async context manager, on one event loop.

    Args:
        base_url: ``http://127.0.0.1:8042`` or ``unix:/path.sock``.
        api_key: bearer token, or None.
        timeout_s: for one request; a chat stream has none, but may not be silent for five minutes.

    Every read raises:
        EngineUnreachable: nobody answers (refused, reset, silent). Reads are repeated three times before that.
        EngineRefused: an error status, or an answer that is not in the expected shape.
    """

    def __init__(self, base_url: str, *, api_key: str | None = None, timeout_s: float = 60.0) -> None:
        self._transport = Transport(base_url, api_key=api_key, timeout_s=timeout_s)

    @property
    def address(self) -> str:
        """The engine's address, without any credentials."""
        return self._transport.address

    def leave_busy_to_caller(self) -> None:
        """For a run, which asks much and adapts: a busy engine (429, 503, 529) is an ``EngineBusy`` at once from now
        on, instead of three tries, and reads go the short way of ``posts``."""
        self._transport.patient = False
        self._transport.many_posts()

    async def __aenter__(self) -> EngineClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes every connection; may be called twice."""
        await self._transport.close()

    async def health(self) -> bool:
        """Whether the engine says that it is well; a dead or deaf one is not."""
        try:
            await self._transport.get_once("/health", timeout_s=HEALTH_S)
        except UserError:
            return False
        return True

    async def models(self) -> tuple[ModelCard, ...]:
        """What the engine serves."""
        return _parsed(ModelList, "/v1/models", await self._transport.get("/v1/models")).data

    def chat(
        self,
        messages: Sequence[Message],
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        live: LiveChannel | None = None,
        thinking: bool = False,
        continue_last: bool = False,
    ) -> AsyncGenerator[ChatEvent]:
        """One answer, canvas by canvas, as events in order of arrival.

        The last event is ``Finished`` or ``Failed``; HTTP errors and a dying engine are ``Failed`` events, and what
        had been committed before stays valid. Thoughts are never part of a committed text. Closing the iterator
        (``aclose``) or cancelling its reader closes the connection and so ends the request in the engine. A chat is
        never repeated.

        Args:
            live: where denoise frames arrive; they are merged into the events.
            thinking: lets the model think before it answers.
            continue_last: the last message is an answer that goes on where it ended; the events hold what is new.
        """
        live_id = uuid.uuid4().hex[:16]
        request = ChatRequest(
            messages=_wire_messages(messages),
            model=model,
            max_tokens=max_tokens,
            stream=True,
            stream_options=StreamOptions(),
            chat_template_kwargs={"enable_thinking": thinking},
            add_generation_prompt=False if continue_last else None,
            continue_final_message=True if continue_last else None,
            vllm_xargs=None if live is None else {"dg_live": live_id},
        )
        return chat_events(self._transport, request, live, live_id)

    async def systemone(self, request: SystemOneRequest) -> SystemOneResponse:
        """One native read of several questions."""
        return await self._read("/v1/systemone", request.body(), SystemOneResponse)

    async def render(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Prompt token ids of a conversation, generation prompt included, thinking off."""
        return (await self.rendered(messages)).token_ids

    async def rendered(self, messages: Sequence[Message]) -> RenderResponse:
        """The same with where the pictures of the conversation stand; without their tensors, which are megabytes."""
        pictured = any(message.pictures for message in messages)
        request = ChatRequest(
            messages=_wire_messages(messages),
            chat_template_kwargs={"enable_thinking": False},
            mm_payload="none" if pictured else None,
        )
        return await self._read(f"{CHAT}/render", request.body(), RenderResponse)

    async def generate(self, request: GenerateRequest | FramedRead) -> GenerateResponse:
        """Token ids in, token ids and logprobs out."""
        return await self._read("/inference/v1/generate", request.body(), GenerateResponse)

    async def tokenize(self, text: str, *, add_special_tokens: bool = False) -> tuple[int, ...]:
        """Token ids of a text; special tokens that are spelled out in it become their ids."""
        request = TokenizeRequest(prompt=text, add_special_tokens=add_special_tokens)
        return (await self._read("/tokenize", request.body(), TokenizeResponse)).tokens

    async def count(self, messages: Sequence[Message]) -> int:
        """Prompt tokens of a conversation, generation prompt included, even where it is longer than the window."""
        request = TokenizeChatRequest(messages=_wire_messages(messages))
        return (await self._read("/tokenize", request.body(), TokenCount)).count

    async def detokenize(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens included."""
        request = DetokenizeRequest(tokens=tuple(ids))
        return (await self._read("/detokenize", request.body(), DetokenizeResponse)).prompt

    async def metrics(self) -> DiffusionMetrics:
        """The three diffusion counters, summed over engines; zero for those that the server does not have."""
        text = (await self._transport.get("/metrics")).decode("utf-8", errors="replace")
        sums = dict.fromkeys(_COUNTERS.values(), 0.0)
        for line in text.splitlines():
            sample = _SAMPLE.match(line)
            if sample is not None and (field := _COUNTERS.get(sample["name"])) is not None:
                sums[field] += float(sample["value"])
        return DiffusionMetrics(**{field: int(value) for field, value in sums.items()})

    async def _read[R: Received](self, path: str, body: bytes, shape: type[R]) -> R:
        return _parsed(shape, path, await self._transport.post(path, body))


def _parsed[R: Received](shape: type[R], path: str, data: bytes) -> R:
    try:
        return shape.model_validate_json(data)
    except ValidationError as exc:
        fault = exc.errors(include_url=False, include_input=False)[0]
        raise EngineRefused(
            "engine.unexpected_answer",
            "the engine's answer to {path} is not in the expected shape: {where}: {fault}",
            remedy="is this a vLLM 0.32 or newer?",
            status=200,
            path=path,
            where=".".join(map(str, fault["loc"])) or "the whole",
            fault=fault["msg"],
        ) from None


def _wire_messages(messages: Sequence[Message]) -> tuple[WireMessage, ...]:
    return tuple(WireMessage.of(message) for message in messages)
