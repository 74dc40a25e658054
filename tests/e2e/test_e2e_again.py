"""A finished run goes on: what failed or was unreadable, more questions, reviews; a manifest repeats it elsewhere."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from engine import paths
from engine.store.runs import RunView, list_runs, run_path
from engine.supervise import processes

QUESTION = {"id": "refund", "type": "noul", "instructions": "Does the customer want money back?"}
ROWS = [("1", "Please send my money back."), ("2", "Where is my parcel?"), ("0", "Thank you."), ("4", "")]


def form(path: Path, *questions: dict[str, Any], **method: Any) -> Path:
    state = "{% if message %}Ticket {{ 12 // n|int }}: {{ message }}{% endif %}"
    path.write_text(
        json.dumps({"version": 1, "name": "again", "state": state, "questions": questions, "method": method})
    )
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A workbook whose third row fails in the template and whose fourth is empty."""
    book = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    book.add_worksheet("notes").write_row(0, 0, ["nothing"])
    sheet = book.add_worksheet("tickets")
    for at, cells in enumerate([("n", "message"), *ROWS]):
        sheet.write_row(at, 0, cells)
    book.close()
    return tmp_path / "t.xlsx"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def only_run() -> str:
    (info,) = list_runs(paths.runs_dir())
    return info.id


def test_rounds_and_reviews_from_the_command_line(desk: Callable[..., Any], table: Path, tmp_path: Path) -> None:
    first = form(tmp_path / "f.json", QUESTION, draws=1, min_mass=1.0)  # so that nothing is readable
    ended = desk("decide", first, table, "--sheet", "tickets", "--out", tmp_path / "a.csv", "--json")
    assert ended.code == 0, ended.out + ended.err
    run = only_run()
    assert ended.events[-1]["totals"]["refund"] == {"ok": 0, "unreadable": 2, "error": 1, "skipped": 1}

    ended = desk("again", "failed", run, "--out", tmp_path / "b.csv", "--json")
    assert ended.code == 0, ended.out + ended.err
    assert [row["refund.round"] for row in read(tmp_path / "b.csv")] == ["1", "1", "2", "1"]
    ended = desk("again", "unreadable", run, "--draws", "2", "--out", tmp_path / "c.csv", "--json")
    assert ended.code == 0, ended.out + ended.err
    assert [(row["refund.round"], row["refund.draws"]) for row in read(tmp_path / "c.csv")][:2] == [("3", "2")] * 2

    more = form(tmp_path / "g.json", QUESTION, {**QUESTION, "id": "late", "instructions": "Is the parcel late?"})
    ended = desk("again", "questions", run, "--form", more, "--out", tmp_path / "d.csv", "--json")
    assert ended.code == 0, ended.out + ended.err
    assert [row["late.status"] for row in read(tmp_path / "d.csv")] == ["ok", "ok", "error", "skipped"]
    ended = desk("again", "questions", run, "--form", more, "--out", tmp_path / "e.csv")
    assert ended.code == 2
    assert "every question of the form is in the run already" in ended.err

    said = [{"label": "yes"}, {"label": "maybe"}, {"undo": True}, {"label": "?"}, {"skip": True}, {"label": "no"}]
    words = "".join(json.dumps(word) + "\n" for word in said)
    process = subprocess.run(
        [sys.executable, "-m", "engine.cli", "review", run, "--author", "Ann", "--question", "refund"],
        input=words,
        capture_output=True,
        text=True,
        env=processes.child_environment({}),
        check=False,
    )
    assert process.returncode == 0, process.stderr
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    asked = [line["row"] for line in lines if "cells" in line]
    assert asked == [1, 2, 2, 1, 2]
    assert lines[0]["cells"] == {"n": "1", "message": "Please send my money back."}
    assert lines[3]["error"] == "review.value"
    assert lines[-1] == {"left": 0, "skipped": 1}
    with RunView(run_path(paths.runs_dir(), run)) as view:
        assert {key: (label.value, label.author) for key, label in view.labels().items()} == {(1, 0): (None, "Ann")}
        assert [each.kind for each in view.rounds()] == ["run", "retry", "reread", "questions"]
    assert desk("export", run, "--out", tmp_path / "r.html").code == 0
    assert desk("export", run, "--out", tmp_path / "r.xlsx").code == 0


def test_a_manifest_repeats_a_run_byte_for_byte(
    desk: Callable[..., Any], table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "n|int < 3"
    path = form(tmp_path / "f.json", QUESTION, draws=3, seed=11)
    arguments = ("--sheet", "tickets", "--where", where, "--sample", 2, "--seed", 4)
    ended = desk("decide", path, table, "--out", tmp_path / "a.csv", *arguments)
    assert ended.code == 0, ended.err
    assert desk("export", only_run(), "--out", tmp_path / "m.json").code == 0
    monkeypatch.setenv("DIFFUSION_DESK_HOME", str(tmp_path / "elsewhere"))
    path.unlink()
    ended = desk("decide", "--from-manifest", tmp_path / "m.json", table, "--out", tmp_path / "b.csv")
    assert ended.code == 0, ended.err
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    other = tmp_path / "other.csv"
    other.write_text("n,message\n1,x\n")
    ended = desk("decide", "--from-manifest", tmp_path / "m.json", other, "--out", tmp_path / "c.csv")
    assert ended.code == 2
    assert "is not the table of run" in ended.err


def test_a_piped_table_is_read_and_the_files_are_counted(tmp_path: Path, desk: Callable[..., Any]) -> None:
    path = form(tmp_path / "f.json", QUESTION)
    process = subprocess.run(
        [sys.executable, "-m", "engine.cli", "decide", path, "-", "--out", tmp_path / "o.jsonl", "--first", "1"],
        input="n\tmessage\n1\tmoney back\n2\tlater\n",
        capture_output=True,
        text=True,
        env=processes.child_environment({}),
        check=False,
    )
    assert process.returncode == 0, process.stderr
    records = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [record["refund.status"] for record in records] == ["ok", "skipped"]
    ended = desk("decide", path, "--out", tmp_path / "p.csv")
    assert ended.code == 2
    assert "1 files are named; decide takes a form and a table" in ended.err


def test_queued_runs_are_worked_off_in_turn(desk: Callable[..., Any], table: Path, tmp_path: Path) -> None:
    good, gone = form(tmp_path / "f.json", QUESTION), "http://127.0.0.1:9"
    arguments = ("decide", good, table, "--sheet", "tickets", "--queue")
    for out, engine in (("a.csv", "embedded"), ("b.csv", gone), ("c.parquet", "embedded")):
        ended = desk(*arguments, "--out", tmp_path / out, "--engine", engine)
        assert ended.code == 0, ended.err
    assert not (tmp_path / "a.csv").exists()
    ended = desk("queue", "work")
    assert ended.code == 3, ended.err
    assert "no engine answers" in ended.err
    found = json.loads(desk("queue", "list", "--json").out)
    assert [entry["state"] for entry in found] == ["done", "failed", "done"]
    assert [row["refund.status"] for row in read(tmp_path / "a.csv")][:1] == ["ok"]
    assert (tmp_path / "c.parquet").is_file()
    with RunView(run_path(paths.runs_dir(), found[0]["run"])) as view:
        assert view.spec.engine.startswith("embedded: ")
        assert view.rounds()[0].engine == view.spec.engine
        assert "checkpoint" in view.spec.facts
    assert desk("queue", "remove", found[1]["run"]).code == 0
    assert len(list_runs(paths.runs_dir())) == 3


def test_a_window_hears_of_each_run_of_the_queue(
    desk: Callable[..., Any], desk_process: Callable[..., subprocess.Popen[str]], table: Path, tmp_path: Path
) -> None:
    """Commands are heard in the second run too, and the order is the one that was asked for."""
    good, gone = form(tmp_path / "f.json", QUESTION), "http://127.0.0.1:9"
    queued = []
    for out, engine in (("a.csv", "embedded"), ("b.csv", gone), ("c.csv", "embedded")):
        arguments = ("--queue", "--out", tmp_path / out, "--engine", engine, "--json")
        ended = desk("decide", good, table, "--sheet", "tickets", *arguments)
        assert ended.events[-1]["event"] == "queued", ended.out
        queued.append(ended.events[-1]["run"])
    a, b, c = queued
    assert desk("queue", "move", c, "1").code == 0
    assert desk("queue", "move", b, "2").code == 0
    assert desk("queue", "retry", a).code == 2
    worker = desk_process("queue", "work", "--worker")
    assert worker.stdout is not None
    events = [json.loads(line) for line in worker.stdout]  # to its end; closing its stdin would cancel
    assert worker.wait() == 3
    told = [(event["event"], event.get("run")) for event in events if event["event"] not in ("progress", "note")]
    assert told == [
        ("started", c),
        ("finished", c),
        ("failed", b),
        ("started", a),
        ("finished", a),
        ("queue_ended", None),
    ]
    assert (events[-1]["finished"], events[-1]["failed"]) == (2, 1)
    assert desk("queue", "retry", b).code == 0
    assert [entry["state"] for entry in json.loads(desk("queue", "list", "--json").out)] == ["done", "done", "waiting"]
