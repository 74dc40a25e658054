"""Blocks of a message that grows: only what may still change is parsed again."""

from __future__ import annotations

from app.widgets.markdown import Block, parsed_blocks


class StreamedBlocks:
    """The blocks of a text to which text is added.

    All blocks but the last are finished: nothing that follows can change a closed one, save the target of a reference
    link, which the whole parse at the end of an answer puts right.
    """

    def __init__(self) -> None:
        self._source = ""
        self._offset = 0  # characters of the source that the finished blocks stand for
        self._finished: list[Block] = []

    def update(self, source: str) -> list[Block]:
        """The blocks of the whole text; a text that does not go on from the last one is parsed from its beginning."""
        source = source.replace("\r\n", "\n").replace("\r", "\n")
        if not source.startswith(self._source[: self._offset]):
            self._offset = 0
            self._finished = []
        self._source = source
        found = parsed_blocks(source[self._offset :])
        if len(found) > 1:
            self._finished += [block for block, _line in found[:-1]]
            self._offset += _line_start(source[self._offset :], found[-1][1])
            found = found[-1:]
        return [*self._finished, *(block for block, _line in found)]


def _line_start(text: str, line: int) -> int:
    """Where the 0-based line begins."""
    start = 0
    for _ in range(line):
        start = text.index("\n", start) + 1
    return start
