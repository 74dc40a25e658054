"""Making an environment: checks, uv, Python, packages, a look whether it works, and one rename at the end.

Everything may be killed at any time: what is made lies in ``<id>.partial`` and in uv's cache, and the next attempt goes
on from there. A complete environment is one whose folder bears its plain name.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from engine.domain.hardware import Host
from engine.errors import UserError
from engine.hardware.host import probe_host
from engine.runtime.checks import check_disk, check_host
from engine.runtime.places import Environment, Mark, Places, read_mark, write_mark
from engine.runtime.progress import ARCHIVES, EnvironmentProgress, Listener, Meter, Quiet, tree_bytes
from engine.runtime.python import Python, choose_python
from engine.runtime.remove import drop_cache, remove_folder
from engine.runtime.spec import EnvironmentSpec
from engine.runtime.status import environment_at
from engine.runtime.uv import Source, Uv, find_uv, log_file
from engine.runtime.verify import unusable, verify

VENV_S = 120.0


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for.

    Attributes:
        python: the interpreter to take; uv's own or one that is found when None.
        host: the machine; looked at when None.
    """

    spec: EnvironmentSpec
    places: Places
    source: Source = field(default_factory=Source)
    python: Path | None = None
    host: Host | None = None


async def create(order: Order, listener: Listener | None = None) -> Environment:
    """Make the environment of a lock, or go on with one that was begun. Cancelling the task keeps what is there.

    Call from the main thread. A complete environment is given as it is.

    Raises:
        UserError: of the kinds that :mod:`engine.runtime.checks`, ``python``, ``uv`` and ``failures`` name; or
            ``env.locked``, ``env.half_repaired``, ``env.not_right``.
    """
    folder = order.places.complete(order.spec.id)
    with order.places.locked():
        there = environment_at(folder)
        if there is not None and there.mark.state == "complete":
            return there
        if there is not None and there.mark.state == "repairing":
            raise UserError(
                "env.half_repaired",
                "the environment in {folder} was left in the middle of a repair",
                remedy="go on with `engine-env repair`",
                folder=folder,
            )
        await asyncio.to_thread(_clear, folder)
        return await build(order, listener or Quiet())


async def build(order: Order, listener: Listener) -> Environment:
    """As :func:`create`, by the holder of the lock and where no complete environment is."""
    began = time.monotonic()
    spec, places, source = order.spec, order.places, order.source
    listener.progress(EnvironmentProgress("checks", packages=len(spec.pins), bytes_total=spec.unpacked_bytes))
    check_host(spec, order.host or probe_host(folders=()))
    await asyncio.to_thread(check_disk, spec, places)
    uv = await get_uv(order, listener)
    listener.progress(EnvironmentProgress("python", packages=len(spec.pins), bytes_total=spec.unpacked_bytes))
    python = await choose_python(uv, spec, source, listener, order.python)
    partial, begun = await _prepare(order, uv, python)
    begun = await sync(uv, order, partial, listener) or begun
    size = await asyncio.to_thread(tree_bytes, partial.path)
    # What an earlier attempt left may have lost bytes to a power cut; what uv unpacked just now has not.
    seen = await verify(partial, spec, contents=begun, listener=listener)
    if seen.damage:
        listener.note(f"fetching again what is damaged: {', '.join(map(str, seen.damage[:5]))}")
        await asyncio.to_thread(drop_cache, places)
        await sync(uv, order, partial, listener, reinstall=sorted({found.package for found in seen.damage}))
        seen = await verify(partial, spec, contents=True, listener=listener)
    if not seen.good:
        raise unusable(seen, "start again; if it ends the same way, remove it and look at the disk and the system")
    mark = replace(
        partial.mark,
        state="complete",
        packages=len(spec.pins),
        bytes=size,
        seconds=round(time.monotonic() - began, 1),
        versions=dict(seen.versions),
    )
    complete = await asyncio.to_thread(_finish, partial.path, places.complete(spec.id), mark)
    await asyncio.to_thread(drop_cache, places)
    return complete


async def get_uv(order: Order, listener: Listener) -> Uv:
    """uv, with its phase."""
    spec = order.spec
    listener.progress(EnvironmentProgress("uv", packages=len(spec.pins), bytes_total=spec.unpacked_bytes))
    return await find_uv(order.places, order.source, listener)


async def sync(
    uv: Uv, order: Order, environment: Environment, listener: Listener, *, reinstall: Sequence[str] = ()
) -> bool:
    """Make the environment hold exactly the packages of the lock.

    Args:
        reinstall: packages to fetch and install anew although they seem to be there.

    Returns:
        whether something came from the cache of an earlier attempt.
    """
    spec, cache = order.spec, order.places.cache
    there = await asyncio.to_thread(_clean_cache, cache)
    meter = Meter(
        cache=cache,
        site_packages=environment.site_packages,
        log=log_file(),
        packages=len(reinstall) or len(spec.pins),
        bytes_total=None if reinstall else spec.unpacked_bytes,
        bytes_there=there,
    )
    await uv.run(
        [
            *("pip", "sync", "--require-hashes", "--only-binary", ":all:", "--python", str(environment.python)),
            *order.source.arguments(),
            *(word for name in reinstall for word in ("--reinstall-package", name)),
            str(spec.lock),
        ],
        order.source,
        lambda pid: listener.progress(meter.look(pid)),
    )
    return there > 0


async def _prepare(order: Order, uv: Uv, python: Python) -> tuple[Environment, bool]:
    """The half made environment: the one that is there (and True) when it fits, else a new and empty one."""
    folder = order.places.partial(order.spec.id)
    mark = read_mark(folder)
    begun = Environment(folder, mark) if mark is not None else None
    if begun is not None and begun.mark.base_python == str(python.executable) and os.access(begun.python, os.X_OK):
        return begun, True
    return await _empty(order, uv, python, folder), False


async def _empty(order: Order, uv: Uv, python: Python, folder: Path) -> Environment:
    mark = Mark(
        id=order.spec.id,
        state="partial",
        lock_sha256=order.spec.lock_sha256,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        python=python.version,
        base_python=str(python.executable),
        managed=python.managed,
        uv=uv.version,
    )
    await asyncio.to_thread(_new_folder, folder, mark)
    end = await uv.ask(
        ["venv", "-q", "--relocatable", "--allow-existing", "--python", str(python.executable), str(folder)],
        order.source,
        timeout_s=VENV_S,
    )
    if end.code != 0:
        raise UserError(
            "env.no_venv",
            "no environment can be made with {python}: {why}",
            remedy="name another Python",
            python=python.executable,
            why=end.errors.strip()[-500:],
        )
    return Environment(folder, mark)


def _clear(folder: Path) -> None:
    """Make the place free, or find out now, not at the end, that something is there which is not ours."""
    if os.path.lexists(folder):
        remove_folder(folder)


def _new_folder(folder: Path, mark: Mark) -> None:
    _clear(folder)
    folder.mkdir(parents=True)
    write_mark(folder, mark)  # first of all: a kill shall leave nothing that is not known as ours


def _clean_cache(cache: Path) -> int:
    """Drop what a killed uv left half unpacked; the bytes of what is whole."""
    for rest in cache.glob(".tmp*"):
        shutil.rmtree(rest, ignore_errors=True)
    return tree_bytes(cache / ARCHIVES)


def _finish(partial: Path, complete: Path, mark: Mark) -> Environment:
    write_mark(partial, mark)
    os.sync()  # 60,000 files: the name of a complete environment shall not reach the disk before them
    partial.rename(complete)
    return Environment(complete, mark)
