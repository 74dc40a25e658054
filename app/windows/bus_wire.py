"""The bytes of D-Bus: messages packed and read, as https://dbus.freedesktop.org/doc/dbus-specification.html tells.

Only what notifications need: no file descriptors, no signed containers of containers beyond what arrays give.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
HEAD = 16  # bytes: what stands before the header's fields
MOST_BYTES = 1 << 20  # of one message; a notification has some hundred
_PATH, _INTERFACE, _MEMBER, _ERROR_NAME, _REPLY_SERIAL, _DESTINATION, _SENDER, _SIGNATURE = range(1, 9)
_TYPES = {
    _PATH: "o",
    _INTERFACE: "s",
    _MEMBER: "s",
    _ERROR_NAME: "s",
    _REPLY_SERIAL: "u",
    _DESTINATION: "s",
    _SENDER: "s",
    _SIGNATURE: "g",
}
Target = tuple[str, str, str, str]  # destination, path, interface, member
_FIXED = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d"}
_ALIGNED = {"s": 4, "o": 4, "a": 4, "g": 1, "v": 1, "(": 8, "{": 8} | {
    code: struct.calcsize(kind) for code, kind in _FIXED.items()
}


@dataclass(frozen=True, slots=True)
class BusMessage:
    """A message that came. ``serial``: of the call that a reply belongs to, 0 for others."""

    kind: int
    path: str
    interface: str
    member: str
    serial: int
    arguments: tuple[Any, ...]


def packed_call(serial: int, target: Target, signature: str, arguments: Sequence[Any]) -> bytes:
    """A method call.

    Args:
        arguments: one for each type of the signature; a variant is a pair (signature, value), a dictionary a list of
            pairs.
    """
    destination, path, interface, member = target
    fields = [(_PATH, path), (_INTERFACE, interface), (_MEMBER, member), (_DESTINATION, destination)]
    if signature:
        fields.append((_SIGNATURE, signature))
    body = _Packer()
    for kind, value in zip(_split(signature), arguments, strict=True):
        body.put(kind, value)
    head = _Packer()
    for kind, value in (("y", ord("l")), ("y", CALL), ("y", 0), ("y", 1), ("u", len(body.data)), ("u", serial)):
        head.put(kind, value)
    head.put("a(yv)", [(code, (_TYPES[code], value)) for code, value in fields])
    head.align(8)
    return bytes(head.data + body.data)


def size_of(head: bytes) -> int:
    """Bytes of a message after its first ``HEAD``.

    Raises:
        ValueError: it is none, or larger than ``MOST_BYTES``.
    """
    order = _order(head)
    body, _serial, fields = struct.unpack_from(f"{order}III", head, 4)
    size = int(fields + (-fields % 8) + body)
    if size > MOST_BYTES:
        raise ValueError(f"a message of {size} bytes")
    return size


def unpacked(data: bytes) -> BusMessage:
    """A whole message.

    Raises:
        ValueError: it is none.
    """
    try:
        reader = _Reader(data, _order(data), 12)
        fields = {code: value for code, value in reader.take("a(yv)")}
        reader.align(8)
        arguments = tuple(reader.take(kind) for kind in _split(fields.get(_SIGNATURE, "")))
    except (struct.error, IndexError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("a message that cannot be read") from error
    path, interface, member = (str(fields.get(code, "")) for code in (_PATH, _INTERFACE, _MEMBER))
    return BusMessage(data[1], path, interface, member, int(fields.get(_REPLY_SERIAL, 0)), arguments)


def _order(head: bytes) -> str:
    try:
        return {ord("l"): "<", ord("B"): ">"}[head[0]]
    except KeyError:
        raise ValueError("no message of D-Bus") from None


def _split(signature: str) -> list[str]:
    """The complete types of a signature."""
    found = []
    while signature:
        end = _end(signature)
        found.append(signature[:end])
        signature = signature[end:]
    return found


def _end(signature: str) -> int:
    """Where the first complete type ends."""
    if signature[0] == "a":
        return 1 + _end(signature[1:])
    if signature[0] not in "({":
        return 1
    place = 1
    while signature[place] not in ")}":
        place += _end(signature[place:])
    return place + 1


class _Packer:
    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int) -> None:
        self.data += bytes(-len(self.data) % size)

    def put(self, kind: str, value: Any) -> None:
        code = kind[0]
        self.align(_ALIGNED[code])
        if code in _FIXED:
            self.data += struct.pack(f"<{_FIXED[code]}", value)
        elif code in "so":
            text = value.replace("\0", "").encode(errors="replace")
            self.data += struct.pack("<I", len(text)) + text + b"\0"
        elif code == "g":
            self.data += bytes([len(value)]) + value.encode() + b"\0"
        elif code == "v":
            self.put("g", value[0])
            self.put(value[0], value[1])
        elif code == "a":
            self._put_array(kind[1:], value)
        else:
            for part, each in zip(_split(kind[1:-1]), value, strict=True):
                self.put(part, each)

    def _put_array(self, kind: str, values: Sequence[Any]) -> None:
        place = len(self.data)
        self.data += bytes(4)
        self.align(_ALIGNED[kind[0]])
        start = len(self.data)
        for value in values:
            self.put(kind, value)
        struct.pack_into("<I", self.data, place, len(self.data) - start)


class _Reader:
    def __init__(self, data: bytes, order: str, place: int) -> None:
        self._data, self._order, self._place = data, order, place

    def align(self, size: int) -> None:
        self._place += -self._place % size

    def take(self, kind: str) -> Any:
        code = kind[0]
        self.align(_ALIGNED[code])
        if code in _FIXED:
            return self._fixed(_FIXED[code])
        if code in "so":
            return self._text(self._fixed("I"))
        if code == "g":
            return self._text(self._fixed("B"))
        if code == "v":
            return self.take(self.take("g"))
        if code == "a":
            return self._array(kind[1:])
        return tuple(self.take(part) for part in _split(kind[1:-1]))

    def _fixed(self, kind: str) -> Any:
        (value,) = struct.unpack_from(f"{self._order}{kind}", self._data, self._place)
        self._place += struct.calcsize(kind)
        return value

    def _text(self, length: int) -> str:
        start, self._place = self._place, self._place + length + 1
        if self._place > len(self._data):
            raise IndexError
        return self._data[start : start + length].decode(errors="replace")

    def _array(self, kind: str) -> list[Any]:
        length = self._fixed("I")
        self.align(_ALIGNED[kind[0]])
        end = self._place + length
        found = []
        while self._place < end:
            before = self._place
            found.append(self.take(kind))
            if self._place == before:
                raise IndexError  # an array of nothing has no end
        return found
