"""A machine in lines: what it is, and what there is to say about it. For ``doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.domain.hardware import GIB, Gpu, Host, Machine, Severity
from engine.hardware.findings import find_findings

CheckStatus = Literal["ok", "note", "warn", "bad"]

_STATUS: dict[Severity, CheckStatus] = {"note": "note", "warning": "warn", "blocker": "bad"}


@dataclass(frozen=True, slots=True)
class Check:
    """One line. ``bad`` stops the main job; ``warn`` may cost something, ``note`` explains."""

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""


def machine_checks(machine: Machine) -> Iterator[Check]:
    """First what is there, then the findings, the worst first."""
    if machine.name:
        yield Check("machine", "ok", machine.name)
    yield Check("system", "ok", _system(machine.host))
    yield Check("cards", "ok" if machine.driver.status == "ok" else "note", _cards(machine))
    for gpu in machine.gpus:
        yield Check(f"card {gpu.index}", "ok", _card(gpu))
    if machine.links:
        yield Check("links", "ok", _links(machine))
    for finding in find_findings(machine):
        yield Check(finding.code, _STATUS[finding.severity], finding.text, finding.remedy)


def _system(host: Host) -> str:
    facts = [
        host.distribution or host.system,
        host.architecture,
        f"kernel {host.kernel}" if host.kernel else "",
        f"glibc {'.'.join(map(str, host.glibc))}" if host.glibc else "",
        f"C compiler {host.gcc}" if host.gcc else "no C compiler",
        f"{_gib(host.ram_available)} of {_gib(host.ram_total)} GiB memory free" if host.ram_total else "",
        "WSL2" if host.wsl2 else host.container,
    ]
    facts.extend(f"{disk.free / 1e9:.0f} GB free in {disk.path}" for disk in host.disks)
    return ", ".join(fact for fact in facts if fact)


def _cards(machine: Machine) -> str:
    driver = machine.driver
    if driver.status != "ok":
        return f"no driver answers ({driver.detail or driver.status})"
    whole = sum(not gpu.uuid.startswith("MIG-") for gpu in machine.gpus)
    cuda = f", CUDA {driver.cuda[0]}.{driver.cuda[1]}" if driver.cuda else ""
    return f"{whole}, driver {driver.version or 'of unknown version'}{cuda}"


def _card(gpu: Gpu) -> str:
    facts = [
        gpu.name,
        f"sm_{gpu.capability[0]}{gpu.capability[1]}" if gpu.capability else "",
        f"{_gib(gpu.memory_used)} of {_gib(gpu.memory_total)} GiB used" if gpu.memory_total else "memory not told",
        f"PCIe {gpu.pcie_generation} x{gpu.pcie_width}" if gpu.pcie_generation and gpu.pcie_width else "",
        f"{gpu.temperature_c} °C" if gpu.temperature_c is not None else "",
        f"{gpu.power_limit_w:.0f} W" if gpu.power_limit_w is not None else "",
        gpu.uuid,
    ]
    return ", ".join(fact for fact in facts if fact)


def _links(machine: Machine) -> str:
    """Pairs that are linked alike stand together."""
    pairs: dict[str, list[str]] = {}
    for link in machine.links:
        direct = {True: "direct access", False: "no direct access", None: "direct access unknown"}[link.p2p]
        kind = f"NVLink ({link.nvlinks} lanes), {direct}" if link.nvlinks else f"PCIe, {direct}"
        pairs.setdefault(kind, []).append(f"{machine.gpu(link.first).index}-{machine.gpu(link.second).index}")
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in pairs.items())


def _gib(size: int | None) -> str:
    return "?" if size is None else f"{size / GIB:.1f}"
