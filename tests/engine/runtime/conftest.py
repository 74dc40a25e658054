"""A stand-in for the engine's gigabytes: four small wheels, a lock of them, and the real uv."""

from __future__ import annotations

import os
import shutil
import socket
import sysconfig
from pathlib import Path

import pytest
from runtime_helpers import MINOR, Heard, StandIn

from engine.runtime.places import default_places


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes minutes and gigabytes runs when it is asked for."""
    if os.environ.get("DESK_SLOW_TESTS") != "1":
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="takes minutes and gigabytes; DESK_SLOW_TESTS=1 runs it"))


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def uv_on_path(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv as ``./desk`` finds it, keeping to itself: no managed Python, no retries, no settings of the user."""
    own = root / ".desk/uv/bin"
    if shutil.which("uv") is None:
        if not (own / "uv").exists():
            pytest.skip("uv is not here")
        monkeypatch.setenv("PATH", f"{own}{os.pathsep}{os.environ['PATH']}")
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


@pytest.fixture
def stand_in(tmp_path: Path, uv_on_path: None) -> StandIn:
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        pytest.skip(f"Python.h of Python {MINOR} is not here")
    made = StandIn(tmp_path / "wheels", tmp_path / "engine.lock", default_places())
    made.relock()
    return made


@pytest.fixture
def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
