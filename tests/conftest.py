"""Fixtures for the whole suite: a fresh home for every test, the right event loop, no network but loopback."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, so that a red run is about the change; DESK_NEW_EXAMPLES=1 looks for new ones. No limits
# of time: the machine may be busy.
settings.register_profile(
    "desk",
    deadline=None,
    derandomize=os.environ.get("DESK_NEW_EXAMPLES") != "1",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("desk")

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")
os.environ.setdefault("PYTEST_QT_API", "pyside6")

ROOT = Path(__file__).resolve().parent.parent


def _qt_loop() -> asyncio.AbstractEventLoop:
    import PySide6.QtWidgets  # noqa: F401  # qasync takes the Qt binding that is already imported
    import qasync
    from PySide6.QtWidgets import QApplication

    class PatientTimer(qasync._SimpleTimer):
        """Lets a callback wait while the loop does not run: pytest-qt processes events between a fixture and its test
        and after it, and a task that is stepped then fails for want of a running loop. A Qt timer fires again."""

        def timerEvent(self, event: Any) -> None:
            if self._stopped or loop.is_running():
                super().timerEvent(event)

    app = QApplication.instance()
    assert isinstance(app, QApplication), "an async test that uses Qt needs the qapp or qtbot fixture"
    app.setQuitOnLastWindowClosed(False)  # as in the program: the loop must outlive the window
    loop: asyncio.AbstractEventLoop = qasync.QEventLoop(app)
    loop._timer = PatientTimer()  # type: ignore[attr-defined]
    return loop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Async tests that use Qt run on qasync, all others on plain asyncio."""
    names: Any = getattr(item, "fixturenames", ())
    if "qapp" in names or "qtbot" in names:
        return {"qt": _qt_loop}
    return {"asyncio": asyncio.new_event_loop}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that need a real X server are left to the Xvfb job of ``./desk test``."""
    if os.environ["QT_QPA_PLATFORM"] == "offscreen":
        skip = pytest.mark.skip(reason="needs an X server; ./desk test runs it under Xvfb")
        for item in items:
            if "xvfb" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def desk_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every test has a data folder of its own; nothing can reach the user's."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DIFFUSION_DESK_HOME", str(home))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT
