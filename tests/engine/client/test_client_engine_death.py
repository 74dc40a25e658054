"""A real engine process that is killed while it answers: what came stays, and the loss is told at once."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

import pytest

from engine.client.http import EngineClient
from engine.domain.chat import CanvasCommitted, ChatEvent, Failed, Finished, Message
from engine.domain.question import Noul
from engine.domain.reading import Method
from engine.errors import EngineUnreachable
from engine.reads.reader import Reader

SERVE = """
import asyncio
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import run_server
from engine.paths import demo_model_dir
engine = EmbeddedEngine.load(demo_model_dir(), threads=1)
asyncio.run(run_server(engine, on_ready=lambda url: print(url, flush=True)))
"""


@asynccontextmanager
async def engine_process(root: Path) -> AsyncIterator[tuple[Process, str]]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE, cwd=root, stdout=PIPE)
    try:
        assert process.stdout is not None
        yield process, (await process.stdout.readline()).decode().strip()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_a_killed_engine_fails_its_chats_and_what_came_stays(root: Path) -> None:
    async with engine_process(root) as (process, url), EngineClient(url) as client:

        async def ask() -> list[ChatEvent]:
            seen: list[ChatEvent] = []
            async with aclosing(client.chat([Message("user", "Write a long story.")])) as answer:
                async for event in answer:
                    if not seen and process.returncode is None:
                        process.send_signal(signal.SIGKILL)
                    seen.append(event)
            return seen

        # Several at once: they take turns canvas by canvas, so most are unfinished when the first canvas arrives.
        async with asyncio.timeout(240), asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask()) for _ in range(6)]
        answers = [task.result() for task in tasks]
        assert any(isinstance(seen[0], CanvasCommitted) for seen in answers)
        assert any(isinstance(seen[-1], Failed) for seen in answers)
        assert all(isinstance(seen[-1], Failed | Finished) for seen in answers)
        assert not await client.health()


async def test_a_killed_engine_is_raised_from_a_read(root: Path) -> None:
    async with engine_process(root) as (process, url), EngineClient(url) as client:
        reader = await Reader.open(client, [Noul("q", "Is it so?")], Method())
        assert (await reader.read("It is so.", row_key="1"))[0].status != "error"
        process.send_signal(signal.SIGKILL)
        await process.wait()
        with pytest.raises(EngineUnreachable):
            await reader.read("It is so.", row_key="2")
