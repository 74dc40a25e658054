"""The text of an answer that grows canvas by canvas: stop strings, and characters whose bytes are still to come."""

from __future__ import annotations

from collections.abc import Sequence

from engine.embedded.tokenizer import DemoTokenizer, settled


class TextStream:
    """Turns token ids into text pieces whose concatenation is the answer's text.

    What might be the beginning of a stop string, or of a character, is held back until it is known to be neither.
    """

    def __init__(
        self, tokenizer: DemoTokenizer, stop: Sequence[str], *, skip_special: bool = True, keep_stop: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._stop = tuple(stop)
        self._skip_special = skip_special
        self._keep_stop = keep_stop
        self._ids: list[int] = []
        self._emitted = 0

    def add(self, ids: Sequence[int], *, final: bool, last_is_stop: bool = False) -> tuple[str, str | None]:
        """Adds the tokens of one canvas.

        Args:
            final: no more tokens will come.
            last_is_stop: the last id is an end token, which is not text (unless the stop is to be kept).

        Returns:
            The new text, and the stop string that ends the answer, if one was found.
        """
        self._ids += ids[:-1] if last_is_stop and not self._keep_stop else ids
        text = settled(self._tokenizer.decode(self._ids, skip_special=self._skip_special), final=final)
        end, matched = self._find_stop(text)
        if matched is None and not final:
            end = self._safe_end(text)
        piece = text[self._emitted : end]
        self._emitted = max(self._emitted, end)
        return piece, matched

    def _find_stop(self, text: str) -> tuple[int, str | None]:
        """Where the text ends: at the earliest stop string that is not yet emitted."""
        found = [(place, word) for word in self._stop if (place := text.find(word, self._emitted)) >= 0]
        if not found:
            return len(text), None
        place, word = min(found)
        return (place + len(word) if self._keep_stop else place), word

    def _safe_end(self, text: str) -> int:
        """The end of the text that no stop string can reach back into."""
        longest = max((len(word) for word in self._stop), default=1)
        for size in range(min(longest - 1, len(text)), 0, -1):
            if any(word.startswith(text[-size:]) for word in self._stop):
                return max(len(text) - size, self._emitted)
        return len(text)
