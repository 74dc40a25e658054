"""What a command reads is never written over, whatever its options allow."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine import paths
from engine.batch.prepare import prepare
from engine.cli.main import BAD_INPUT, run
from engine.store.chats import ChatStore
from engine.store.run_queue import RunQueue

FORM = {
    "version": 2,
    "name": "test",
    "state": "{{ text }}",
    "questions": [{"id": "late", "type": "noul", "instructions": "Late?", "gold": "gold"}],
}
BODY = {"state": "hello", "questions": {"late": {"type": "noul", "instructions": "Late?"}}}
COMPARE = ["compare-methods", "form.json", "table.csv"]
EXPORT = ["form", "export", "form.json", "--as", "decisions", "--table", "table.csv"]


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The files that commands read here, in the working folder; gives what they hold now."""
    monkeypatch.chdir(tmp_path)
    Path("form.json").write_text(json.dumps(FORM))
    Path("more.json").write_text(json.dumps(FORM))
    Path("body.json").write_text(json.dumps(BODY))
    Path("table.csv").write_text("text,gold\nhello,yes\nbye,no\nyo,yes\nwell,no\n")
    Path("link.csv").symlink_to("table.csv")
    with prepare(Path("form.json"), Path("table.csv"), engine="").create(paths.runs_dir()) as store:
        monkeypatch.setenv("RUN", store.id)
    assert run(["export", store.id, "--out", "manifest.json"]) == 0
    return lambda: {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        ["decide", "form.json", "table.csv", "--out", "table.csv"],
        ["decide", "form.json", "table.csv", "--out", "form.json"],
        ["decide", "form.json", "table.csv", "--queue", "--out", "form.json"],
        ["decide", "table.csv", "--from-manifest", "manifest.json", "--out", "manifest.json"],
        ["again", "failed", "RUN", "--out", "table.csv"],
        ["again", "failed", "RUN", "--out", "form.json"],
        ["again", "questions", "RUN", "--form", "more.json", "--out", "more.json"],
        ["export", "RUN", "--out", "form.json"],
        ["export", "RUN", "--out", "table.csv"],
        ["export", "RUN", "--out", "link.csv"],
        [*COMPARE, "--out", "form.json"],
        [*COMPARE, "--out", "table.csv"],
        [*COMPARE, "--out", "link.csv"],
        [*EXPORT, "--out", "form.json"],
        [*EXPORT, "--out", "table.csv"],
        ["form", "import", "body.json", "--out", "body.json"],
        ["form", "import", "body.json", "--out", "new.json", "--table", "body.json"],
        ["form", "import", "body.json", "--out", "new.json", "--table", "new.json"],
    ],
    ids=" ".join,
)
def test_inputs_are_never_written_over(inputs: Any, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    before = inputs()
    capsys.readouterr()
    assert run([os.environ["RUN"] if each == "RUN" else each for each in arguments] + ["--overwrite"]) == BAD_INPUT
    said = capsys.readouterr()
    assert arguments[-1] in said.err
    assert "Traceback" not in said.err
    assert inputs() == before
    assert list(paths.logs_dir().glob("engine*")) == [], "no engine was started"


@pytest.mark.parametrize("kept", ["run", "run-wal", "conversations", "queue", "settings", "a copy elsewhere"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["decide", "form.json", "table.csv"],
        ["export", "RUN"],
        COMPARE,
        EXPORT,
        ["form", "import", "body.json"],
        ["chats", "export"],
    ],
    ids=" ".join,
)
def test_what_the_program_keeps_is_never_written_over(
    inputs: Any, arguments: list[str], kept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is a database anywhere: none is the result of a command, so it is nobody's to overwrite."""
    run_file = paths.runs_dir() / f"{os.environ['RUN']}.sqlite"
    with ChatStore(paths.chats_file()), RunQueue(paths.queue_file()):
        pass
    paths.settings_file().write_text("{}")
    Path("backup.db").write_bytes(run_file.read_bytes())
    out = {
        "run": run_file,
        "run-wal": run_file.with_name(f"{run_file.name}-wal"),
        "conversations": paths.chats_file(),
        "queue": paths.queue_file(),
        "settings": paths.settings_file(),
        "a copy elsewhere": Path("backup.db"),
    }[kept]
    before = {path: path.read_bytes() for path in paths.data_dir().rglob("*") if path.is_file()} | inputs()
    capsys.readouterr()
    given = [os.environ["RUN"] if each == "RUN" else each for each in arguments]
    assert run([*given, "--out", str(out), "--overwrite"]) == BAD_INPUT
    said = capsys.readouterr().err
    assert said.startswith(f"error: {out} is ")
    assert "choose another file" in said
    assert {path: path.read_bytes() for path in paths.data_dir().rglob("*") if path.is_file()} | inputs() == before


@pytest.mark.parametrize("suffix", [".xls", ".ODS", ".xlsm", ".csv.gz", ".zip", ".pdf", ".sqlite"])
@pytest.mark.parametrize(
    "arguments",
    [["decide", "form.json", "table.csv"], ["export", "RUN"], ["again", "failed", "RUN"]],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_promises_another_kind_of_file_is_refused(
    inputs: Any, arguments: list[str], suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = inputs()
    capsys.readouterr()
    given = [os.environ["RUN"] if each == "RUN" else each for each in arguments]
    assert run([*given, "--out", f"out{suffix}"]) == BAD_INPUT
    said = capsys.readouterr().err
    assert f"no {Path(f'out{suffix}').suffix.lower()} is written here" in said
    assert ".xlsx" in said
    assert inputs() == before
    assert list(paths.logs_dir().glob("engine*")) == [], "no engine was started"


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (".", "is a folder"),
        ("none/c.json", "there is no folder"),
        ("old.json", "is no comparison"),
        ("/", "is a folder"),
    ],
)
def test_a_comparison_that_cannot_be_kept_is_refused_before_an_engine(
    inputs: Any, out: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("old.json").write_text("{}")
    capsys.readouterr()
    assert run([*COMPARE, "--out", out]) == BAD_INPUT
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert list(paths.logs_dir().glob("engine*")) == [], "an engine was started"


@pytest.mark.parametrize("out", [".", "/", "none/x.json"])
@pytest.mark.parametrize("arguments", [EXPORT, ["form", "import", "body.json"], ["export", "RUN"]], ids=" ".join)
def test_a_place_for_no_file_is_named(
    inputs: Any, arguments: list[str], out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = inputs()
    capsys.readouterr()
    given = [os.environ["RUN"] if each == "RUN" else each for each in arguments]
    assert run([*given, "--out", out, "--overwrite"]) == BAD_INPUT
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 2
    assert inputs() == before


def test_an_import_writes_both_files_or_none(inputs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before = inputs()
    assert run(["form", "import", "body.json", "--out", "new.json", "--table", "table.csv"]) == BAD_INPUT
    assert "table.csv exists" in capsys.readouterr().err
    assert inputs() == before


@pytest.mark.parametrize("option", ["--draws", "--steps", "--layout", "--state"])
def test_a_value_that_a_list_does_not_know_is_named_with_those_it_does(
    inputs: Any, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert run([*COMPARE, option, "1,nonsense" if option in ("--draws", "--steps") else "nonsense"]) == BAD_INPUT
    said = capsys.readouterr().err
    assert option in said
    assert "'nonsense' is none of " in said
    assert {"--draws": "auto, 1 to 32", "--steps": "1 to 48", "--layout": "alone, joint, rows", "--state": "row"}[
        option
    ] in said
