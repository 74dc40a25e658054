"""Work that can be paused and cancelled: it is dropped and begun again from what is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from engine.checkpoints.progress import Steering


class Cancelled(Exception):
    """The user wants no more of it; what is on disk stays."""


class Told(Protocol):
    """Hears of pauses."""

    def paused(self, reason: str) -> None: ...
    def resumed(self) -> None: ...


async def steered[T](work: Callable[[], Coroutine[Any, Any, T]], steering: Steering, listener: Told) -> T:
    """Runs work until it is done, through any number of pauses.

    Args:
        work: may be dropped at any await and called again; then it goes on from what is on disk.

    Raises:
        Cancelled: told so.
    """
    while True:
        await steering.wait_running()
        if steering.cancelled:
            raise Cancelled
        task = await alone(lambda: _until_told(work, steering))
        if task is not None:
            return task.result()
        if steering.cancelled:
            raise Cancelled
        listener.paused(steering.reason or "asked for")
        await steering.wait_running()
        if not steering.cancelled:
            listener.resumed()


async def alone[T](work: Callable[[], Awaitable[T]]) -> T:
    """Awaits work that uses task groups and raises the first error itself, not a group of one."""
    try:
        return await work()
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from group


async def _until_told[T](work: Callable[[], Coroutine[Any, Any, T]], steering: Steering) -> asyncio.Task[T] | None:
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(work())
        told = (tasks.create_task(steering.wait_paused()), tasks.create_task(steering.wait_cancelled()))
        await asyncio.wait((working, *told), return_when=asyncio.FIRST_COMPLETED)
        finished = working.done()
        for task in (working, *told):
            task.cancel()
    return working if finished else None
