"""Reading a choice once per cyclic rotation of its options, so that no option profits from its letter.

Rotation r of K options puts option i at place (i - r) mod K; what was seen there is mapped back to i. The draws of all
rotations are then folded like the draws of one read: shares are means, draw 0 is that of the order in the form. So
each option stands at each letter equally often. Noul and score questions have no order to turn and are read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from engine.client.http import EngineClient
from engine.domain.picture import Picture
from engine.domain.question import Choice, Question
from engine.domain.reading import Draw, Method
from engine.reads.canvas_wire import CanvasWire
from engine.reads.native import NativeWire
from engine.reads.seen import Seen
from engine.reads.served import Served
from engine.reads.together import together


class Wire(Protocol):
    """What reads questions about a state."""

    @property
    def canvases(self) -> int:
        """Reads that a row takes, further draws not counted."""
        ...

    async def seen(self, state: str, row_key: str, pictures: Sequence[Picture] = ()) -> list[Seen]:
        """What was seen of each question, in order."""
        ...


class RotatingWire:
    """One wire per rotation. Made by ``open``."""

    def __init__(self, questions: Sequence[Question], wires: Sequence[CanvasWire | NativeWire]) -> None:
        self.questions = tuple(questions)
        self.wires = tuple(wires)  # the first asks in the form's order

    @classmethod
    async def open(
        cls,
        client: EngineClient,
        questions: Sequence[Question],
        method: Method,
        served: Served | None,
        pictures: Sequence[Picture] = (),
    ) -> RotatingWire:
        """Opens a wire per rotation.

        With ``auto`` each rotation makes one draw: the rotations are the further draws.

        Args:
            pictures: of the trial reads.

        Raises:
            InputError, EngineRefused, EngineUnreachable: as the wires.
        """
        each = replace(method, rotate=False, draws=1 if method.draws == "auto" else method.draws)
        wires: list[CanvasWire | NativeWire] = []
        for turn in range(most_turns(questions)):
            asked = turned(questions, turn, joint=method.joint)
            if method.wire == "native":
                wires.append(await NativeWire.open(client, asked, each, pictures))
            else:
                wire = await CanvasWire.open(client, asked, each, served, pictures)
                served = wire.served
                wires.append(wire)
        return cls(questions, wires)

    @property
    def canvases(self) -> int:
        """Reads that a row takes, further draws not counted."""
        return sum(wire.canvases for wire in self.wires)

    async def seen(self, state: str, row_key: str, pictures: Sequence[Picture] = ()) -> list[Seen]:
        """All rotations of each question as one: draws in the order of the turns, labels mapped back."""
        by_turn = await together([wire.seen(state, row_key, pictures) for wire in self.wires])
        return [self._of(question, by_turn) for question in self.questions]

    def _of(self, question: Question, by_turn: Sequence[Sequence[Seen]]) -> Seen:
        parts = []
        for turn in range(turns(question)):
            found = next(seen for seen in by_turn[turn] if seen.question.id == question.id)
            parts.append(replace(found, draws=tuple(turned_back(draw, turn) for draw in found.draws)))
        return Seen(
            question=question,
            draws=tuple(draw for part in parts for draw in part.draws),
            joint=parts[0].joint,
            note=next((part.note for part in parts if part.note), ""),
            refusal=next((part.refusal for part in parts if part.refusal), ""),
        )


def turns(question: Question) -> int:
    """How many rotations a question has: its options, or one."""
    return len(question.options) if isinstance(question, Choice) else 1


def most_turns(questions: Sequence[Question]) -> int:
    """Rotations of the longest choice."""
    return max(turns(question) for question in questions)


def turned(questions: Sequence[Question], turn: int, *, joint: bool) -> tuple[Question, ...]:
    """What is asked in one turn: alone the choices that have such a rotation, jointly all questions again.

    On a shared canvas a question that has been through all its rotations keeps its place and is not counted again.
    """
    return tuple(rotated(question, turn % turns(question)) for question in questions if joint or turn < turns(question))


def rotated(question: Question, turn: int) -> Question:
    """The question with its options moved up by ``turn`` places, the first ones to the end."""
    if not isinstance(question, Choice) or turn == 0:
        return question
    return replace(question, options=question.options[turn:] + question.options[:turn])


def turned_back(draw: Draw, turn: int) -> Draw:
    """A draw of a rotated choice with its masses in the form's order."""
    size = len(draw.masses)
    return replace(draw, masses=tuple(draw.masses[(place - turn) % size] for place in range(size)))
