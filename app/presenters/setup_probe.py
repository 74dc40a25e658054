"""The first questions to an engine, and who a server elsewhere is."""

from __future__ import annotations

import time

from app.models.setup import ProbeAnswer
from engine.client.http import EngineClient
from engine.domain.chat import CanvasCommitted, Failed, Message
from engine.domain.question import Noul
from engine.domain.reading import Method
from engine.errors import UserError
from engine.local.facts import LOOK_S
from engine.reads.reader import Reader
from engine.supervise.adopted import AdoptedEngine

CHAT = "Say hello in one short sentence."
STATE = "The kettle is on the stove and the water is boiling."
QUESTION = "Is the water hot?"
CHAT_TOKENS = 128  # one canvas; a greeting needs no more


async def look_at_server(url: str, api_key: str) -> str:
    """What a server elsewhere says about itself, in words.

    Raises:
        UserError: the address is none, nobody answers, the key is wrong, or it serves nothing.
    """
    async with EngineClient(url, api_key=api_key or None, timeout_s=LOOK_S) as client:
        card = await AdoptedEngine(client).adopt()
        return f"{card.id}, {card.max_model_len:,} tokens of context" if card.max_model_len else card.id


async def first_questions(client: EngineClient) -> ProbeAnswer:
    """One chat and one read, as the pages ask them.

    Raises:
        UserError: one of them fails; says which and why.
    """
    began = time.monotonic()
    said: list[str] = []
    async for event in client.chat([Message("user", CHAT)], max_tokens=CHAT_TOKENS):
        if isinstance(event, Failed):
            raise UserError("setup.probe_chat", "the first chat failed: {why}", why=event.message)
        if isinstance(event, CanvasCommitted):
            said.append(event.text)
    chatted = time.monotonic()
    question = Noul(id="probe", instructions=QUESTION)
    reader = await Reader.open(client, (question,), Method())
    (reading,) = await reader.read(STATE, row_key="probe")
    if reading.status == "error":
        raise UserError("setup.probe_read", "the first read failed: {why}", why=reading.error)
    return ProbeAnswer(
        chat="".join(said).strip(),
        chat_s=chatted - began,
        canvases=len(said),
        question=f"{STATE} {QUESTION}",
        answer=_answer(reading.shares, question.answers),
        label_mass=reading.label_mass or 0.0,
        read_s=time.monotonic() - chatted,
    )


def _answer(shares: tuple[float, ...], labels: tuple[str, ...]) -> str:
    if not shares:
        return "unreadable"
    best = max(range(len(shares)), key=shares.__getitem__)
    return f"{labels[best]}, {shares[best]:.0%}"
