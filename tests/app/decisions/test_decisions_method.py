"""Which method? The comparison in the window: started, stopped, gone on with, kept beside the form."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from decisions_driver import Place, leaving
from desk_driver import expect, within
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QLabel, QSpinBox, QTableWidget

from app.pages.decisions import METHOD
from engine.batch.compare import Cell, comparison_path, load_comparison
from engine.batch.compare_figures import figures, recommend

WAYS = [Cell(), Cell(draws=1), Cell(layout="joint")]


def tick(place: Place, key: str, *texts: str) -> None:
    for box in place.page.method_part.view.findChildren(QCheckBox):
        if box.objectName().startswith(f"method_{key}."):
            box.setChecked(box.text() in texts)


async def ready(place: Place, folder: Path) -> Path:
    """The tickets form, saved, with a small comparison chosen."""
    await place.open_example("tickets")
    path = folder / "form.json"
    assert place.page.presenter.save_form(path)
    await place.start_engine()
    place.page.tabs.setCurrentIndex(METHOD)
    tick(place, "draws", "auto", "1")
    tick(place, "steps", "1")
    tick(place, "layout", "alone", "questions together")
    tick(place, "state", "the row's text")
    place.find(QSpinBox, "method_sample").setValue(12)
    return path


@leaving
async def test_methods_are_compared_and_the_result_is_kept_and_said(place: Place, tmp_path: Path) -> None:
    path = await ready(place, tmp_path)
    found = expect(place.page.methods.found.connect, lambda facts: facts is not None)
    steps: list[tuple[int, int]] = []
    place.page.methods.progressed.connect(lambda done, total, _text: steps.append((done, total)))
    place.find(QAbstractButton, "method_start").click()
    assert place.find(QAbstractButton, "method_stop").isEnabled()
    assert not place.find(QAbstractButton, "method_start").isEnabled()
    await within(found)
    kept = load_comparison(comparison_path(path, "refund"))
    assert kept is not None
    assert [result.cell for result in kept.results] == WAYS
    assert steps[-1] == (len(WAYS) * 2 * 12, len(WAYS) * 2 * 12)
    table, wanted = place.find(QTableWidget, "method_table"), figures(kept, WAYS[0])
    assert [table.item(row, 0).text() for row in range(table.rowCount())] == [cell.name for cell in WAYS]
    assert [table.item(row, 1).text() for row in range(3)] == [f"{each.quality:.3f}" for each in wanted]
    assert place.find(QLabel, "method_words").text() == recommend(kept, WAYS[0])
    assert str(comparison_path(path, "refund")) in place.find(QLabel, "method_kept").text()


@leaving
async def test_a_comparison_that_is_stopped_goes_on_with_what_is_missing(place: Place, tmp_path: Path) -> None:
    path = await ready(place, tmp_path)
    methods, kept_at = place.page.methods, comparison_path(path, "refund")

    def one_is_kept(_done: int, _total: int, text: str) -> bool:
        return text.startswith("2 of 3")

    second = expect(methods.progressed.connect, one_is_kept)
    failed = expect(methods.failed.connect)
    place.find(QAbstractButton, "method_start").click()
    await within(second)
    place.find(QAbstractButton, "method_stop").click()
    assert "Stopped" in (await within(failed))[0]
    assert place.find(QAbstractButton, "method_start").isEnabled()
    first = json.loads(kept_at.read_text())["results"]
    assert len(first) == 1
    found = expect(methods.found.connect, lambda facts: facts is not None and len(facts.rows) == 3)
    place.find(QAbstractButton, "method_start").click()
    await within(found)
    assert json.loads(kept_at.read_text())["results"][0] == first[0]
    # Another sample is another comparison: it is not mixed in, and begins only when its user says so.
    place.find(QSpinBox, "method_sample").setValue(8)
    failed = expect(methods.failed.connect)
    place.find(QAbstractButton, "method_start").click()
    assert "begin anew" in (await within(failed))[0]
    assert len(json.loads(kept_at.read_text())["results"]) == 3
    place.find(QCheckBox, "method_anew").setChecked(True)
    tick(place, "draws", "1")
    tick(place, "layout", "alone")
    again = expect(methods.busy_changed.connect, lambda: not methods.busy)
    place.find(QAbstractButton, "method_start").click()
    await within(again)
    assert [each["cell"]["draws"] for each in json.loads(kept_at.read_text())["results"]] == [1]


@leaving
async def test_what_stands_between_is_said_and_a_line_without_a_tick_too(place: Place, tmp_path: Path) -> None:
    message = place.find(QLabel, "method_message")
    await place.open_example("tickets")
    assert "Save the form first" in message.text()
    form = place.page.presenter.document.form
    without = replace(form, questions=tuple(replace(each, gold=None) for each in form.questions))
    place.page.presenter.document.load(without, None)
    assert "gold column" in message.text()
    assert place.find(QComboBox, "method_question").count() == 0
    place.page.presenter.document.load(form, None)
    await ready(place, tmp_path)
    assert not message.text()
    tick(place, "draws")
    place.find(QAbstractButton, "method_start").click()
    assert "at least one of each line" in message.text()
    assert not place.page.methods.busy
    document = place.find(QCheckBox, "method_state.the whole document before it")
    assert not document.isEnabled()  # the form has no document
    assert not document.isChecked()
    place.page.presenter.document.load(replace(form, document="{{ message }}"), None)
    assert document.isEnabled()
