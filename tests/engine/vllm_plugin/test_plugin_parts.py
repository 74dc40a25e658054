"""Which parts are on; the protocol; the sender's thread. All of it without vLLM."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.vllm_plugin.live_sender import Buffer, FrameSender, Watched, accepted, stops_of
from engine.vllm_plugin.parts import LOGGER, Config, PartRequired, install_parts, warn_of_cut_canvases
from engine.vllm_plugin.protocol import MAX_ID, PART_MODULES, PARTS_VARIABLE, VERSION, live_id

WIDTH = 3
WAIT_S = 120.0


def config(**variables: str) -> Config:
    return Config.of_process(rank=0, world=1, version="0.33.0", variables=variables)


class Row:
    """A tensor on the host, as far as the sender knows one."""

    def __init__(self, *step: int, argmax: tuple[int, ...] = (1, 2, 3), entropy: tuple[float, ...] = (0, 1, 2)) -> None:
        bits = np.array(entropy, np.float32).view(np.int32)
        self.row = np.concatenate((np.array(argmax, np.int32), bits, np.array(step, np.int32)))

    def numpy(self) -> Any:
        return self.row


@pytest.mark.parametrize(
    ("said", "parts"),
    [("", ()), ("live", ("live",)), (" live , reads,live,", ("reads", "live")), ("live,tiles", ("tiles", "live"))],
)
def test_parts_come_in_their_own_order(said: str, parts: tuple[str, ...]) -> None:
    assert config(**{PARTS_VARIABLE: said}).parts == parts
    assert config().parts == ()


def test_a_part_that_does_not_exist_is_no_stock_in_disguise() -> None:
    with pytest.raises(ValueError, match="there is no part lve; there are tiles, reads, live"):
        config(**{PARTS_VARIABLE: "live,lve"})


def test_a_part_that_must_be_there_ends_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "must_be.py").write_text(
        "from engine.vllm_plugin.parts import PartRequired\n"
        "def install(state, sampler, config):\n    raise PartRequired('not without me')\n"
    )
    (tmp_path / "may_be.py").write_text("def install(state, sampler, config):\n    raise TypeError('other classes')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(PART_MODULES, "reads", "may_be")  # type: ignore[index]
    assert install_parts(object(), object(), config(**{PARTS_VARIABLE: "reads"})) == ()  # type: ignore[arg-type]
    assert "the part reads" not in caplog.text
    assert "Diffusion Desk's part reads is left out" in caplog.text
    monkeypatch.setitem(PART_MODULES, "reads", "must_be")  # type: ignore[index]
    with pytest.raises(PartRequired, match="not without me"):
        install_parts(object(), object(), config(**{PARTS_VARIABLE: "reads"}))  # type: ignore[arg-type]


def test_a_step_too_small_for_all_canvases_is_told(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_cut_canvases(8, 256, 2048)
    assert caplog.text == ""
    warn_of_cut_canvases(9, 256, 2048)
    assert "9 requests at once with canvases of 256 slots need --max-num-batched-tokens 2304" in caplog.text


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, None),
        ({}, None),
        ({"dg_live": "a b"}, "a b"),
        ({"dg_live": 7}, "7"),
        ({"dg_live": ""}, None),
        ({"dg_live": True}, None),
        ({"dg_live": ["a"]}, None),
        ({"dg_live": "x" * MAX_ID}, "x" * MAX_ID),
        ({"dg_live": "x" * (MAX_ID + 1)}, None),
    ],
)
def test_how_a_request_asks(given: dict[str, Any] | None, wanted: str | None) -> None:
    assert live_id(given) == wanted


@pytest.mark.parametrize(
    ("entropy", "bound", "kept"),
    [
        ([0.3, 0.1, 0.2], 0.1, [False, True, True]),
        ([0.3, 0.1, 0.2], 0.31, [True, True, True]),
        ([5.0, 4.0], 0.1, [False, True]),
        ([float("nan"), float("nan")], 0.1, [True, False]),
        ([], 0.1, []),
    ],
)
def test_the_surest_slots_are_kept(entropy: list[float], bound: float, kept: list[bool]) -> None:
    assert accepted(entropy, bound) == kept


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.settimeout(WAIT_S)
        bound.bind(str(tmp_path / "s"))
        yield bound


def send(sender: FrameSender, watched: Watched, *steps: tuple[int, ...]) -> None:
    """Steps of (counter, commits next, emitted[, tokens before it])."""
    for step in steps:
        buffer = sender.buffer()
        assert buffer is not None
        buffer.host, buffer.watched, buffer.width = Row(*step, *[0] * (4 - len(step))), watched, WIDTH
        sender.give(buffer)


def test_frames_are_numbered_through_lost_steps_and_canvases(listener: socket.socket) -> None:
    sender = FrameSender(str(listener.getsockname()), [Buffer(None, None) for _ in range(16)], 0.5)
    assert sender.look()
    # (step, commits next, emitted): steps 2 and 3 are lost; the end and the commit of the second canvas too.
    send(sender, Watched("a"), (1, 0, 0), (4, 1, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 0, 0), (2, 0, 1))
    sender.close()
    frames = [json.loads(listener.recv(4096)) for _ in range(6)]
    assert [(frame["n"], frame["step"], frame["converged"]) for frame in frames] == [
        *((1, 1, False), (4, 4, True), (5, 1, False), (6, 2, False)),
        *((7, 1, False), (8, 2, True)),
    ]
    assert frames[0] == {
        **{"v": VERSION, "id": "a", "n": 1, "step": 1, "converged": False},
        **{"argmax": [1, 2, 3], "accepted": [1, 1, 0], "entropy": [0.0, 1.0, 2.0]},
    }
    assert (sender.counts.sent, sender.counts.dropped, sender.counts.failed) == (6, 0, 0)


@pytest.mark.parametrize("seen", ["all", "no end", "no commit", "beginnings"])
@pytest.mark.parametrize(
    ("length", "stops", "canvases"),
    [(3, (), 1), (4, (), 2), (6, (), 2), (7, (), 3), (None, (), 3), (9, (2,), 1), (9, (7,), 3), (None, (3, 8), 1)],
)
def test_a_step_behind_the_last_canvas_is_no_frame(
    listener: socket.socket, length: int | None, stops: tuple[int, ...], canvases: int, seen: str
) -> None:
    """With asynchronous scheduling a finished request is in one more step; canvases here hold the ids 1, 2 and 3.

    Whatever was lost on the way: where an end is told by the length it is found, by an id if its canvas was seen.
    """
    prompt = 10
    sender = FrameSender(str(listener.getsockname()), [Buffer(None, None) for _ in range(32)], 0.5)
    assert sender.look()
    watched = Watched("a", None if length is None else prompt + length, frozenset(stops))
    first, end, commit = (1, 0, 0), (2, 1, 0), (0, 0, 0)
    canvas = {"all": (first, end, commit), "no end": (first, commit), "no commit": (first, end), "beginnings": (first,)}
    steps = [(*step, prompt + WIDTH * number) for number in range(3) for step in canvas[seen]]
    send(sender, watched, *steps, (*first, prompt + WIDTH * 3))
    sender.close()
    wanted = 3 if stops and seen == "beginnings" else canvases  # an id is found in the canvas that holds it
    ended = wanted < 3 or (length is not None and length <= WIDTH * 3)
    assert watched.over == ended
    denoised = len([step for step in canvas[seen] if step[0]])
    frames = [json.loads(listener.recv(4096)) for _ in range(denoised * wanted + (not ended))]
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.recv(4096)
    assert sum(frame["converged"] for frame in frames) == (wanted if (2, 1, 0) in canvas[seen] else 0)


@pytest.mark.parametrize(
    ("params", "stops"),
    [
        ({"stop_token_ids": [6], "eos_token_id": 1}, {1, 6}),
        ({"stop_token_ids": None, "eos_token_id": None}, set()),
        ({}, set()),
    ],
)
def test_the_ids_that_a_request_stops_at(params: dict[str, Any], stops: set[int]) -> None:
    assert set(stops_of(SimpleNamespace(**params))) == stops


def test_a_listener_that_comes_back_is_found_again(tmp_path: Path, listener: socket.socket) -> None:
    path = tmp_path / "s"
    sender = FrameSender(str(path), [Buffer(None, None) for _ in range(4)], 0.5)
    assert sender.look()
    watched = Watched("a")
    send(sender, watched, (1, 0, 0))
    assert json.loads(listener.recv(4096))["n"] == 1
    listener.close()
    path.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as second:
        second.settimeout(WAIT_S)
        second.bind(str(path))
        send(sender, watched, (2, 0, 0))
        assert json.loads(second.recv(4096))["n"] == 2
    sender.close()
    assert sender.counts.dropped == 0


def test_losses_are_said_in_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        sender = FrameSender(str(path), [Buffer(None, None)], 0.5)
        assert sender.look()
    assert not FrameSender(str(tmp_path / "none"), [], 0.5).look()
    send(sender, Watched("a"), (1, 0, 0))
    sender.close()
    assert not sender.listened
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["live canvas: 0 frames sent, 1 dropped, 0 requests switched off"]


class Copying:
    """The event of a copy that is not over before it is told so."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def synchronize(self) -> None:
        assert self.over.wait(WAIT_S)


def test_a_request_that_fails_counts_once_however_many_of_its_frames_wait(listener: socket.socket) -> None:
    copying = Copying()
    sender = FrameSender(str(listener.getsockname()), [Buffer(None, None, copying) for _ in range(8)], 0.5)
    assert sender.look()
    bad: Any = {1, 2}  # nothing that JSON can say
    send(sender, Watched(bad), (1, 0, 0), (2, 0, 0), (3, 0, 0))
    send(sender, Watched("good"), (1, 0, 0))
    copying.over.set()
    sender.close()
    assert json.loads(listener.recv(4096))["id"] == "good"
    assert (sender.counts.sent, sender.counts.dropped, sender.counts.failed) == (1, 0, 1)
