"""The memory limit of a container, from the kernel's control groups (both versions)."""

from __future__ import annotations

from pathlib import Path

_NO_LIMIT = 2**60  # version 1 writes a number near 2**63 where there is none


def memory_in_container(root: Path = Path("/")) -> tuple[int | None, int | None]:
    """Limit and what is left of it, in bytes; None for both where no limit is set.

    Pages of files that the kernel can drop at once (``inactive_file``) count as left, as container tools do.
    """
    group = root / "sys/fs/cgroup"
    for limit_file, used_file, stat_file, key in (
        ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "memory/memory.stat",
            "total_inactive_file",
        ),
    ):
        limit = _number(group / limit_file)
        if limit is None or limit >= _NO_LIMIT:
            continue
        used = _number(group / used_file)
        if used is None:
            return limit, None
        return limit, max(0, limit - max(0, used - _statistic(group / stat_file, key)))
    return None, None


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text().strip())
    except (OSError, ValueError):  # "max" is no limit
        return None


def _statistic(path: Path, key: str) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        name, _, value = line.partition(" ")
        if name == key and value.strip().isdigit():
            return int(value)
    return 0
