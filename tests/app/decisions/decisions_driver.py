"""Drives the Decisions page in tests."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, cast

from desk_driver import WAIT_S, expect, until_phase, within
from fakes.engine_gate import EngineGate
from PySide6.QtCore import QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.notify import Notice, NotificationSink
from app.pages.decisions import DecisionsPage
from app.presenters.engine import EnginePresenter
from engine import paths


class Leavable(Protocol):
    async def leave(self) -> None: ...


def leaving[**P](test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, Coroutine[Any, Any, None]]:
    """Leaves the place while the test's loop still runs.

    pytest-qt processes Qt's events right after a test, when no asyncio loop is running: a task of the page that is
    still under way would be stepped there and fail.
    """

    @functools.wraps(test)
    async def run(*args: P.args, **kwargs: P.kwargs) -> None:
        place = cast("Leavable", kwargs["place"])
        try:
            await test(*args, **kwargs)
        finally:
            await place.leave()

    return run


def beginning(table: Path, rows: int) -> Path:
    """The first rows of a table, as a file in the data folder."""
    short = paths.data_dir() / "short.csv"
    short.write_text("".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[: rows + 1]), encoding="utf-8")
    return short


class GatedEngine(EnginePresenter):
    """An engine that workers may have to reach through a gate."""

    gate: EngineGate | None = None

    @property
    def url(self) -> str:
        there = super().url
        return self.gate.url if there and self.gate is not None else there


class Place:
    """A page, its engine and what it said."""

    def __init__(self) -> None:
        self.engine = GatedEngine()
        self.notifier = NotificationSink()
        self.notices: list[Notice] = []
        self.notifier.noticed.connect(self.notices.append)
        self.page = DecisionsPage(self.engine, None, self.notifier)
        self.page.resize(1100, 760)

    def find[T: QObject](self, kind: type[T], name: str) -> T:
        """The one widget or action of this object name."""
        found = self.page.findChildren(kind, name)
        assert len(found) == 1, f"{len(found)} objects are named {name}"
        return found[0]

    def type_into(self, name: str, text: str) -> None:
        """Replaces a field's text as a user would."""
        field = self.find(QWidget, name)
        select_all = getattr(field, "selectAll")  # noqa: B009  # line and text fields have it, QWidget has not
        select_all()
        QTest.keyClicks(field, text)

    async def start_engine(self) -> None:
        self.engine.start()
        await until_phase(self.engine, "ready", "failed")
        assert self.engine.state.ready, self.engine.state.message

    def gate(self) -> EngineGate:
        """Before the engine that is running, for every worker from now on.

        What must happen while a run is under way happens while the gate holds it: otherwise it may have ended already.
        """
        if self.engine.gate is None:
            self.engine.gate = EngineGate(self.engine.url)
        return self.engine.gate

    async def open_example(self, name: str) -> None:
        """Opens a bundled form and waits for its table."""
        table = self.page.presenter.table
        counted = expect(table.changed.connect, lambda: table.facts is not None and table.facts.count is not None)
        self.page.files.open_example(name)
        await within(counted)

    async def leave(self) -> None:
        """The window closes; may be called twice."""
        await self.page.close_down()
        await self.engine.close_down()
        if self.engine.gate is not None:
            self.engine.gate.close()

    async def until(self, signal: Callable[[Callable[..., None]], object], holds: Callable[[], bool]) -> None:
        """Waits until something holds that can change only with a signal."""
        if holds():
            return
        await asyncio.wait_for(expect(signal, lambda *_values: holds()), WAIT_S)
