"""The shapes of vLLM 0.33.0's HTTP interface that we use, as pydantic models.

What we send forbids unknown fields: a typing error must not silently change a read (0.32 ignores unknown fields,
0.33 answers 400). What we receive ignores them: a newer server may say more. Fields that a diffusion model refuses
(temperature, seed, min_p, logit_bias, response_format, prompt_logprobs) do not exist here at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from engine.domain.chat import Message, Role


class Sent(BaseModel):
    """Base of everything that we send."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def body(self) -> bytes:
        """The JSON body; fields that are None are left out."""
        return self.model_dump_json(exclude_none=True).encode()


class Received(BaseModel):
    """Base of everything that we receive."""

    model_config = ConfigDict(extra="ignore", frozen=True)


# --- models -----------------------------------------------------------------------------------------------------------


class ModelCard(Received):
    """One served model. ``root`` is the path or repository that the server loaded it from."""

    id: str
    max_model_len: int | None = None
    owned_by: str = ""
    root: str | None = None


class ModelList(Received):
    data: tuple[ModelCard, ...] = ()


# --- chat -------------------------------------------------------------------------------------------------------------


class TextPart(Sent):
    type: Literal["text"] = "text"
    text: str


class PictureUrl(Sent):
    """``url``: always a data URL: an engine is never told to load anything."""

    url: str


class PicturePart(Sent):
    type: Literal["image_url"] = "image_url"
    image_url: PictureUrl


class WireMessage(Sent):
    """One turn; ``content`` is a text, or parts where there are pictures."""

    role: Role
    content: str | tuple[PicturePart | TextPart, ...]

    @classmethod
    def of(cls, message: Message) -> WireMessage:
        """The pictures stand before the text, as /v1/systemone puts them."""
        if not message.pictures:
            return cls(role=message.role, content=message.content)
        pictures = [PicturePart(image_url=PictureUrl(url=picture.data_url)) for picture in message.pictures]
        texts = [TextPart(text=message.content)] if message.content else []
        return cls(role=message.role, content=(*pictures, *texts))


class StreamOptions(Sent):
    include_usage: bool = True


class ChatRequest(Sent):
    """POST /v1/chat/completions and its /render.

    ``vllm_xargs`` carries ``dg_live``, the id under which denoise frames arrive on the live channel; engines that
    know no live channel ignore it. ``continue_final_message`` (with ``add_generation_prompt`` false) lets the last
    message, an assistant's, go on instead of beginning a new turn. ``mm_payload`` is of /render alone: ``none`` spares
    the pictures' tensors in its answer.
    """

    messages: tuple[WireMessage, ...]
    model: str | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    chat_template_kwargs: dict[str, bool] | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = None
    vllm_xargs: dict[str, str] | None = None
    mm_payload: Literal["none"] | None = None


class ChatDelta(Received):
    content: str | None = None
    reasoning: str | None = None


class ChatChoice(Received):
    delta: ChatDelta = ChatDelta()
    finish_reason: str | None = None


class ChatUsage(Received):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ErrorInfo(Received):
    message: str = ""
    type: str = ""
    code: int | str | None = None


class ErrorBody(Received):
    """``{"error": {...}}``; vLLM's 401 has a plain string there."""

    error: ErrorInfo | str


class ChatChunk(Received):
    """One SSE chunk: a committed canvas, the usage, or an error in mid-stream."""

    choices: tuple[ChatChoice, ...] = ()
    usage: ChatUsage | None = None
    error: ErrorInfo | str | None = None


# --- reads through token ids ------------------------------------------------------------------------------------------


class RenderResponse(Received):
    """``features``: of a prompt with pictures, where their places stand (``mm_placeholders``), and more."""

    token_ids: tuple[int, ...]
    features: dict[str, Any] | None = None

    @property
    def picture_places(self) -> Sequence[Any]:
        """What is said of the place of each picture: ``{"offset", "length"}`` in tokens, unchecked; empty for none."""
        return ((self.features or {}).get("mm_placeholders") or {}).get("image") or ()


class DiffusionArgs(Sent):
    """``extra_args`` of a read: one canvas, seen once, nothing written.

    Attributes:
        diffusion_seed_canvas: token ids, exactly ``diffusion_canvas_length`` of them, each below the vocabulary size.
        diffusion_pinned: canvas positions that keep their seed token; without effect in a read of one step.
    """

    diffusion_seed_canvas: tuple[int, ...]
    diffusion_canvas_length: int = Field(ge=1)
    diffusion_max_steps: int = Field(default=1, ge=1)
    diffusion_read_only: Literal[0, 1] = 1
    diffusion_pinned: tuple[int, ...] | None = None


class SamplingParams(Sent):
    """``logprobs`` must equal ``len(logprob_token_ids)`` (vLLM answers 400 otherwise); at most 128 ids."""

    max_tokens: int = Field(ge=1)
    logprobs: int = Field(ge=1, le=128)
    logprob_token_ids: tuple[int, ...]
    extra_args: DiffusionArgs


class GenerateRequest(Sent):
    """POST /inference/v1/generate."""

    token_ids: tuple[int, ...]
    sampling_params: SamplingParams
    model: str | None = None


class ReadFrame:
    """A ``GenerateRequest`` that is sent again and again with other prompts and canvases, checked and written once.

    Args:
        request: with any prompt and canvas; everything else stays as it is.
    """

    def __init__(self, request: GenerateRequest) -> None:
        arguments = request.sampling_params.extra_args.model_copy(update={"diffusion_seed_canvas": ()})
        sampling = request.sampling_params.model_copy(update={"extra_args": arguments})
        blank = request.model_copy(update={"token_ids": (), "sampling_params": sampling})
        self._before, self._between, self._after = blank.body().split(b"[]")

    def filled(self, token_ids: Sequence[int], seed_canvas: Sequence[int], parts: bytes = b"") -> FramedRead:
        """The request with this prompt and this canvas, as long as the first one's.

        Args:
            parts: JSON of the pictures for which ``token_ids`` hold a token each.
        """
        prompt, canvas = to_json(token_ids), to_json(seed_canvas)
        before = b'{"content_parts":%b,%b' % (parts, self._before[1:]) if parts else self._before
        return FramedRead(b"".join((before, prompt, self._between, canvas, self._after)))


@dataclass(frozen=True, slots=True)
class FramedRead:
    """A body for /inference/v1/generate that ``ReadFrame`` has made."""

    data: bytes

    def body(self) -> bytes:
        """As ``Sent.body``."""
        return self.data


class TokenLogprob(Received):
    token_id: int
    logprob: float


class SlotLogprobs(TokenLogprob):
    """One canvas position: its argmax token, and the tokens that were asked for."""

    top_logprobs: tuple[TokenLogprob, ...] = ()


class GenerateLogprobs(Received):
    content: tuple[SlotLogprobs, ...] | None = None


class GenerateChoice(Received):
    token_ids: tuple[int, ...] | None = None
    logprobs: GenerateLogprobs | None = None


class GenerateResponse(Received):
    choices: tuple[GenerateChoice, ...] = ()


# --- native reads -----------------------------------------------------------------------------------------------------


class QuestionSpec(Sent):
    """One question as System One words it.

    ``criteria``: noul: texts for "true" and "false"; choice: option name to description or null; score: the ordered
    level names.
    """

    type: Literal["noul", "choice", "score"]
    instructions: str
    criteria: dict[str, str | None] | tuple[str, ...] | None = None


class SystemOneRequest(Sent):
    """POST /v1/systemone. There are no draws, no seed and no steps in it. ``images``: data URLs."""

    state: str
    questions: dict[str, QuestionSpec]
    images: tuple[str, ...] | None = None
    joint: bool | None = None
    model: str | None = None

    def body(self) -> bytes:
        # A choice without a description is null inside criteria, so None may be left out at the top level only.
        return self.model_dump_json(
            exclude={name for name in ("images", "joint", "model") if getattr(self, name) is None}
        ).encode()


class SystemOneAnswer(Received):
    """``probabilities`` sum to one over the labels; they are keyed by yes/no, option name or level number."""

    type: str = ""
    probabilities: dict[str, float]


class SystemOneDiagnostics(Received):
    label_mass: float
    argmax_is_label: bool


class SystemOneResponse(Received):
    """``joint`` is there exactly when the questions shared canvases."""

    answers: dict[str, SystemOneAnswer]
    diagnostics: dict[str, SystemOneDiagnostics]
    joint: dict[str, Any] | None = None


# --- tokens and counters ----------------------------------------------------------------------------------------------


class TokenizeRequest(Sent):
    prompt: str
    add_special_tokens: bool = False
    model: str | None = None


class TokenizeChatRequest(Sent):
    """POST /tokenize of a conversation; unlike /render it also counts one that is longer than the window."""

    messages: tuple[WireMessage, ...]
    model: str | None = None


class TokenizeResponse(Received):
    tokens: tuple[int, ...]


class TokenCount(Received):
    count: int
    max_model_len: int | None = None


class DetokenizeRequest(Sent):
    tokens: tuple[int, ...]
    model: str | None = None


class DetokenizeResponse(Received):
    prompt: str


class DiffusionMetrics(Received):
    """Server-wide counters since the engine started; exact per request only while one request runs.

    Attributes:
        denoise_steps: forward passes over canvases, commits included.
        canvas_positions: canvas slots of all those passes.
        committed_tokens: tokens of whole committed canvases, those after end-of-turn included.
    """

    denoise_steps: int = 0
    canvas_positions: int = 0
    committed_tokens: int = 0
