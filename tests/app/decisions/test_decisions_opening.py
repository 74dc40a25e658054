"""Which run is shown when several are asked for at once: the one that was asked for last."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from decisions_driver import Place, leaving
from decisions_runs_maker import make_run

from app.pages.decisions import RUNS
from app.presenters.run import RunStatus
from engine import paths
from engine.store.runs import run_path


async def shown(place: Place) -> str:
    """The run that is open once all that was asked for is done."""
    results = place.page.results
    await place.until(results.opened.connect, lambda: results.run_id == results.wanted)
    return results.run_id


async def two_runs(place: Place) -> tuple[str, str]:
    """The first of them is open."""
    one, other = make_run(rows=4), make_run(rows=4)
    place.page.tabs.setCurrentIndex(RUNS)
    await place.page.runs.load_runs()
    place.page.runs_part._open(one)
    assert await shown(place) == one
    return one, other


@leaving
async def test_a_click_back_while_another_run_is_loading_counts(place: Place) -> None:
    one, other = await two_runs(place)
    part = place.page.runs_part
    part._open(other)
    part._open(one)
    assert await shown(place) == one
    for run in (other, one, other):
        part._open(run)
    assert await shown(place) == other
    assert part.list.current() == other


def list_again(place: Place) -> None:
    place.page.runs.runs_changed.emit()


def next_begins(place: Place) -> None:
    """Those who watched the last run of the queue are shown the next one, unless they have asked for another."""
    place.page.runs.status = RunStatus("starting", queue=True)
    place.page.runs.started.emit("20990101-000000-none")
    place.page.runs.status = RunStatus()


@pytest.mark.parametrize("meanwhile", [list_again, next_begins])
@leaving
async def test_nothing_that_happens_while_a_run_is_loading_takes_its_place(
    place: Place, meanwhile: Callable[[Place], None]
) -> None:
    one, other = await two_runs(place)
    part = place.page.runs_part
    part._watched = one
    part._open(other)
    meanwhile(place)
    await place.page.results._close()  # nothing is open at all, as in the middle of loading
    meanwhile(place)
    assert await shown(place) == other
    assert part.list.current() == other


@leaving
async def test_a_run_that_cannot_be_opened_can_be_asked_for_again(place: Place) -> None:
    one, other = await two_runs(place)
    path = run_path(paths.runs_dir(), other)
    path.rename(path.with_suffix(".away"))
    place.page.runs_part._open(other)
    await place.until(place.page.results.opened.connect, lambda: not place.page.results.wanted)
    assert "there is no run" in place.notices[-1].text
    path.with_suffix(".away").rename(path)
    place.page.runs_part._open(other)
    assert await shown(place) == other
    assert one != other
