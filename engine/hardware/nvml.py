"""The driver and the cards of this machine, through NVML (nvidia-ml-py).

NVML counts physical cards and passes over CUDA_VISIBLE_DEVICES, so what is read here belongs to the card that it
names. Nothing raises: a driver that does not answer is a :class:`Driver` with another status.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import psutil

from engine.domain.hardware import ComputeMode, Driver, DriverStatus, Gpu, GpuLink, GpuProcess
from engine.hardware import links, nvml_reads
from engine.hardware.nvml_reads import Binding, CardGone, Handle, Reader

_STATUS: dict[int | None, DriverStatus] = {
    nvml_reads.LIBRARY_NOT_FOUND: "no_driver",
    nvml_reads.DRIVER_NOT_LOADED: "no_driver",
    nvml_reads.NO_PERMISSION: "no_permission",
    nvml_reads.LIB_RM_VERSION_MISMATCH: "mismatch",
}
# nvmlComputeMode_t; 1 was exclusive thread, which today's drivers treat as exclusive process.
_COMPUTE_MODES: dict[int | None, ComputeMode] = {
    0: "default",
    1: "exclusive_process",
    2: "prohibited",
    3: "exclusive_process",
}
_PROCESS_LISTS = (
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlDeviceGetMPSComputeRunningProcesses",
)


@dataclass(frozen=True, slots=True)
class NvmlAnswer:
    """Everything that NVML says."""

    driver: Driver
    gpus: tuple[Gpu, ...] = ()
    links: tuple[GpuLink, ...] = ()


def probe(load: Callable[[], Binding] = nvml_reads.load_binding) -> NvmlAnswer:
    """Ask NVML. Takes milliseconds without a driver, up to some seconds with eight sleeping cards.

    Args:
        load: gives the binding; tests give one that plays a machine.
    """
    try:
        binding = load()
    except ImportError as error:
        return NvmlAnswer(Driver("error", detail=f"nvidia-ml-py is not installed: {error}"))
    try:
        binding.nvmlInit()
    except binding.NVMLError as error:
        return NvmlAnswer(Driver(_STATUS.get(nvml_reads.error_code(error), "error"), detail=str(error)))
    try:
        return _answer(Reader(binding))
    finally:
        Reader(binding).value("nvmlShutdown")


def _answer(reader: Reader) -> NvmlAnswer:
    cards: list[tuple[Handle, Gpu]] = []
    faults: list[str] = []
    try:
        count = reader.number("nvmlDeviceGetCount")
        version = reader.text("nvmlSystemGetDriverVersion")
        cuda = _cuda_version(reader)
    except CardGone as error:
        return NvmlAnswer(Driver("error", detail=str(error)))
    if count is None:
        return NvmlAnswer(Driver("error", version, cuda, "the driver does not say how many cards there are"))
    for number in range(count):
        try:
            cards.extend(_card(reader, number))
        except CardGone as error:
            faults.append(f"card {number}: {error}")
    driver = Driver("ok", version, cuda, "; ".join(faults))
    ordered = _in_pci_order(cards)
    return NvmlAnswer(driver, tuple(gpu for _, gpu in ordered), links.read_links(reader, ordered))


def _cuda_version(reader: Reader) -> tuple[int, int] | None:
    """13000 is CUDA 13.0, 12040 is 12.4 (nvmlSystemGetCudaDriverVersion_v2)."""
    number = reader.number("nvmlSystemGetCudaDriverVersion_v2") or reader.number("nvmlSystemGetCudaDriverVersion")
    return (number // 1000, number % 1000 // 10) if number else None


def _in_pci_order(cards: list[tuple[Handle, Gpu]]) -> list[tuple[Handle, Gpu]]:
    """Numbers the cards as CUDA_DEVICE_ORDER=PCI_BUS_ID does; slices follow their card and have its number."""
    buses = sorted({gpu.pci_bus.upper() for _, gpu in cards})
    ranked = [(handle, replace(gpu, index=buses.index(gpu.pci_bus.upper()))) for handle, gpu in cards]
    if len(buses) < len({gpu.index for _, gpu in cards}):  # a driver that hides bus addresses: NVML's order is all
        ranked = cards
    return sorted(ranked, key=lambda pair: (pair[1].index, pair[1].uuid.startswith("MIG-")))


def _card(reader: Reader, number: int) -> list[tuple[Handle, Gpu]]:
    """The card, and its MIG slices behind it. Raises CardGone."""
    handle = reader.value("nvmlDeviceGetHandleByIndex", number)
    if handle is None:
        raise CardGone("the driver does not open it")
    gpu = _gpu(reader, handle, number)
    if not gpu.uuid:
        raise CardGone("the driver does not tell its UUID")
    return [(handle, gpu), *_slices(reader, handle, gpu)]


def _gpu(reader: Reader, handle: Handle, number: int) -> Gpu:
    pci = reader.value("nvmlDeviceGetPciInfo", handle)
    capability = reader.value("nvmlDeviceGetCudaComputeCapability", handle)
    power = reader.number("nvmlDeviceGetEnforcedPowerLimit", handle)
    bar1 = reader.value("nvmlDeviceGetBAR1MemoryInfo", handle)
    return _with_memory(
        reader,
        handle,
        Gpu(
            index=number,
            name=reader.text("nvmlDeviceGetName", handle) or "unnamed card",
            uuid=reader.text("nvmlDeviceGetUUID", handle),
            pci_bus=nvml_reads.as_text(getattr(pci, "busId", "")),
            capability=(int(capability[0]), int(capability[1])) if capability else None,
            display=_display(reader, handle),
            mig=bool(reader.current("nvmlDeviceGetMigMode", handle)),
            ecc=reader.current("nvmlDeviceGetEccMode", handle),
            compute_mode=_COMPUTE_MODES.get(reader.number("nvmlDeviceGetComputeMode", handle)),
            power_limit_w=None if power is None else power / 1000,
            temperature_c=reader.number("nvmlDeviceGetTemperature", handle, 0),  # 0: NVML_TEMPERATURE_GPU
            # An idle card lowers the generation of its link, never the width.
            pcie_generation=reader.number("nvmlDeviceGetMaxPcieLinkGeneration", handle),
            pcie_width=reader.number("nvmlDeviceGetCurrPcieLinkWidth", handle),
            bar1_total=_size(bar1, "bar1Total"),
            load=_size(reader.value("nvmlDeviceGetUtilizationRates", handle), "gpu"),
        ),
    )


def _slices(reader: Reader, handle: Handle, card: Gpu) -> list[tuple[Handle, Gpu]]:
    """MIG slices: a name, a UUID and memory of their own; all else is the card's."""
    if not card.mig:
        return []
    found = []
    for number in range(reader.number("nvmlDeviceGetMaxMigDeviceCount", handle) or 0):
        slice_handle = reader.value("nvmlDeviceGetMigDeviceHandleByIndex", handle, number)
        uuid = reader.text("nvmlDeviceGetUUID", slice_handle) if slice_handle is not None else ""
        if not uuid:
            continue  # a place where no slice was made
        bar1 = reader.value("nvmlDeviceGetBAR1MemoryInfo", slice_handle)
        bare = replace(
            card,
            name=reader.text("nvmlDeviceGetName", slice_handle) or f"{card.name} MIG",
            uuid=uuid,
            display=None,
            power_limit_w=None,
            temperature_c=None,
            bar1_total=_size(bar1, "bar1Total"),
            load=None,
        )
        found.append((slice_handle, _with_memory(reader, slice_handle, bare)))
    return found


def _with_memory(reader: Reader, handle: Handle, gpu: Gpu) -> Gpu:
    """Version 2 of the call tells the driver's reserve apart; version 1 counts it as used (drivers before 510)."""
    gpu = replace(gpu, processes=_processes(reader, handle))
    version = reader.constant("nvmlMemory_v2", 0)
    memory = reader.value("nvmlDeviceGetMemoryInfo", handle, version) if version else None
    reserved = _size(memory, "reserved")
    if memory is None:
        memory = reader.value("nvmlDeviceGetMemoryInfo", handle)
    total = _size(memory, "total")
    if not total:  # unified memory: "not supported", or a total of 0
        return gpu
    return replace(
        gpu,
        memory_total=total,
        memory_used=_size(memory, "used"),
        memory_free=_size(memory, "free"),
        memory_reserved=reserved,
    )


def _size(memory: object, field: str) -> int | None:
    value = getattr(memory, field, None)
    return value if isinstance(value, int) else None


def _display(reader: Reader, handle: Handle) -> bool | None:
    """A desktop has memory there. The older question, whether a screen is attached, counts only where that is unknown.

    A headless H200 says "attached: yes, active: no" (seen with driver 580.159.04).
    """
    active = reader.number("nvmlDeviceGetDisplayActive", handle)
    answer = reader.number("nvmlDeviceGetDisplayMode", handle) if active is None else active
    return None if answer is None else bool(answer)


def _processes(reader: Reader, handle: Handle) -> tuple[GpuProcess, ...]:
    """Each process once, though it may compute and draw; largest first."""
    memory: dict[int, int | None] = {}
    for function in _PROCESS_LISTS:
        for process in reader.value(function, handle) or ():
            held = getattr(process, "usedGpuMemory", None)
            # "Not available" is None in nvidia-ml-py and all ones in older bindings.
            known = held if isinstance(held, int) and held < 2**60 else None
            before = memory.get(process.pid)
            memory[process.pid] = known if before is None else max(before, known or 0)
    found = [GpuProcess(pid, _process_name(reader, pid), held) for pid, held in memory.items()]
    return tuple(sorted(found, key=lambda process: (-(process.memory or 0), process.pid)))


def _process_name(reader: Reader, pid: int) -> str:
    """The program's bare name; NVML gives a path, in newer drivers with arguments behind it."""
    told = reader.text("nvmlSystemGetProcessName", pid)
    if told:
        return PurePosixPath(told.split(" -")[0].strip()).name
    try:
        return psutil.Process(pid).name()
    except psutil.Error:  # another user's, in another container, or gone
        return ""
