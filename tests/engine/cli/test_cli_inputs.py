"""Bad input on the command line: refused before anything runs, with place, limit and value in two lines at most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import paths
from engine.cli.main import BAD_INPUT, run

NOUL = {"id": "late", "type": "noul", "instructions": "Late?"}


@pytest.fixture
def files(tmp_path: Path) -> Any:
    """Writes a form and a table; gives the arguments of ``decide``."""

    def write(form: object = None, table: bytes | None = b"text\nhello\n", **changes: object) -> list[str]:
        whole = {"version": 1, "name": "test", "state": "{{ text }}", "questions": [NOUL], **changes}
        form_path, table_path = tmp_path / "form.json", tmp_path / "table.csv"
        form_path.write_text(form if isinstance(form, str) else json.dumps(whole), encoding="utf-8")
        if table is not None:
            table_path.write_bytes(table)
        return ["decide", str(form_path), str(table_path), "--out", str(tmp_path / "out.csv")]

    return write


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a refusal says; checks that it is short, that nothing was begun, and that no traceback came."""
    assert run(arguments) == BAD_INPUT
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert len(said.err.strip().splitlines()) <= 2, said.err
    assert list(paths.runs_dir().iterdir()) == []
    assert list(paths.logs_dir().glob("engine*")) == [], "no engine was started"
    return said.err


CHOICE_27 = {"id": "c", "type": "choice", "instructions": "Which?", "criteria": {f"o{n}": "" for n in range(27)}}
SCORE_11 = {"id": "s", "type": "score", "instructions": "How?", "criteria": [f"level {n}" for n in range(11)]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"form": '{"version": 1,'}, ["form.json", "line 1"]),
        ({"form": "[1, 2]"}, ["form.json"]),
        ({"questions": [CHOICE_27]}, ["form.json", "questions[0]", "27", "26"]),
        ({"questions": [SCORE_11]}, ["form.json", "questions[0]", "11", "10"]),
        ({"questions": [NOUL, NOUL]}, ["form.json", "late"]),
        ({"state": "{{ txet }}"}, ["form.json", "txet", "text"]),
        ({"questions": [{**NOUL, "gold": "golden"}]}, ["form.json", "golden"]),
        ({"group": "teem"}, ["form.json", "teem"]),
        ({"table": b""}, ["table.csv"]),
        ({"table": b"text\n"}, ["table.csv", "no rows"]),
        ({"table": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}, ["table.csv", "PNG"]),
        ({"table": bytes(range(256)) * 4}, ["table.csv"]),
        ({"table": None}, ["table.csv"]),
    ],
    ids=[
        "broken JSON",
        "no object",
        "27 options",
        "11 levels",
        "twice the same id",
        "unknown column",
        "unknown gold column",
        "unknown group column",
        "empty file",
        "header only",
        "a picture",
        "binary",
        "no table",
    ],
)
def test_faulty_files_are_refused(
    files: Any, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], words: list[str]
) -> None:
    said = refused(files(**changes), capsys)
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "vllm"], ["vLLM", "embedded"]),
        (["--engine", "localhost:8000"], ["localhost:8000", "http://"]),
        (["--encoding", "klingon"], ["table.csv", "klingon"]),
        (["--delimiter", ";;"], ["table.csv", ";;"]),
        (["--encoding", "undefined"], ["table.csv", "undefined"]),
        (["--resume"], ["no unfinished run", "export"]),
        (["--resume=20200101-000000-abcd"], ["20200101-000000-abcd"]),
        (["--resume=../../etc/passwd"], ["no run"]),
    ],
)
def test_faulty_options_are_refused(
    files: Any, capsys: pytest.CaptureFixture[str], more: list[str], words: list[str]
) -> None:
    said = refused(files() + more, capsys)
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    "more",
    [["--concurrency", "0"], ["--concurrency", "1025"], ["--draws", "0"], ["--draws", "33"], ["--draws", "-1"]],
)
def test_numbers_out_of_range_are_refused_before_anything_runs(
    files: Any, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    assert run([*files(), *more]) == BAD_INPUT
    said = capsys.readouterr().err
    assert more[0] in said
    assert more[1] in said
    assert "range" in said
    assert list(paths.runs_dir().iterdir()) == []
    assert list(paths.logs_dir().glob("engine*")) == []


@pytest.mark.parametrize("spelled", ["tab", "\\t", "\t"])
def test_a_tab_can_be_spelled(files: Any, capsys: pytest.CaptureFixture[str], spelled: str) -> None:
    arguments = files(table=b"u,v\tw\nx\ty\n")
    assert "the table has: u,v, w" in _one_line(capsys, [*arguments, "--delimiter", spelled])


def _one_line(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert run(arguments) == BAD_INPUT
    return capsys.readouterr().err


def test_outputs_that_must_not_be_written_are_refused(
    files: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = files()[:-1]
    (tmp_path / "there.csv").write_text("mine")
    assert "exists" in refused([*arguments, str(tmp_path / "there.csv")], capsys)
    assert "folder" in refused([*arguments, str(tmp_path)], capsys)
    assert "missing" in refused([*arguments, str(tmp_path / "missing" / "out.csv")], capsys)
    assert "table" in refused([*arguments, str(tmp_path / "table.csv"), "--overwrite"], capsys)
    assert "form" in refused([*arguments, str(tmp_path / "form.json"), "--overwrite"], capsys)
    assert (tmp_path / "there.csv").read_text() == "mine"


@pytest.mark.parametrize("arguments", [["decide"], ["nonsense"], ["serve", "--port", "x"], ["bench", "nothing"]])
def test_usage_errors_end_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == BAD_INPUT
    assert "Error" in capsys.readouterr().err


def test_with_json_an_error_is_the_protocols_failed_line(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*files(state="{{ txet }}"), "--json"]) == BAD_INPUT
    said = capsys.readouterr()
    assert said.err == ""
    event = json.loads(said.out)
    assert event["event"] == "failed"
    assert event["code"]
    assert "txet" in event["message"]


def test_a_table_in_the_place_of_the_form_is_told(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command, form, table, *more = files()
    said = refused([command, table, form, *more], capsys)
    assert "table.csv: no valid JSON at line 1, column 1" in said
    assert "stand before the table" in said


def test_draws_are_a_number_or_auto(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*files(), "--draws", "some"]) == BAD_INPUT
    assert "neither a number nor auto" in capsys.readouterr().err
