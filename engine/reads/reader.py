"""The reader: questions in, readings out, over either wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.client.http import EngineClient
from engine.domain.question import Question
from engine.domain.reading import Method, Reading
from engine.errors import InputError
from engine.reads.canvas_wire import CanvasWire
from engine.reads.draws import check_draws
from engine.reads.native import ONE_DRAW, NativeWire
from engine.reads.served import Served

MIN_CANVAS = 2  # a label slot and end-of-turn


@dataclass(frozen=True, slots=True)
class ReadPreview:
    """Exactly what one read sends and what comes back.

    Attributes:
        prompt: the text of the prompt's token ids, thought block included; empty on the native wire, where the
            server words the prompt.
        canvas: the canvas of draw 0, one string per slot, noise included; empty on the native wire.
        slot: where in the canvas the label stands; None on the native wire.
        reading: the answer to the question.
    """

    prompt: str
    canvas: tuple[str, ...]
    slot: int | None
    reading: Reading


class Reader:
    """Reads the same questions about many rows. Made by ``open``."""

    def __init__(self, client: EngineClient, questions: Sequence[Question], wire: CanvasWire | NativeWire) -> None:
        self.questions = tuple(questions)
        self._client = client
        self._wire = wire

    @classmethod
    async def open(
        cls,
        client: EngineClient,
        questions: Sequence[Question],
        method: Method,
        *,
        served: Served | None = None,
    ) -> Reader:
        """Checks everything that can be checked before the first row.

        Args:
            served: what the engine serves, when the caller knows; else it is found out.

        Raises:
            InputError: no questions, a setting out of range, a label that is not one token (names question and label).
            EngineRefused: the engine does not take such reads.
            EngineUnreachable: no engine answers.
        """
        _check(questions, method)
        if method.wire == "native":
            return cls(client, questions, await NativeWire.open(client, questions, method))
        return cls(client, questions, await CanvasWire.open(client, questions, method, served))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how this reader reads; shown once at the start of a run."""
        return (ONE_DRAW,) if isinstance(self._wire, NativeWire) else ()

    @property
    def served(self) -> Served | None:
        """What the engine serves, as far as the wire needs it."""
        return self._wire.served if isinstance(self._wire, CanvasWire) else None

    async def read(self, state: str, *, row_key: str) -> tuple[Reading, ...]:
        """One reading per question, in the questions' order.

        Args:
            state: the text that the questions are about.
            row_key: names the row in the seeds of later draws; the same key reads the same canvases again.

        Raises:
            EngineUnreachable: the engine is gone; nothing of this row counts. A refusal is a reading with status error.
        """
        wire = self._wire
        return tuple(await (wire.read(state) if isinstance(wire, NativeWire) else wire.read(state, row_key)))

    async def preview(self, state: str, question_id: str) -> ReadPreview:
        """One read of one question, with the prompt and the canvas as they are sent.

        Raises:
            InputError: no question has this id.
            EngineRefused, EngineUnreachable: the read failed.
        """
        place = next((n for n, question in enumerate(self.questions) if question.id == question_id), None)
        if place is None:
            raise InputError("reads.no_such_question", 'there is no question "{question}"', question=question_id)
        if isinstance(self._wire, NativeWire):
            return ReadPreview("", (), None, (await self._wire.read(state))[place])
        return await self._canvas_preview(self._wire, state, question_id)

    async def _canvas_preview(self, wire: CanvasWire, state: str, question_id: str) -> ReadPreview:
        sheet = next(sheet for sheet in wire.sheets if question_id in sheet.question_ids)
        place = sheet.question_ids.index(question_id)
        seen = await wire.look(sheet, state, row_key="preview")
        canvas = sheet.canvas.seeded(seen.noise)
        texts = {token: await self._client.detokenize([token]) for token in dict.fromkeys(canvas)}
        return ReadPreview(
            prompt=await self._client.detokenize(seen.prompt_ids + wire.specials.thought),
            canvas=tuple(texts[token] for token in canvas),
            slot=sheet.canvas.slots[place],
            reading=wire.readings(sheet, seen)[place],
        )


def _check(questions: Sequence[Question], method: Method) -> None:
    check_draws(method)
    if not questions:
        raise InputError("reads.no_questions", "there is no question to read")
    if method.canvas_length < MIN_CANVAS:
        raise InputError(
            "reads.canvas_too_short",
            "canvas_length must be at least {limit}, not {length}",
            limit=MIN_CANVAS,
            length=method.canvas_length,
        )
    if not 0.0 <= method.min_mass <= 1.0:
        raise InputError("reads.mass_out_of_range", "min_mass must be 0 to 1, not {value}", value=method.min_mass)
