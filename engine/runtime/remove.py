"""Removing environments: only folders that carry our mark, and none that something runs from."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import psutil

from engine.errors import InputError, UserError
from engine.runtime.places import MARK, REMOVING, Places, read_mark, set_state
from engine.runtime.status import list_environments


def remove(places: Places, name: str) -> int:
    """Remove one environment, complete or not.

    Args:
        name: of its folder.

    Returns:
        bytes that were freed, as far as known.

    Raises:
        InputError: there is no such environment.
        UserError: ``env.not_ours``, ``env.in_use``, ``env.locked``.
    """
    folder = places.root / name
    if name != Path(name).name or name in {"", ".", ".."} or not os.path.lexists(folder):
        known = ", ".join(found.path.name for found in list_environments(places)) or "none"
        raise InputError("env.unknown", "there is no environment {name} (there is: {known})", name=name, known=known)
    with places.locked():
        before = shutil.disk_usage(places.root).free
        remove_folder(folder)
        if not any(found.mark.state == "partial" for found in list_environments(places)):
            drop_cache(places)  # it is of use only to one that is half made
        return max(0, shutil.disk_usage(places.root).free - before)


def remove_helpers(places: Places) -> None:
    """Remove uv's cache, and when no environment is left also the Pythons that uv fetched and our own uv."""
    with places.locked():
        drop_cache(places)
        if not list_environments(places):
            for folder in (places.pythons, places.own_uv):
                shutil.rmtree(folder, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder that carries our mark; the mark goes last, so that a kill leaves it known as ours.

    Raises:
        UserError: ``env.not_ours`` or ``env.in_use``; nothing is touched then.
    """
    mark = None if folder.is_symlink() else read_mark(folder)
    if mark is None:
        raise UserError(
            "env.not_ours",
            "{folder} has no mark of this program, so it is left alone",
            remedy="if you know what it is, move it away",
            folder=folder,
        )
    refuse_in_use(folder)
    if not folder.name.endswith(REMOVING):
        set_state(folder, mark, "removing")
        target = folder.with_name(folder.name + REMOVING)
        if target.exists():  # of a removal that was killed
            remove_folder(target)
        folder = folder.rename(target)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != MARK:
            entry.unlink()
    (folder / MARK).unlink()
    folder.rmdir()


def drop_cache(places: Places) -> None:
    """Remove uv's cache. An environment keeps its files: they are its own hard links."""
    shutil.rmtree(places.cache, ignore_errors=True)


def refuse_in_use(folder: Path) -> None:
    """Raises UserError ``env.in_use`` when a process was started from the folder, or has libraries of it in memory.

    The second counts because vLLM's processes overwrite their command lines with titles.
    """
    prefix = str(folder) + os.sep
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and _uses(process, prefix):
                raise UserError(
                    "env.in_use",
                    "process {pid} ({name}) runs from {folder}",
                    remedy="stop the engine first",
                    pid=process.pid,
                    name=process.name(),
                    folder=folder,
                )


def _uses(process: psutil.Process, prefix: str) -> bool:
    if any(part.startswith(prefix) for part in process.cmdline()[:2]):
        return True
    return prefix.encode() in Path(f"/proc/{process.pid}/maps").read_bytes()
