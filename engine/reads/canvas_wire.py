"""Reads through token ids: render, append the empty thought block, look at a seeded canvas once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from engine.client.http import EngineClient
from engine.client.wire import FramedRead
from engine.domain.picture import Picture
from engine.domain.question import Question
from engine.domain.reading import Draw, Method
from engine.errors import EngineRefused, InputError
from engine.reads.again import AgainAlone
from engine.reads.canvas import Specials
from engine.reads.draws import first_draws, more_draws, slot_draw
from engine.reads.labels import find_specials
from engine.reads.noise import draw_noise, prompt_noise
from engine.reads.pictured import Prompt, render
from engine.reads.seen import Seen
from engine.reads.served import Served, find_served
from engine.reads.sheet import Sheet, alone_sheets, joint_sheets
from engine.reads.together import together

AT_ONCE = 16  # reads of one row that are under way together; rows run beside each other as well


@dataclass(frozen=True, slots=True)
class SheetRead:
    """What was seen of one sheet.

    Attributes:
        prompt_ids: as rendered, without the thought block.
        noise: of draw 0, one token per slot.
        draws: per question in the sheet's order, draw 0 first.
        note: empty, or that a read had to be repeated.
    """

    prompt_ids: tuple[int, ...]
    noise: tuple[int, ...]
    draws: tuple[tuple[Draw, ...], ...]
    note: str = ""


class CanvasWire:
    """Reads through ``/v1/chat/completions/render`` and ``/inference/v1/generate``."""

    def __init__(
        self, client: EngineClient, method: Method, sheets: Sequence[Sheet], specials: Specials, served: Served
    ) -> None:
        self.sheets = tuple(sheets)
        self.specials = specials
        self.served = served
        self._client = client
        self._method = method
        self._again = AgainAlone()
        self._frames = {sheet.question_ids: sheet.frame(served.spare_id, method.steps) for sheet in sheets}

    @classmethod
    async def open(
        cls,
        client: EngineClient,
        questions: Sequence[Question],
        method: Method,
        served: Served | None,
        pictures: Sequence[Picture] = (),
    ) -> CanvasWire:
        """Checks the labels, finds out what is served and makes one trial read of the largest sheet.

        Args:
            pictures: of the trial read.

        Raises:
            InputError: a label is not one token, a canvas does not fit.
            EngineRefused: the engine does not take such reads; the message is its own.
            EngineUnreachable: nobody answers.
        """
        specials = await find_specials(client.tokenize)
        # One question reads best alone, also in a joint run; vLLM does the same.
        joint = method.joint and len(questions) > 1
        if served is None:
            served = await find_served(client, specials, at_least=method.canvas_length, joint=joint)
        if method.canvas_length > served.canvas_length:
            raise InputError(
                "reads.canvas_too_long",
                "canvas_length {length} is more than the {limit} slots that the engine serves",
                length=method.canvas_length,
                limit=served.canvas_length,
            )
        if joint:
            sheets = await joint_sheets(client.tokenize, questions, specials, served.canvas_length)
        else:
            sheets = await alone_sheets(client.tokenize, questions, specials, method.canvas_length)
        wire = cls(client, method, sheets, specials, served)
        await wire._trial(max(sheets, key=lambda sheet: len(sheet.label_ids)), pictures)
        return wire

    @property
    def canvases(self) -> int:
        """Reads that a row takes, further draws not counted."""
        return len(self.sheets)

    async def seen(self, state: str, row_key: str, pictures: Sequence[Picture] = ()) -> list[Seen]:
        """What was seen of every question, in the order of the sheets."""
        free = asyncio.Semaphore(AT_ONCE)
        parts = await together([self._sheet_seen(sheet, state, row_key, pictures, free) for sheet in self.sheets])
        return [seen for part in parts for seen in part]

    async def look(
        self,
        sheet: Sheet,
        state: str,
        row_key: str,
        pictures: Sequence[Picture] = (),
        free: asyncio.Semaphore | None = None,
    ) -> SheetRead:
        """Makes the draws of one sheet.

        Raises:
            EngineRefused, EngineUnreachable: as the client.
        """
        free = free or asyncio.Semaphore(AT_ONCE)
        async with free:
            prompt = await render(self._client, sheet.prompt(state), pictures)
        noises = [self._noise(sheet, prompt.ids, row_key, draw) for draw in range(first_draws(self._method))]
        seen = await self._draws(sheet, prompt, noises, free)
        extra = more_draws(self._method, seen[0][0])
        if extra:
            more = [self._noise(sheet, prompt.ids, row_key, draw) for draw in range(1, 1 + extra)]
            seen += await self._draws(sheet, prompt, more, free)
        by_question = tuple(zip(*(draws for draws, _ in seen), strict=True))
        return SheetRead(prompt.ids, noises[0], by_question, next((note for _, note in seen if note), ""))

    async def _sheet_seen(
        self, sheet: Sheet, state: str, row_key: str, pictures: Sequence[Picture], free: asyncio.Semaphore
    ) -> list[Seen]:
        try:
            read = await self.look(sheet, state, row_key, pictures, free)
        except EngineRefused as refusal:
            return [Seen(question, (), sheet.joint, refusal=str(refusal)) for question in sheet.questions]
        return [
            Seen(question, draws, sheet.joint, read.note)
            for question, draws in zip(sheet.questions, read.draws, strict=True)
        ]

    async def _draws(
        self,
        sheet: Sheet,
        prompt: Prompt,
        noises: Sequence[tuple[int, ...]],
        free: asyncio.Semaphore,
    ) -> list[tuple[list[Draw], str]]:
        ids = prompt.sent + self.specials.thought
        frame = self._frames[sheet.question_ids]
        requests = [frame.filled(ids, sheet.canvas.seeded(noise), prompt.parts) for noise in noises]
        return await together([self._draw(sheet, request, free) for request in requests])

    async def _draw(self, sheet: Sheet, request: FramedRead, free: asyncio.Semaphore) -> tuple[list[Draw], str]:
        """One draw of every question of the sheet, and a note when it took two reads."""
        async with free:
            response, note = await self._again(lambda: self._client.generate(request))
        return [
            slot_draw(response, position, groups)
            for position, groups in zip(sheet.canvas.slots, sheet.groups, strict=True)
        ], note

    def _noise(self, sheet: Sheet, prompt_ids: tuple[int, ...], row_key: str, draw: int) -> tuple[int, ...]:
        slots, size = len(sheet.canvas.slots), self.served.vocab_size
        if draw == 0:
            return prompt_noise(prompt_ids, slots, size)
        return draw_noise(self._method.seed, row_key, sheet.question_ids, draw, slots, size)

    async def _trial(self, sheet: Sheet, pictures: Sequence[Picture]) -> None:
        prompt = await render(self._client, sheet.prompt(""), pictures)
        noise = self._noise(sheet, prompt.ids, "", 0)
        await self._draws(sheet, prompt, [noise], asyncio.Semaphore(1))
