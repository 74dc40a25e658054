"""Several rows on one canvas: the same question about texts that have nothing to do with each other.

Nobody has published whether unrelated texts interfere when they share a canvas; a method comparison finds out for the
user's own rows. The texts are numbered in the prompt, and the question is asked once per text with that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.client.http import EngineClient
from engine.domain.question import Question
from engine.domain.reading import Method, Reading
from engine.reads.reader import Reader
from engine.reads.served import Served

ROWS_A_CANVAS = 8


class RowsTogether:
    """Reads one question about several texts at once. Made by ``open``."""

    def __init__(self, client: EngineClient, question: Question, method: Method, served: Served | None) -> None:
        self._client = client
        self._question = question
        self._method = method
        self._served = served
        self._readers: dict[int, Reader] = {}  # by the number of texts

    @classmethod
    async def open(cls, client: EngineClient, question: Question, method: Method) -> RowsTogether:
        """Checks what a canvas of ``ROWS_A_CANVAS`` texts needs.

        Raises:
            InputError, EngineRefused, EngineUnreachable: as ``Reader.open``.
        """
        made = cls(client, question, replace(method, joint=True, rotate=False), None)
        made._served = (await made._reader(ROWS_A_CANVAS)).served
        return made

    async def read(self, states: Sequence[str], *, row_key: str) -> tuple[Reading, ...]:
        """One reading per text, in order.

        Args:
            states: at most ``ROWS_A_CANVAS`` texts.
            row_key: names them together in the seeds of later draws.

        Raises:
            EngineUnreachable: the engine is gone.
        """
        reader = await self._reader(len(states))
        readings = await reader.read(numbered(states), row_key=row_key)
        return tuple(replace(reading, question_id=self._question.id) for reading in readings)

    async def _reader(self, texts: int) -> Reader:
        if texts not in self._readers:
            asked = [about(self._question, number) for number in range(1, texts + 1)]
            self._readers[texts] = await Reader.open(self._client, asked, self._method, served=self._served)
        return self._readers[texts]


def numbered(states: Sequence[str]) -> str:
    """The texts with their numbers, as one state."""
    return "\n\n".join(f"Text {number}:\n{state}" for number, state in enumerate(states, start=1))


def about(question: Question, number: int) -> Question:
    """The question about one of the texts."""
    return replace(question, id=str(number), instructions=f"About text {number}: {question.instructions}", gold=None)
