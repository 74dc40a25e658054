"""Several coroutines at once, with the first failure as a plain exception."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def together[T](jobs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs the jobs concurrently and gives their results in order.

    Raises:
        Exception: the first job's that failed; the others are cancelled and waited for.
    """
    if len(jobs) == 1:
        return [await jobs[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
