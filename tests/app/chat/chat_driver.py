"""Drives the chat page over a stand-in engine whose answers a test writes beforehand."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from desk_driver import expect, within
from fakes.wire_server import WireServer, delta, error, sse

from app.models.notice import Notice
from app.notify import NotificationSink
from app.pages.chat import ChatPage
from app.presenters.chat import ChatPresenter
from app.presenters.engine import EngineChoice, EnginePresenter
from app.presenters.settings import SettingsPresenter
from app.windows.chat_room import ChatRoom
from engine.domain.conversation import StoredMessage

CHAT = "/v1/chat/completions"
WINDOW = 2048
PICTURE = 260  # tokens of any picture
MAGIC = {
    "data:image/png": b"\x89PNG",
    "data:image/jpeg": b"\xff\xd8",
    "data:image/webp": b"RIFF",
    "data:image/gif": b"GIF8",
}


@dataclass
class Answer:
    """One answer of the stand-in.

    Attributes:
        canvases: the text of each.
        finish: the reason of its end; None: the connection breaks instead.
        hold_after: canvases after which it waits until the request ends; None for never.
        thought: what the model thinks before.
    """

    canvases: Sequence[str] = ("An answer.",)
    finish: str | None = "stop"
    hold_after: int | None = None
    thought: str = ""


@dataclass
class Script:
    """The stand-in's answers in order; the last one is repeated."""

    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    running: int = 0
    window: int = WINDOW
    sees: bool | None = False  # None: it has no way of telling
    hold_render: asyncio.Event | None = None  # the question whether it sees is answered when this is set

    async def chat(self, request: web.Request) -> web.StreamResponse:
        shown = [picture for message in (await request.json())["messages"] for picture in pictures_in(message)]
        if shown and not self.sees:
            return error(400, "this model takes text only")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.running += 1
        try:
            if answer.thought:
                await response.write(sse(delta(reasoning=answer.thought)))
            if answer.hold_after == 0:
                await asyncio.Event().wait()
            for number, text in enumerate(answer.canvases, 1):
                await response.write(sse(delta(text)))
                if number == answer.hold_after:
                    await asyncio.Event().wait()
            if answer.finish is None:
                assert request.transport is not None
                request.transport.abort()
                return response
            tokens = sum(len(text.split()) for text in answer.canvases)
            usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": tokens}}
            with suppress(ConnectionError):
                await response.write(sse(delta("", finish=answer.finish), usage, "[DONE]"))
        finally:
            self.running -= 1
        return response

    async def tokenize(self, request: web.Request) -> web.StreamResponse:
        """A token for each word and three for each message; a window of words is too long to be counted."""
        body = await request.json()
        if "prompt" in body:
            return web.json_response({"tokens": list(range(len(body["prompt"].split()))), "count": 0})
        shown = sum(len(pictures_in(message)) for message in body["messages"])
        if shown and not self.sees:
            return error(404 if self.sees is None else 400, "no pictures here")
        count = PICTURE * shown + sum(3 + len(text_of(message).split()) for message in body["messages"])
        if count > 4 * self.window:
            return error(400, "too long")
        return web.json_response({"tokens": [], "count": count, "max_model_len": self.window})

    async def render(self, request: web.Request) -> web.StreamResponse:
        """What a prompt becomes; pictures have their places in it where the model sees."""
        if self.hold_render is not None:
            await self.hold_render.wait()
        if self.sees is None:
            return error(404, "not here")
        shown = [picture for message in (await request.json())["messages"] for picture in pictures_in(message)]
        if shown and not self.sees:
            return error(400, "this model takes text only")
        places = [{"offset": 1, "length": PICTURE} for _picture in shown]
        return web.json_response({"token_ids": [1, 2], "features": {"mm_placeholders": {"image": places}}})


def pictures_in(message: dict[str, Any]) -> list[bytes]:
    """The pictures of a message, in vLLM's shape and no other: parts, pictures first, then at most one text."""
    content = message["content"]
    if isinstance(content, str):
        return []
    assert message["role"] == "user"
    kinds = [part["type"] for part in content]
    assert "text" not in kinds[:-1], kinds
    found = []
    for part in content:
        if part["type"] == "text":
            assert set(part) == {"type", "text"}
            continue
        assert (set(part), set(part["image_url"])) == ({"type", "image_url"}, {"url"})
        head, data = part["image_url"]["url"].split(";base64,")
        found.append(base64.b64decode(data, validate=True))
        assert found[-1].startswith(MAGIC[head]), head
    return found


def text_of(message: dict[str, Any]) -> str:
    """The text of a message, with or without pictures."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@dataclass
class Room:
    """The chat without a window around it."""

    server: WireServer
    script: Script
    engine: EnginePresenter
    page: ChatPage
    room: ChatRoom
    settings: SettingsPresenter
    notices: list[Notice]

    @property
    def chat(self) -> ChatPresenter:
        return self.room.chat

    def say(self, *answers: Answer) -> None:
        self.script.answers = list(answers)

    def asked(self) -> list[list[dict[str, str]]]:
        """The messages of every chat request."""
        return [body["messages"] for body in self.server.bodies(CHAT)]

    def bodies(self) -> list[dict[str, Any]]:
        return self.server.bodies(CHAT)

    def path(self) -> list[StoredMessage]:
        return self.chat.store.page(self.chat.tip)

    def texts(self) -> list[str]:
        return [message.text for message in self.path()]

    def shown(self) -> list[str]:
        return [view.text for view in self.page.transcript.messages]

    async def ask(self, text: str) -> StoredMessage:
        return await self.ended(lambda: self.chat.send(text))

    async def ended(self, begin: Callable[[], object]) -> StoredMessage:
        """Begins an answer and waits for its end."""
        idle = expect(self.chat.answering_changed.connect, lambda answering: not answering)
        finished = expect(self.chat.finished.connect)
        assert begin() is not False
        (message,) = await within(finished)
        await within(idle)
        assert isinstance(message, StoredMessage)
        return message

    async def close(self) -> None:
        await self.room.close_down()
        await self.engine.close_down()
        self.page.hide()
        self.page.deleteLater()


Reopen = Callable[..., Awaitable[Room]]


async def open_room(server: WireServer, script: Script) -> Room:
    """A room over the stand-in; the conversations of the test's home are in it."""
    server.models[0]["max_model_len"] = script.window
    server.handlers[CHAT] = script.chat
    server.handlers["/tokenize"] = script.tokenize
    server.handlers[f"{CHAT}/render"] = script.render
    notifier = NotificationSink()
    notices: list[Notice] = []
    notifier.noticed.connect(notices.append)
    settings = SettingsPresenter(notifier)
    engine = EnginePresenter(EngineChoice("url", server.url))
    page = ChatPage()
    page.resize(1000, 760)
    room = ChatRoom(page, engine, settings, notifier)
    engine.state_changed.connect(page.set_engine_state)
    await engine.start_now()
    page.show()
    return Room(server, script, engine, page, room, settings, notices)
