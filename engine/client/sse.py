"""Server-sent events out of bytes, in whatever pieces the bytes arrive.

Follows the stream format of the HTML standard (section 9.2.6): lines end with LF, CR or CRLF; a blank line ends an
event; ``data`` lines of one event are joined by LF; comments, unknown fields and an unfinished last event are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENT_BYTES = 16 * 1024 * 1024  # a canvas of 256 tokens is a few kB: more than this is no chat stream
_BOM = b"\xef\xbb\xbf"


class SseError(ValueError):
    """The bytes are no event stream (a line or event without end)."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event; ``event`` is its type, "message" unless the server names another."""

    data: str
    event: str = "message"


class SseParser:
    """Incremental parser: ``feed`` any bytes, get the events that they complete.

    Lines are cut before they are decoded, so a UTF-8 sequence that is split over two feeds is whole again.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._data: list[str] = []
        self._data_bytes = 0
        self._event = ""
        self._first_line = True
        self._skip_lf = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that end inside ``chunk``, in order.

        Raises:
            SseError: an event is longer than ``MAX_EVENT_BYTES``.
        """
        events: list[SseEvent] = []
        for line in self._lines(chunk):
            if line:
                self._field(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        if len(self._pending) + self._data_bytes > MAX_EVENT_BYTES:
            raise SseError(f"an event is longer than {MAX_EVENT_BYTES} bytes")
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        if self._skip_lf and chunk:
            # The last chunk ended with CR, which has already ended its line; an LF right after it belongs to it.
            chunk = chunk.removeprefix(b"\n")
            self._skip_lf = False
        if chunk.endswith(b"\r"):
            self._skip_lf = True
        self._pending += chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        lines = bytes(self._pending).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._pending = bytearray(lines.pop())
        if self._first_line and lines:
            lines[0] = lines[0].removeprefix(_BOM)
            self._first_line = False
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", errors="replace")
        if name == b"data":
            self._data.append(text)
            self._data_bytes += len(value)
        elif name == b"event":
            self._event = text

    def _dispatch(self) -> SseEvent | None:
        data, event = self._data, self._event
        self._data, self._event, self._data_bytes = [], "", 0
        if not data:
            return None
        return SseEvent("\n".join(data), event or "message")
