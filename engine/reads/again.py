"""A read that fails with status 500 once more, alone.

vLLM issue 45689: reads that run together can take each other's logprobs and fail with 500. Repeated one at a time,
such a read is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from engine.errors import EngineRefused

NOTE = "read again alone after the engine answered 500"


class AgainAlone:
    """Repeats failed reads one at a time."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def __call__[T](self, read: Callable[[], Awaitable[T]]) -> tuple[T, str]:
        """What the read gives, and a note when it took two.

        Raises:
            EngineRefused: any other refusal, or a second 500.
        """
        try:
            return await read(), ""
        except EngineRefused as refusal:
            if refusal.status != 500:
                raise
            async with self._turn:
                return await read(), NOTE
