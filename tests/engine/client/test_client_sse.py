"""The event stream parser: any chunking of the bytes gives the same events."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.client import sse
from engine.client.sse import SseError, SseEvent, SseParser

TEXT = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12)
LINES = st.one_of(
    st.builds("data: {}".format, TEXT),
    st.builds("data:{}".format, TEXT),
    st.sampled_from(
        ["data", "", "", ": comment", "event: ping", "id: 7", "retry: 3", "data: [DONE]", "nonsense", "x:y"]
    ),
    TEXT,
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])), max_size=25).map(
    lambda lines: "".join(line + end for line, end in lines).encode()
)


def whole(stream: bytes) -> list[SseEvent]:
    """What the standard says about the whole text; the oracle."""
    text = stream.decode().removeprefix("\ufeff")
    *lines, _unfinished = re.split("\r\n|\r|\n", text)
    events: list[SseEvent] = []
    data: list[str] = []
    kind = ""
    for line in lines:
        if not line:
            if data:
                events.append(SseEvent("\n".join(data), kind or "message"))
            data, kind = [], ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value
    return events


def parsed(pieces: list[bytes]) -> list[SseEvent]:
    parser = SseParser()
    return [event for piece in pieces for event in parser.feed(piece)]


@given(STREAMS, st.data())
@example(b"\xef\xbb\xbfdata: x\n\n", None)
@example("data: \u00e4\U0001f600\r\n\r\n".encode(), None)
def test_any_chunking_gives_the_same_events(stream: bytes, data: st.DataObject | None) -> None:
    if data is None:
        pieces = [stream[i : i + 1] for i in range(len(stream))]
    else:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
        edges = [0, *cuts, len(stream)]
        pieces = [stream[a:b] for a, b in itertools.pairwise(edges)]
    assert parsed(pieces) == whole(stream)
    assert parsed([stream[i : i + 1] for i in range(len(stream))]) == whole(stream)


def test_data_lines_are_joined_and_an_unfinished_event_is_dropped() -> None:
    assert parsed([b"event: e\ndata: a\ndata: b\n\ndata: c\n"]) == [SseEvent("a\nb", "e")]


def test_an_event_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    parser = SseParser()
    parser.feed(b"data: " + b"x" * 60 + b"\n")
    with pytest.raises(SseError, match="100 bytes"):
        parser.feed(b"data: " + b"x" * 60 + b"\n")
