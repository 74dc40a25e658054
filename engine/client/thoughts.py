"""Keeps the model's thoughts out of the answer, wherever the chunks are cut."""

from __future__ import annotations

THOUGHT_START = "<|channel>"
THOUGHT_END = "<channel|>"
LABEL = "thought\n"  # names the channel behind its opening tag; no part of the thought


class ThoughtFilter:
    """Removes ``<|channel>...<channel|>`` from text that comes in pieces.

    A server with a reasoning parser sends thoughts apart (``delta.reasoning``); one without sends the tags in the
    text, and a tag may be split over two chunks. What was taken out is kept for ``take_thought``.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._thoughts = ""  # finished ones, not yet taken
        self._current = ""  # of the open one, not yet taken
        self._label_due = False

    def feed(self, text: str) -> str:
        """The part of the text so far that is surely answer."""
        self._held += text
        answer: list[str] = []
        while True:
            tag = THOUGHT_END if self._thinking else THOUGHT_START
            before, found, after = self._held.partition(tag)
            if not found:
                break
            self._sort(before, answer)
            self._thoughts += self._unlabelled()
            self._thinking = self._label_due = not self._thinking
            self._held = after
        keep = _overlap(self._held, tag)
        sure, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        self._sort(sure, answer)
        return "".join(answer)

    def take_thought(self) -> str:
        """What has been thought since the last call, without the channel's name at its head."""
        thought, self._thoughts = self._thoughts, ""
        label_may_come = self._label_due and len(self._current) < len(LABEL) and LABEL.startswith(self._current)
        return thought if label_may_come else thought + self._unlabelled()

    def close(self) -> str:
        """What was held back as a possible tag, once no more text comes; an unfinished thought is dropped."""
        rest, self._held = self._held, ""
        return "" if self._thinking else rest

    def _sort(self, text: str, answer: list[str]) -> None:
        if self._thinking:
            self._current += text
        else:
            answer.append(text)

    def _unlabelled(self) -> str:
        text, self._current = self._current, ""
        if self._label_due:
            self._label_due = False
            text = text.removeprefix(LABEL)
        return text


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that is a proper beginning of ``tag``."""
    return next((n for n in range(min(len(text), len(tag) - 1), 0, -1) if tag.startswith(text[-n:])), 0)
