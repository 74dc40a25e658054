"""``chats`` as its user types it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine import paths
from engine.cli.main import BAD_INPUT, OK, run
from engine.domain.conversation import AnswerFigures
from engine.store.chats import ChatStore


@pytest.fixture
def two() -> list[int]:
    """Two conversations."""
    with ChatStore(paths.chats_file()) as store:
        numbers = [store.create(), store.create("\x1b[31mred")]
        for number, question in zip(numbers, ("What is rain?", "Und Schnee?"), strict=True):
            row = store.ask(number, None, question, model="toy")
            store.finish(row.id, f"about {question}", "done", AnswerFigures(1.0, 0.5, 1, 8, 9, 10), finish="stop")
        return numbers


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = OK) -> str:
    capsys.readouterr()
    assert run(["chats", *arguments]) == code
    captured = capsys.readouterr()
    return captured.out if code == OK else captured.err


def test_without_any_there_are_none_and_nothing_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "list") == "no conversations\n"
    assert json.loads(said(capsys, "list", "--json")) == []
    assert said(capsys, "search", "x") == ""
    assert run(["chats", "search", "x"]) == OK
    assert capsys.readouterr().err == "nothing found\n"
    assert "no conversations" in said(capsys, "export", code=BAD_INPUT)
    assert not paths.chats_file().exists()


def test_list_and_search(two: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    listed = said(capsys, "list")
    assert "What is rain?" in listed
    assert "\x1b" not in listed  # a title cannot steer the terminal
    assert [info["id"] for info in json.loads(said(capsys, "list", "--json"))] == two[::-1]
    assert said(capsys, "search", "schn") == (
        f"{two[1]}  \ufffd[31mred: about Und Schnee?\n{two[1]}  \ufffd[31mred: Und Schnee?\n"
    )
    assert json.loads(said(capsys, "search", "--json", "nothing")) == []


def test_export_and_import(two: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = said(capsys, "export")
    out = tmp_path / "chats.json"
    said(capsys, "export", "--out", str(out))
    assert out.read_text(encoding="utf-8") == whole
    assert "--overwrite" in said(capsys, "export", "--out", str(out), code=BAD_INPUT)
    said(capsys, "export", str(two[0]), "--out", str(out), "--overwrite")
    assert "conversations: 3" in said(capsys, "import", str(out))
    assert len(json.loads(said(capsys, "list", "--json"))) == 3
    assert said(capsys, "export", "3") == said(capsys, "export", str(two[0]))
    said(capsys, "export", str(two[0]), "--out", str(tmp_path / "chat.md"))
    assert (tmp_path / "chat.md").read_text(encoding="utf-8").startswith("# What is rain?\n\n## You, ")
    assert said(capsys, "export", str(two[0]), "--format", "md").startswith("# What is rain?")
    assert "Markdown is for reading" in said(capsys, "import", str(tmp_path / "chat.md"), code=BAD_INPUT)
    assert "there is no conversation 99" in said(capsys, "export", "99", code=BAD_INPUT)


def test_files_that_are_none(two: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = said(capsys, "export").encode()
    for out in (tmp_path, Path(".")):
        for more in ([], ["--overwrite"]):
            assert "is a folder; name a file" in said(capsys, "export", "--out", str(out), *more, code=BAD_INPUT)
    assert "No such file" in said(capsys, "export", "--out", str(tmp_path / "none" / "x.json"), code=BAD_INPUT)
    assert "/dev/zero is a device, and no file" in said(capsys, "import", "/dev/zero", code=BAD_INPUT)
    end, other = os.pipe()
    os.write(other, whole)
    os.close(other)
    assert "2 conversations" in said(capsys, "import", f"/dev/fd/{end}")
    os.close(end)
    assert list(tmp_path.iterdir()) == []


def test_restore_and_purge(two: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    with ChatStore(paths.chats_file()) as store:
        store.delete(two[0])
        store.delete(two[1])
    assert json.loads(said(capsys, "list", "--json")) == []
    said(capsys, "restore", str(two[0]))
    assert [info["id"] for info in json.loads(said(capsys, "list", "--json"))] == [two[0]]
    assert [info["id"] for info in json.loads(said(capsys, "list", "--json", "--deleted"))] == [two[1]]
    assert said(capsys, "purge") == "1 conversations removed\n"
    assert json.loads(said(capsys, "list", "--json", "--deleted")) == []
    assert "no conversation 99" in said(capsys, "restore", "99", code=BAD_INPUT)
