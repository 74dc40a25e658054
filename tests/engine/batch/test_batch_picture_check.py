"""Pictures before a run: the look at the first rows, and the checks and comparisons that show them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from batch_helpers import CHOICE, NOUL, write_form, write_table
from fakes.seeing_engine import png, seeing_engine
from picture_helpers import HEADER, METHOD, ROWS, command, prepared

from engine import paths
from engine.batch.compare import Cell, load_comparison, save_comparison
from engine.batch.compare_run import PICTURES as TOLD_APART
from engine.batch.compare_run import compare_methods, open_comparison, plan
from engine.batch.picture_check import look_at_pictures
from engine.batch.prepare import prepare
from engine.batch.row_sample import sample_rows
from engine.batch.selection import Selection
from engine.batch.tables import open_table
from engine.cli.main import run as desk
from engine.client.http import EngineClient
from engine.domain.picture import PictureColumn, PicturedState
from engine.pictures import picture_of


def test_the_first_rows_are_looked_at_before_a_run(tmp_path: Path) -> None:
    found = look_at_pictures(prepared(tmp_path))
    assert found is not None
    assert (found.rows, found.faults) == (7, 4)
    assert "row 3: " in found.sentence
    assert "missing.png: No such file" in found.sentence
    good = look_at_pictures(prepared(tmp_path, ROWS[0], ROWS[1]))
    assert good is not None
    assert good.sentence == "the pictures of the first 2 rows can be read"
    assert look_at_pictures(prepared(tmp_path, pictures=None)) is None


@pytest.mark.parametrize(
    ("selection", "looked"),
    [
        (Selection(), (7, 4, "row 3: ")),
        (Selection(where="photo == 'red.png'"), (2, 0, "")),
        (Selection(where="not photo.endswith('.jpg')"), (6, 4, "row 3: ")),
        (Selection(where="photo > 'n'"), (4, 1, "row 6: ")),
        (Selection(first=2), (2, 0, "")),
        (Selection(where="photo > 'n'", first=1), (1, 0, "")),
        (Selection(sample=7), (7, 4, "row 3: ")),
        (Selection(where="photo == 'notes.png'", sample=3), (1, 1, "row 6: ")),
    ],
)
def test_only_rows_that_the_run_reads_are_looked_at(
    tmp_path: Path, selection: Selection, looked: tuple[int, int, str]
) -> None:
    prepared(tmp_path)
    ready = prepare(tmp_path / "form.json", tmp_path / "table.csv", engine="a stand-in", selection=selection)
    found = look_at_pictures(ready)
    assert found is not None
    rows, faults, first = looked
    assert (found.rows, found.faults, found.chosen) == (rows, faults, bool(selection))
    assert found.first.startswith(first)
    assert (f"first {rows} chosen rows" in found.sentence) == bool(selection)


def test_a_random_sample_is_looked_at_as_it_will_be_drawn(tmp_path: Path) -> None:
    """One row of fifty has a picture: whether it is looked at is whether it is in the sample."""
    prepared(tmp_path)
    write_table(
        tmp_path / "table.csv", HEADER, [("A square.", "red.png" if n == 17 else "gone.png") for n in range(50)]
    )
    for seed in range(12):
        drawn = Selection(sample=15, seed=seed)
        ready = prepare(tmp_path / "form.json", tmp_path / "table.csv", engine="a stand-in", selection=drawn)
        found = look_at_pictures(ready)
        assert found is not None
        with ready.create(tmp_path) as store:
            read = [row for row in range(1, 51) if not (stored := store.row(row)) or not stored.readings]
        assert (found.rows, found.faults) == (15, 15 - (18 in read))


def test_a_row_text_that_fails_is_no_want_of_a_picture(tmp_path: Path) -> None:
    found = look_at_pictures(prepared(tmp_path, *ROWS[:2], state="{{ 1 / text|length }}{{ text|float }}"))
    assert found is not None
    assert found.faults == 0


def test_the_look_is_bounded(tmp_path: Path) -> None:
    ready = prepared(tmp_path, *[("A square.", "red.png")] * 20, ("A square.", "gone.png"))
    found = look_at_pictures(ready)
    assert found is not None
    assert (found.rows, found.faults) == (20, 0)


def test_form_check_looks_at_the_pictures_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepared(tmp_path)
    form_, table = str(tmp_path / "form.json"), str(tmp_path / "table.csv")
    assert desk(["form", "check", form_, table]) == 0
    said = capsys.readouterr().out
    assert "2 questions, pictures are missing" in said
    assert "  of the first 7 rows 4 would get no answer for want of a picture: row 3: " in said
    where = ["--where", "photo == 'red.png'"]
    assert desk(["form", "check", form_, table, *where]) == 0
    said = capsys.readouterr().out
    assert "2 questions, nothing is wrong" in said
    assert "  the pictures of the first 2 chosen rows can be read" in said
    assert desk(["form", "check", form_, table, *where, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pictures"] == {"rows": 2, "faults": 0, "first": "", "chosen": True}
    write_form(tmp_path / "form.json", NOUL)
    assert desk(["form", "check", form_, table, "--json"]) == 0
    assert "pictures" not in json.loads(capsys.readouterr().out)
    assert desk(["form", "check", form_, table, "--json", "--picture-column", "photo"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["form"]["pictures"], told["pictures"]["faults"]) == ({"column": "photo"}, 4)


def test_a_resumed_run_keeps_its_column_of_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The column was given with --picture-column: a resume without it must not start an engine that does not see."""
    prepared(tmp_path, pictures=None)
    form_, table = tmp_path / "form.json", tmp_path / "table.csv"
    with prepare(form_, table, engine="x", pictures=PictureColumn("photo")).create(paths.runs_dir()):
        pass
    assert desk(["decide", str(form_), str(table), "--out", str(tmp_path / "out.csv"), "--resume"]) == 2
    said = capsys.readouterr().err
    assert "the engine sees no pictures" in said
    assert "for want of a picture" not in said
    assert list(paths.logs_dir().glob("engine*")) == [], "an engine was started"


def test_samples_leave_out_rows_without_a_picture(tmp_path: Path) -> None:
    ready = prepared(tmp_path)
    rows = sample_rows(ready.form, ready.table, 10)
    assert [row.row for row in rows] == [1, 2, 3, 6, 7]  # whether a file can be read is found when it is read
    assert all(isinstance(row.state, PicturedState) for row in rows)


async def test_a_comparison_shows_pictures_but_never_several_rows_on_a_canvas(tmp_path: Path) -> None:
    rows = [("A square.", name, gold) for name, gold in (("red.png", "yes"), ("sub/blue.jpg", "no")) * 2]
    prepared(tmp_path)
    path = write_form(
        tmp_path / "form.json", {**NOUL, "gold": "gold"}, pictures={"column": "photo"}, method=METHOD, version=3
    )
    table = open_table(write_table(tmp_path / "table.csv", (*HEADER, "gold"), rows))
    planned = plan(path, table, sample=4)
    cells = (Cell(draws=1), Cell(draws=1, layout="rows"))
    async with seeing_engine() as seeing, EngineClient(seeing.url) as client:
        begun = open_comparison(tmp_path / "c.json", planned, "a stand-in")
        found = await compare_methods(client, planned, cells, begun, tmp_path / "c.json")
        assert [result.refusal for result in found.results] == ["", TOLD_APART]
        shown = {part["url"] for path, body in seeing.asked if "generate" in path for part in body["content_parts"]}
        assert {picture_of(png(colour), "x").data_url for colour in ("red", "blue")} <= shown


async def test_compare_methods_takes_the_column_from_the_command_line(tmp_path: Path) -> None:
    """What is kept says which pictures it was read with: it is not gone on with about others, or about none."""
    prepared(tmp_path)
    write_form(tmp_path / "form.json", {**NOUL, "gold": "gold"}, CHOICE, method=METHOD)
    rows = [("A square.", name, other, gold) for name, other, gold in (("red.png", "red.png", "yes"),) * 2]
    rows += [("A square.", "sub/blue.jpg", "red.png", "no")] * 2
    write_table(tmp_path / "table.csv", (*HEADER, "other", "gold"), rows)
    arguments = ["compare-methods", "form.json", "table.csv", "--draws", "1", "--steps", "1", "--layout", "alone"]
    arguments += ["--state", "row", "--json"]
    async with seeing_engine() as seeing:
        engine = ["--engine", seeing.url]
        column = ["--picture-column", "photo"]
        code, said = await command(tmp_path, *arguments, *engine, *column)
        assert code == 0, said
        assert json.loads(said.splitlines()[-1])["cells"][0]["refusal"] == ""
        shown = {part["url"] for path, body in seeing.asked if "generate" in path for part in body["content_parts"]}
        assert {picture_of(png(colour), "x").data_url for colour in ("red", "blue")} <= shown
        before = len(seeing.asked)
        code, said = await command(tmp_path, *arguments, *engine, *column)
        assert (code, [path for path, _ in seeing.asked[before:] if "generate" in path]) == (0, []), "all is there"
        for others in ([], ["--picture-column", "other"], [*column, "--picture-separator", ";"]):
            code, said = await command(tmp_path, *arguments, *engine, *others)
            assert code == 2
            assert "the comparison of something else (pictures)" in said


async def test_the_checks_as_commands_say_what_failed(tmp_path: Path) -> None:
    """Two pictures of four are there; one row names a page of the web, which is left out before an engine is asked."""
    prepared(tmp_path)
    given = {"pictures": {"column": "photo"}, "method": METHOD, "version": 3}
    write_form(tmp_path / "form.json", {**NOUL, "gold": "gold"}, CHOICE, **given)
    names = ["red.png", "sub/blue.jpg", "missing.png", "notes.png", "http://x/a.png"]
    rows = [("A square.", name, "yes" if at % 2 else "no") for at, name in enumerate(names)]
    write_table(tmp_path / "table.csv", (*HEADER, "gold"), rows)
    async with seeing_engine() as seeing:
        for command_ in ("check-interference", "check-order", "compare-methods"):
            few = ["--draws", "1", "--steps", "1", "--layout", "alone", "--state", "row"]
            more = few if command_ == "compare-methods" else []
            code, said = await command(tmp_path, command_, "form.json", "table.csv", "--engine", seeing.url, *more)
            assert code == 0, said
            assert "1 of 5 rows are left out, first row 5: " in said
            share = "50.0% of the answers failed" if command_ == "compare-methods" else "2 of 4 rows failed"
            assert f"{share}, first row " in said
            assert "missing.png: No such file" in said or "notes.png" in said
    assert "--overwrite reads all of it again" in said
    assert said.splitlines()[1].split()[-4:-2] == ["FAILED", "SEED"]


def test_a_comparison_of_the_forms_own_pictures_is_what_it_was(tmp_path: Path) -> None:
    """The file of before there was an option for the column goes on; so does the form's column, said again."""
    prepared(tmp_path)
    given = {"pictures": {"column": "photo"}, "method": METHOD, "version": 3}
    path = write_form(tmp_path / "form.json", {**NOUL, "gold": "gold"}, **given)
    table = open_table(write_table(tmp_path / "table.csv", (*HEADER, "gold"), [("t", "red.png", "yes")]))
    own, again = plan(path, table), plan(path, table, pictures=PictureColumn("photo"))
    other = plan(path, table, pictures=PictureColumn("photo", ";"))
    assert own.begun("toy").subject == again.begun("toy").subject != other.begun("toy").subject
    kept = own.begun("toy").to_json()
    del kept["subject"]["pictures"]
    (tmp_path / "c.json").write_text(json.dumps(kept))
    assert open_comparison(tmp_path / "c.json", again, "toy").subject == own.begun("toy").subject
    save_comparison(tmp_path / "c.json", other.begun("toy"))
    assert load_comparison(tmp_path / "c.json") == other.begun("toy")
