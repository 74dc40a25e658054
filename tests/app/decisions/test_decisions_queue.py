"""Several runs from the page, one after the other: the order, the next by itself, and what outlives whom."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from decisions_driver import Place, beginning, leaving
from desk_driver import WAIT_S, expect, until, within
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QListWidget, QPushButton, QWidget

from app.pages.decisions import RUNS
from engine import paths
from engine.store.run_queue import RunQueue
from engine.store.runs import RunView, list_runs, run_path

ROWS, QUESTIONS = 12, 3
PASSES = 5 + 8  # reads: those with which a run begins, then some of two rows at a time: of these one or two get whole


async def ready(place: Place) -> None:
    """The beginning of the tickets, one draw an answer, on the embedded engine."""
    await place.start_engine()
    await place.open_example("tickets")
    document, table = place.page.presenter.document, place.page.presenter.table
    document.set_method(replace(document.form.method, draws=1))
    await table.load(beginning(Path(table.facts.path), ROWS))
    place.page.tabs.setCurrentIndex(RUNS)
    place.page.runs_part.setup.concurrency.setValue(2)


async def held_run(place: Place, name: str = "first") -> str:
    """A run that has begun and is paused with something left to read; its id."""
    runs, gate = place.page.runs, place.gate()
    gate.hold(after=PASSES)
    begun = expect(runs.status_changed.connect, lambda: runs.status.progress and runs.status.progress.done)
    press(place, "run_start", name)
    await within(begun)
    paused = expect(runs.status_changed.connect, lambda: runs.status.phase == "paused")
    runs.pause()
    await within(paused)
    gate.open()
    return runs.status.run


def press(place: Place, button: str, form_name: str = "") -> None:
    if form_name:
        place.page.presenter.document.set_name(form_name)
    found = place.find(QAbstractButton, button)
    assert found.isEnabled(), button
    assert not found.isHidden(), (button, place.find(QLabel, "run_notice").text())
    found.click()


async def queue_up(place: Place, *names: str) -> list[str]:
    """Runs that wait, made while another is under way; their ids."""
    found = []
    for name in names:
        added = expect(place.page.runs_part.queue.presenter.added.connect)
        press(place, "run_start", name)
        (run,) = await within(added)
        found.append(run)
    return found


def lines(place: Place) -> list[str]:
    shown = place.find(QListWidget, "queue")
    return [shown.item(line).text() for line in range(shown.count())]


async def shows(place: Place, *wanted: str) -> None:
    await place.until(place.page.runs_part.queue.presenter.changed.connect, lambda: lines(place) == list(wanted))


async def freed(place: Place, count: int = 1) -> list[tuple[str, str]]:
    """How the next runs end: which and in what way."""
    ended: list[tuple[str, str]] = []
    runs = place.page.runs
    done = expect(runs.ended.connect, lambda run, how: ended.append((run, how)) or len(ended) == count)
    await asyncio.wait_for(done, count * WAIT_S)
    return ended


def at_start(place: Place, run: str, act: Callable[[], object]) -> asyncio.Future[Any]:
    """Does something when a run has begun; the gate has to hold it, or it may have ended already."""
    return expect(place.page.runs.started.connect, lambda begun: begun == run and (act(), True)[1])


def answers(run: str) -> tuple[str, int]:
    with RunView(run_path(paths.runs_dir(), run)) as view:
        return view.info().state, view.info().done


WHOLE = ("finished", ROWS * QUESTIONS)


@leaving
async def test_runs_wait_in_an_order_that_can_be_changed_and_begin_by_themselves(place: Place) -> None:
    await ready(place)
    assert place.find(QWidget, "queue_view").isHidden()
    first = await held_run(place)
    assert place.find(QPushButton, "run_start").text() == "Add to the queue"
    second, third = await queue_up(place, "second", "third")
    await shows(place, "1. second", "2. third")
    part = place.page.runs_part
    part._open(second)
    await place.until(place.page.results.opened.connect, lambda: place.page.results.run_id == second)
    assert "number 1" in place.find(QLabel, "run_notice").text()
    assert place.find(QPushButton, "run_resume").isHidden()

    shown = place.find(QListWidget, "queue")
    shown.setCurrentRow(0)
    shown.setFocus()
    assert not place.find(QAbstractButton, "queue_up").isEnabled()
    QTest.keyClick(shown, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    await shows(place, "1. third", "2. second")
    assert part.queue.view.current() == second  # the same run, where it has gone
    QTest.keyClick(shown, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    await shows(place, "1. second", "2. third")
    assert shown.model().moveRow(shown.rootIndex(), 1, shown.rootIndex(), 0)  # as a drop does
    await shows(place, "1. third", "2. second")

    order = asyncio.ensure_future(freed(place, 3))  # noqa: TID251  # awaited below
    told = expect(part.queue.presenter.ended.connect)
    place.page.runs.resume(first, 4)
    assert await order == [(first, "finished"), (third, "finished"), (second, "finished")]
    assert await within(told) == (2, 0)
    assert [answers(run) for run in (first, second, third)] == [WHOLE] * 3
    assert place.notices[-1].text == "The queue is done: 2 runs are finished."
    await place.until(place.page.runs.freed.connect, lambda: place.page.runs.worker_pid is None)
    assert not list((paths.data_dir() / "scratch").iterdir())
    await place.until(part.queue.presenter.changed.connect, lambda: not lines(place))
    assert place.find(QWidget, "queue_view").isHidden()
    assert place.find(QPushButton, "run_start").text() == "Start the run"


@leaving
async def test_a_cancelled_run_leaves_the_queue_and_the_next_begins_a_stopped_one_keeps_its_place(place: Place) -> None:
    await ready(place)
    first = await held_run(place)
    second, third = await queue_up(place, "second", "third")
    runs, queue, gate = place.page.runs, place.page.runs_part.queue.presenter, place.gate()
    gate.hold(after=PASSES)
    begun = at_start(place, second, queue.cancel)
    held = runs.ended.connect(lambda *_: gate.hold(after=PASSES))  # what comes next
    gone = at_start(place, third, lambda: press(place, "queue_stop"))
    freed_at_last = expect(runs.freed.connect, lambda _how, _queue: begun.done() and gone.done())
    queue.cancel()  # the one that stands outside of the queue: what waits begins
    await within(begun)
    await within(gone)
    assert await within(freed_at_last) == ("cancelled", True)
    assert answers(second)[0] == answers(third)[0] == "unfinished"
    await shows(place, "1. third")
    assert [line.run for line in queue.look.lines] == [third]  # the second is out of the queue
    assert "1 run waits" in place.find(QLabel, "queue_note").text()

    place.page.runs_part._open(first)
    await place.until(place.page.results.opened.connect, lambda: place.page.results.run_id == first)
    ended = asyncio.ensure_future(freed(place, 2))  # noqa: TID251  # awaited below
    begun = at_start(place, third, lambda: press(place, "run_queue"))  # the first goes on when it is its turn
    gate.hold(after=PASSES)
    press(place, "queue_start")
    await within(begun)
    await place.until(queue.changed.connect, lambda: [line.run for line in queue.look.lines] == [third, first])
    runs.ended.disconnect(held)
    gate.open()
    assert place.page.results.run_id == first  # what begins by itself takes nobody's view away
    assert await ended == [(third, "finished"), (first, "finished")]
    assert answers(first) == answers(third) == WHOLE


@leaving
async def test_what_waits_outlives_the_window_and_is_held_until_it_is_started(place: Place) -> None:
    await ready(place)
    first = await held_run(place)
    (second,) = await queue_up(place, "second")
    left_by_a_dead_window = paths.data_dir() / "scratch" / "left.csv"
    await place.leave()
    left_by_a_dead_window.write_text("x")

    again = Place()
    try:
        await again.start_engine()  # at another address
        queue = again.page.runs_part.queue.presenter
        await shows(again, "1. second")
        assert not again.page.runs.busy
        assert not left_by_a_dead_window.exists()
        again.page.runs_part._open(first)
        ended = asyncio.ensure_future(freed(again))  # noqa: TID251  # awaited below
        press(again, "queue_start")
        assert await ended == [(second, "finished")]
        await again.until(queue.changed.connect, lambda: not lines(again))
        assert answers(second) == WHOLE
        assert answers(first)[0] == "unfinished"
    finally:
        await again.leave()
        again.page.deleteLater()
        again.engine.deleteLater()


@leaving
async def test_a_run_that_fails_says_why_and_waits_once_more_when_told(place: Place) -> None:
    await ready(place)
    first = await held_run(place)
    second, third = await queue_up(place, "second", "third")
    path = run_path(paths.runs_dir(), second)
    path.rename(path.with_suffix(".away"))
    ended = asyncio.ensure_future(freed(place, 3))  # noqa: TID251  # awaited below
    gone = expect(place.page.runs.freed.connect, lambda _how, queue: queue)
    place.page.runs.resume(first, 4)
    assert await ended == [(first, "finished"), (second, "failed"), (third, "finished")]
    await within(gone)
    assert "1 failed" in place.notices[-1].text
    path.with_suffix(".away").rename(path)
    await place.page.runs.load_runs()
    await shows(place, "✕ second")
    place.page.runs_part.queue.view.choose(second)
    assert "there is no run" in place.find(QLabel, "queue_note").text()
    ended = asyncio.ensure_future(freed(place))  # noqa: TID251  # awaited below
    press(place, "queue_retry")
    assert await ended == [(second, "finished")]
    assert answers(second) == WHOLE


@leaving
async def test_a_killed_worker_leaves_its_run_in_its_place_and_nothing_begins_unasked(place: Place) -> None:
    await ready(place)
    first = await held_run(place)
    second, third = await queue_up(place, "second", "third")
    runs = place.page.runs
    place.gate().hold(after=PASSES)
    begun = at_start(place, second, lambda: os.killpg(runs.worker_pid, signal.SIGKILL))
    gone = expect(runs.freed.connect, lambda _how, queue: queue)
    place.page.runs_part.queue.presenter.cancel()
    await within(begun)
    assert await within(gone) == ("failed", True)
    await shows(place, "1. second", "2. third")
    await place.page.runs_part._delete(third)
    await shows(place, "1. second")
    assert {run.id for run in list_runs(paths.runs_dir())} == {first, second}
    place.gate().open()
    ended = asyncio.ensure_future(freed(place))  # noqa: TID251  # awaited below
    press(place, "queue_start")
    assert await ended == [(second, "finished")]
    assert answers(second) == WHOLE
    with RunQueue(paths.queue_file()) as queue:  # the worker writes it once it has told the end of the run
        await until(lambda: [(entry.run, entry.state) for entry in queue.entries()] == [(second, "done")])


@leaving
async def test_a_command_for_a_run_that_has_ended_does_not_hit_the_next(place: Place) -> None:
    await ready(place)
    first = await held_run(place)
    (second,) = await queue_up(place, "second")
    runs, queue, gate = place.page.runs, place.page.runs_part.queue.presenter, place.gate()

    def late() -> None:
        """What was on its way when the first ended; then a pause, which says that the worker has heard both."""
        runs._worker.send("cancel", first)
        runs._worker.send("pause", first)
        queue.cancel(first)
        runs._worker.send("pause", second)

    gate.hold(after=PASSES)
    begun = at_start(place, second, late)
    paused = expect(runs.status_changed.connect, lambda: runs.status.phase == "paused")
    queue.cancel(first)
    await within(begun)
    await within(paused)
    assert runs.status.run == second
    ended = asyncio.ensure_future(freed(place))  # noqa: TID251  # awaited below
    gate.open()
    runs.resume(second, 2)
    assert await ended == [(second, "finished")]
    assert answers(second) == WHOLE


@leaving
async def test_a_queue_that_is_stopped_between_two_runs_does_not_go_on(place: Place) -> None:
    await ready(place)
    await held_run(place)
    (second,) = await queue_up(place, "second")
    runs, queue = place.page.runs, place.page.runs_part.queue.presenter
    gone = expect(runs.freed.connect, lambda _how, of_queue: of_queue)
    place.gate().hold(after=PASSES)
    # As when the command came while nobody read it: the worker has not heard of it.
    between = expect(runs.status_changed.connect, lambda: runs.status.queue and (_unheard_stop(place), True)[1])
    queue.cancel()
    await within(between)
    assert await within(gone) == ("cancelled", True)
    assert answers(second)[0] == "unfinished"
    await shows(place, "1. second")
    assert not queue.look.going


def _unheard_stop(place: Place) -> None:
    worker, place.page.runs._worker = place.page.runs._worker, None
    place.page.runs_part.queue.presenter.stop()
    place.page.runs._worker = worker
