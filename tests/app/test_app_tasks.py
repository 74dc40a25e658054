"""Background work: kept, named, reported, cancelled with its owner; one sink for everything that goes wrong."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading

import pytest
from desk_driver import expect, within
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.collector import GuiCollector
from app.models.notice import Notice, as_sentence
from app.notify import NotificationSink
from app.tasks import cancel_all, spawn
from engine.errors import InputError


async def forever() -> None:
    await asyncio.Event().wait()


async def fail(error: Exception) -> None:
    await asyncio.sleep(0)
    raise error


async def test_an_error_goes_to_its_handler(qapp: QApplication) -> None:
    owner, errors = QObject(), []
    task = spawn(owner, fail(ValueError("x")), "t", errors.append)
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert [str(error) for error in errors] == ["x"]
    assert task.get_name() == "t"


async def test_a_task_ends_with_its_owner(qapp: QApplication) -> None:
    owner = QObject()
    task = spawn(owner, forever(), "t")
    await asyncio.sleep(0)
    owner.deleteLater()
    with pytest.raises(asyncio.CancelledError):
        await within(task)


async def test_all_tasks_of_an_owner_can_be_ended(qapp: QApplication) -> None:
    owner = QObject()
    tasks = [spawn(owner, forever(), f"t{number}") for number in range(3)]
    await cancel_all(owner)
    assert all(task.cancelled() for task in tasks)


async def test_an_error_without_a_handler_reaches_the_sink(qapp: QApplication) -> None:
    sink = NotificationSink()
    loop = asyncio.get_running_loop()
    sink.install(loop)
    try:
        told = expect(sink.noticed.connect)
        owner = QObject()
        spawn(owner, fail(InputError("table.empty", "{path} is empty", remedy="choose another", path="a.csv")), "t")
        (notice,) = await within(told)
        assert (notice.text, notice.remedy) == ("a.csv is empty", "choose another")
        told = expect(sink.noticed.connect)
        spawn(owner, fail(RuntimeError("inner words")), "t")
        (notice,) = await within(told)
        assert "inner words" not in notice.text
        assert "inner words" in notice.details
        assert notice.remedy
    finally:
        loop.set_exception_handler(None)
        sink.uninstall()


async def test_the_hooks_of_python_threads_and_slots_reach_the_sink(qapp: QApplication) -> None:
    sink = NotificationSink()
    kept = sys.excepthook, sys.unraisablehook, threading.excepthook
    sink.install()
    try:
        told = expect(sink.noticed.connect)
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        (notice,) = await within(told)
        thread.join()
        assert isinstance(notice, Notice)
        assert "ZeroDivisionError" in notice.text
        told = expect(sink.noticed.connect)
        QTimer.singleShot(0, lambda: [][1])
        (notice,) = await within(told)
        assert "IndexError" in notice.text
    finally:
        sink.uninstall()
        sys.excepthook, sys.unraisablehook, threading.excepthook = kept


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the table is empty", "The table is empty"),
        ("a.csv is empty", "a.csv is empty"),
        ("/x/y is empty", "/x/y is empty"),
        ("", ""),
        ("vLLM says no", "vLLM says no"),
    ],
)
def test_messages_begin_with_a_capital_and_names_stay(text: str, shown: str) -> None:
    assert as_sentence(text) == shown


def test_cycles_with_qt_objects_are_collected_on_the_guis_thread_only(qapp: QApplication) -> None:
    gc.enable()
    collector = GuiCollector()
    try:
        assert not gc.isenabled()
        threads: list[int] = []

        class Node:
            def __init__(self) -> None:
                self.me = self

            def __del__(self) -> None:
                threads.append(threading.get_ident())

        def fill() -> None:
            for _ in range(5000):
                Node()

        worker = threading.Thread(target=fill)
        worker.start()
        worker.join()
        assert threads == []
        assert collector.collect_due() is not None
        assert set(threads) == {threading.get_ident()}
    finally:
        collector.stop()
        assert gc.isenabled()
        gc.disable()
