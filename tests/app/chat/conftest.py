"""The chat page over a stand-in engine, and a way to open it again as after a new start."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from chat_driver import Reopen, Room, Script, open_room
from fakes.wire_server import WireServer
from pytestqt.qtbot import QtBot


@pytest.fixture
async def server(qtbot: QtBot) -> AsyncIterator[WireServer]:
    async with WireServer() as running:
        yield running


@pytest.fixture
async def rooms(server: WireServer) -> AsyncIterator[Reopen]:
    """Opens a room; the one before is closed first, and its script goes on where no other is given."""
    opened: list[Room] = []

    async def reopen(script: Script | None = None) -> Room:
        if opened:
            await opened[-1].close()
        opened.append(await open_room(server, script or (opened[-1].script if opened else Script())))
        return opened[-1]

    yield reopen
    if opened:
        await opened[-1].close()


@pytest.fixture
async def room(rooms: Reopen) -> Room:
    return await rooms()
