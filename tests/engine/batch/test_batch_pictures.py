"""Pictures as a column: from the form over the run to the export, against a stand-in that sees."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from batch_helpers import CHOICE, NOUL, form, read_csv
from fakes.seeing_engine import png, seeing_engine
from picture_helpers import HEADER, ROWS, command, prepared

from engine.batch.export import export_run
from engine.batch.form import dump_form, parse_form
from engine.batch.form_exchange import export_request, import_request
from engine.batch.manifest import manifest_of
from engine.batch.rounds import extended, retry
from engine.batch.row_state import EMPTY_STATE, NO_PICTURE, RowStates
from engine.batch.runner import run
from engine.client.http import EngineClient
from engine.domain.picture import PictureColumn, PicturedState
from engine.errors import InputError, UserError
from engine.pictures import picture_of, read_picture
from engine.reads.reader import Reader
from engine.store.runs import RunStore


def states(folder: Path, separator: str = "", state: str = "{{ text }}") -> RowStates:
    made = parse_form(form(state=state, pictures={"column": "photo", "separator": separator}), "f")
    return RowStates(made, HEADER, folder)


def test_a_cell_names_a_picture_or_several(tmp_path: Path) -> None:
    one = {"text": "t", "photo": " a b.png "}
    assert states(tmp_path).render(one) == PicturedState("t", (str(tmp_path / "a b.png"),))
    several = {"text": "t", "photo": "a.png; /x/b.png;;"}
    assert states(tmp_path, ";").render(several) == PicturedState("t", (str(tmp_path / "a.png"), "/x/b.png"))
    with pytest.raises(InputError, match="17 pictures"):
        states(tmp_path, ";").render({"text": "t", "photo": ";".join(["a.png"] * 17)})
    with pytest.raises(UserError, match="nothing is loaded from elsewhere"):
        states(tmp_path).render({"text": "t", "photo": "http://x/a.png"})


def test_a_row_has_something_to_ask_about_when_it_has_a_picture(tmp_path: Path) -> None:
    made = states(tmp_path)
    assert made.nothing(made.render({"text": "", "photo": "a.png"})) == ""
    assert made.nothing(made.render({"text": "t", "photo": " "})) == NO_PICTURE
    plain = RowStates(parse_form(form(), "f"), HEADER, tmp_path)
    assert plain.render({"text": "t", "photo": "a.png"}) == "t"
    assert plain.nothing(" ") == EMPTY_STATE


def test_the_form_carries_its_column(tmp_path: Path) -> None:
    whole = form(version=3, pictures={"column": "photo", "separator": "|"})
    made = parse_form(whole, "f")
    assert made.pictures == PictureColumn("photo", "|")
    assert dump_form(made)["pictures"] == {"column": "photo", "separator": "|"}
    assert parse_form(dump_form(made), "again") == made
    assert "pictures" not in dump_form(parse_form(form(), "f"))
    with pytest.raises(InputError, match=r"pictures\.column: the table has no column \"foto\"; did you mean \"photo\""):
        prepared(tmp_path, pictures={"column": "foto"})
    for wrong, place in (({}, "pictures.column"), ("photo", "pictures"), ({"column": "a", "x": 1}, "pictures.x")):
        with pytest.raises(InputError, match=place):
            parse_form(form(version=3, pictures=wrong), "f")


async def work(store: RunStore, client: EngineClient, *ids: str) -> None:
    made = parse_form(store.spec.form, "store")
    asked = [question for question in made.questions if not ids or question.id in ids]
    reader = await Reader.open(client, asked, store.round.method, pictures=True)
    result = await run(store, reader, concurrency=4, reader_of=lambda names: _reader(client, made, names))
    assert result.state == "finished"


async def _reader(client: EngineClient, made: Any, names: tuple[str, ...]) -> Reader:
    asked = [question for question in made.questions if question.id in names]
    return await Reader.open(client, asked, made.method, pictures=True)


async def test_a_run_reads_what_it_can_and_says_why_it_could_not(tmp_path: Path) -> None:
    async with seeing_engine() as seeing, EngineClient(seeing.url) as client:
        with prepared(tmp_path).create(tmp_path) as store:
            await work(store, client)
            first = [row.readings[0] for row in store.iter_rows()]
            assert [reading.status in ("ok", "unreadable") for reading in first] == [
                *(True, True, False, False, False, False, True),
            ]
            assert [reading.status for reading in first[2:6]] == ["error", "error", "skipped", "error"]
            assert "missing.png: No such file" in first[2].error
            assert "nothing is loaded from elsewhere" in first[3].error
            assert first[4].error == NO_PICTURE
            assert "no picture that can be sent" in first[5].error
            red = read_picture(tmp_path / "red.png").sha256
            assert [(use.path, use.sha256) for use in first[0].pictures] == [(str(tmp_path / "red.png"), red)]
            assert [reading.pictures for reading in first[2:6]] == [()] * 4
            # The files are put there, and what failed is read again.
            for name in ("missing.png", "notes.png"):
                (tmp_path / "new").write_bytes(png("green"))
                (tmp_path / "new").replace(str(tmp_path / name))
            retry(store, "a stand-in")
            await work(store, client)
            again = [row.readings[0] for row in store.iter_rows()]
            assert [reading.status == "error" for reading in again] == [False, False, False, True, False, False, False]
            assert [reading.round for reading in again] == [1, 1, 2, 2, 1, 2, 1]
            assert again[2].pictures[0].sha256 == again[5].pictures[0].sha256 != red
            path, totals = store.path, store.totals()
    for counted in totals.values():
        assert counted.ok + counted.unreadable + counted.error + counted.skipped == len(ROWS)
    _check_export(path, tmp_path, red)


def _check_export(path: Path, folder: Path, red: str) -> None:
    export_run(path, folder / "out.csv")
    rows = read_csv(folder / "out.csv")
    assert [row["photo"] for row in rows] == [photo for _, photo in ROWS]
    assert [bool(row["q.pictures"]) for row in rows] == [True, True, True, False, False, True, True]
    assert rows[0]["q.pictures"] == rows[0]["team.pictures"] == rows[6]["q.pictures"] == red
    export_run(path, folder / "out.jsonl")
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [lines[0]["q.pictures"], lines[3]["q.pictures"]] == [red, None]
    export_run(path, folder / "out.html")
    assert "of the column photo" in (folder / "out.html").read_text(encoding="utf-8")
    with RunStore.open(path) as store:
        assert manifest_of(store)["form"]["pictures"] == {"column": "photo"}


async def test_an_export_without_pictures_has_no_such_column(tmp_path: Path) -> None:
    with prepared(tmp_path, pictures=None).create(tmp_path) as store:
        path = store.path
    export_run(path, tmp_path / "out.csv")
    assert not [name for name in read_csv(tmp_path / "out.csv")[0] if name.endswith(".pictures")]


def test_questions_are_added_about_the_same_pictures() -> None:
    old = parse_form(form(NOUL, pictures={"column": "photo"}, version=3), "old")
    more = parse_form(form(NOUL, CHOICE, pictures={"column": "photo"}, version=3), "more")
    assert len(extended(old, more, "more.json").questions) == 2
    for other in (form(NOUL, CHOICE), form(NOUL, CHOICE, pictures={"column": "other"}, version=3)):
        with pytest.raises(InputError, match="about the same pictures"):
            extended(old, parse_form(other, "other"), "other.json")


def test_a_request_brings_its_files_and_names_what_it_cannot(tmp_path: Path) -> None:
    body = {
        "state": "What is it?",
        "questions": {"q": {"type": "noul", "instructions": "Is it?"}},
        "images": ["/x/a.png", "data:image/png;base64,AA==", "https://h/b.png", "file:///x/c.png"],
    }
    found = import_request(body, "b.json")
    assert found.form.pictures == PictureColumn("pictures", "\n")
    assert found.pictures == "/x/a.png\nfile:///x/c.png"
    assert [each.split(":")[0] for each in found.left_out] == ["images[1]", "images[2]"]
    plain = import_request({**body, "images": []}, "b.json")
    assert (plain.form.pictures, plain.pictures, plain.left_out) == (None, "", ())
    with pytest.raises(InputError, match="images: must be a list"):
        import_request({**body, "images": "a.png"}, "b.json")
    red = picture_of(png("red"), "red.png")
    system_one = export_request(found.form, "system-one", "What is it?", pictures=[red])
    assert system_one.body["images"] == [f"data:image/png;base64,{base64.b64encode(red.data).decode()}"]
    assert not [each for each in system_one.left_out if "picture" in each]
    decisions = export_request(found.form, "decisions", "What is it?", pictures=[red])
    assert "images" not in decisions.body
    assert "pictures: this endpoint takes text only" in decisions.left_out
    assert "pictures: of a row, and none is given" in export_request(found.form, "system-one", "x").left_out


async def test_the_command_line_does_all_of_it(tmp_path: Path) -> None:
    """The column is given on the command line; the rows that cannot be read are told before the run and in it."""
    prepared(tmp_path, pictures=None)
    arguments = ["form.json", "table.csv", "--picture-column", "photo"]
    async with seeing_engine() as seeing:
        engine = ["--engine", seeing.url]
        code, said = await command(tmp_path, "decide", *arguments, *engine, "--out", "out.csv")
        assert code == 0, said
        assert "of the first 7 rows 4 would get no answer for want of a picture: row 3" in said
        assert f"6 answers failed, first row 3, q: {tmp_path / 'missing.png'}: No such file" in said
        assert "`again failed " in said
        rows = read_csv(tmp_path / "out.csv")
        assert [row["q.status"] for row in rows[2:6]] == ["error", "error", "skipped", "error"]
        assert rows[0]["q.pictures"] == read_picture(tmp_path / "red.png").sha256
        assert rows[0]["q.p.yes"] != rows[1]["q.p.yes"]
        code, said = await command(tmp_path, "form", "try", *arguments, *engine, "--row", "2", "--json")
        assert code == 0, said
        shown = json.loads(said.splitlines()[-1])["alone"]["questions"][0]["pictures"]
        assert shown == [
            {"path": str(tmp_path / "sub/blue.jpg"), "sha256": read_picture(tmp_path / "sub/blue.jpg").sha256}
        ]
        where = ["--where", "photo == 'red.png'", "--json"]
        code, said = await command(tmp_path, "check-interference", *arguments, *engine, *where)
        assert code == 0, said
        assert json.loads(said.splitlines()[-1])["rows"] == 2
        code, said = await command(tmp_path, "chat", "Which?", *engine, "--picture", "red.png", "--max-tokens", "8")
        assert code == 0, said
        assert [path for path, _ in seeing.asked].count("/v1/chat/completions") == 1
