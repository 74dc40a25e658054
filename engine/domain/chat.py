"""Chat messages and the typed events of an answer that arrives canvas by canvas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.domain.picture import Picture

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        pictures: of a user's turn; they stand before the text.
    """

    role: Role
    content: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class CanvasFrame:
    """One denoise step of one canvas, as the live channel sends it.

    Attributes:
        request: the id that the request carried in ``vllm_xargs.dg_live``.
        number: 1-based count of the frames of this request.
        step: the sampler's step counter inside the canvas, as the engine counts.
        converged: the canvas is committed after this step.
        argmax: token ids of the likeliest canvas, one per slot.
        accepted: per slot, whether the sampler kept the token this step.
        entropy: nats per slot, where the engine gives it.
    """

    request: str
    number: int
    step: int
    converged: bool
    argmax: tuple[int, ...]
    accepted: tuple[bool, ...]
    entropy: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class CanvasCommitted:
    """A canvas is final: ``text`` is what it adds to the answer."""

    text: str
    index: int


@dataclass(frozen=True, slots=True)
class ThoughtCommitted:
    """What the model thinks, to be folded away: never part of an answer, a copy or an export."""

    text: str
    index: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of the whole request."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer ended. ``seconds`` is wall time from the request to the end of the stream."""

    reason: FinishReason
    seconds: float
    canvases: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer broke off; what has been committed stays valid."""

    code: str
    message: str


ChatEvent = CanvasFrame | CanvasCommitted | ThoughtCommitted | Usage | Finished | Failed
