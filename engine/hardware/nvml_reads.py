"""Reading NVML tolerantly: what a card or a driver does not tell is None, in every binding and driver version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

# Return codes of the NVML API (nvml.h, nvmlReturn_t); they are part of its ABI and do not change.
NO_PERMISSION = 4
DRIVER_NOT_LOADED = 9
LIBRARY_NOT_FOUND = 12
GPU_IS_LOST = 15
RESET_REQUIRED = 16
LIB_RM_VERSION_MISMATCH = 18
_GONE = frozenset({GPU_IS_LOST, RESET_REQUIRED})

Handle = Any
"""A device handle of the binding: a ctypes pointer that only the binding understands."""


class Binding(Protocol):
    """The module ``pynvml`` of nvidia-ml-py. All other functions are looked up by name, since older ones lack some."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...

    def nvmlShutdown(self) -> None: ...


class CardGone(Exception):
    """The card fell off the bus or waits for a reset. It ends the reading of a card and never leaves this package."""


def load_binding() -> Binding:
    """The real one. Raises ImportError."""
    import pynvml

    return cast("Binding", pynvml)


def error_code(error: Exception) -> int | None:
    """NVML's return code of an error that the binding raised."""
    value = getattr(error, "value", None)
    return value if isinstance(value, int) else None


class Reader:
    """Calls a function of the binding and gives None for what cannot be read."""

    def __init__(self, binding: Binding) -> None:
        self._binding = binding

    def value(self, function: str, *arguments: object) -> Any:
        """The function's answer, or None where it is not supported, not there, not allowed or fails.

        Raises:
            CardGone: the card is lost.
        """
        call = getattr(self._binding, function, None)
        if call is None:
            return None
        try:
            return call(*arguments)
        except self._binding.NVMLError as error:
            if error_code(error) in _GONE:
                raise CardGone(str(error)) from error
            return None

    def constant(self, name: str, default: int) -> int:
        """A constant of the binding."""
        found = getattr(self._binding, name, default)
        return found if isinstance(found, int) else default

    def number(self, function: str, *arguments: object) -> int | None:
        """A whole number that is not negative."""
        found = self.value(function, *arguments)
        return found if isinstance(found, int) and found >= 0 else None

    def text(self, function: str, *arguments: object) -> str:
        """A text, "" when unknown."""
        return as_text(self.value(function, *arguments))

    def current(self, function: str, *arguments: object) -> bool | None:
        """The first of the (current, pending) pair that NVML gives for modes."""
        found = self.value(function, *arguments)
        return bool(found[0]) if isinstance(found, Sequence) and found else None


def as_text(value: object) -> str:
    """Some bindings give bytes, some text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").rstrip("\0")
    return value if isinstance(value, str) else ""
