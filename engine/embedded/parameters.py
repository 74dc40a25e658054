"""From a client's parameters to a request of the model, or to the refusal that vLLM 0.33.0 gives.

The checks follow vLLM's ``sampling_params.py`` (_validate_diffusion, _validate_logprobs, _validate_structured_outputs)
and ``utils/diffusion.py``: same fields, same limits, same statuses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.embedded.generate import GenerationRequest
from engine.embedded.model import ModelConfig
from engine.embedded.refusals import Refused
from engine.embedded.tokenizer import DemoTokenizer
from engine.embedded.wire import MAX_LOGPROBS, ChatBody, ChatMessage, RefusedParameters, SamplingParams
from engine.vllm_plugin.protocol import live_id

_EXTRA = "extra_args"  # what vLLM calls vllm_xargs and extra_args alike
_FREE_FORMATS = ("text", None)


@dataclass(frozen=True, slots=True)
class DiffusionArgs:
    """The checked ``diffusion_*`` arguments and the live id."""

    width: int
    seed_canvas: tuple[int, ...] | None
    pinned: tuple[int, ...]
    max_steps: int | None
    read_only: bool
    live_id: str | None


def chat_request(body: ChatBody, prompt_ids: Sequence[int], config: ModelConfig) -> GenerationRequest:
    """The request behind a chat completion.

    Raises:
        Refused: a parameter is not supported or out of range; the refusal names it.
    """
    refuse_unsupported(body)
    _refuse_formats(body)
    if body.stream_options and not body.stream:
        raise Refused("stream_options: only with stream=true", param="stream_options", kind="Bad Request")
    label_ids = check_logprob_ids(body.logprob_token_ids, config)
    if label_ids and not body.logprobs:
        raise Refused("logprob_token_ids: logprobs must be true", param="logprob_token_ids", kind="Bad Request")
    top = body.top_logprobs or 0
    if top < -1 or top > MAX_LOGPROBS:
        raise Refused("top_logprobs: at most {limit}, not {value}", param="top_logprobs", limit=MAX_LOGPROBS, value=top)
    if top and not body.logprobs:
        raise Refused("top_logprobs: logprobs must be true", param="top_logprobs", kind="Bad Request")
    wanted = body.max_completion_tokens if body.max_completion_tokens is not None else body.max_tokens
    return _request(
        body,
        prompt_ids,
        config,
        body.vllm_xargs or {},
        max_tokens=wanted,
        label_ids=label_ids,
        top_logprobs=(config.vocab_size if top == -1 else top) if body.logprobs else None,
        skip_special=body.skip_special_tokens is not False,
    )


def token_request(params: SamplingParams, prompt_ids: Sequence[int], config: ModelConfig) -> GenerationRequest:
    """The request behind /inference/v1/generate.

    Raises:
        Refused: a parameter is not supported or out of range; the refusal names it.
    """
    refuse_unsupported(params)
    outside = [i for i in prompt_ids if i >= config.vocab_size]
    if outside:
        raise Refused("token_ids: {ids} are not below {size}", ids=outside[:5], size=config.vocab_size)
    label_ids = check_logprob_ids(params.logprob_token_ids, config)
    asked = params.logprobs
    if asked is not None and not 0 <= asked <= MAX_LOGPROBS:
        raise Refused("logprobs: 0 to {limit}, not {value}", param="logprobs", limit=MAX_LOGPROBS, value=asked)
    if label_ids and asked is not None and asked != len(label_ids):
        raise Refused(
            "logprob_token_ids: logprobs must be their number, {count}, not {value}",
            param="logprob_token_ids",
            count=len(label_ids),
            value=asked,
        )
    return _request(
        params,
        prompt_ids,
        config,
        params.extra_args or {},
        max_tokens=params.max_tokens,
        label_ids=label_ids,
        top_logprobs=asked,
        skip_special=params.skip_special_tokens,
    )


def refuse_unsupported(params: RefusedParameters) -> None:
    """Refuses what a canvas model cannot follow: it denoises all slots at once, on its own temperature schedule.

    Raises:
        Refused: names the first such parameter.
    """
    if params.temperature is not None and not 0.0 <= params.temperature <= 2.0:
        raise Refused("temperature: 0 to 2, not {value}", param="temperature", value=params.temperature)
    present = {
        "temperature": params.temperature not in (None, 1.0),
        "min_p": bool(params.min_p),
        "seed": params.seed is not None,
        "min_tokens": bool(params.min_tokens),
        "logit_bias": bool(params.logit_bias),
        "bad_words": bool(params.bad_words),
        "allowed_token_ids": bool(params.allowed_token_ids),
    }
    for name, is_set in present.items():
        if is_set:
            raise Refused(
                "{name}: a diffusion model has no such sampling parameter; leave it out", param=name, name=name
            )
    if params.structured_outputs is not None:
        raise Refused("structured_outputs: a canvas cannot be bound to a grammar", param="structured_outputs")
    if params.prompt_logprobs is not None:
        raise Refused("prompt_logprobs: not served by this engine", param="prompt_logprobs")
    if params.n not in (None, 1):
        raise Refused("n: this engine gives one answer a request, not {n}", param="n", n=params.n)


def check_logprob_ids(ids: Sequence[int] | None, config: ModelConfig) -> tuple[int, ...]:
    """At most 128 ids of the vocabulary.

    Raises:
        Refused: names logprob_token_ids.
    """
    checked = tuple(ids or ())
    if len(checked) > MAX_LOGPROBS:
        raise Refused(
            "logprob_token_ids: at most {limit}, not {count}",
            param="logprob_token_ids",
            limit=MAX_LOGPROBS,
            count=len(checked),
        )
    outside = [i for i in checked if not 0 <= i < config.vocab_size]
    if outside:
        raise Refused(
            "logprob_token_ids: {ids} are not in [0, {size})",
            param="logprob_token_ids",
            ids=outside,
            size=config.vocab_size,
        )
    return checked


def check_prompt(length: int, config: ModelConfig) -> None:
    """Refuses a prompt that leaves no room for a single token."""
    if length >= config.max_model_len:
        raise Refused(
            "messages: the prompt has {length} tokens; the window holds {limit}, the answer included",
            param="input_tokens",
            length=length,
            limit=config.max_model_len,
        )


def conversation_ids(
    messages: Sequence[ChatMessage], tokenizer: DemoTokenizer, config: ModelConfig, *, add_generation_prompt: bool
) -> list[int]:
    """The prompt of a conversation, without the thought block.

    Raises:
        Refused: a part is not text, or there is more text than a window can hold; nothing has been tokenized then.
        InputError: the template refuses the conversation.
    """
    rendered = template_messages(messages)
    check_text(json.dumps(rendered, ensure_ascii=False), tokenizer, config)
    return tokenizer.prompt_ids(rendered, add_generation_prompt=add_generation_prompt)


def continued_ids(body: ChatBody, tokenizer: DemoTokenizer, config: ModelConfig) -> list[int]:
    """The prompt after which the last message, an answer that broke off, goes on: as it stood when it did.

    Raises:
        Refused: as ``conversation_ids``; a new turn is asked for as well, or the last message is no answer.
    """
    if body.add_generation_prompt:
        raise Refused("continue_final_message: only with add_generation_prompt=false", param="continue_final_message")
    last = template_messages(body.messages)[-1:]
    if not last or last[0]["role"] != "assistant" or not isinstance(last[0]["content"], str):
        raise Refused("continue_final_message: the last message is no text of the assistant", param="messages")
    text: str = last[0]["content"]
    check_text(text, tokenizer, config)
    before = conversation_ids(body.messages[:-1], tokenizer, config, add_generation_prompt=True)
    return [*before, *tokenizer.thought_ids, *tokenizer.encode(text)]


def check_text(text: str, tokenizer: DemoTokenizer, config: ModelConfig) -> None:
    """Refuses a text that is too long for the window however it is tokenized, before that costs seconds."""
    limit = config.max_model_len * tokenizer.longest
    if len(text) > limit:
        raise Refused(
            "messages: {length} characters; the window of {tokens} tokens holds {limit} at most",
            param="input_text",
            length=len(text),
            tokens=config.max_model_len,
            limit=limit,
        )


def template_messages(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The conversation as the template takes it: text only.

    Raises:
        Refused: a part is not text.
    """
    rendered = []
    for number, message in enumerate(messages):
        content: Any = message.content or ""
        if not isinstance(content, str):
            for part in content:
                if part.type != "text":
                    raise Refused("messages.{number}: {type} parts are not read here", number=number, type=part.type)
            content = [{"type": "text", "text": part.text} for part in content]
        rendered.append({"role": message.role, "content": content})
    return rendered


def _refuse_formats(body: ChatBody) -> None:
    if body.response_format is not None and body.response_format.get("type") not in _FREE_FORMATS:
        raise Refused(
            "response_format: a canvas cannot be bound to {type}; ask for text",
            param="response_format",
            type=body.response_format.get("type"),
        )
    if body.tools == []:
        raise Refused("tools: an empty list; leave it out", param="tools", kind="Bad Request")
    if body.tool_choice not in (None, "none") and not body.tools:
        raise Refused("tool_choice: needs tools", param="tool_choice", kind="Bad Request")
    if body.tools and body.tool_choice != "none":
        raise Refused("tool_choice: this engine calls no tools", param="tool_choice")


def _request(
    params: ChatBody | SamplingParams,
    prompt_ids: Sequence[int],
    config: ModelConfig,
    extra: Mapping[str, Any],
    *,
    max_tokens: int | None,
    label_ids: tuple[int, ...],
    top_logprobs: int | None,
    skip_special: bool,
) -> GenerationRequest:
    check_prompt(len(prompt_ids), config)
    args = diffusion_args(extra, has_labels=bool(label_ids), config=config)
    room = config.max_model_len - len(prompt_ids)
    if args.seed_canvas is not None and args.width > room:
        raise Refused(
            "diffusion_seed_canvas: {width} slots do not fit behind a prompt of {length} tokens in a window of {limit}",
            param="input_tokens",
            width=args.width,
            length=len(prompt_ids),
            limit=config.max_model_len,
        )
    if max_tokens is not None and not 1 <= max_tokens <= config.max_model_len:
        raise Refused(
            "max_tokens: 1 to {limit}, the window, not {value}",
            param="max_tokens",
            value=max_tokens,
            limit=config.max_model_len,
        )
    limit = min(max_tokens if max_tokens is not None else config.max_new_tokens, room)
    return GenerationRequest(
        prompt_ids=tuple(prompt_ids),
        max_tokens=min(limit, args.width) if args.read_only else limit,
        width=args.width,
        seed_canvas=args.seed_canvas,
        pinned=args.pinned,
        max_steps=args.max_steps,
        read_only=args.read_only,
        stop=tuple(params.stop),
        stop_ids=frozenset(params.stop_token_ids or ()),
        ignore_eos=params.ignore_eos or args.read_only,
        keep_stop=params.include_stop_str_in_output,
        skip_special=skip_special,
        logprob_ids=label_ids,
        top_logprobs=top_logprobs,
        live_id=args.live_id,
    )


def diffusion_args(extra: Mapping[str, Any], *, has_labels: bool, config: ModelConfig) -> DiffusionArgs:
    """Checks the ``diffusion_*`` arguments; unknown keys are somebody else's and stay unread.

    Raises:
        Refused: with ``param`` extra_args and the argument's name in the message.
    """
    width = extra.get("diffusion_canvas_length")
    _check(
        width is None or (_is_int(width) and 0 < width <= config.canvas_length),
        f"diffusion_canvas_length: 1 to {config.canvas_length}",
    )
    width = width or config.canvas_length
    seed = extra.get("diffusion_seed_canvas")
    if seed is not None:
        _check(
            isinstance(seed, list) and all(_is_int(i) and 0 <= i < config.vocab_size for i in seed),
            f"diffusion_seed_canvas: a list of token ids in [0, {config.vocab_size})",
        )
        _check(len(seed) == width, f"diffusion_seed_canvas: exactly {width} ids, not {len(seed)}")
    pinned = extra.get("diffusion_pinned")
    if pinned is not None:
        _check(
            isinstance(pinned, list) and all(_is_int(i) and 0 <= i < width for i in pinned),
            f"diffusion_pinned: a list of slots in [0, {width})",
        )
        _check(seed is not None, "diffusion_pinned: needs diffusion_seed_canvas, whose tokens it holds")
    steps = extra.get("diffusion_max_steps")
    _check(steps is None or (_is_int(steps) and steps > 0), "diffusion_max_steps: a number from 1")
    read_only = extra.get("diffusion_read_only")
    _check(read_only in (None, 0, 1), "diffusion_read_only: 0 or 1")
    constrained = extra.get("diffusion_constrained")
    _check(constrained in (None, 0, 1), "diffusion_constrained: 0 or 1")
    _check(not constrained or has_labels, "diffusion_constrained: needs logprob_token_ids")
    _check(not constrained, "diffusion_constrained: not served by the embedded engine")
    return DiffusionArgs(
        width=width,
        seed_canvas=None if seed is None else tuple(seed),
        pinned=tuple(pinned or ()),
        max_steps=steps,
        read_only=bool(read_only),
        live_id=live_id(extra),
    )


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise Refused(message, param=_EXTRA)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
