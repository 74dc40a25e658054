"""How findings are worded: one place for their making, for sizes and for what a card is called."""

from __future__ import annotations

from engine.domain.hardware import GIB, Finding, Gpu, Severity


def finding(
    code: str, severity: Severity, text: str, remedy: str = "", *, gpu: str | None = None, **params: object
) -> Finding:
    """A finding whose text and remedy are templates over ``params``."""
    return Finding(code, severity, text.format_map(params), remedy.format_map(params), gpu, params)


def gib(size: int) -> str:
    """12.3 GiB"""
    return f"{size / GIB:.1f} GiB"


def gigabytes(size: int) -> str:
    """27.2 GB, as disks and downloads are counted."""
    return f"{size / 1e9:.1f} GB"


def card(gpu: Gpu) -> str:
    """card 0 (RTX 3090)"""
    name = gpu.name.removeprefix("NVIDIA ").removeprefix("GeForce ")
    return f"card {gpu.index} ({name})"
