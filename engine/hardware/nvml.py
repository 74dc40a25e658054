"""The NVIDIA cards of this machine, through NVML (nvidia-ml-py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

NvmlStatus = Literal["ok", "no_driver", "mismatch", "no_permission", "error"]

_REMEDIES: dict[NvmlStatus, str] = {
    "ok": "",
    "no_driver": "no NVIDIA driver answers: without a card nothing is missing, with one install its driver and restart",
    "mismatch": "the driver was updated while its old kernel module is loaded: restart the machine",
    "no_permission": "this user may not open /dev/nvidia*: check the permissions of the device files",
    "error": "nvidia-smi may say more",
}


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card. Memory in bytes; ``memory_used`` counts every process and the driver's own share."""

    index: int
    name: str
    uuid: str
    memory_total: int
    memory_used: int


@dataclass(frozen=True, slots=True)
class NvmlReport:
    """What NVML says.

    Attributes:
        driver: its version; empty when none answers.
        detail: NVML's own words for a failure.
    """

    status: NvmlStatus
    driver: str = ""
    gpus: tuple[Gpu, ...] = ()
    detail: str = ""

    @property
    def remedy(self) -> str:
        """What the user can do; empty when all is well."""
        return _REMEDIES[self.status]


def probe() -> NvmlReport:
    """Ask NVML for the driver and the cards. Takes milliseconds without a driver, up to a second with one."""
    import pynvml as binding

    pynvml: Any = binding  # it has no types

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return NvmlReport(_status(pynvml, error), detail=str(error))
    try:
        gpus = tuple(_gpu(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount()))
        return NvmlReport("ok", driver=_text(pynvml.nvmlSystemGetDriverVersion()), gpus=gpus)
    except pynvml.NVMLError as error:
        return NvmlReport(_status(pynvml, error), detail=str(error))
    finally:
        pynvml.nvmlShutdown()


def _gpu(pynvml: Any, index: int) -> Gpu:
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return Gpu(
        index=index,
        name=_text(pynvml.nvmlDeviceGetName(handle)),
        uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
        memory_total=int(memory.total),
        memory_used=int(memory.used),
    )


def _status(pynvml: Any, error: Any) -> NvmlStatus:
    statuses: dict[int, NvmlStatus] = {
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "no_driver",
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "no_driver",
        pynvml.NVML_ERROR_NO_PERMISSION: "no_permission",
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "mismatch",
    }
    return statuses.get(error.value, "error")


def _text(value: str | bytes) -> str:
    """Older bindings return bytes."""
    return value.decode() if isinstance(value, bytes) else value
