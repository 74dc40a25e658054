"""Frames of what is never committed: of a canvas that was begun when the answer ended, of no request that is known."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from chat_driver import Room, Script, open_room
from fakes.wire_server import WireServer, delta, sse

from app.models.canvas import CanvasSnapshot
from app.models.engine_state import TOY_OWNER
from engine.client.live import LiveChannel
from engine.vllm_plugin import protocol

SLOTS = 4
Step = tuple[int, bool]  # number of the frame, and whether it commits its canvas


@dataclass
class Framed(Script):
    """Sends frames as an engine does, and the text of a canvas where the plan says so.

    Attributes:
        plan: steps to be sent, and texts.
    """

    path: Path = Path()
    plan: tuple[Step | str, ...] = ()
    asked: str = ""  # the name under which the last request wants its frames

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.asked = (await request.json())["vllm_xargs"]["dg_live"]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for each in self.plan:
            if isinstance(each, str):
                await response.write(sse(delta(each)))
            else:
                self.send(self.asked, *each)
                self.send("somebody-else", *each)
        await response.write(sse(delta("", finish="stop"), "[DONE]"))
        return response

    def send(self, name: str, number: int, converged: bool) -> None:
        accepted, nats = (True,) * SLOTS, (0.5,) * SLOTS
        data = protocol.frame(name, number, 48 - number, converged, (500 + number,) * SLOTS, accepted, nats)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(data, str(self.path))


@pytest.fixture
async def framed(server: WireServer, tmp_path: Path) -> AsyncIterator[tuple[Room, Framed]]:
    """A room over an engine that sends frames, whose ids the demo model's vocabulary can read."""
    server.models[0]["owned_by"] = TOY_OWNER
    script = Framed(path=tmp_path / "live.sock")
    async with LiveChannel(script.path) as live:
        room = await open_room(server, script)
        room.engine.live = live
        yield room, script
        room.engine.live = None
        await room.close()


@pytest.mark.parametrize(
    ("plan", "shown", "steps"),
    [
        (((1, False), (2, True), "one"), [(1, 1), (1, 2)], 2),
        (((1, False), (2, True), (3, False), "one"), [(1, 1), (1, 2)], 2),
        (((1, False), (2, True), "one", (3, False)), [(1, 1), (1, 2)], 2),
        (((1, False), (2, True), (3, True), "one"), [(1, 1), (1, 2)], 2),
        (((1, True), "one", (2, True), "two", (3, False)), [(1, 1), (2, 1)], 2),
        (((1, True), (2, False), "one", (4, True), "two", (5, False)), [(1, 1), (2, 1), (2, 3)], 4),
        (((1, False), (2, False), (1, False), (3, True), "one"), [(1, 1), (1, 2), (1, 3)], 3),
    ],
    ids=["as it should be", "before the text", "after the text", "at once sure", "of one step", "a lost one", "twice"],
)
async def test_a_canvas_that_is_never_committed_is_not_shown(
    framed: tuple[Room, Framed], plan: tuple[Step | str, ...], shown: list[Step], steps: int
) -> None:
    room, script = framed
    script.plan = plan
    pictures: list[CanvasSnapshot] = []
    room.chat.canvas_changed.connect(pictures.append)
    answer = await room.ask("q")
    assert [(picture.canvas, picture.step) for picture in pictures] == shown
    assert room.page.canvas.steps == len(shown)
    assert answer.figures.denoise_steps == steps


async def test_a_frame_after_the_end_changes_nothing(framed: tuple[Room, Framed]) -> None:
    room, script = framed
    script.plan = ((1, False), (2, True), "one")
    await room.ask("q")
    live, view = room.engine.live, room.page.canvas
    assert live is not None
    before, dropped = (view.steps, view.grab().toImage()), live.dropped
    script.send(script.asked, 3, False)
    script.send(script.asked, 4, True)
    script.send("never-asked", 1, False)
    live.drain()
    assert live.dropped == dropped + 3
    assert (view.steps, view.grab().toImage()) == before
