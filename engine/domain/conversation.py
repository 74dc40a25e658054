"""Conversations as they are kept: messages in a tree, so that an edited question and a new answer lose nothing.

A conversation's messages hang on their parents. What is shown is the path from one message, the tip, up to a message
without a parent; siblings (messages with the same parent) are the versions that one switches between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.domain.chat import Message
from engine.domain.picture import Picture, StoredPicture

MessageRole = Literal["user", "assistant"]
MessageState = Literal["streaming", "done", "stopped", "failed", "interrupted"]
Ending = Literal["", "stop", "length"]

SUMMARY_HEAD = "Summary of the conversation so far:"


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """What an answer cost. There is no decode rate: a canvas arrives at once, so only wall time means something.

    Attributes:
        seconds: wall time from the request to the end of the stream; of several requests, where it was continued.
        first_canvas_s: wall time from the request to the first canvas; None when none came.
        canvases: committed ones.
        denoise_steps: of all canvases; None where neither frames nor counters told.
        prompt_tokens, completion_tokens: as the engine counted; None when the stream broke off before.
    """

    seconds: float = 0.0
    first_canvas_s: float | None = None
    canvases: int = 0
    denoise_steps: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def tokens_per_second(self) -> float | None:
        """Completion tokens by wall seconds."""
        if self.completion_tokens is None or self.seconds <= 0:
            return None
        return self.completion_tokens / self.seconds

    @property
    def steps_per_canvas(self) -> float | None:
        if not self.denoise_steps or not self.canvases:
            return None
        return self.denoise_steps / self.canvases

    def plus(self, more: AnswerFigures) -> AnswerFigures:
        """Of an answer and its continuation, or of several answers. A sum of what is not known is not known."""
        return AnswerFigures(
            seconds=self.seconds + more.seconds,
            first_canvas_s=self.first_canvas_s if self.first_canvas_s is not None else more.first_canvas_s,
            canvases=self.canvases + more.canvases,
            denoise_steps=_sum(self.denoise_steps, more.denoise_steps),
            prompt_tokens=more.prompt_tokens if more.prompt_tokens is not None else self.prompt_tokens,
            completion_tokens=_sum(self.completion_tokens, more.completion_tokens),
        )


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a conversation.

    Attributes:
        parent: the message that it follows; None for a first one.
        depth: 1 for a first message.
        thought: what the model thought before this answer.
        finish: why the engine ended the answer; empty while it streams and when it broke off.
        error, remedy: why it failed, and what to do.
        created: seconds since 1970.
        is_cut, summary: the model is sent this message and what follows, with the summary in place of what is above.
        place, versions: this is the ``place``-th of ``versions`` siblings, from 1.
        pictures: of a question; they stand before its text.
    """

    id: int
    parent: int | None
    depth: int
    role: MessageRole
    text: str
    state: MessageState = "done"
    thought: str = ""
    finish: Ending = ""
    error: str = ""
    remedy: str = ""
    model: str = ""
    created: float = 0.0
    figures: AnswerFigures = AnswerFigures()
    is_cut: bool = False
    summary: str = ""
    place: int = 1
    versions: int = 1
    pictures: tuple[StoredPicture, ...] = ()

    @property
    def can_continue(self) -> bool:
        """Whether the answer ended before the model was through, with a text to go on from."""
        if self.role != "assistant" or not self.text or self.state == "streaming":
            return False
        return self.state != "done" or self.finish == "length"


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What is set for one conversation.

    Attributes:
        system: the system prompt; empty for none.
        max_tokens: of an answer; None for as many as the window holds.
    """

    system: str = ""
    thinking: bool = False
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A line of the list. ``created``, ``updated``, ``deleted`` (None while it lives): seconds since 1970."""

    id: int
    title: str
    pinned: bool
    created: float
    updated: float
    messages: int
    deleted: float | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages.

    Attributes:
        tip: the last message of the path that is shown; None before the first.
        draft: what has been written and not yet sent.
    """

    info: ConversationInfo
    options: ChatOptions = field(default_factory=ChatOptions)
    tip: int | None = None
    draft: str = ""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A place where the words were found.

    Attributes:
        message: None when they stand in the title.
        snippet: the text around them; each found word stands between ``MARK_ON`` and ``MARK_OFF``.
    """

    conversation: int
    title: str
    message: int | None
    role: MessageRole | None
    snippet: str
    created: float


MARK_ON, MARK_OFF = "\x02", "\x03"


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A system prompt that is kept under a name."""

    name: str
    text: str


def sent_messages(
    path: Sequence[StoredMessage], options: ChatOptions, picture: Callable[[StoredPicture], Picture] | None = None
) -> list[Message]:
    """What the engine is sent for a path: from the cut on, without empty answers and the questions that got them.

    Args:
        path: oldest first; an answer that is still empty may stand at its end.
        picture: gives the bytes of a picture; None: the engine does not see, and is told what it is not shown.
    """
    start = max((place for place, message in enumerate(path) if message.is_cut), default=0)
    system = options.system.strip()
    if path and path[start].is_cut and path[start].summary:
        system = f"{system}\n\n{SUMMARY_HEAD}\n{path[start].summary}".strip()
    found = [Message("system", system)] if system else []
    question: StoredMessage | None = None
    for message in path[start:]:
        if message.role == "user":
            question = message
        elif message.text and question is not None:
            found += [_question(question, picture), Message("assistant", message.text)]
            question = None
    if question is not None:  # the one that waits for its answer
        found.append(_question(question, picture))
    return found


def unseen(pictures: Sequence[StoredPicture | Picture]) -> str:
    """What stands in a question for pictures that the model is not shown; a line each."""
    return "\n".join(f"[The picture {picture.name} was here. You cannot see it.]" for picture in pictures)


def told(text: str, pictures: Sequence[StoredPicture | Picture]) -> str:
    """A question as an engine is sent it that sees none of its pictures."""
    return f"{unseen(pictures)}\n\n{text}".rstrip() if pictures else text


def title_of(text: str, limit: int = 60) -> str:
    """A title from a first question: its first line that is not blank, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= limit:
        return line
    return line[:limit].rsplit(" ", 1)[0].rstrip() + " …"


def _question(message: StoredMessage, picture: Callable[[StoredPicture], Picture] | None) -> Message:
    if not message.pictures:
        return Message("user", message.text)
    if picture is None:
        return Message("user", told(message.text, message.pictures))
    return Message("user", message.text, tuple(map(picture, message.pictures)))


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
