"""How much of the model's window a conversation takes, and what can be left out when it is too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.models.chat import Overflow
from app.presenters.chat_count import Asked, PathCounter, tokens_of
from engine.client.http import EngineClient
from engine.domain.chat import CanvasCommitted, Failed, Message
from engine.domain.conversation import ChatOptions, StoredMessage, told
from engine.errors import EngineRefused, UserError

LEAST_ANSWER = 256  # tokens kept for an answer whose length is not limited: one canvas
ANSWER_SHARE = 8  # but no more than this part of a small window
SUMMARY_SHARE = 6  # a summary may take this part of the window ...
LONGEST_SUMMARY = 600  # ... and never more tokens than this
BEGINNING = 80  # characters of a message that is named

SUMMARY_REQUEST = (
    "Summarise the conversation above in at most {words} words, so that it can go on without its text. "
    "Keep names, numbers, decisions and open questions. Write the summary only."
)


def reserve_for(options: ChatOptions, window: int) -> int:
    """Tokens that are kept for the answer."""
    return min(options.max_tokens or LEAST_ANSWER, max(window // ANSWER_SHARE, 1))


class Fitting:
    """Looks what of a path fits into the window before a question.

    Args:
        path: what is sent now, oldest first, without the question.
        question: empty when the path already ends with it.
        sees: whether the engine is sent pictures.
        extra: tokens to be left beside those for the answer.
    """

    def __init__(
        self,
        counter: PathCounter,
        path: Sequence[StoredMessage],
        question: Asked,
        options: ChatOptions,
        window: int,
        *,
        sees: bool,
        extra: int = 0,
    ) -> None:
        self._counter = counter
        self._path = list(path)
        self._question, self._sees = question, sees
        self._options = options
        self._window = window
        self._reserve = reserve_for(options, window)
        self._room = window - self._reserve - extra

    async def overflow(self) -> tuple[Overflow, int | None] | None:
        """None when everything fits or the server does not count.

        Returns:
            What does not fit, and the place in the path from which on it does; None when only the question does.

        Raises:
            EngineUnreachable: nobody answers.
        """
        try:
            needed = await self._needs(0)
        except EngineRefused:
            return None
        if needed is not None and needed <= self._room:
            return None
        starts = [place for place, message in enumerate(self._path) if message.role == "user" and place]
        last = len(self._path)
        if self._question:
            starts.append(last)
        low, high = 0, len(starts)
        while low < high:  # the first start from which on everything fits
            middle = (low + high) // 2
            tokens = await self._needs(starts[middle])
            low, high = (low, middle) if tokens is not None and tokens <= self._room else (middle + 1, high)
        if low == len(starts):
            return Overflow(needed, self._window, self._reserve, 0, len(self._path)), None
        start = starts[low]
        found = Overflow(
            needed,
            self._window,
            self._reserve,
            left_out=start,
            kept=last - start,
            first=_beginning(self._path[0]),
            last=_beginning(self._path[start - 1]),
        )
        return found, None if start == last else start

    async def _needs(self, start: int) -> int | None:
        kept = self._path[start:]
        if start and kept:
            kept[0] = replace(kept[0], is_cut=True, summary="")
        return await self._counter.count(kept, self._options, self._question, sees=self._sees)


def summary_budget(window: int) -> int:
    """Tokens that a summary may have."""
    return min(window // SUMMARY_SHARE, LONGEST_SUMMARY)


async def summarise(client: EngineClient, left_out: Sequence[StoredMessage], window: int) -> str:
    """What the model says the messages were about; piece by piece where they do not fit into the window together.

    Raises:
        UserError: the model gave no summary, or the engine failed.
    """
    budget = summary_budget(window)
    summary = left_out[0].summary if left_out and left_out[0].is_cut else ""
    rest = list(left_out)
    while rest:
        taken = await _most(client, summary, rest, window - budget)
        piece = rest[:taken] if taken else [replace(rest[0], text=rest[0].text[: window - budget])]
        summary = await _answer(client, _request(summary, piece, budget), budget)
        rest = rest[max(taken, 1) :]
    return summary


async def _most(client: EngineClient, summary: str, rest: list[StoredMessage], room: int) -> int:
    """How many of the messages fit together with the request; 0 when not even the first does."""
    low, high = 0, len(rest)
    while low < high:
        middle = (low + high + 1) // 2
        tokens = await tokens_of(client, [_request(summary, rest[:middle], LONGEST_SUMMARY)])
        low, high = (middle, high) if tokens is not None and tokens <= room else (low, middle - 1)
    return low


def _request(summary: str, messages: Sequence[StoredMessage], budget: int) -> Message:
    """One message that holds everything: a template may refuse a conversation that begins with an answer."""
    names = {"user": "User", "assistant": "Assistant"}
    parts = [f"Summary so far: {summary}"] if summary else []
    texts = [(message.role, told(message.text, message.pictures)) for message in messages]
    parts += [f"{names[role]}: {text}" for role, text in texts if text]
    parts.append(SUMMARY_REQUEST.format(words=max(budget // 2, 20)))
    return Message("user", "\n\n".join(parts))


async def _answer(client: EngineClient, request: Message, budget: int) -> str:
    text, fault = "", ""
    async for event in client.chat([request], max_tokens=budget):
        match event:
            case CanvasCommitted(text=piece):
                text += piece
            case Failed(message=message):
                fault = message
            case _:
                pass
    if fault or not text.strip():
        raise UserError("chat.no_summary", "the model gave no summary{why}", why=f": {fault}" if fault else "")
    return text.strip()


def _beginning(message: StoredMessage) -> str:
    line = " ".join(message.text.split()) or ", ".join(picture.name for picture in message.pictures)
    return line if len(line) <= BEGINNING else line[:BEGINNING].rstrip() + " …"
