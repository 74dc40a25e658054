"""What uv's last words mean for the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError

_LAST_LINES = 6
_AGAIN = "start again: what is complete is kept"


@dataclass(frozen=True, slots=True)
class _Rule:
    """The first rule whose pattern is found says what went wrong; its group 1, if any, is ``{what}``."""

    pattern: str
    code: str
    message: str
    remedy: str


_RULES = (
    _Rule(
        r"No space left on device|os error 28|Disk quota exceeded|os error 122",
        "env.disk_full",
        "the disk that holds {folder} is full",
        f"make room there and {_AGAIN}",
    ),
    _Rule(
        r"Hash mismatch for `([^`]+)`",
        "env.hash_mismatch",
        "{what}: the file that was given is not the one in the lock: its sha256 differs; it was not installed",
        "take another package index or wheel folder; should the hash differ there too, report it",
    ),
    _Rule(
        r"Failed to extract archive: (\S+)|Bad (?:uncompressed size|CRC)",
        "env.wheel_broken",
        "a package file is damaged: {what}",
        f"fetch the file again if it comes from a folder, else {_AGAIN}",
    ),
    _Rule(
        r"HTTP status \w+ error \((\d{3}[^)]*)\)|\b(?:401 Unauthorized|403 Forbidden|407 Proxy)",
        "env.index_refused",
        "the package index refuses: {what}",
        "look at the address of the index and at its credentials",
    ),
    _Rule(
        r"Because (\S+) was not found in the provided package locations",
        "env.package_missing",
        "{what} is not in the wheel folder",
        "the folder must hold the very wheels of the lock: docs/engine-environment.md says how to fill it",
    ),
    _Rule(
        r"dns error|error sending request|tcp connect error|Connection re(?:fused|set)|timed? ?out"
        r"|Network is unreachable|invalid peer certificate|network was disabled|Could not connect",
        "env.network",
        "the package index cannot be reached",
        f"look at the connection and the proxy, or give another index or a wheel folder, and {_AGAIN}",
    ),
    _Rule(
        r"Because (\S+) (?:was not found|has no)|no version of (\S+)|there is no version of (\S+)",
        "env.package_missing",
        "the package index does not have {what}",
        "take an index that holds the whole of the public one",
    ),
    _Rule(
        r"Permission denied|os error 13|Read-only file system|os error 30",
        "env.not_writable",
        "files in {folder} cannot be written",
        "DIFFUSION_DESK_HOME names another folder",
    ),
)


def failure(log: str, how: str, *, folder: Path) -> UserError:
    """The error of a uv run.

    Args:
        log: what it wrote.
        how: it ended (``exit code 1``).
        folder: where environments lie.
    """
    for rule in _RULES:
        match = re.search(rule.pattern, log)
        if match is not None:
            what = next((group for group in match.groups() if group), match[0])
            return UserError(rule.code, rule.message, remedy=rule.remedy, what=what, folder=folder, log=log[-2000:])
    last = "\n".join(log.strip().splitlines()[-_LAST_LINES:])
    return UserError(
        "env.uv_failed",
        "uv gave up ({how}):\n{last}",
        remedy=_AGAIN,
        how=how,
        last=last,
        folder=folder,
        log=log[-2000:],
    )
