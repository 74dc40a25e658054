"""Keeps the model's thoughts out of the answer, wherever the chunks are cut."""

from __future__ import annotations

THOUGHT_START = "<|channel>"
THOUGHT_END = "<channel|>"


class ThoughtFilter:
    """Removes ``<|channel>...<channel|>`` from text that comes in pieces.

    A server with a reasoning parser sends thoughts apart (``delta.reasoning``); one without sends the tags in the
    text, and a tag may be split over two chunks.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False

    def feed(self, text: str) -> str:
        """The part of the text so far that is surely answer."""
        self._held += text
        answer: list[str] = []
        while True:
            tag = THOUGHT_END if self._thinking else THOUGHT_START
            before, found, after = self._held.partition(tag)
            if not found:
                break
            if not self._thinking:
                answer.append(before)
            self._thinking = not self._thinking
            self._held = after
        keep = _overlap(self._held, tag)
        sure, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        if not self._thinking:
            answer.append(sure)
        return "".join(answer)

    def close(self) -> str:
        """What was held back as a possible tag, once no more text comes; an unfinished thought is dropped."""
        rest, self._held = self._held, ""
        return "" if self._thinking else rest


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that is a proper beginning of ``tag``."""
    return next((n for n in range(min(len(text), len(tag) - 1), 0, -1) if tag.startswith(text[-n:])), 0)
