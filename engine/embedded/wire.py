"""What a client may send, field by field, in the names of vLLM 0.33.0.

Like vLLM, a chat tolerates unknown fields and a systemone request does not. Fields that only exist to be refused are
here too: their absence would mean silence.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

MAX_LOGPROBS = 128  # the --max-logprobs and the logprob_token_ids limit that our vLLM servers run with


def _listed(value: Any) -> Any:
    """A single stop string stands for a list of one, an absent list for an empty one."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


Stop = Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(_listed)]
TokenId = Annotated[StrictInt, Field(ge=0)]
Scalar = str | int | float


class Lenient(BaseModel):
    model_config = ConfigDict(extra="allow")


class TextPart(Lenient):
    """One part of a message; a part of another type is refused by name."""

    type: str
    text: str = ""


class ChatMessage(Lenient):
    role: str
    content: str | list[TextPart] | None = None


class StreamOptions(Lenient):
    include_usage: bool | None = False


class RefusedParameters(Lenient):
    """Sampling parameters that a diffusion model cannot follow. ``parameters.refuse_unsupported`` reads them."""

    temperature: float | None = None
    min_p: float | None = None
    seed: int | None = None
    min_tokens: int | None = 0
    logit_bias: dict[str, float] | None = None
    bad_words: list[str] | None = None
    allowed_token_ids: list[int] | None = None
    prompt_logprobs: int | None = None
    n: int | None = 1
    structured_outputs: Any = None


class ChatBody(RefusedParameters):
    """POST /v1/chat/completions and its /render."""

    messages: list[ChatMessage]
    model: str | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    stop: Stop = []
    stop_token_ids: list[TokenId] | None = None
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    skip_special_tokens: bool | None = None
    logprobs: bool | None = False
    top_logprobs: int | None = 0
    logprob_token_ids: list[int] | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None
    response_format: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    chat_template_kwargs: dict[str, Any] | None = None
    vllm_xargs: dict[str, Scalar | list[Scalar]] | None = None


class SamplingParams(RefusedParameters):
    """``sampling_params`` of POST /inference/v1/generate."""

    max_tokens: int | None = None
    stop: Stop = []
    stop_token_ids: list[TokenId] | None = None
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    logprobs: int | None = None
    logprob_token_ids: list[int] | None = None
    extra_args: dict[str, Any] | None = None


class GenerateBody(BaseModel):
    """POST /inference/v1/generate: token ids in, token ids out."""

    token_ids: list[TokenId] = Field(min_length=1)
    sampling_params: SamplingParams
    model: str | None = None
    request_id: str | None = None
    return_token_ids: bool | None = None
    stream: bool | None = False
    output_mode: Literal["tokens", "text"] = "tokens"


class QuestionBody(Lenient):
    """One question of a systemone request; extra fields are refused with the question's id."""

    type: str
    instructions: Any = ""
    criteria: Any = None


class SystemOneBody(BaseModel):
    """POST /v1/systemone."""

    model_config = ConfigDict(extra="forbid")

    state: Any
    questions: dict[str, QuestionBody]
    model: str | None = None
    instructions: str | None = None
    images: list[str] | None = None
    audio: list[str] | None = None
    videos: list[str] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    joint: StrictBool = False
    cache_salt: str | None = None
    priority: int = 0
    request_id: str | None = None


class TokenizeBody(Lenient):
    """POST /tokenize: a text, or a conversation as the chat template writes it."""

    model: str | None = None
    prompt: str | None = None
    messages: list[ChatMessage] | None = None
    add_special_tokens: bool | None = None
    add_generation_prompt: bool = True
    return_token_strs: bool | None = False


class DetokenizeBody(Lenient):
    model: str | None = None
    tokens: list[TokenId]
