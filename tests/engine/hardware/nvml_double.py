"""A stand-in for the module pynvml: answers as nvidia-ml-py does, from a table. No GPU is needed.

It offers only functions that the installed nvidia-ml-py has, and raises that module's own exceptions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml

GIB = 1024**3
NOT_SUPPORTED = pynvml.NVML_ERROR_NOT_SUPPORTED


@dataclass
class Fails:
    """An answer that is an error code."""

    code: int = NOT_SUPPORTED


@dataclass
class Card:
    """What one card answers; a :class:`Fails` anywhere is raised."""

    name: Any = "NVIDIA GeForce RTX 3090"
    uuid: Any = "GPU-11111111-0000-0000-0000-000000000001"
    bus: Any = "00000000:01:00.0"
    capability: Any = (8, 6)
    total: Any = 24 * GIB
    used: int = 0
    reserved: int = GIB // 2
    mig: Any = field(default_factory=Fails)
    slices: list[Card | None] = field(default_factory=list)
    compute: Any = field(default_factory=list)
    graphics: Any = field(default_factory=list)
    lanes: dict[int, tuple[int, Any]] = field(default_factory=dict)  # lane: (kind of remote, its bus)
    peers: Any = 0  # status of every P2P question
    more: dict[str, Any] = field(default_factory=dict)  # answers by function name, before all others


class NvmlDouble:
    """The module.

    Args:
        cards: in NVML's order.
        init: error code of nvmlInit, or None.
        as_bytes: texts come as bytes, as in older bindings.
        missing: functions that this binding does not have.
        memory_v2: the driver knows version 2 of the memory call.
    """

    NVMLError = pynvml.NVMLError

    def __init__(
        self,
        cards: list[Card],
        *,
        init: int | None = None,
        as_bytes: bool = False,
        missing: tuple[str, ...] = (),
        memory_v2: bool = True,
        system: dict[str, Any] | None = None,
    ) -> None:
        self.cards, self.init, self.as_bytes, self.missing = cards, init, as_bytes, missing
        self.memory_v2 = memory_v2
        self.open = 0
        self.system = {
            "nvmlDeviceGetCount": len(cards),
            "nvmlSystemGetDriverVersion": "580.105.08",
            "nvmlSystemGetCudaDriverVersion_v2": 13000,
            "nvmlSystemGetProcessName": Fails(pynvml.NVML_ERROR_NOT_FOUND),
        } | (system or {})

    def nvmlInit(self) -> None:
        if self.init is not None:
            raise pynvml.NVMLError(self.init)
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("missing", ()) or not hasattr(pynvml, name):
            raise AttributeError(name)
        if not name.startswith("nvml") or not callable(getattr(pynvml, name)):
            return getattr(pynvml, name)
        return self._function(name)

    def _function(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            assert self.open == 1, f"{name} outside nvmlInit and nvmlShutdown"
            return self._given(self._answer(name, arguments))

        return call

    def _given(self, answer: Any) -> Any:
        if isinstance(answer, Fails):
            raise pynvml.NVMLError(answer.code)
        return answer.encode() if self.as_bytes and isinstance(answer, str) else answer

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name in self.system:
            return self.system[name]
        if name == "nvmlDeviceGetHandleByIndex":
            return self.cards[arguments[0]]
        card = arguments[0]
        if name in card.more:
            return card.more[name]
        method = getattr(self, f"_{name.removeprefix('nvmlDeviceGet')}", None)
        return Fails() if method is None else method(card, *arguments[1:])

    def _Name(self, card: Card) -> Any:
        return card.name

    def _UUID(self, card: Card) -> Any:
        return card.uuid

    def _PciInfo(self, card: Card) -> Any:
        return card.bus if isinstance(card.bus, Fails) else SimpleNamespace(busId=self._given(card.bus))

    def _CudaComputeCapability(self, card: Card) -> Any:
        return card.capability

    def _MemoryInfo(self, card: Card, version: int | None = None) -> Any:
        if isinstance(card.total, Fails):
            return card.total
        if version is None:
            used = card.used + card.reserved
            return SimpleNamespace(total=card.total, used=used, free=card.total - used)
        if not self.memory_v2:
            return Fails(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        free = card.total - card.used - card.reserved
        return SimpleNamespace(total=card.total, used=card.used, free=free, reserved=card.reserved)

    def _MigMode(self, card: Card) -> Any:
        return card.mig

    def _MaxMigDeviceCount(self, card: Card) -> Any:
        return len(card.slices)

    def _MigDeviceHandleByIndex(self, card: Card, number: int) -> Any:
        return card.slices[number] or Fails(pynvml.NVML_ERROR_NOT_FOUND)

    def _ComputeRunningProcesses(self, card: Card) -> Any:
        return card.compute

    def _GraphicsRunningProcesses(self, card: Card) -> Any:
        return card.graphics

    def _NvLinkState(self, card: Card, lane: int) -> Any:
        return 1 if lane in card.lanes else Fails(pynvml.NVML_ERROR_INVALID_ARGUMENT)

    def _NvLinkRemoteDeviceType(self, card: Card, lane: int) -> Any:
        return card.lanes[lane][0]

    def _NvLinkRemotePciInfo(self, card: Card, lane: int) -> Any:
        return SimpleNamespace(busId=self._given(card.lanes[lane][1]))

    def _P2PStatus(self, card: Card, other: Card, index: int) -> Any:
        assert (index, type(other)) == (0, Card)
        return card.peers


def process(pid: int, memory: int | None) -> Any:
    """An entry of the process lists."""
    return SimpleNamespace(pid=pid, usedGpuMemory=memory, gpuInstanceId=0xFFFFFFFF, computeInstanceId=0xFFFFFFFF)
