"""The small commands, and how commands are found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import app.__main__ as entry
from engine import paths
from engine.batch.prepare import prepare
from engine.cli.main import BAD_INPUT, BUG, OK, main, run
from engine.domain.reading import Reading
from engine.supervise import processes

NOUL = {"id": "q", "type": "noul", "instructions": "Is it?"}

HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "PySide6",
    "qasync",
    "huggingface_hub",
    "torch",
    "markdown_it",
    "pygments",
)
WITHOUT_HEAVY = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {heavy!r}:
            raise ImportError(name + " is not installed here", name=name)
sys.meta_path.insert(0, Refuse())
from engine.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def lightly(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in an interpreter that has only the light dependencies."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_HEAVY.format(heavy=set(HEAVY)), *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        env=processes.child_environment({}),
        check=False,
    )


def test_every_command_has_a_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in main.commands or ["serve", "chat", "decide", "runs", "export", "doctor", "bench"]:
        assert run([name, "--help"]) == OK
        assert "Usage: diffusion-desk" in capsys.readouterr().out
    assert run(["--help"]) == OK
    assert "decide" in capsys.readouterr().out
    assert run(["--version"]) == OK
    assert "0.1.0" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [("--help",), ("runs",), ("doctor", "--json"), ("decide", "--help")])
def test_light_dependencies_are_enough(arguments: tuple[str, ...]) -> None:
    ended = lightly(*arguments)
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.returncode == (2 if "doctor" in arguments else 0), "the doctor misses what is missing"


def test_the_doctor_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert {check["name"] for check in told["checks"]} >= {"program", "embedded engine", "data folder", "cards", "runs"}
    assert told["gpus"]["status"] in {"ok", "no_driver", "mismatch", "no_permission", "error"}
    run(["doctor"])
    assert "embedded engine" in capsys.readouterr().out


def test_a_data_folder_that_is_a_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DIFFUSION_DESK_HOME", str(tmp_path / "file"))
    assert run(["runs"]) == 2
    said = capsys.readouterr().err
    assert str(tmp_path / "file") in said
    assert "DIFFUSION_DESK_HOME must name" in said
    assert "Traceback" not in said


def test_the_doctor_finds_an_unusable_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DIFFUSION_DESK_HOME", str(tmp_path / "file"))
    assert run(["doctor"]) == 2
    assert "cannot be used" in capsys.readouterr().out


def test_no_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs"]) == OK
    assert "no runs" in capsys.readouterr().out
    assert run(["runs", "--json"]) == OK
    assert json.loads(capsys.readouterr().out) == []


def test_a_form_s_name_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = {"version": 1, "name": "a\nb\x1b[2J", "state": "{{ a }}", "questions": [NOUL]}
    (tmp_path / "form.json").write_text(json.dumps(form), encoding="utf-8")
    (tmp_path / "table.csv").write_text("a\nx\n")
    prepare(tmp_path / "form.json", tmp_path / "table.csv", engine="none").create(paths.runs_dir()).close()
    assert run(["runs"]) == OK
    said = capsys.readouterr().out
    assert "a\ufffdb\ufffd[2J" in said
    assert len(said.splitlines()) == 2


def test_a_fault_of_ours_comes_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(main, "main", broken)
    assert run(["runs"]) == BUG
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "a wheel came off" in said
    assert "report" in said


def test_without_a_display_the_window_names_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", ["diffusion-desk"])
    assert entry.main() == entry.NO_DISPLAY
    assert "diffusion-desk decide" in capsys.readouterr().err
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert entry.has_display()


def test_any_argument_is_for_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["diffusion-desk", "--version"])
    assert entry.main() == OK
    assert "diffusion-desk" in capsys.readouterr().out


def test_a_reader_that_leaves_is_no_fault() -> None:
    ended = subprocess.run(
        f"{sys.executable} -m engine.cli doctor | true",
        shell=True,
        capture_output=True,
        text=True,
        env=processes.child_environment({}),
        check=False,
    )
    assert ended.stderr == ""


@pytest.mark.parametrize("arguments", ["runs", "--help", "doctor --json", "runs --json"])
def test_an_output_that_takes_nothing_is_named(arguments: str) -> None:
    for target, said in (("/dev/full", "the output cannot be written"), ("&-", "")):
        ended = subprocess.run(
            f"{sys.executable} -m engine.cli {arguments} >{target}",
            shell=True,
            capture_output=True,
            text=True,
            env=processes.child_environment({}),
            check=False,
        )
        assert "Traceback" not in ended.stderr
        assert said in ended.stderr
        assert ended.returncode == (BAD_INPUT if said else OK)


@pytest.mark.parametrize(
    "arguments", [["chat", "\udcff\udcfe"], ["decide", "f\udcff.json", "t.csv", "--out", "o.csv"], ["runs", "\udcff"]]
)
def test_bytes_that_are_no_text_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == BAD_INPUT
    said = capsys.readouterr().err
    assert "argument 2" in said
    assert "no text in UTF-8" in said
    assert "\\udcff" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "70000"], ["70000", "65535"]),
        (["--host", "192.0.2.1"], ["192.0.2.1", "no address of this machine"]),
        (["--host", "no such host"], ["no such host"]),
    ],
)
def test_serve_names_what_it_cannot_listen_on(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *arguments]) == BAD_INPUT
    said = capsys.readouterr().err
    for word in words:
        assert word in said


def test_an_interrupt_while_modules_are_loaded_is_no_fault(tmp_path: Path) -> None:
    """A module that is loaded early sends the signal, as an impatient user does."""
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(99): pass\n"
    )
    environment = processes.child_environment({})
    environment["PYTHONPATH"] = f"{tmp_path}:{environment.get('PYTHONPATH', '')}"
    ended = subprocess.run(
        [sys.executable, "-m", "engine.cli", "runs"], capture_output=True, text=True, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")


def test_a_queue_without_the_run_says_how_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["move", "20200101-000000-abcd", "1"], ["retry", "x"], ["remove", "x"]):
        assert run(["queue", *arguments]) == BAD_INPUT
        assert "`queue list` says what" in capsys.readouterr().err
    assert run(["queue", "work"]) == OK
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "nothing waits in the queue; `decide --queue` puts a run there\n"
    assert run(["queue", "work", "--json"]) == OK
    assert json.loads(capsys.readouterr().out) == {"event": "queue_ended", "finished": 0, "failed": 0}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_terminal_that_is_not_in_utf_8_brings_no_traceback(tmp_path: Path, encoding: str) -> None:
    """What it has no character for is spelled; JSON stays JSON with every character in it."""
    name = "\ud55c\uad6d\uc5b4 \u2713 \U0001f600 \xe9"
    form, table = tmp_path / "form.json", tmp_path / "table.csv"
    form.write_text(json.dumps({"version": 2, "name": name, "state": "{{ text }}", "questions": [NOUL]}))
    table.write_text(f"text\n{name}\n", encoding="utf-8")
    with prepare(form, table, engine=name).create(paths.runs_dir()) as store:
        store.add_answers(1, [Reading("q", "unreadable")])
        store.set_state("finished")
    environment = processes.child_environment({"PYTHONIOENCODING": encoding})

    def said(*arguments: object) -> str:
        ended = subprocess.run(
            [sys.executable, "-m", "engine.cli", *map(str, arguments)],
            capture_output=True,
            input=b"",
            env=environment,
            timeout=600,
            check=False,
        )
        assert ended.returncode == OK, ended.stderr.decode()
        return ended.stdout.decode("utf-8", errors="replace")

    assert "1 question, nothing is wrong" in said("form", "check", form)
    assert "finished" in said("runs")
    assert json.loads(said("form", "check", form, "--json"))["form"]["name"] == name
    assert json.loads(said("runs", "--json"))[0]["name"] == name
    assert json.loads(said("form", "export", form, "--as", "system-one", "--table", table))["state"] == name
    assert json.loads(said("review", store.id).splitlines()[0])["cells"] == {"text": name}
