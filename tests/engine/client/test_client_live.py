"""The live channel: frames by request, bounded, and never in the way."""

from __future__ import annotations

import json
import socket
import stat
from pathlib import Path

import pytest

from engine.client.live import MAX_WAITING, LiveChannel
from engine.errors import InputError
from engine.vllm_plugin.protocol import VERSION

FRAME = {"id": "a", "n": 1, "step": 3, "converged": False, "argmax": [1, 2], "accepted": [True, False]}


def send(path: Path, *datagrams: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.connect(str(path))
        for datagram in datagrams:
            out.send(datagram)


def frame(**changes: object) -> bytes:
    return json.dumps(FRAME | changes).encode()


async def test_each_subscriber_gets_its_own_frames(tmp_path: Path) -> None:
    async with LiveChannel(tmp_path / "s") as channel:
        first, second = channel.subscribe("a"), channel.subscribe("b")
        send(channel.path, frame(), frame(id="b", entropy=[0.5, 0.1], surplus=1), frame(n=2))
        got = [await anext(first), await anext(first), await anext(second)]
    assert [(one.request, one.number) for one in got] == [("a", 1), ("a", 2), ("b", 1)]
    assert got[0].argmax == (1, 2)
    assert got[0].accepted == (True, False)
    assert got[2].entropy == (0.5, 0.1)


async def test_closing_the_channel_ends_the_iterators_and_removes_the_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with LiveChannel(path) as channel:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        subscription = channel.subscribe("a")
        send(path, frame())
        channel.drain()
    assert [one.number async for one in subscription] == [1]
    assert not path.exists()
    await channel.close()


async def test_broken_and_unasked_frames_are_counted(tmp_path: Path) -> None:
    async with LiveChannel(tmp_path / "s") as channel:
        subscription = channel.subscribe("a")
        send(channel.path, b"", b"\xff\xfe", b"{}", b'{"id": "a"}', frame(id="nobody"), frame(n=7))
        assert (await anext(subscription)).number == 7
        assert channel.dropped == 5


async def test_a_slow_subscriber_loses_the_oldest_frames(tmp_path: Path) -> None:
    async with LiveChannel(tmp_path / "s") as channel:
        subscription = channel.subscribe("a")
        for number in range(1, MAX_WAITING + 4):
            send(channel.path, frame(n=number))
            channel.drain()
        assert channel.dropped == 3
        assert (await anext(subscription)).number == 4
        await subscription.aclose()
        await subscription.aclose()


async def test_a_leftover_socket_is_replaced_and_a_file_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s"
    leftover = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    leftover.bind(str(path))
    leftover.close()
    async with LiveChannel(path) as channel:
        subscription = channel.subscribe("a")
        send(path, frame())
        assert (await anext(subscription)).number == 1
    path.write_text("precious")
    with pytest.raises(InputError, match="Address already in use"):
        await LiveChannel(path).__aenter__()
    assert path.read_text() == "precious"


def test_a_path_that_no_socket_can_have(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most 107 bytes") as caught:
        LiveChannel(tmp_path / ("x" * 120))
    assert caught.value.code == "live.path_too_long"


async def test_frames_of_another_version_are_refused_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with LiveChannel(tmp_path / "s") as channel:
        subscription = channel.subscribe("a")
        assert channel.other_version is None
        send(channel.path, frame(v=VERSION + 1, n=1), json.dumps({"v": VERSION + 1, "other": "shape"}).encode())
        send(channel.path, frame(v=VERSION, n=3))
        assert (await anext(subscription)).number == 3
    assert (channel.dropped, channel.other_version) == (2, VERSION + 1)
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"version {VERSION + 1}, this program reads {VERSION}:" in line
