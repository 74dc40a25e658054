"""What a machine is, as far as running DiffusionGemma on it depends on it. All memory is in bytes.

A fact that could not be read is None, never a guess; a fault is a :class:`Finding` with a remedy, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

GIB = 1024**3

DriverStatus = Literal["ok", "no_driver", "mismatch", "no_permission", "error"]
ComputeMode = Literal["default", "exclusive_process", "prohibited"]
Severity = Literal["note", "warning", "blocker"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the machine that the user should know.

    Attributes:
        code: stable and dotted (``driver.too_old``).
        text: what is so, with the value; made from ``params``.
        remedy: the one thing to do; empty when nothing can be done.
        gpu: the UUID of the card it is about, or None.
    """

    code: str
    severity: Severity
    text: str
    remedy: str = ""
    gpu: str | None = None
    params: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds memory of a card; ``memory`` is None where the driver does not say (WSL2, MIG)."""

    pid: int
    name: str
    memory: int | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card, or one MIG slice.

    Attributes:
        index: in PCI order (what CUDA_DEVICE_ORDER=PCI_BUS_ID counts); a slice has its card's.
        uuid: full (``GPU-...`` or ``MIG-...``); the only name that a plan uses.
        capability: compute capability, (8, 6) for sm_86; None when the driver does not say.
        memory_total, memory_used, memory_free: None where NVML answers "not supported".
        memory_reserved: kept by the driver, in nobody's ``memory_used``; a program sees ``memory_total`` less this
            (torch's "total"). total = used + reserved + free. None where the driver does not say (WSL2).
        mig: MIG mode is on (the card cannot be used whole) or this is a slice.
        display: a desktop draws on it and has memory there.
        load: percent of the driver's last sampling period in which a kernel ran (nvmlUtilization_t.gpu, at most a
            second); None where the driver does not say, and for slices.
    """

    index: int
    name: str
    uuid: str
    pci_bus: str = ""
    capability: tuple[int, int] | None = None
    memory_total: int | None = None
    memory_used: int | None = None
    memory_free: int | None = None
    memory_reserved: int | None = None
    processes: tuple[GpuProcess, ...] = ()
    display: bool | None = None
    mig: bool = False
    ecc: bool | None = None
    compute_mode: ComputeMode | None = None
    power_limit_w: float | None = None
    temperature_c: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    bar1_total: int | None = None
    load: int | None = None


@dataclass(frozen=True, slots=True)
class GpuLink:
    """How two cards reach each other. ``nvlinks`` counts active NVLink lanes; ``p2p`` is the driver's read answer."""

    first: str
    second: str
    nvlinks: int = 0
    p2p: bool | None = None


@dataclass(frozen=True, slots=True)
class Driver:
    """The NVIDIA driver. ``cuda`` is the newest CUDA that it supports, (13, 0)."""

    status: DriverStatus
    version: str = ""
    cuda: tuple[int, int] | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Disk:
    """Free space of the file system that holds ``path``."""

    path: str
    free: int
    total: int
    filesystem: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """The machine around the cards.

    Attributes:
        glibc: (2, 36); the engine's wheels need 2.31, PySide6's 2.34.
        gcc: its version, or "" when there is none (Triton compiles a helper on Ampere).
        python_headers: Python.h of the interpreter that the engine would use is there; None when unknown.
        secure_boot: on, off or unknown; an unsigned driver module does not load when it is on.
        nvidia_devices: display devices of NVIDIA on the PCI bus, driver or not; None when unknown (WSL2).
    """

    system: str = "Linux"
    architecture: str = ""
    kernel: str = ""
    distribution: str = ""
    glibc: tuple[int, int] | None = None
    gcc: str = ""
    python_headers: bool | None = None
    ram_total: int | None = None
    ram_available: int | None = None
    shm_free: int | None = None
    disks: tuple[Disk, ...] = ()
    wsl2: bool = False
    container: str = ""
    secure_boot: bool | None = None
    open_files_limit: int | None = None
    nvidia_devices: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Everything that a plan depends on. Recorded machines (resources/machines) hold the same."""

    driver: Driver
    host: Host
    gpus: tuple[Gpu, ...] = ()
    links: tuple[GpuLink, ...] = ()
    name: str = ""

    def gpu(self, uuid: str) -> Gpu:
        """The card with this UUID. Raises KeyError."""
        for gpu in self.gpus:
            if gpu.uuid == uuid:
                return gpu
        raise KeyError(uuid)

    def link(self, first: str, second: str) -> GpuLink:
        """How two cards reach each other, in either order; no link known means none."""
        for link in self.links:
            if {link.first, link.second} == {first, second}:
                return link
        return GpuLink(first, second)
