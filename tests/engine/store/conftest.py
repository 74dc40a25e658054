"""Fixtures of the conversations' store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chats_clock import Clock

from engine.store.chats import ChatStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[ChatStore]:
    with ChatStore(tmp_path / "chats.sqlite", clock=clock) as opened:
        yield opened
