"""The reader: questions in, readings out, over either wire."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.client.http import EngineClient
from engine.client.sight import blind, find_sight, probe_picture
from engine.domain.picture import Picture, PictureUse, State, text_of
from engine.domain.question import Question
from engine.domain.reading import Draw, Method, Reading
from engine.errors import InputError
from engine.reads.aggregate import failed
from engine.reads.canvas_wire import CanvasWire
from engine.reads.draws import check_draws
from engine.reads.native import ONE_DRAW, NativeWire, check_native
from engine.reads.pictured import RowPictures, uses
from engine.reads.rotate import RotatingWire, most_turns
from engine.reads.seen import Seen
from engine.reads.served import Served
from engine.reads.sheet import Sheet

MIN_CANVAS = 2  # a label slot and end-of-turn
MAX_STEPS = 48  # denoise steps of a canvas, the released model's own number
PREVIEW_ROW = "preview"  # row key of a read that belongs to no run

_PLACES = re.compile(r"(<[^<>\s]{1,40}>)\1{7,}")

AnyWire = CanvasWire | NativeWire | RotatingWire


@dataclass(frozen=True, slots=True)
class ReadPreview:
    """Exactly what one read sends and what comes back.

    Attributes:
        prompt: the text of the prompt's token ids, thought block included; empty on the native wire, where the
            server words the prompt. With ``rotate`` that of the form's own order.
        canvas: the canvas of draw 0, one string per slot, noise included; empty on the native wire.
        slot: where in the canvas the label stands; None on the native wire.
        reading: the answer to the question.
        draws: what every draw saw, in the order of ``question.labels``; draw 0 first.
        latency_s: seconds that the canvas took with all its draws.
        pictures: that the model was shown.
    """

    prompt: str
    canvas: tuple[str, ...]
    slot: int | None
    reading: Reading
    draws: tuple[Draw, ...] = ()
    latency_s: float = 0.0
    pictures: tuple[PictureUse, ...] = ()


class Reader:
    """Reads the same questions about many rows. Made by ``open``."""

    def __init__(self, client: EngineClient, questions: Sequence[Question], method: Method, wire: AnyWire) -> None:
        self.questions = tuple(questions)
        self.method = method
        self._client = client
        self._wire = wire
        self._pictures = RowPictures()

    @classmethod
    async def open(
        cls,
        client: EngineClient,
        questions: Sequence[Question],
        method: Method,
        *,
        pictures: bool = False,
        served: Served | None = None,
    ) -> Reader:
        """Checks everything that can be checked before the first row.

        Args:
            pictures: rows come with pictures, so the engine must see.
            served: what the engine serves, when the caller knows; else it is found out.

        Raises:
            InputError: no questions, a setting out of range, a label that is not one token (names question and label).
            UserError: ``engine.blind``: it sees no pictures.
            EngineRefused: the engine does not take such reads.
            EngineUnreachable: no engine answers.
        """
        check_reading(questions, method)
        shown = await _seeing(client) if pictures else ()
        wire: AnyWire
        if method.rotate and most_turns(questions) > 1:
            wire = await RotatingWire.open(client, questions, method, served, shown)
        elif method.wire == "native":
            wire = await NativeWire.open(client, questions, method, shown)
        else:
            wire = await CanvasWire.open(client, questions, method, served, shown)
        return cls(client, questions, method, wire)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how this reader reads; shown once at the start of a run."""
        notes = [ONE_DRAW] if isinstance(self._first, NativeWire) else []
        if isinstance(self._wire, RotatingWire):
            notes.append(
                f"rotate: a row takes {self._wire.canvases} reads instead of {self._first.canvases}, one for each "
                "place of each option"
            )
        return tuple(notes)

    @property
    def canvases(self) -> int:
        """Reads that a row takes, further draws not counted."""
        return self._wire.canvases

    @property
    def served(self) -> Served | None:
        """What the engine serves, as far as the wire needs it."""
        return self._first.served if isinstance(self._first, CanvasWire) else None

    @property
    def _first(self) -> CanvasWire | NativeWire:
        """The wire that asks in the form's own order."""
        return self._wire.wires[0] if isinstance(self._wire, RotatingWire) else self._wire

    async def read(self, state: State, *, row_key: str) -> tuple[Reading, ...]:
        """One reading per question, in the questions' order.

        Args:
            state: what the questions are about. A picture that cannot be read makes every reading an error.
            row_key: names the row in the seeds of later draws; the same key reads the same canvases again.

        Raises:
            EngineUnreachable: the engine is gone; nothing of this row counts. A refusal is a reading with status error.
        """
        if isinstance(state, str):
            return tuple(seen.reading(self.method) for seen in await self._wire.seen(state, row_key))
        return await self._read_pictured(state, row_key)

    async def _read_pictured(self, state: State, row_key: str) -> tuple[Reading, ...]:
        async with self._pictures.free:
            try:
                pictures = await self._pictures.of(state)
            except InputError as error:
                joint = self.method.joint and len(self.questions) > 1
                name = self.method.named(joint=joint)
                return tuple(failed(question, str(error), name=name) for question in self.questions)
            seen = await self._wire.seen(text_of(state), row_key, pictures)
        shown = uses(state, pictures)
        return tuple(replace(each.reading(self.method), pictures=shown) for each in seen)

    async def preview(self, state: State, question_id: str) -> ReadPreview:
        """One read of one question, with the prompt and the canvas as they are sent.

        Raises:
            InputError: no question has this id, or a picture cannot be read.
            EngineRefused, EngineUnreachable: the read failed.
        """
        place = next((n for n, question in enumerate(self.questions) if question.id == question_id), None)
        if place is None:
            raise InputError("reads.no_such_question", 'there is no question "{question}"', question=question_id)
        first = self._first
        if isinstance(first, NativeWire) or isinstance(self._wire, RotatingWire):
            return (await self.previews(state))[place]
        sheet = next(sheet for sheet in first.sheets if question_id in sheet.question_ids)
        return (await self._sheet_previews(first, sheet, state))[sheet.question_ids.index(question_id)]

    async def previews(self, state: State) -> tuple[ReadPreview, ...]:
        """One read of every question, in their order.

        Raises:
            InputError: a picture cannot be read.
            EngineRefused, EngineUnreachable: a read failed.
        """
        first = self._first
        if isinstance(first, NativeWire) and first is self._wire:
            return await self._seen_previews(state)
        shown: list[ReadPreview] = []
        if isinstance(first, CanvasWire):
            for sheet in first.sheets:
                shown += await self._sheet_previews(first, sheet, state)
        if not isinstance(self._wire, RotatingWire):
            return tuple(shown)
        answers = await self._seen_previews(state)
        return tuple(
            replace(answer, prompt=show.prompt, canvas=show.canvas, slot=show.slot)
            for answer, show in zip(answers, shown or answers, strict=True)
        )

    async def draw_by_draw(self, state: State, *, row_key: str) -> tuple[ReadPreview, ...]:
        """As ``read``, with what every draw saw; without prompt and canvas.

        Raises:
            InputError: a picture cannot be read.
            EngineUnreachable: the engine is gone.
        """
        return await self._seen_previews(state, row_key)

    async def _seen_previews(self, state: State, row_key: str = PREVIEW_ROW) -> tuple[ReadPreview, ...]:
        """Answers without prompt and canvas."""
        pictures = await self._pictures.of(state)
        shown = uses(state, pictures)
        started = time.monotonic()
        seen = await self._wire.seen(text_of(state), row_key, pictures)
        took = time.monotonic() - started
        return tuple(ReadPreview("", (), None, each.reading(self.method), each.draws, took, shown) for each in seen)

    async def _sheet_previews(self, wire: CanvasWire, sheet: Sheet, state: State) -> list[ReadPreview]:
        pictures = await self._pictures.of(state)
        started = time.monotonic()
        seen = await wire.look(sheet, text_of(state), PREVIEW_ROW, pictures)
        took = time.monotonic() - started
        canvas = sheet.canvas.seeded(seen.noise)
        texts = {token: await self._client.detokenize([token]) for token in dict.fromkeys(canvas)}
        prompt = await self._client.detokenize(seen.prompt_ids + wire.specials.thought)
        return [
            ReadPreview(
                prompt=shortened(prompt) if pictures else prompt,
                canvas=tuple(texts[token] for token in canvas),
                slot=slot,
                reading=Seen(question, draws, sheet.joint, seen.note).reading(self.method),
                draws=draws,
                latency_s=took,
                pictures=uses(state, pictures),
            )
            for question, slot, draws in zip(sheet.questions, sheet.canvas.slots, seen.draws, strict=True)
        ]


def shortened(prompt: str) -> str:
    """A prompt's text with the hundreds of places of a picture as one: ``<|image|> x 256``."""
    return _PLACES.sub(lambda found: f"{found[1]} x {len(found[0]) // len(found[1])}", prompt)


async def _seeing(client: EngineClient) -> tuple[Picture, ...]:
    """The picture of trial reads. Raises UserError where the engine does not see."""
    sight = await find_sight(client)
    if sight.sees == "no":
        raise blind(sight)
    return (probe_picture(),)


def check_reading(questions: Sequence[Question], method: Method) -> None:
    """Check what needs no engine: ``Reader.open`` does, and whoever would start an engine for it before that.

    Raises:
        InputError: no questions, a setting out of range, or one that the wire does not have.
    """
    check_draws(method)
    if not 1 <= method.steps <= MAX_STEPS:
        raise InputError(
            "reads.steps_out_of_range", "steps must be 1 to {high}, not {steps}", high=MAX_STEPS, steps=method.steps
        )
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
    if method.wire == "native":
        check_native(method)
