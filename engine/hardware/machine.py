"""The whole machine, probed; and which of its cards a text such as CUDA_VISIBLE_DEVICES names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.domain.hardware import Driver, Gpu, Machine
from engine.hardware import host, nvml, nvml_reads


def probe_machine(load: Callable[[], nvml_reads.Binding] = nvml_reads.load_binding, root: Path = Path("/")) -> Machine:
    """Look at this machine now. Never raises; blocks up to some seconds, so it belongs off an event loop.

    Args:
        load: gives the NVML binding.
        root: where ``proc`` and ``sys`` are found.
    """
    answer = nvml.probe(load)
    return Machine(
        driver=_with_kernel_side(answer.driver, root),
        host=host.probe_host(root),
        gpus=answer.gpus,
        links=answer.links,
    )


def cards_named(machine: Machine, names: str) -> tuple[Gpu, ...]:
    """The cards that a list names, as CUDA reads its CUDA_VISIBLE_DEVICES: numbers in PCI order, or UUIDs.

    A UUID may be shortened as long as only one card begins with it. The first name that fits no card, or fits
    several, or repeats one, ends the list, and what stands before it counts.
    """
    found: list[Gpu] = []
    for name in (part.strip() for part in names.split(",")):
        if name.isdecimal():
            fitting = [gpu for gpu in machine.gpus if gpu.index == int(name) and not gpu.uuid.startswith("MIG-")]
        else:
            fitting = [gpu for gpu in machine.gpus if name and gpu.uuid.lower().startswith(name.lower())]
        if len(fitting) != 1 or fitting[0] in found:
            break
        found.append(fitting[0])
    return tuple(found)


def _with_kernel_side(driver: Driver, root: Path) -> Driver:
    """What the kernel knows of a driver whose library does not answer."""
    if driver.status == "ok":
        return driver
    if not driver.version:
        driver = replace(driver, version=host.loaded_module_version(root))
    if host.nouveau_loaded(root):
        driver = replace(driver, detail=f"{driver.detail}; the module nouveau holds the cards".lstrip("; "))
    return driver
