"""Form files, tables, templates and mappings: bad ones are named and lose nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from decisions_driver import leaving
from desk_driver import expect, within
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from app.presenters.decisions import DecisionsPresenter
from app.presenters.decisions_table import missing_columns, renamed
from engine.batch.form_wire import FORMAT_VERSION
from engine.client.http import EngineClient
from engine.domain.question import Choice, Option


class NoEngine(QObject):
    """The shell's engine presenter while nothing runs."""

    state_changed = Signal(object)
    client: EngineClient | None = None
    url = ""
    api_key: str | None = None


class Desk:
    """The presenter alone."""

    def __init__(self) -> None:
        engine = NoEngine()
        self.presenter = DecisionsPresenter(engine)
        engine.setParent(self.presenter)

    async def leave(self) -> None:
        await self.presenter.close_down()


@pytest.fixture
async def place(qtbot: QtBot) -> Desk:
    return Desk()


@pytest.fixture
def presenter(place: Desk) -> DecisionsPresenter:
    return place.presenter


def write(path: Path, text: str | bytes) -> None:
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def open_table(presenter: DecisionsPresenter, path: Path, text: str | bytes) -> None:
    write(path, text)
    await presenter.table.load(path)


@leaving
async def test_an_example_opens_as_a_copy_with_its_table(place: Desk, presenter: DecisionsPresenter) -> None:
    counted = expect(presenter.table.changed.connect, lambda: presenter.table.facts.count is not None)
    presenter.open_example("tickets")
    await within(counted)
    assert [question.type for question in presenter.document.form.questions] == ["noul", "choice", "score"]
    assert presenter.document.path is None
    assert presenter.problems == ()
    presenter.show_row(1)
    assert presenter.rendered[0].startswith("Ticket: ")


@pytest.mark.parametrize("text", ['{"version": 1', "[]", '{"version": 9}', "\x00\xff"])
@leaving
async def test_a_bad_form_file_leaves_the_open_form_alone(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path, text: str
) -> None:
    presenter.new_form()
    presenter.document.add("noul")
    before = presenter.document.form
    said: list[str] = []
    presenter.form_failed.connect(said.append)
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert not presenter.open_form(path)
    assert str(path) in said[-1]
    assert presenter.document.form == before
    assert presenter.document.dirty


@leaving
async def test_saved_forms_come_back_equal(place: Desk, presenter: DecisionsPresenter, tmp_path: Path) -> None:
    presenter.open_example("contradictions")
    path = tmp_path / "mine.json"
    presenter.document.set_name("Mine")
    assert presenter.save_form(path)
    assert not presenter.document.dirty
    saved = presenter.document.form
    presenter.new_form()
    assert presenter.open_form(path)
    assert presenter.document.form == saved
    assert presenter.document.path == path


@leaving
async def test_an_incomplete_form_is_not_saved_and_the_old_file_stays(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path
) -> None:
    path = tmp_path / "form.json"
    path.write_text("old")
    presenter.new_form()
    presenter.document.add("choice")
    said: list[str] = []
    presenter.form_failed.connect(said.append)
    assert not presenter.save_form(path)
    assert said[-1]
    twins = Choice("c", "which?", (Option("a"), Option("a")))
    presenter.document.edit(replace(presenter.document.form, state="x", questions=(twins,)), "twins")
    assert not presenter.save_form(path)
    assert "“a” is there twice" in said[-1]
    assert path.read_text() == "old"
    assert names_in(tmp_path) == [path.name]


@leaving
async def test_a_folder_that_cannot_be_written_is_named(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path
) -> None:
    presenter.open_example("tickets")
    said: list[str] = []
    presenter.form_failed.connect(said.append)
    assert not presenter.save_form(tmp_path / "nowhere" / "form.json")
    assert "nowhere" in said[-1]


@leaving
async def test_guesses_about_a_table_can_be_overruled(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path
) -> None:
    await open_table(presenter, tmp_path / "t.csv", "name;text\nJosé;olé\n".encode("cp1252"))
    facts = presenter.table.facts
    assert facts is not None
    assert (facts.delimiter, facts.columns, facts.count) == (";", ("name", "text"), 1)
    await presenter.table.load(Path(facts.path), {"header": False, "delimiter": ","})
    facts = presenter.table.facts
    assert facts is not None
    assert facts.columns == ("column_1",)
    assert facts.count == 2


@pytest.mark.parametrize("text", [b"", b"\x89PNG\r\n\x1a\n", b"a,a\n1,2\n"])
@leaving
async def test_a_bad_table_is_named_and_the_open_one_stays(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path, text: bytes
) -> None:
    await open_table(presenter, tmp_path / "good.csv", "text\none\n")
    said: list[str] = []
    presenter.table.failed.connect(said.append)
    await open_table(presenter, tmp_path / "bad.csv", text)
    assert "bad.csv" in said[0]
    assert presenter.table.columns == ("text",)


@leaving
async def test_a_fault_deep_in_the_table_is_told_before_a_run(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path
) -> None:
    lines = "".join(f"{number},x\n" for number in range(700))
    await open_table(presenter, tmp_path / "t.csv", f"a,b\n{lines}1,2,3\n")
    assert presenter.table.facts is not None
    assert "row 701" in presenter.table.fault


@leaving
async def test_an_unknown_column_is_told_inline_and_mapped_in_one_step(
    place: Desk, presenter: DecisionsPresenter, tmp_path: Path
) -> None:
    offers: list[list[tuple[str, str]]] = []
    presenter.mapping_changed.connect(offers.append)
    counted = expect(presenter.table.changed.connect, lambda: presenter.table.facts.count is not None)
    presenter.open_example("tickets")
    await within(counted)
    await open_table(presenter, tmp_path / "t.csv", "Message text,gold_refund\nhello,yes\n")
    assert dict(offers[-1])["message"] == "Message text"
    assert "message" in presenter.rendered[1]
    before = presenter.document.form
    presenter.apply_mapping({"message": "Message text", "gold_team": "gold_refund"})
    assert presenter.document.form.state == 'Ticket: {{ row["Message text"] }}'
    assert presenter.rendered == ("Ticket: hello", "")
    assert presenter.document.form.questions[1].gold == "gold_refund"
    presenter.document.stack.undo()
    assert presenter.document.form == before


def test_columns_are_renamed_inside_braces_only() -> None:
    source = "text: {{ text }} {{ row['a b'] }} {% if text %}{{ text | replace('text', 'x') }}{% endif %} {{ texts }}"
    after = renamed(source, {"text": "a b", "a b": "text"})
    assert after == (
        'text: {{ row["a b"] }} {{ text }} {% if row["a b"] %}{{ row["a b"] | replace(\'text\', \'x\') }}{% endif %}'
        " {{ texts }}"
    )


def test_every_missing_column_is_found_with_the_nearest() -> None:
    found = missing_columns("{{ titel }} {{ row['body text'] }}", ["title", "body"], ["gold", "title"])
    assert sorted(found) == [("body text", "body"), ("gold", ""), ("titel", "title")]
    assert missing_columns("{{ broken", ["a"]) == []


@leaving
async def test_the_file_is_the_published_format(place: Desk, presenter: DecisionsPresenter, tmp_path: Path) -> None:
    presenter.open_example("tickets")
    assert presenter.save_form(tmp_path / "f.json")
    saved = json.loads((tmp_path / "f.json").read_text())
    assert saved["version"] == FORMAT_VERSION
    assert [question["type"] for question in saved["questions"]] == ["noul", "choice", "score"]
