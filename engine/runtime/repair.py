"""Making a broken environment whole: only the packages that are not as they were installed are fetched again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.errors import UserError
from engine.runtime.create import Order, build, get_uv, sync
from engine.runtime.files import Damage
from engine.runtime.places import Environment, set_state
from engine.runtime.progress import Listener, Quiet
from engine.runtime.python import look_at
from engine.runtime.remove import drop_cache, refuse_in_use, remove_folder
from engine.runtime.status import environment_at
from engine.runtime.verify import compare, unusable, verify


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did.

    Attributes:
        how: ``whole`` (nothing was wrong), ``packages`` (some were fetched again), ``rebuilt`` (its Python was gone).
        damage: what was found.
    """

    environment: Environment
    how: Literal["whole", "packages", "rebuilt"]
    damage: tuple[Damage, ...] = ()


async def repair(order: Order, listener: Listener | None = None) -> Repaired:
    """Compare every byte with what was installed, and put right what differs. Call from the main thread.

    A repair that is killed is begun again by the next one. Compiled bytecode is not looked at.

    Raises:
        UserError: ``env.none`` when there is none; ``env.in_use`` while an engine runs from it; else as ``create``.
    """
    heard = listener or Quiet()
    spec, places = order.spec, order.places
    with places.locked():
        there = environment_at(places.complete(spec.id))
        if there is None:
            raise UserError(
                "env.none",
                "there is no engine environment to repair in {folder}",
                remedy="make it with `engine-env install`",
                folder=places.root,
            )
        refuse_in_use(there.path)
        if not await _python_works(there):
            heard.note("its Python is gone: the environment is made anew")
            await asyncio.to_thread(remove_folder, there.path)
            return Repaired(await build(order, heard), "rebuilt")
        damage = await compare(there, spec, contents=True, listener=heard)
        if damage or there.mark.state != "complete":
            await _replace(order, there, damage, heard)
        seen = await verify(there, spec, listener=heard)
        if not seen.good:
            raise unusable(seen, "every file is as it was installed: look at the system's libraries, or make it anew")
        mark = replace(there.mark, versions=dict(seen.versions))
        whole = Environment(there.path, set_state(there.path, mark, "complete"))
        return Repaired(whole, "packages" if damage else "whole", damage)


async def _python_works(environment: Environment) -> bool:
    if not os.access(environment.python, os.X_OK):
        return False
    python = await look_at(environment.python)
    return python is not None and environment.mark.python.startswith(f"{python.minor}.")


async def _replace(order: Order, there: Environment, damage: Sequence[Damage], listener: Listener) -> None:
    for found in damage:
        listener.note(str(found))
    # A cache may hold the very files that are damaged: what it linked is one file under two names.
    await asyncio.to_thread(drop_cache, order.places)
    uv = await get_uv(order, listener)
    set_state(there.path, there.mark, "repairing")
    await sync(uv, order, there, listener, reinstall=sorted({found.package for found in damage}))
    left = await compare(there, order.spec, contents=True, listener=listener)
    if left:
        raise UserError(
            "env.still_damaged",
            "after the repair still: {what}",
            remedy="remove the environment and make it anew; if that fails too, look at the disk",
            what="; ".join(map(str, left[:5])),
        )
    await asyncio.to_thread(drop_cache, order.places)
