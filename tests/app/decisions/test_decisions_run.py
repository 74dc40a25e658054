"""Runs from the page over the real embedded engine: to the CSV, and over the death of engine and worker."""

from __future__ import annotations

import csv
import os
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

from decisions_driver import Place, beginning, leaving
from desk_driver import expect, until_phase, within
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QTableView
from pytestqt.modeltest import ModelTester

from app.models.results import ROW, STATUS, VALUE
from app.pages.decisions import RUNS
from app.presenters.run import RunPresenter
from engine import paths
from engine.store.run_browse import Browse, RunBrowser
from engine.store.runs import run_path

ALL_ROWS, ROWS, QUESTIONS = 120, 40, 3
PASSES = 100  # reads: fewer than the run needs, so many that of the rows read at a time some are whole


async def ready(place: Place, *, whole: bool = False) -> RunPresenter:
    """The tickets example, or its beginning with one draw for each answer, ready to run on the embedded engine."""
    await place.start_engine()
    await place.open_example("tickets")
    if not whole:
        document, table = place.page.presenter.document, place.page.presenter.table
        document.set_method(replace(document.form.method, draws=1))
        await table.load(beginning(Path(table.facts.path), ROWS))
    place.page.tabs.setCurrentIndex(RUNS)
    assert place.find(QPushButton, "run_start").isEnabled(), place.find(QLabel, "run_message").text()
    return place.page.runs


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def answers(run_id: str) -> Counter[tuple[int, int]]:
    """How often each answer is stored."""
    with RunBrowser(run_path(paths.runs_dir(), run_id)) as browser:
        return Counter(divmod(key, 64) for key in browser.keys(Browse()))


async def begun(place: Place) -> str:
    """Starts a run that has stored some answers when the gate holds the rest; its id."""
    runs = place.page.runs
    place.gate().hold(after=PASSES)
    progress = expect(runs.status_changed.connect, lambda: runs.status.progress and runs.status.progress.done > 0)
    place.find(QPushButton, "run_start").click()
    assert "starting" in place.find(QLabel, "run_message").text()
    await within(progress)
    assert runs.status.phase == "running"
    return runs.status.run


@leaving
async def test_the_tickets_example_runs_to_csv(place: Place, tmp_path: Path, qtmodeltester: ModelTester) -> None:
    runs = await ready(place, whole=True)
    ended = expect(runs.ended.connect)
    measured = expect(place.page.results.outcome_changed.connect, lambda outcomes: any(o.metrics for o in outcomes))
    place.find(QPushButton, "run_start").click()
    run_id, how = await within(ended)
    assert how == "finished"
    await within(measured)
    results = place.page.results
    await place.until(results.counted.connect, lambda: results.model.rowCount() == ALL_ROWS * QUESTIONS)
    table = place.find(QTableView, "results_table")
    assert table.model().rowCount() == ALL_ROWS * QUESTIONS
    qtmodeltester.check(place.page.results.model)
    assert place.find(QLabel, "run_count.ok").text() + place.find(QLabel, "run_count.unreadable").text()

    out = tmp_path / "out.csv"
    place.find(QPushButton, "run_export").click()
    place.find(QLineEdit, "export_path").setText(str(out))
    place.find(QCheckBox, "export_bom").setChecked(True)
    exported = expect(place.page.results.exported.connect)
    place.find(QPushButton, "export_accept").click()
    await within(exported)
    rows = cells(out)
    assert [row["row_id"] for row in rows] == [str(number) for number in range(1, ALL_ROWS + 1)]
    assert {row["team.status"] for row in rows} <= {"ok", "unreadable"}
    assert answers(run_id) == Counter(
        (row, question) for row in range(1, ALL_ROWS + 1) for question in range(QUESTIONS)
    )
    assert str(out) in place.notices[-1].text


@leaving
async def test_an_existing_file_is_replaced_only_when_told(place: Place, tmp_path: Path) -> None:
    runs = await ready(place)
    ended = expect(runs.ended.connect)
    place.find(QPushButton, "run_start").click()
    await within(ended)
    await place.until(place.page.results.opened.connect, lambda: bool(place.page.results.run_id))
    await place.until(runs.runs_changed.connect, lambda: any(run.state == "finished" for run in runs.runs))
    out = tmp_path / "out.csv"
    write(out, "precious")
    place.find(QPushButton, "run_export").click()
    place.find(QLineEdit, "export_path").setText(str(out))
    assert not place.find(QPushButton, "export_accept").isEnabled()
    place.find(QCheckBox, "export_overwrite").setChecked(True)
    exported = expect(place.page.results.exported.connect)
    place.find(QPushButton, "export_accept").click()
    await within(exported)
    assert len(cells(out)) == ROWS


@leaving
async def test_the_engine_dies_in_mid_run_and_the_run_goes_on(place: Place) -> None:
    runs = await ready(place)
    run_id = await begun(place)
    paused = expect(runs.status_changed.connect, lambda: runs.status.phase == "paused")
    pid = place.engine.state.pid
    assert pid is not None
    os.killpg(pid, signal.SIGKILL)
    await within(paused)
    assert runs.status.reason
    await until_phase(place.engine, "lost", "failed")
    assert "stored" in place.find(QLabel, "run_notice").text()
    assert place.find(QPushButton, "run_resume").isHidden()
    before = answers(run_id)
    assert 0 < len(before) < ROWS * QUESTIONS

    place.gate().open()
    await place.start_engine()
    assert not place.find(QPushButton, "run_resume").isHidden()
    ended = expect(runs.ended.connect)
    place.find(QPushButton, "run_resume").click()
    assert await within(ended) == (run_id, "finished")
    after = answers(run_id)
    assert len(after) == ROWS * QUESTIONS
    assert set(after.values()) == {1}


@leaving
async def test_the_worker_is_killed_and_its_run_is_offered_for_resume(place: Place) -> None:
    runs = await ready(place)
    run_id = await begun(place)
    ended = expect(runs.ended.connect)
    listed = expect(runs.runs_changed.connect, lambda: runs.info(run_id).state == "unfinished")
    os.killpg(runs.worker_pid, signal.SIGKILL)
    assert await within(ended) == (run_id, "failed")
    await within(listed)
    assert "Unfinished" in place.find(QLabel, "run_notice").text()
    place.gate().open()
    ended = expect(runs.ended.connect)
    place.find(QPushButton, "run_resume").click()
    assert await within(ended) == (run_id, "finished")
    assert set(answers(run_id).values()) == {1}
    assert len(answers(run_id)) == ROWS * QUESTIONS


@leaving
async def test_a_run_is_paused_resumed_cancelled_and_deleted(place: Place) -> None:
    runs = await ready(place)
    run_id = await begun(place)
    paused = expect(runs.status_changed.connect, lambda: runs.status.phase == "paused")
    place.find(QPushButton, "run_pause").click()
    await within(paused)
    assert runs.status.reason == ""
    resumed = expect(runs.status_changed.connect, lambda: runs.status.phase == "running")
    place.find(QPushButton, "run_resume").click()
    await within(resumed)
    ended = expect(runs.ended.connect)
    listed = expect(runs.runs_changed.connect, lambda: runs.info(run_id).state == "unfinished")
    place.find(QPushButton, "run_cancel").click()
    assert await within(ended) == (run_id, "cancelled")
    await within(listed)
    await place.until(place.page.results.opened.connect, lambda: place.page.results.run_id == run_id)
    place.find(QPushButton, "run_delete").click()
    gone = expect(runs.runs_changed.connect, lambda: runs.info(run_id) is None)
    place.find(QPushButton, "delete_confirm").click()
    await within(gone)
    assert not list(paths.runs_dir().glob("*"))


@leaving
async def test_the_list_says_what_the_worker_of_this_window_does(place: Place) -> None:
    """A list that was read before the worker had written its state must not stand."""
    runs = await ready(place)
    run_id = await begun(place)
    await place.until(runs.runs_changed.connect, lambda: runs.info(run_id) is not None)
    for command, state in (("run_pause", "paused"), ("run_resume", "running")):
        runs.runs = tuple(replace(run, state="unfinished", done=0) for run in runs.runs)
        changed = expect(runs.status_changed.connect, lambda state=state: runs.status.phase == state)
        place.find(QPushButton, command).click()
        await within(changed)
        info = runs.info(run_id)
        assert (info.state, info.done) == (state, runs.status.progress.done)
    ended = expect(runs.ended.connect)
    place.find(QPushButton, "run_cancel").click()
    await within(ended)
    assert runs.info(run_id).state == "unfinished"


@leaving
async def test_answers_are_filtered_ordered_and_laid_open(place: Place) -> None:
    runs = await ready(place)
    ended = expect(runs.ended.connect)
    place.find(QPushButton, "run_start").click()
    await within(ended)
    results = place.page.results
    await place.until(results.counted.connect, lambda: results.model.rowCount() == ROWS * QUESTIONS)
    counted = expect(results.counted.connect, lambda count: count == ROWS)
    place.find(QComboBox, "results_question").setCurrentIndex(1)
    await within(counted)
    counted = expect(results.counted.connect)
    place.find(QComboBox, "results_order").setCurrentIndex(1)
    await within(counted)
    model = results.model
    await place.until(model.dataChanged.connect, lambda: model.answer(0) is not None)
    values = [model.index(line, VALUE).data() for line in range(ROWS)]
    known = [float(value) for value in values if value]
    assert known == sorted(known, reverse=True)
    assert model.index(0, STATUS).data() in ("ok", "unreadable")
    detail = expect(results.detail_ready.connect)
    place.find(QTableView, "results_table").selectRow(0)
    (shown,) = await within(detail)
    assert str(shown.row) == model.index(0, ROW).data()
    assert 0 <= float(place.find(QLabel, "results_answer.label_mass").text()) <= 1


@leaving
async def test_one_row_is_tried_and_laid_open(place: Place) -> None:
    await ready(place)
    seen = expect(place.page.presenter.preview_ready.connect)
    place.find(QComboBox, "preview_question").setCurrentText("team")
    place.find(QPushButton, "preview_read").click()
    (facts,) = await within(seen)
    assert "Which team should handle the ticket?" in facts.prompt
    assert len(facts.canvas) == 16
    assert facts.slot == 0
    assert facts.reading.question_id == "team"
    seen = expect(place.page.presenter.preview_ready.connect)
    place.find(QComboBox, "preview_method").setCurrentIndex(1)
    place.find(QPushButton, "preview_read").click()
    (facts,) = await within(seen)
    assert facts.reading.method == "joint/canvas"
    assert facts.slot > 0


@leaving
async def test_the_price_of_joint_reading_is_measured_on_a_sample(place: Place) -> None:
    await ready(place)
    place.find(QCheckBox, "run_joint").click()
    found = expect(place.page.presenter.price_ready.connect)
    place.find(QPushButton, "run_measure_joint").click()
    (price,) = await within(found)
    assert price.rows == 24
    assert "24 rows" in place.find(QLabel, "run_joint_price").text()
    assert place.find(QPushButton, "run_measure_joint").isEnabled()


@leaving
async def test_labels_are_checked_against_the_engine_as_one_types(place: Place) -> None:
    await ready(place)
    message = place.find(QLabel, "labels_message")
    await place.until(place.page.presenter.labels_checked.connect, lambda: "yes / no" in message.text())
    place.page.form_part.list.select(1)
    assert "A … E" in message.text()


def write(path: Path, text: str) -> None:
    path.write_text(text)
