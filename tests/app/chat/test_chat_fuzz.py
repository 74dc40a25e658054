"""Ten thousand random and malicious documents: none crashes, hangs, loads anything or leaves a widget behind."""

from __future__ import annotations

import html
import os
import re
import signal
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from markdown_fuzz import document
from PySide6.QtCore import QCoreApplication, QEvent, QUrl
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets.markdown import Prose, blocks
from app.widgets.message import MessageView
from app.widgets.prose import ProseView
from app.widgets.urls import safe_url

DOCUMENTS, BATCH = 10_000, 500
ALWAYS = 2_000  # of them in every run; the rest with DESK_SLOW_TESTS=1
LIMIT_S = 1.0  # of CPU time of this process, whatever else the machine does
HREF = re.compile(r'href="([^"]*)"')
HANDLE_DELETIONS = QEvent.Type.DeferredDelete.value


def batches() -> list[Any]:
    slow = pytest.mark.skipif(
        os.environ.get("DESK_SLOW_TESTS") != "1", reason="takes minutes; DESK_SLOW_TESTS=1 runs it"
    )
    return [pytest.param(start, marks=slow if start >= ALWAYS else ()) for start in range(0, DOCUMENTS, BATCH)]


@pytest.fixture
def remote() -> Iterator[tuple[str, list[object]]]:
    """An address on loopback, and who has come to it."""
    came: list[object] = []

    class Noting(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            came.append(self.client_address)

    with socketserver.TCPServer(("127.0.0.1", 0), Noting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/x.png", came
        server.shutdown()
        thread.join()


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What documents got for the resources that they named; Qt reads none by another way."""
    found: list[object] = []
    load = ProseView.loadResource

    def noting(view: ProseView, kind: int, name: QUrl | str) -> Any:
        found.append(load(view, kind, name))
        return found[-1]

    monkeypatch.setattr(ProseView, "loadResource", noting)
    return found


class Hang(BaseException):
    """Not an Exception: nothing on the way may swallow it."""


@contextmanager
def watched(number: int) -> Iterator[None]:
    """Raises when the block takes too long."""

    def ring(*_: object) -> None:
        raise Hang(f"document {number} takes more than {LIMIT_S} s")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def shown(source: str, number: int) -> None:
    """A message that grows to this text, is painted, and goes."""
    view = MessageView("assistant")
    view.resize(300 + number % 500, 100)
    try:
        for end in (len(source) // 3, len(source) * 2 // 3):
            view.set_text(source[:end], final=False)
            view.flush()
        view.set_text(source, final=True)
        assert view.text == source
        view.grab()
    finally:
        view.deleteLater()
        QCoreApplication.sendPostedEvents(None, HANDLE_DELETIONS)


@pytest.mark.parametrize("start", batches())
def test_documents_of_any_kind(
    start: int, qtbot: QtBot, tmp_path: Path, remote: tuple[str, list[object]], loaded: list[object]
) -> None:
    address, came = remote
    local = tmp_path / "secret.png"
    local.write_bytes(b"secret")
    QCoreApplication.sendPostedEvents(None, HANDLE_DELETIONS)  # of the test before
    before = len(QApplication.allWidgets())
    for number in range(start, start + BATCH):
        source = document(number, address, local.as_uri())
        with watched(number):
            parts = [block.html for block in blocks(source) if isinstance(block, Prose)]
            shown(source, number)
        assert not [url for part in parts for url in HREF.findall(part) if not safe_url(html.unescape(url))], number
        assert not [part for part in parts if "<img" in part or "<script" in part or "<link" in part], number
        assert len(QApplication.allWidgets()) == before, number
    assert set(loaded) <= {None}
    assert came == []


def test_the_documents_name_what_must_not_be_read() -> None:
    """Else the test above could not fail."""
    sources = [document(number, "REMOTE", "LOCAL") for number in range(500)]
    assert sum("REMOTE" in source for source in sources) > 50
    assert sum("LOCAL" in source for source in sources) > 50
    assert sources[:50] == [document(number, "REMOTE", "LOCAL") for number in range(50)]
