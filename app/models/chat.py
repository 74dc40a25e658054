"""What the chat page shows beside the messages themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EXACT_RECALL = 30_000  # tokens: exact details are recalled cleanly up to here (docs/chat.md)

WayOut = Literal["drop", "summarise", "branch", "unseen"]


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How much of the model's window the next message takes.

    Attributes:
        used: tokens of the prompt: conversation, system prompt and what is in the composer; None while not known.
        window: of the model, prompt and answer together; None where the engine does not tell.
        left_out: messages above the cut, which are not sent.
    """

    used: int | None = None
    window: int | None = None
    left_out: int = 0

    @property
    def share(self) -> float:
        """Of the window, 0 to 1; 0 where it is not known."""
        if self.used is None or not self.window:
            return 0.0
        return min(self.used / self.window, 1.0)

    @property
    def shows_recall_mark(self) -> bool:
        return self.window is not None and self.window > EXACT_RECALL


@dataclass(frozen=True, slots=True)
class Overflow:
    """A question that does not fit into the window with the conversation before it, and the ways out.

    Attributes:
        needed: tokens of the whole prompt; None when it is so long that the engine did not count it.
        window: of the model.
        reserve: tokens that are kept for the answer.
        left_out: messages that have to go, oldest first, when the oldest are dropped; 0 when dropping does not help.
        first, last: the beginnings of the first and of the last of them.
        kept: messages that stay.
        fault: what went wrong with the way that was tried.
    """

    needed: int | None
    window: int
    reserve: int
    left_out: int
    kept: int
    first: str = ""
    last: str = ""
    fault: str = ""

    @property
    def helps(self) -> bool:
        """Whether leaving something out is a way out: else the question alone is too long."""
        return self.left_out > 0


@dataclass(frozen=True, slots=True)
class Unseen:
    """Pictures that the engine would not see.

    Attributes:
        count: of all that would be sent.
        why: the engine sees none.
        in_question: some are part of the question itself.
    """

    count: int
    why: str
    in_question: bool


@dataclass(frozen=True, slots=True)
class SessionPoint:
    """One answer of this session, for the sparkline."""

    tokens_per_second: float
