"""Reads through ``/v1/systemone``, the endpoint that a foreign server has.

The server words the prompt, places the label and draws the noise itself (from the prompt, so a repeated read sees the
same canvas). There are no further draws: a fixed number of them is refused, ``auto`` makes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.client.http import EngineClient
from engine.client.wire import QuestionSpec, SystemOneRequest, SystemOneResponse
from engine.domain.picture import Picture
from engine.domain.question import Choice, Noul, Question, Score
from engine.domain.reading import Draw, Method
from engine.errors import EngineRefused, InputError
from engine.reads.again import AgainAlone
from engine.reads.plain_text import as_text
from engine.reads.seen import Seen

ONE_DRAW = "this wire makes one draw a question: no standard error and no agreement"


class NativeWire:
    """System One reads; all questions of a row go in one request."""

    def __init__(self, client: EngineClient, questions: Sequence[Question], method: Method) -> None:
        self._client = client
        self._questions = tuple(questions)
        self._again = AgainAlone()
        # One question is read alone, also by a server that is asked to read jointly.
        self._joint = method.joint and len(self._questions) > 1

    @classmethod
    async def open(
        cls, client: EngineClient, questions: Sequence[Question], method: Method, pictures: Sequence[Picture] = ()
    ) -> NativeWire:
        """Makes one trial read, since neither /health nor the model list tells whether decisions are served.

        Args:
            pictures: of the trial read.

        Raises:
            InputError: more than one draw or denoise step is asked for.
            EngineRefused: the engine does not take such reads; the message is its own.
            EngineUnreachable: nobody answers.
        """
        check_native(method)
        wire = cls(client, questions, method)
        try:
            await wire._ask("", pictures)
        except EngineRefused as refusal:
            if not pictures or refusal.status not in (400, 422):
                raise
            raise EngineRefused(
                "reads.native_blind",
                "the native wire of this engine takes no pictures: {detail}",
                remedy="use the canvas wire; for DiffusionGemma vLLM's native wire takes pictures from 0.33 on",
                status=refusal.status,
                detail=refusal.params.get("detail") or str(refusal),
            ) from refusal
        return wire

    @property
    def canvases(self) -> int:
        """Reads that a row takes as far as is known: what shares a canvas is the server's own affair."""
        return 1 if self._joint else len(self._questions)

    async def seen(self, state: str, row_key: str, pictures: Sequence[Picture] = ()) -> list[Seen]:
        """What was seen of each question; a refusal fails them all, since they share a request.

        Args:
            row_key: not used, since the server draws the noise from the prompt.
        """
        try:
            draws, note = await self._again(lambda: self._ask(state, pictures))
        except EngineRefused as refusal:
            return [Seen(question, (), self._joint, refusal=str(refusal)) for question in self._questions]
        return [
            Seen(question, (draw,), self._joint, note) for question, draw in zip(self._questions, draws, strict=True)
        ]

    async def _ask(self, state: str, pictures: Sequence[Picture]) -> list[Draw]:
        response = await self._client.systemone(
            system_one_request(state, self._questions, joint=self._joint, pictures=pictures)
        )
        if self._joint and response.joint is None:
            raise EngineRefused(
                "engine.no_joint_reads",
                "the engine read the questions alone although joint reads were asked for",
                remedy="joint native reads need vLLM 0.33 or newer",
                status=200,
            )
        return [_draw(response, str(number), question) for number, question in enumerate(self._questions, start=1)]


def check_native(method: Method) -> None:
    """Raises InputError when more than one draw or denoise step is asked for."""
    if method.draws not in ("auto", 1):
        raise InputError(
            "reads.native_has_one_draw",
            "{draws} draws are asked for, but the native wire makes one draw a question",
            remedy="use the canvas wire, or draws: 1",
            draws=method.draws,
        )
    if method.steps > 1:
        raise InputError(
            "reads.native_has_one_step",
            "{steps} denoise steps are asked for, but the native wire makes one",
            remedy="use the canvas wire, or steps: 1",
            steps=method.steps,
        )


def system_one_request(
    state: str, questions: Sequence[Question], *, joint: bool = False, pictures: Sequence[Picture] = ()
) -> SystemOneRequest:
    """The request; questions are named 1, 2, ... in it, since an id of the user's may be one that servers refuse."""
    specs = {str(number): _spec(question) for number, question in enumerate(questions, start=1)}
    images = tuple(picture.data_url for picture in pictures) or None
    return SystemOneRequest(state=as_text(state), questions=specs, images=images, joint=True if joint else None)


def _spec(question: Question) -> QuestionSpec:
    criteria: Mapping[str, str | None] | tuple[str, ...] | None
    match question:
        case Noul():
            sides = {"true": question.true_means, "false": question.false_means}
            criteria = {side: as_text(text) for side, text in sides.items() if text} or None
        case Choice():
            criteria = {as_text(each.name): as_text(each.description) or None for each in question.options}
        case Score():
            criteria = tuple(map(as_text, question.levels))
    return QuestionSpec(
        type=question.type,
        instructions=as_text(question.instructions),
        criteria=dict(criteria) if isinstance(criteria, Mapping) else criteria,
    )


def _draw(response: SystemOneResponse, name: str, question: Question) -> Draw:
    """The server's shares and label mass as one draw: masses are shares times label mass."""
    try:
        probabilities, diagnostics = response.answers[name].probabilities, response.diagnostics[name]
        shares = [probabilities[as_text(answer)] for answer in question.answers]
    except KeyError as missing:
        raise EngineRefused(
            "engine.incomplete_read",
            "the engine's answer to a read lacks {missing}",
            status=200,
            missing=missing.args[0],
        ) from None
    return Draw(tuple(share * diagnostics.label_mass for share in shares), diagnostics.argmax_is_label)
