"""What needs no engine to be known is refused before one is started for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import paths
from engine.batch import export_xlsx
from engine.batch.prepare import prepare
from engine.cli.main import BAD_INPUT, run
from engine.domain.reading import Reading

NOUL = {"id": "late", "type": "noul", "instructions": "Late?"}
OTHER = {**NOUL, "id": "angry"}
NOBODY = "http://127.0.0.1:9"
CHOICE = {"id": "team", "type": "choice", "instructions": "Who?", "criteria": ["a", "b"]}


def write(folder: Path, *questions: dict[str, Any], name: str = "form.json", **fields: Any) -> Path:
    whole = {"version": 2, "name": "test", "state": "{{ text }}", "questions": questions or (NOUL,), **fields}
    (folder / name).write_text(json.dumps(whole), encoding="utf-8")
    (folder / "table.csv").write_text("text\nhello\nworld\n")
    return folder / name


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a refusal says; checks that no engine was started for it and that it is short."""
    assert run(arguments) == BAD_INPUT
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) <= 2, said
    assert list(paths.logs_dir().glob("engine*")) == [], "an engine was started"
    return said


def finished(folder: Path, *, draws: int = 1) -> str:
    """A finished run in which nothing failed; its id."""
    form = write(folder, method={"draws": draws})
    with prepare(form, folder / "table.csv", engine="a fake").create(paths.runs_dir()) as store:
        for row in (1, 2):
            store.add_answers(row, [Reading("late", "ok", 0.75, (0.75, 0.25), 0.9, True, 0.5, 0.9, 1)])
        store.set_state("finished")
        return store.id


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--where", "text == 'nobody'"], "no row of"),
        (["--where", "1 / text|int > 0"], "filter fails"),
        (["--where", "text == 'nobody'", "--sample", "1"], "no row of"),
        (["--where", "text == 'nobody'", "--queue"], "no row of"),
        (["--wire", "native", "--draws", "4"], "one draw"),
        (["--wire", "native", "--steps", "2"], "makes one"),
    ],
)
def test_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str) -> None:
    form = write(tmp_path)
    (tmp_path / "table.csv").write_text("text\nhello\n")
    said = refused(["decide", str(form), str(tmp_path / "table.csv"), "--out", str(tmp_path / "o.csv"), *more], capsys)
    assert words in said
    assert list(paths.runs_dir().iterdir()) == []


@pytest.mark.parametrize(
    ("command", "questions", "more", "words"),
    [
        ("check-interference", [NOUL], [], "two questions"),
        ("check-order", [NOUL, OTHER], [], "no choice question"),
        ("check-interference", [NOUL, OTHER], ["--wire", "native", "--draws", "2"], "one draw"),
        ("check-order", [CHOICE], ["--wire", "native", "--draws", "2"], "one draw"),
    ],
)
def test_checks(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    questions: list[dict[str, Any]],
    more: list[str],
    words: str,
) -> None:
    form = write(tmp_path, *questions)
    assert words in refused([command, str(form), str(tmp_path / "table.csv"), *more], capsys)


@pytest.mark.parametrize(
    ("what", "words"), [(["failed"], "status error"), (["unreadable"], "status unreadable"), (["questions"], "already")]
)
def test_again(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: list[str], words: str) -> None:
    run_id = finished(tmp_path)
    form = ["--form", str(tmp_path / "form.json")] if what == ["questions"] else []
    assert words in refused(["again", *what, run_id, *form, "--out", str(tmp_path / "o.csv")], capsys)


def test_again_with_a_form_that_cannot_be_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_id = finished(tmp_path)
    other = write(tmp_path, NOUL, OTHER, name="other.json", method={"wire": "native", "draws": 3})
    changed = write(tmp_path, {**NOUL, "instructions": "Too late?"}, name="changed.json")
    state = write(tmp_path, NOUL, OTHER, name="state.json", state="now: {{ text }}")
    for form, words in ((other, "one draw"), (changed, "was another"), (state, "not the run's")):
        arguments = ["again", "questions", run_id, "--form", str(form), "--out", str(tmp_path / "o.csv")]
        assert words in refused(arguments, capsys)


def test_again_about_a_run_that_is_not_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with prepare(write(tmp_path), tmp_path / "table.csv", engine="a fake").create(paths.runs_dir()) as store:
        run_id = store.id
    assert "is not finished" in refused(["again", "failed", run_id, "--out", str(tmp_path / "o.csv")], capsys)


# Of a cell of a sheet, in UTF-16 units: https://support.microsoft.com, Excel specifications and limits.
FULL = 32_767


@pytest.mark.parametrize(
    ("cell", "fits"),
    [("a" * FULL, True), ("a" * (FULL + 1), False), ("\U0001f600" * 16_383, True), ("\U0001f600" * 16_384, False)],
)
def test_a_cell_that_no_workbook_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cell: str, fits: bool
) -> None:
    form = write(tmp_path)
    (tmp_path / "table.csv").write_text(f"text\nshort\n{cell}\n", encoding="utf-8")
    out = str(tmp_path / "o.xlsx")
    if fits:  # a server that nobody runs is as far as it goes
        assert run(["decide", str(form), str(tmp_path / "table.csv"), "--out", out, "--engine", NOBODY]) != BAD_INPUT
        return
    said = refused(["decide", str(form), str(tmp_path / "table.csv"), "--out", out], capsys)
    for word in ("row 2, column text", str(FULL), "Parquet"):
        assert word in said
    assert list(paths.runs_dir().iterdir()) == []
    with prepare(form, tmp_path / "table.csv", engine="a fake").create(paths.runs_dir()) as store:
        store.set_state("finished")
    assert "row 2, column text" in refused(["again", "failed", store.id, "--out", out], capsys)


@pytest.mark.parametrize(("limit", "words"), [("MAX_ROWS", "holds 2 rows"), ("MAX_COLUMNS", "holds 2 columns")])
def test_a_table_that_no_sheet_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, limit: str, words: str
) -> None:
    monkeypatch.setattr(export_xlsx, limit, 2)
    arguments = ["decide", str(write(tmp_path)), str(tmp_path / "table.csv"), "--out", str(tmp_path / "o.xlsx")]
    assert words in refused(arguments, capsys)
    assert list(paths.runs_dir().iterdir()) == []


PICTURED = {"pictures": {"column": "text"}}


@pytest.mark.parametrize("given", [True, False], ids=["by the command", "by the form"])
@pytest.mark.parametrize(
    "command",
    [
        ["decide", "--out", "out.csv"],
        ["decide", "--out", "out.csv", "--queue"],
        ["form", "try"],
        ["form", "try", "--row", "1"],
        ["check-interference"],
        ["check-order"],
        ["compare-methods"],
    ],
)
def test_pictures_for_the_toy_that_does_not_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str], given: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    fields: dict[str, Any] = {} if given else PICTURED
    write(tmp_path, {**NOUL, "gold": "text"}, CHOICE, **fields)
    (tmp_path / "table.csv").write_text("text\nyes\nno\n")
    at = 2 if command[0] == "form" else 1
    more = ["--picture-column", "text"] if given else []
    said = refused([*command[:at], "form.json", "table.csv", *command[at:], *more], capsys)
    assert "the engine sees no pictures: the bundled toy model was trained on text only" in said
    assert list(paths.runs_dir().iterdir()) == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--picture-column", "foto"], 'no column "foto"'),
        (["--picture-separator", ";"], "give --picture-column too"),
    ],
)
def test_a_column_of_pictures_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    form = str(write(tmp_path, {**NOUL, "gold": "text"}, CHOICE))
    table = str(tmp_path / "table.csv")
    for command in (
        ["decide", form, table, "--out", str(tmp_path / "out.csv"), "--engine", NOBODY],
        ["form", "try", form, table, "--engine", NOBODY],
        ["check-interference", form, table, "--engine", NOBODY],
        ["check-order", form, table, "--engine", NOBODY],
        ["compare-methods", form, table, "--engine", NOBODY],
        ["form", "export", form, "--as", "system-one", "--table", table],
        ["form", "check", form, table],
    ):
        assert words in refused([*command, *more], capsys), command


@pytest.mark.parametrize("command", ["check-interference", "check-order"])
def test_a_filter_of_the_checks_that_lets_nothing_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    form = str(write(tmp_path, NOUL, CHOICE))
    arguments = [command, form, str(tmp_path / "table.csv"), "--where"]
    assert "no row of" in refused([*arguments, "text == 'nobody'"], capsys)
    assert "filter fails" in refused([*arguments, "1 / text|int > 0"], capsys)


def test_a_filter_of_form_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = str(write(tmp_path))
    assert "no row of" in refused(["form", "check", form, str(tmp_path / "table.csv"), "--where", "text == ''"], capsys)
    assert run(["form", "check", form, "--where", "text == ''"]) == BAD_INPUT
    assert "no table is named" in capsys.readouterr().err


def test_queue_is_for_new_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["decide", str(write(tmp_path)), str(tmp_path / "table.csv"), "--out", str(tmp_path / "o.csv")]
    assert "--queue is for a new run" in refused([*arguments, "--queue", "--resume"], capsys)


@pytest.mark.parametrize("draws", ["0", "33", "some"])
@pytest.mark.parametrize("command", [["form", "try"], ["check-order"], ["check-interference"]])
def test_draws_are_the_same_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], draws: str
) -> None:
    arguments = [*command, str(write(tmp_path, NOUL, CHOICE)), str(tmp_path / "table.csv"), "--draws", draws]
    assert run(arguments) == BAD_INPUT
    said = capsys.readouterr().err
    assert "'--draws'" in said
    assert "auto" in said
    assert all(len(line) < 200 for line in said.splitlines())


def test_a_row_that_a_run_skips_is_not_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = str(write(tmp_path))
    (tmp_path / "table.csv").write_text("text\nhello\n  \n")
    words = refused(["form", "try", form, str(tmp_path / "table.csv"), "--row", "2"], capsys)
    assert "row 2: the state is empty, so a run skips it" in words


def test_a_question_that_is_not_there_is_told_beside_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = str(write(tmp_path, {**NOUL, "gold": "text"}, CHOICE))
    words = refused(["compare-methods", form, str(tmp_path / "table.csv"), "--question", "{nope}"], capsys)
    assert "no question is called {nope}" in words
    assert "its questions are late, team" in words
