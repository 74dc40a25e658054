"""A vLLM of this computer is started with our parts in it and with the socket of the window's live channel."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import psutil
import pytest
from engine_page import VLLM, Place, set_up

from engine.hardware.record import recorded_machines
from engine.launch.plugin import DEFAULT, FLAG, on_path
from engine.local.disk import MACHINE_VARIABLE
from engine.supervise.ports import next_free_port
from engine.vllm_plugin.protocol import MODEL_CLASS, PARTS_VARIABLE, SOCKET_VARIABLE, frame


async def test_vllm_knows_where_the_window_listens(
    qtbot: object, desk_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["2x3090-pcie"]))
    set_up(next_free_port(21_000))
    place = Place.make(VLLM)
    engine = place.engine
    try:
        await engine.start_now()
        assert engine.state.phase == "ready"
        assert engine.live is not None
        assert engine.state.pid is not None
        process = psutil.Process(engine.state.pid)
        given = process.environ()
        assert given[SOCKET_VARIABLE] == str(engine.live.path)
        assert given[PARTS_VARIABLE] == DEFAULT
        assert given["PYTHONPATH"].split(os.pathsep)[0] == str(on_path())
        assert any(MODEL_CLASS in part for part in process.cmdline())
        assert FLAG in process.cmdline()
        # What the part will do, and what the chat gets of it.
        arriving = engine.live.subscribe("a chat")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as part:
            part.sendto(frame("a chat", 1, 1, True, [4, 2], [True, False], [0.0, 1.5]), given[SOCKET_VARIABLE])
        seen = await anext(arriving)
        assert (seen.argmax, seen.accepted, seen.entropy, seen.converged) == ((4, 2), (True, False), (0.0, 1.5), True)
    finally:
        await engine.close_down()
