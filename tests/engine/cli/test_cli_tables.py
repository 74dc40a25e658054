"""How a table is written can be said to every command that reads one, in the same words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from click import Option

from engine import paths
from engine.batch.prepare import prepare
from engine.batch.tables import sniff
from engine.cli.main import main, run
from engine.domain.reading import Reading

FORM = {
    "version": 2,
    "name": "test",
    "state": "{{ text }}",
    "questions": [
        {"id": "late", "type": "noul", "instructions": "Late?", "gold": "gold", "threshold": 0.5},
        {"id": "kind", "type": "choice", "instructions": "Which?", "criteria": ["a", "b"]},
    ],
}
READING = {
    "decide": ["decide"],
    "check": ["form", "check"],
    "try": ["form", "try"],
    "export": ["form", "export"],
    "order": ["check-order"],
    "interference": ["check-interference"],
    "compare": ["compare-methods"],
}


def options(words: list[str]) -> dict[str, Option]:
    """The options of a command by their names."""
    found: Any = main
    context = found.make_context("desk", [], resilient_parsing=True)
    for word in words:
        found = found.get_command(context, word)
    return {name: each for each in found.params if isinstance(each, Option) for name in each.opts}


@pytest.mark.parametrize("words", READING.values(), ids=READING)
def test_every_command_that_reads_a_table_can_be_told_how_it_is_written(words: list[str]) -> None:
    assert {"--encoding", "--delimiter", "--no-header", "--sheet"} <= options(words).keys()


@pytest.fixture
def form(tmp_path: Path) -> Path:
    path = tmp_path / "form.json"
    path.write_text(json.dumps(FORM))
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook whose second sheet is the table."""
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as made:
        made.add_worksheet("Cover").write_row(0, 0, ["nothing"])
        made.get_worksheet_by_name("Cover").write_row(1, 0, ["here"])
        sheet = made.add_worksheet("Rows")
        sheet.write_row(0, 0, ["text", "gold"])
        sheet.write_row(1, 0, ["hello", "yes"])
    return path


def test_the_second_sheet_is_checked_and_exported(form: Path, book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["form", "check", str(form), str(book)]) == 2
    assert 'no column "gold"' in capsys.readouterr().err
    assert run(["form", "check", str(form), str(book), "--sheet", "Rows"]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    arguments = ["form", "export", str(form), "--as", "system-one", "--table", str(book), "--sheet", "Rows"]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "hello"
    assert run([*arguments, "--row", "2"]) == 2
    assert "has no row 2; its last one is row 1" in capsys.readouterr().err


def test_the_delimiter_can_be_spelled_everywhere(
    form: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.txt"
    table.write_text("text\tgold\na,b\tyes\n")
    for spelled in ("tab", "\\t", "\t"):
        assert run(["form", "check", str(form), str(table), "--delimiter", spelled]) == 0
    assert run(["form", "check", str(form), str(table), "--delimiter", ","]) == 2


def answered(form: Path, table: Path, gold: str) -> str:
    """A run of two answered rows with this gold; its id."""
    table.write_text(f"text,gold\na,{gold}\nb,{gold}\n")
    with prepare(form, table, engine="", table_format=sniff(table)).create(paths.runs_dir()) as store:
        for row, share in ((1, 0.8), (2, 0.4)):
            late = Reading("late", "ok", share, (share, 1 - share), 0.9, True, 0.5, 0.9, 1, method="alone/canvas")
            kind = Reading("kind", "ok", "a", (0.7, 0.3), 0.9, True, 0.5, 0.9, 1, method="alone/canvas")
            store.add_answers(row, (late, kind))
        return store.id


@pytest.mark.parametrize("gold", ["yes", "no"])
def test_one_class_only_is_the_reason_that_there_is_no_threshold(
    form: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], gold: str
) -> None:
    run_id = answered(form, tmp_path / "t.csv", gold)
    assert run(["analyse", run_id]) == 0
    said = capsys.readouterr().out
    assert "threshold: none, gold has one class only" in said
    assert "what is demanded" not in said


def test_figures_of_two_runs_do_not_come_to_lie_side_by_side(
    form: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "mine.csv").write_text("kept")
    first, second = answered(form, tmp_path / "a.csv", "yes"), answered(form, tmp_path / "b.csv", "")
    assert run(["analyse", first, "--csv", str(folder)]) == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert run(["analyse", second, "--csv", str(folder)]) == 2
    said = capsys.readouterr()
    assert (said.out, "holds figures already: 1-late-" in said.err) == ("", True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert run(["analyse", first, "--csv", str(folder), "--overwrite"]) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
