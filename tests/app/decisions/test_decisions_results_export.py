"""The export dialog: every kind of file, what its name has to do with it, progress, cancel, and what goes wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from decisions_driver import Place, leaving
from decisions_runs_maker import ROWS, make_run
from desk_driver import expect, within
from PySide6.QtWidgets import (
    QCheckBox,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
)

from app.models.results_export import SUFFIXES, ExportKind
from app.pages.decisions import RUNS
from app.widgets.decisions.export_dialog import ExportDialog
from engine import paths
from engine.batch.export import export_run, kind_of
from engine.store.runs import run_path


async def asked(place: Place, path: Path) -> str:
    """The dialog over a made run, with this path in it."""
    run_id = make_run()
    place.page.runs.refresh()
    await place.until(place.page.runs.runs_changed.connect, lambda: place.page.runs.info(run_id) is not None)
    place.page.tabs.setCurrentIndex(RUNS)
    await place.page.results.load(run_id)
    place.find(QPushButton, "run_export").click()
    place.find(QLineEdit, "export_path").setText(str(path))
    return run_id


async def exported(place: Place) -> None:
    done = expect(place.page.results.exported.connect)
    place.find(QPushButton, "export_accept").click()
    await within(done)


@pytest.mark.parametrize("kind", SUFFIXES)
@leaving
async def test_each_kind_is_the_file_of_the_command_line(place: Place, tmp_path: Path, kind: ExportKind) -> None:
    run_id = await asked(place, tmp_path / "out.csv")
    place.find(QRadioButton, f"export_kind.{kind}").setChecked(True)
    path = tmp_path / f"out{SUFFIXES[kind]}"
    assert place.find(QLineEdit, "export_path").text() == str(path)
    assert place.find(QCheckBox, "export_bom").isVisible() == (kind == "csv")
    told = []
    place.page.results.exporting.connect(lambda done, total: told.append((done, total)))
    await exported(place)
    again = tmp_path / f"again{SUFFIXES[kind]}"
    export_run(run_path(paths.runs_dir(), run_id), again)
    if kind != "xlsx":  # a workbook holds the time of its making
        assert path.read_bytes() == again.read_bytes()
    else:
        assert path.read_bytes()[:2] == b"PK"
    if kind == "jsonl":
        assert len([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]) == ROWS
    assert told in ([(ROWS, ROWS)], [] if kind in ("manifest", "report") else [(ROWS, ROWS)])
    assert str(path) in place.notices[-1].text


def test_a_suffix_means_what_it_means_to_the_command_line() -> None:
    assert {kind: kind_of(Path(f"out{suffix}")) for kind, suffix in SUFFIXES.items()} == {
        kind: kind for kind in SUFFIXES
    }


@leaving
async def test_the_kind_follows_a_typed_suffix_and_keeps_an_unknown_one(place: Place, tmp_path: Path) -> None:
    await asked(place, tmp_path / "out.parquet")
    assert place.find(QRadioButton, "export_kind.parquet").isChecked()
    place.find(QLineEdit, "export_path").setText(str(tmp_path / "my.table"))
    place.find(QRadioButton, "export_kind.report").setChecked(True)
    assert place.find(QLineEdit, "export_path").text() == str(tmp_path / "my.table.html")


@leaving
async def test_a_cancelled_export_leaves_nothing_and_can_be_asked_again(place: Place, tmp_path: Path) -> None:
    await asked(place, tmp_path / "out.csv")
    dialog = place.find(ExportDialog, "export_dialog")
    ended = expect(place.page.results.export_failed.connect)
    place.find(QPushButton, "export_accept").click()
    assert not place.find(QProgressBar, "export_bar").isHidden()
    assert not place.find(QPushButton, "export_accept").isEnabled()
    place.find(QPushButton, "export_cancel").click()
    assert await within(ended) == ("", "")
    assert os.listdir(tmp_path) == []
    assert dialog.isVisible()
    assert place.find(QProgressBar, "export_bar").isHidden()
    await exported(place)
    assert os.listdir(tmp_path) == ["out.csv"]


@leaving
async def test_what_goes_wrong_is_told_in_the_dialog(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    await asked(place, out)
    ended = expect(place.page.results.export_failed.connect)
    out.write_text("came meanwhile", encoding="utf-8")
    place.find(QPushButton, "export_accept").click()
    await within(ended)
    assert "exists" in place.find(QLabel, "export_failure").text()
    assert out.read_text(encoding="utf-8") == "came meanwhile"
    assert place.find(ExportDialog, "export_dialog").isVisible()
    assert not place.find(QPushButton, "export_accept").isEnabled()  # until replacing is allowed
    place.find(QCheckBox, "export_overwrite").setChecked(True)
    await exported(place)
    assert out.read_text(encoding="utf-8").startswith("row_id,")
