"""Tables of every kind in the window, pasted ones, and which of their rows a run reads."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from decisions_driver import Place, leaving
from desk_driver import expect, within
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QSpinBox, QWidget

from app.pages.decisions import TABLE
from app.presenters.decisions_draft import load_draft
from engine.batch.selection import Selection, select
from engine.batch.tables import open_table
from engine.domain.run import LeftOut

ROWS = [("a", "Berlin", "12"), ("b", "Paris", "7"), ("c", "Berlin", "30")]
FIELDS = ("table_sheet", "table_encoding", "table_delimiter", "table_header")
COLUMNS = ("id", "city", "amount")


def workbook(folder: Path) -> Path:
    path = folder / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        for name in ("notes", "orders"):
            sheet = book.add_worksheet(name)
            for at, row in enumerate([COLUMNS, *ROWS] if name == "orders" else [("text",), ("hello",)]):
                sheet.write_row(at, 0, row)
    return path


def parquet(folder: Path) -> Path:
    path = folder / "t.parquet"
    pq.write_table(pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(COLUMNS)}), path)
    return path


def json_lines(folder: Path) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in ROWS))
    return path


def with_hashes(folder: Path) -> Path:
    path = folder / "t.txt"
    path.write_text("\n".join("#".join(row) for row in [COLUMNS, *ROWS]) + "\n", encoding="cp1252")
    return path


def shown(place: Place, *names: str) -> list[bool]:
    return [not place.find(QComboBox, name).parentWidget().isHidden() for name in names]


async def chosen(place: Place, box: QComboBox, value: object) -> None:
    """Chooses an item as a user does, and waits for the table to be read so."""
    table = place.page.presenter.table
    changed = expect(table.changed.connect, lambda: table.facts.count is not None)
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())
    await within(changed)


async def selected(place: Place, wanted: int) -> None:
    table = place.page.presenter.table
    await place.until(table.selection_changed.connect, lambda: table.remaining == wanted)


@leaving
async def test_a_sheet_of_a_workbook_is_chosen(place: Place, tmp_path: Path) -> None:
    table = place.page.presenter.table
    await table.load(workbook(tmp_path))
    sheet = place.find(QComboBox, "table_sheet")
    assert [sheet.itemText(at) for at in range(sheet.count())] == ["notes", "orders"]
    assert table.columns == ("text",)
    assert shown(place, "table_sheet", "table_encoding", "table_delimiter", "table_header") == [
        True,
        False,
        False,
        True,
    ]
    await chosen(place, sheet, "orders")
    assert table.columns == COLUMNS
    assert table.facts.rows == tuple(ROWS)
    assert table.overruled == {"sheet": "orders", "header": True}


@pytest.mark.parametrize(
    ("made", "fields"),
    [(parquet, [False, False, False, False]), (json_lines, [False, True, False, False])],
    ids=["parquet", "json lines"],
)
@leaving
async def test_what_a_kind_of_file_has_not_got_is_not_asked(
    place: Place, tmp_path: Path, made: object, fields: list[bool]
) -> None:
    table = place.page.presenter.table
    await table.load(made(tmp_path))  # type: ignore[operator]
    assert table.facts.rows == tuple(ROWS)
    assert shown(place, *FIELDS) == fields


@leaving
async def test_any_delimiter_can_be_typed(place: Place, tmp_path: Path) -> None:
    table = place.page.presenter.table
    await table.load(with_hashes(tmp_path))
    assert len(table.columns) == 1
    edit = place.find(QLineEdit, "table_delimiter.edit")
    changed = expect(table.changed.connect, lambda: table.facts.count is not None)
    edit.selectAll()
    QTest.keyClicks(edit, "#")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    await within(changed)
    assert table.facts.rows == tuple(ROWS)
    assert table.overruled["delimiter"] == "#"


@leaving
async def test_cells_of_the_clipboard_become_a_table(place: Place) -> None:
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in [COLUMNS, *ROWS]))
    place.page.tabs.setCurrentIndex(TABLE)
    table = place.page.presenter.table
    changed = expect(table.changed.connect, lambda: table.facts.count is not None)
    QTest.keyClick(place.page.table_part, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    await within(changed)
    assert table.facts.rows == tuple(ROWS)
    QGuiApplication.clipboard().setText("  \n")
    failed = expect(table.failed.connect)
    place.find(QAbstractButton, "table_paste").click()
    await within(failed)
    assert "clipboard holds no text" in place.find(QLabel, "table_message").text()
    assert table.facts.rows == tuple(ROWS)  # what was open stays open


@leaving
async def test_a_file_that_is_dropped_anywhere_in_the_step_is_opened(place: Place, tmp_path: Path) -> None:
    part, table, data = place.page.table_part, place.page.presenter.table, QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(parquet(tmp_path)))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    assert part.acceptDrops()
    changed = expect(table.changed.connect, lambda: table.facts.count is not None)
    part.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys))
    await within(changed)
    assert table.facts.rows == tuple(ROWS)


@leaving
async def test_a_condition_is_built_and_says_how_many_rows_remain(place: Place, tmp_path: Path) -> None:
    table = place.page.presenter.table
    await table.load(json_lines(tmp_path))
    await selected(place, 3)
    assert place.find(QLabel, "rows_remain").text() == "all 3 rows are read"
    place.find(QAbstractButton, "rows_builder").click()
    place.find(QComboBox, "rows_column").setCurrentText("city")
    place.type_into("rows_value", "Berlin")
    place.find(QAbstractButton, "rows_add").click()
    await selected(place, 2)
    operator = place.find(QComboBox, "rows_operator")
    place.find(QComboBox, "rows_column").setCurrentText("amount")
    operator.setCurrentIndex(operator.findData("above"))
    place.type_into("rows_value", "many")
    QTest.keyClick(place.find(QLineEdit, "rows_value"), Qt.Key.Key_Return)
    assert "no number" in place.find(QLabel, "rows_message").text()
    place.type_into("rows_value", "20")
    QTest.keyClick(place.find(QLineEdit, "rows_value"), Qt.Key.Key_Return)
    await selected(place, 1)
    assert table.selection == Selection('city == "Berlin" and amount|float > 20.0')
    assert place.find(QLabel, "rows_remain").text() == "1 of 3 rows are read"


@leaving
async def test_a_filter_that_cannot_be_used_says_so_and_stops_the_run(place: Place, tmp_path: Path) -> None:
    await place.open_example("tickets")
    table = place.page.presenter.table
    for where, told in (("nothing == 1", "nothing"), ("1 == 2", "no row"), ("(", "filter")):
        place.type_into("rows_where", where)
        QTest.keyClick(place.find(QLineEdit, "rows_where"), Qt.Key.Key_Return)
        await place.until(table.selection_changed.connect, lambda: bool(table.selection_fault))
        assert told in place.find(QLabel, "rows_message").text()
        assert "step 2" in place.find(QLabel, "run_message").text()
    place.type_into("rows_where", " ")
    QTest.keyClick(place.find(QLineEdit, "rows_where"), Qt.Key.Key_Return)
    await selected(place, table.facts.count)
    assert "step 2" not in place.find(QLabel, "run_message").text()


@leaving
async def test_a_sample_is_kept_in_the_draft_and_goes_with_its_table(place: Place, tmp_path: Path) -> None:
    table = place.page.presenter.table
    await table.load(json_lines(tmp_path))
    kind = place.find(QComboBox, "rows_kind")
    kind.setCurrentIndex(kind.findData("sample"))
    kind.activated.emit(kind.currentIndex())
    place.find(QSpinBox, "rows_count").setValue(2)
    place.find(QSpinBox, "rows_seed").setValue(5)
    await selected(place, 2)
    place.page.presenter.keep_draft()
    assert load_draft().selection == {"sample": 2, "seed": 5}
    await table.load(parquet(tmp_path))
    assert table.selection == Selection()
    # A filter that waits for a table that is not what it was must not fall upon the next one.
    table.close()
    table.selection = Selection("city == 'Berlin'")
    (tmp_path / "t.jsonl").write_bytes(b"")
    await table.load(tmp_path / "t.jsonl")
    await table.load(tmp_path / "t.parquet")
    assert table.selection == Selection()
    await selected(place, 3)


@leaving
async def test_a_run_reads_the_rows_that_are_chosen_and_skips_the_others(place: Place) -> None:
    await place.open_example("tickets")
    table = place.page.presenter.table
    chosen_rows = Selection("'e' in message", sample=3, seed=2)
    table.select(chosen_rows)
    await selected(place, 3)
    await place.start_engine()
    ended = expect(place.page.runs.ended.connect)
    assert "3 rows" in place.find(QLabel, "run_summary").text()
    place.find(QAbstractButton, "run_start").click()
    run_id, how = await within(ended)
    assert how == "finished"
    await place.page.runs.load_runs()
    info = place.page.runs.info(run_id)
    rows = list(select(open_table(Path(table.facts.path)), chosen_rows))
    left_out = sum(isinstance(row, LeftOut) for row in rows)
    assert len(rows) - left_out == 3
    assert {totals.skipped for totals in info.totals.values()} == {left_out}


def test_every_control_has_a_name_that_can_be_spoken(place: Place) -> None:
    rows = place.page.table_part.rows
    for kind in (QComboBox, QLineEdit, QSpinBox):
        for widget in rows.findChildren(kind) + place.page.table_part.picker.reading.findChildren(kind):
            if isinstance(widget.parentWidget(), (QSpinBox, QComboBox)):
                continue
            assert widget.accessibleName(), widget.objectName()
    assert isinstance(rows, QWidget)
