"""The one way to start a coroutine from Qt code: with an owner, a name and a path for errors."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject

_KEPT = "_desk_tasks"


def spawn(
    owner: QObject,
    coro: Coroutine[Any, Any, Any],
    name: str,
    on_error: Callable[[Exception], None] | None = None,
) -> asyncio.Task[Any]:
    """Runs ``coro`` on the running loop until it ends or its owner goes.

    The owner holds the reference, so the task cannot vanish; when Qt destroys the owner, the task is cancelled.

    Args:
        name: shows up in logs and in the error report.
        on_error: gets the exception; without it the loop's exception handler does, which is the notification sink.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(coro, name=name)
    tasks: set[asyncio.Task[Any]] = owner.__dict__.setdefault(_KEPT, set())
    tasks.add(task)
    connection = owner.destroyed.connect(lambda: _cancel(task))

    def done(finished: asyncio.Task[Any]) -> None:
        tasks.discard(finished)
        with contextlib.suppress(RuntimeError, TypeError):  # the owner may be gone already
            owner.destroyed.disconnect(connection)
        if finished.cancelled():
            return
        error = finished.exception()
        if error is None:
            return
        if on_error is not None and isinstance(error, Exception):
            on_error(error)
        else:
            loop.call_exception_handler({"message": f"task {name} failed", "exception": error, "task": finished})

    task.add_done_callback(done)
    return task


def spawn_late(owner: QObject, make: Callable[[], Coroutine[Any, Any, Any]], name: str) -> None:
    """``spawn`` for a timer's slot: a timer may fire once more when the loop has ended, and then nothing is to do."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    spawn(owner, make(), name)


async def cancel_all(owner: QObject) -> None:
    """Cancels the owner's tasks and waits until they have ended."""
    tasks = [task for task in owner.__dict__.get(_KEPT, ()) if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _cancel(task: asyncio.Task[Any]) -> None:
    if not task.done() and not task.get_loop().is_closed():
        task.cancel()
