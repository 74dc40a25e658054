"""What must be so before the first byte: the system that the wheels were built for, and room on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from engine.domain.hardware import Host
from engine.errors import UserError
from engine.runtime.places import Places
from engine.runtime.progress import tree_bytes
from engine.runtime.spec import EnvironmentSpec

ARCHITECTURES = ("x86_64", "amd64")
SPARE_BYTES = 1_000_000_000  # bytecode of the first import, logs, and a disk that is not full to the last byte
HARD_LINKS = "hard links are not possible there, so each file is needed twice"


def check_host(spec: EnvironmentSpec, host: Host) -> None:
    """The wheels run here.

    Raises:
        UserError: another system, another processor, or too old a C library.
    """
    if host.system != "Linux" or host.architecture not in ARCHITECTURES:
        raise UserError(
            "env.architecture",
            "the engine runs on Linux on x86_64; this is {system} on {architecture}",
            remedy="use an engine on another machine by its URL, or the embedded engine",
            system=host.system,
            architecture=host.architecture or "an unknown processor",
        )
    if host.glibc is None:
        raise UserError(
            "env.no_glibc",
            "this system's C library is not glibc, which the engine's packages need",
            remedy="use a distribution with glibc, or an engine on another machine by its URL",
        )
    if spec.glibc is not None and host.glibc < spec.glibc:
        raise UserError(
            "env.glibc",
            "glibc {found} is too old: the engine's packages need {needed}",
            remedy="update the distribution (Debian 11, Ubuntu 20.04, RHEL 9 and newer have it)",
            found=".".join(map(str, host.glibc)),
            needed=".".join(map(str, spec.glibc)),
        )


def check_disk(spec: EnvironmentSpec, places: Places) -> None:
    """There is room for what is still missing. Nothing is checked for a lock whose size is not known.

    Raises:
        UserError: ``env.disk``, with the figures.
    """
    if spec.unpacked_bytes is None:
        return
    places.root.mkdir(parents=True, exist_ok=True)
    linkable = _links_work(places.root)
    there = tree_bytes(places.cache, places.partial(spec.id))
    needed = max(0, spec.unpacked_bytes * (1 if linkable else 2) - there) + SPARE_BYTES
    free = shutil.disk_usage(places.root).free
    if free < needed:
        raise UserError(
            "env.disk",
            "{folder} has {free_gb:.1f} GB free; the engine's environment takes {needed_gb:.1f} GB more{why}",
            remedy="make room there, or let DIFFUSION_DESK_HOME name a folder on a larger disk",
            folder=places.root,
            free_gb=free / 1e9,
            needed_gb=needed / 1e9,
            why="" if linkable else f" ({HARD_LINKS})",
            free=free,
            needed=needed,
        )


def _links_work(folder: Path) -> bool:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".link-") as scratch:
        first = Path(scratch) / "a"
        first.touch()
        try:
            os.link(first, Path(scratch) / "b")
        except OSError:
            return False
    return True
