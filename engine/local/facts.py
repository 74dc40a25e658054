"""What the look before a start wants to know beside the machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine import paths
from engine.client.http import EngineClient
from engine.errors import EngineRefused, EngineUnreachable, InputError
from engine.launch.preflight import Facts, look_at_disk
from engine.local.launch import HOST, cache_dir
from engine.runtime.places import Environment
from engine.supervise.leftovers import find_leftovers
from engine.supervise.ports import bind_port, port_holder

LOOK_S = 5.0  # for a server on the port to say what it serves


async def gather_facts(environment: Environment | None, checkpoint: Path | None, port: int, api_key: str) -> Facts:
    """The facts for :func:`engine.launch.preflight.preflight`; blocking looks are made on a thread.

    Args:
        api_key: to ask with when something answers on the port; empty for none.
    """
    taken, holder = await asyncio.to_thread(_look_at_port, port)
    leftovers = await asyncio.to_thread(find_leftovers, paths.runtime_dir())
    return Facts(
        environment=environment.path if environment else None,
        checkpoint=checkpoint,
        port=port,
        port_taken=taken,
        port_holder=holder,
        served=await _served(f"http://{HOST}:{port}", api_key) if taken else "",
        leftovers=tuple(process.pid for leftover in leftovers for process in leftover.processes),
        cache_free=await asyncio.to_thread(look_at_disk, cache_dir()),
    )


def _look_at_port(port: int) -> tuple[bool, str]:
    try:
        bind_port(HOST, port).close()
    except InputError:
        return True, port_holder(port)
    return False, ""


async def _served(url: str, api_key: str) -> str:
    """What a server serves; empty when none that is like ours answers."""
    async with EngineClient(url, api_key=api_key or None, timeout_s=LOOK_S) as client:
        if not await client.health():
            return ""
        try:
            cards = await client.models()
        except EngineRefused as error:
            return "a model behind a key" if error.status == 401 else ""
        except EngineUnreachable:
            return ""
        return ", ".join(card.id for card in cards)
