"""One writer thread per file: order, rollback, closing, and files that are damaged, foreign, locked or full."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import BugError, UserError
from engine.store.db import Database, connect_readonly
from engine.store.migrations import Schema

NOTES = Schema("notebook", application_id=0x4E4F5445)


@NOTES.step(1)
def create_notes(connection: sqlite3.Connection) -> None:
    """Create the table of notes."""
    connection.execute("CREATE TABLE note (text TEXT NOT NULL) STRICT")


def add(text: str) -> object:
    return lambda connection: connection.execute("INSERT INTO note VALUES (?)", (text,)).rowcount


def texts(path: Path) -> list[str]:
    with closing(connect_readonly(path, NOTES)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM note ORDER BY rowid")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.sqlite"
    Database(path, NOTES, create=True).close()
    return path


def test_writes_of_many_threads_come_one_after_the_other_and_all_arrive(path: Path) -> None:
    database = Database(path, NOTES)
    threads = [
        threading.Thread(target=lambda name=name: [database.write(add(f"{name}{n}")) for n in range(50)])
        for name in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    database.close()
    found = texts(path)
    assert len(found) == 200
    for name in "abcd":
        assert [text for text in found if text[0] == name] == [f"{name}{n}" for n in range(50)]


def test_a_failing_function_is_rolled_back_and_the_next_one_works(path: Path) -> None:
    database = Database(path, NOTES)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO note VALUES ('half')")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.write(half)
    database.write(add("whole"))
    database.close()
    assert texts(path) == ["whole"]


def test_close_waits_for_queued_writes_and_may_be_called_twice(path: Path) -> None:
    database = Database(path, NOTES)
    futures = [database.submit(add(str(n))) for n in range(100)]
    database.close()
    database.close()
    assert all(future.done() for future in futures)
    assert not path.with_name("notes.sqlite-wal").exists()
    assert texts(path) == [str(n) for n in range(100)]
    with pytest.raises(BugError, match="already closed"):
        database.write(add("late"))


def test_the_journal_is_a_write_ahead_log_and_readers_see_a_commit_at_once(path: Path) -> None:
    database = Database(path, NOTES)
    with closing(connect_readonly(path, NOTES)) as reader:
        assert reader.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        database.write(add("seen"))
        assert reader.execute("SELECT text FROM note").fetchall() == [("seen",)]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("INSERT INTO note VALUES ('no')")
    database.close()


def test_at_rest_the_file_is_alone_and_readers_leave_nothing_beside_it(path: Path) -> None:
    database = Database(path, NOTES)
    database.write(add("kept"))
    with closing(connect_readonly(path, NOTES)) as watcher:
        database.close()  # while it is watched
        assert watcher.execute("SELECT text FROM note").fetchall() == [("kept",)]
    Database(path, NOTES).close()
    assert texts(path) == ["kept"]
    assert [each.name for each in path.parent.iterdir()] == ["notes.sqlite"]


def test_a_watcher_from_before_sees_what_a_later_writer_commits(path: Path) -> None:
    with closing(connect_readonly(path, NOTES)) as watcher:
        assert watcher.execute("SELECT text FROM note").fetchall() == []
        database = Database(path, NOTES)
        database.write(add("new"))
        assert watcher.execute("SELECT text FROM note").fetchall() == [("new",)]
        database.close()


def test_a_full_database_is_a_user_error_and_keeps_what_was_written(path: Path) -> None:
    database = Database(path, NOTES)
    database.write(add("kept"))

    def shrink(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    database.write(shrink)
    with pytest.raises(UserError, match="no space left") as caught:
        database.write(add("x" * 100_000))
    assert caught.value.code == "disk.full"
    assert "notes.sqlite" in str(caught.value)
    database.write(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall())
    database.write(add("later"))
    database.close()
    assert texts(path) == ["kept", "later"]


def test_a_lock_held_by_another_process_is_reported(path: Path) -> None:
    database = Database(path, NOTES)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        database._connection.execute("PRAGMA busy_timeout = 1")
        with pytest.raises(UserError, match="locked") as caught:
            database.write(add("x"))
        assert caught.value.code == "store.busy"
        other.execute("ROLLBACK")
        database.write(add("y"))
        database.close()


@pytest.mark.parametrize("keep", [0, 1, 50, 2000, 5000], ids=lambda keep: f"{keep} bytes left")
def test_a_torn_file_is_reported_and_left_as_it_is(path: Path, keep: int) -> None:
    database = Database(path, NOTES)
    database.write(add("x" * 20_000))
    database.close()
    torn = path.read_bytes()[:keep]
    path.write_bytes(torn)
    with pytest.raises(UserError) as caught:
        Database(path, NOTES, check=True)
    assert caught.value.code in {"store.damaged", "store.foreign"}
    assert str(path) in str(caught.value)
    assert path.read_bytes() == torn
    with pytest.raises(UserError):
        connect_readonly(path, NOTES).execute("SELECT * FROM note").fetchall()


def test_a_page_of_garbage_is_found_by_the_check(path: Path) -> None:
    database = Database(path, NOTES)
    for number in range(200):
        database.write(add(f"{number}" * 200))
    database.close()
    raw = bytearray(path.read_bytes())
    raw[3 * 4096 : 5 * 4096] = b"\xa5" * (2 * 4096)
    path.write_bytes(raw)
    with pytest.raises(UserError, match="damaged") as caught:
        Database(path, NOTES, check=True)
    assert caught.value.code == "store.damaged"


def test_a_text_file_and_a_foreign_database_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("this is no database at all, it is some kind of letter " * 20)
    with pytest.raises(UserError) as caught:
        Database(text, NOTES)
    assert caught.value.code == "store.damaged"
    foreign = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE other (x)")
    with pytest.raises(UserError, match="not a notebook") as caught:
        Database(foreign, NOTES)
    assert caught.value.code == "store.foreign"
    with pytest.raises(UserError, match="not a notebook"):
        connect_readonly(foreign, NOTES)


def test_a_missing_file_is_not_made_by_opening_it(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    with pytest.raises(UserError, match="there is no notebook"):
        Database(path, NOTES)
    with pytest.raises(UserError, match="there is no notebook"):
        connect_readonly(path, NOTES)
    assert not path.exists()


def test_names_with_odd_characters_work(tmp_path: Path) -> None:
    path = tmp_path / "a b%20?mode=x#ü.sqlite"
    Database(path, NOTES, create=True).close()
    assert texts(path) == []
