"""Upgrades of stored files: every step has a test here, and a real file of every released version opens."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.domain.picture import PictureUse
from engine.errors import UserError
from engine.store.db import Database, connect_readonly
from engine.store.migrations import Schema, backup_path
from engine.store.run_schema import RUN_SCHEMA
from engine.store.runs import RunStore, RunView

FIXTURES = Path(__file__).parent / "fixtures"


def book(*steps: int) -> Schema:
    """A schema whose second step adds a column, and whose third fails half-way."""
    schema = Schema("book", application_id=77)

    def create(connection: sqlite3.Connection) -> None:
        """Create the pages."""
        connection.execute("CREATE TABLE page (text TEXT)")

    def widen(connection: sqlite3.Connection) -> None:
        """Give every page a number."""
        connection.execute("ALTER TABLE page ADD COLUMN number INTEGER")
        connection.execute("UPDATE page SET number = rowid")

    def break_off(connection: sqlite3.Connection) -> None:
        """Drop the pages and fail."""
        connection.execute("DROP TABLE page")
        raise RuntimeError("broken step")

    for version in steps:
        schema.step(version)({1: create, 2: widen, 3: break_off}[version])
    return schema


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "book.sqlite"
    database = Database(path, book(1), create=True)
    database.write(lambda connection: connection.execute("INSERT INTO page VALUES ('one')").rowcount)
    database.close()
    return path


def test_an_older_file_is_upgraded_after_a_backup(old: Path) -> None:
    Database(old, book(1, 2)).close()
    with closing(connect_readonly(old, book(1, 2))) as connection:
        assert connection.execute("SELECT * FROM page").fetchall() == [("one", 1)]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    with closing(connect_readonly(backup_path(old, 1), book(1))) as connection:
        assert connection.execute("SELECT * FROM page").fetchall() == [("one",)]


def test_a_reader_upgrades_too(old: Path) -> None:
    with closing(connect_readonly(old, book(1, 2))) as connection:
        assert connection.execute("SELECT number FROM page").fetchall() == [(1,)]


def test_a_failing_step_leaves_the_file_as_it_was(old: Path) -> None:
    with pytest.raises(RuntimeError, match="broken step"):
        Database(old, book(1, 2, 3))
    with closing(connect_readonly(old, book(1))) as connection:
        assert connection.execute("SELECT * FROM page").fetchall() == [("one",)]


def test_a_newer_file_is_refused_and_left_alone(old: Path) -> None:
    Database(old, book(1, 2)).close()
    before = old.read_bytes()
    for opening in (Database, connect_readonly):
        with pytest.raises(UserError, match="version 2, and this program knows versions up to 1") as caught:
            opening(old, book(1))
        assert caught.value.code == "store.newer"
    assert old.read_bytes() == before


def test_steps_count_up_and_carry_a_docstring() -> None:
    schema = Schema("x", application_id=1)
    with pytest.raises(ValueError, match="docstring"):
        schema.step(1)(lambda connection: None)
    with pytest.raises(ValueError, match="count up"):
        book(2)


def run_step_1(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    Database(path, RUN_SCHEMA, create=True).close()
    with closing(connect_readonly(path, RUN_SCHEMA)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        assert {"run", "input", "answer", "tally"} <= tables


def run_step_2(tmp_path: Path) -> None:
    """The old file's answers, its round and the largest shares are there; a copy of it is kept."""
    path = tmp_path / "run.sqlite"
    shutil.copy(FIXTURES / "run-v1.sqlite", path)
    with RunView(path) as view:
        (only,) = view.rounds()
        assert (only.number, only.kind, only.questions, only.answers, only.ended) == (1, "run", (0, 1), 8, "")
        assert only.method == view.spec.method
        assert (view.spec.selection, view.spec.facts) == ({}, {})
        assert view.answered() == 4
    with closing(connect_readonly(path, RUN_SCHEMA)) as connection:
        found = connection.execute("SELECT row, question, status, top FROM answer ORDER BY row, question").fetchall()
        assert found[0] == (1, 0, "ok", 0.75)
        assert [top for _, _, status, top in found if status != "ok"] == [None] * 3
    assert backup_path(path, 1).is_file()


def run_step_3(tmp_path: Path) -> None:
    """No answer of an older file was read with pictures; one of this version keeps path and hash."""
    for version, shown in ((2, ()), (3, (PictureUse("/photos/a.png", "0" * 64),))):
        path = tmp_path / f"run-{version}.sqlite"
        shutil.copy(FIXTURES / f"run-v{version}.sqlite", path)
        with RunView(path) as view:
            first = view.row(1)
        assert first is not None
        assert first.readings[0].pictures == shown
    assert backup_path(tmp_path / "run-2.sqlite", 2).is_file()


@pytest.mark.parametrize("step", RUN_SCHEMA.steps, ids=lambda step: step.note)
def test_every_step_of_a_run_has_a_test_and_a_file(step: object, tmp_path: Path) -> None:
    version = step.version  # type: ignore[attr-defined]
    assert f"run_step_{version}" in globals(), f"write run_step_{version} for: {step}"
    globals()[f"run_step_{version}"](tmp_path)
    assert (FIXTURES / f"run-v{version}.sqlite").is_file(), "keep a real file of every version"


@pytest.mark.parametrize("version", range(1, RUN_SCHEMA.version + 1))
def test_a_real_file_of_every_version_opens_and_goes_on(version: int, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    shutil.copy(FIXTURES / f"run-v{version}.sqlite", path)
    with RunView(path) as view:
        info = view.info()
        assert (info.name, info.rows, info.done, info.state) == ("Support tickets", 4, 4, "unfinished")
        assert view.spec.method.seed == 7
        first, second, third, fourth = view.iter_rows()
    assert first.cells == ("a", 'refund me, "now"')
    assert first.readings[0].value == 0.75
    assert first.readings[0].shares == (0.75, 0.25)
    assert (first.readings[1].status, first.readings[1].argmax_is_label) == ("unreadable", False)
    assert second.cells == ("b", "line\nbreak")
    assert second.readings == fourth.readings == ()
    assert third.readings[1].error == "the state is empty"
    with RunStore.open(path) as store:
        assert [row for row, _, _ in store.pending(0, 10)] == [2, 4]
