"""The report of a failure: complete, and nobody's name, key, path or address in it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from diagnose_helpers import MACHINES, TP0, beginning, ending, plan_of, traceback
from hypothesis import given
from hypothesis import strategies as st

from engine.cli.main import main
from engine.domain.plan import EnvVar, Flag
from engine.errors import InputError, UserError
from engine.hardware.record import load_machine
from engine.supervise.diagnose import diagnose_file
from engine.supervise.diagnose_catalogue import catalogue, parse_catalogue
from engine.supervise.diagnose_report import LOG_BYTES, Redactor, write_report

KEY = "kX3-secret_of-the-server"
CARD = "GPU-52a3a85d-3c55-ca3a-a955-82c69ed360fc"


def redactor() -> Redactor:
    return Redactor([KEY], home="/srv/people/jdoe", user="jdoe", host="tower7.lan")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"non-default args: {{'api_key': ['{KEY}']}}", "non-default args: {'api_key': ['<hidden>']}"),
        ("argv: ['--api-key', 'abcdef123']", "argv: ['--api-key', '<hidden>']"),
        ("HF_TOKEN=hf_abcdefghijklmnopqrst", "HF_TOKEN=<hidden>"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer <hidden>"),
        ("proxy http://me:pass@proxy:8080/", "proxy http://<hidden>@proxy:8080/"),
        ("in /srv/people/jdoe/env and /home/anna/x", "in ~/env and /home/[user]/x"),
        ("/mnt/c/Users/Anna/model", "/mnt/c/Users/[user]/model"),
        ("user jdoe on tower7.lan (tower7)", "user [user] on [host] ([host])"),
        ("from 192.168.178.20:80 to 127.0.0.1:8042", "from [address]:80 to 127.0.0.1:8042"),
        ("write to anna@example.org please", "write to <hidden> please"),
        (f"card {CARD} and {CARD.upper().replace('GPU', 'GPU')}", "card GPU-1 and GPU-1"),
        (
            "Committed token throughput: 12 tokens/s, max_tokens=256",
            "Committed token throughput: 12 tokens/s, max_tokens=256",
        ),
        ("(Worker_TP0 pid=4203) ERROR 11-29 18:03:40", "(Worker_TP0 pid=4203) ERROR 11-29 18:03:40"),
    ],
)
def test_what_names_a_person_or_opens_a_door_is_taken_out(text: str, expected: str) -> None:
    assert redactor()(text) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_known_key_never_stays(before: str, after: str) -> None:
    assert KEY not in redactor()(before + KEY + after)


def test_common_words_are_no_names() -> None:
    assert Redactor(home="/root", user="root", host="pc")("See root cause above, pc") == "See root cause above, pc"


def test_a_report_holds_everything_and_nobody(tmp_path: Path) -> None:
    log, machine, plan = (
        tmp_path / "engine.log",
        load_machine(MACHINES / "3090-pair-browser.json"),
        plan_of("2x3090-pcie"),
    )
    uuid = plan.cards[0].uuid
    private = [f"jdoe@tower7.lan {uuid}\n", f"key {KEY} in /srv/people/jdoe/models/x\n"]
    oom = traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory.")
    log.write_text("".join(["very old line\n", "x" * LOG_BYTES, *private, *beginning(), *oom, *ending()]))
    path = write_report(
        tmp_path / "report.zip",
        log=log,
        diagnosis=diagnose_file(log, machine=machine, plan=plan),
        versions={"diffusion-desk": "0.1", "vllm": "0.33.0"},
        plan=plan,
        machine=machine,
        redact=redactor(),
    )
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(files) == {"report.json", "plan.json", "machine.json", "log.txt"}
    assert json.loads(files["report.json"])["diagnosis"]["rule"] == "oom"
    assert "very old line" not in files["log.txt"]
    for text in files.values():
        for word in (KEY, "jdoe", "tower7", uuid):
            assert word not in text
    assert json.loads(files["plan.json"])["cards"][0]["uuid"].startswith("GPU-")
    with pytest.raises(UserError, match="exists"):
        write_report(path, log=log, diagnosis=diagnose_file(log), versions={})
    with pytest.raises(UserError, match="cannot write the report"):
        write_report(tmp_path / "no" / "report.zip", log=log, diagnosis=diagnose_file(log), versions={})


def test_a_report_is_json_whatever_the_log_says(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text('odd: {"token=abcdef\\" and \\"x": 1}\nuser "jdoe"\n')
    plan = plan_of("h100")
    plan = replace(
        plan, env=(*plan.env, EnvVar("VLLM_API_KEY", "sesame", "x")), flags=(Flag("--new-token", "open", "x"),)
    )
    path = write_report(
        tmp_path / "report.zip", log=log, diagnosis=diagnose_file(log), versions={}, plan=plan, redact=redactor()
    )
    with zipfile.ZipFile(path) as archive:
        said, planned = (json.loads(archive.read(name)) for name in ("report.json", "plan.json"))
    tail = [line["text"] for line in said["diagnosis"]["tail"]]
    assert "abcdef" not in tail[0]
    assert tail[1] == 'user "[user]"'
    assert planned["flags"][0]["value"] == planned["env"][-1]["value"] == "<hidden>"
    assert planned["context"] == plan.context


def test_the_command_says_cause_remedy_and_next_try(tmp_path: Path) -> None:
    log, report = tmp_path / "engine.log", tmp_path / "report.zip"
    log.write_text("".join([*beginning(), *traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory."), *ending()]))
    machine = str(MACHINES / "2x3090-pcie.json")
    shown = CliRunner().invoke(main, ["diagnose", str(log), "--machine", machine], standalone_mode=False)
    assert shown.exception is None, shown.output
    for part in ("oom", "ran out of memory", "Worker_TP0", "The next try: ", "no pictures", "Also in this log"):
        assert part in shown.output
    run = ["diagnose", str(log), "--machine", machine, "--json", "--report", str(report)]
    answer = json.loads(CliRunner().invoke(main, run, standalone_mode=False).output)
    assert (answer["rule"], answer["known"], answer["retry"]["action"]) == ("oom", True, "text_only")
    assert answer["plan"]["text_only"]
    assert report.exists()


def test_the_command_shows_the_tail_of_an_unknown_failure(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("".join([*beginning(), *traceback(TP0, "flux.CapacitorError: 1.21 gigawatts")]))
    shown = CliRunner().invoke(main, ["diagnose", str(log)], standalone_mode=False).output
    assert "unknown" in shown
    marked = [line for line in shown.splitlines() if line.startswith(">")]
    assert any("CapacitorError" in line for line in marked)
    gone = CliRunner().invoke(main, ["diagnose", str(tmp_path / "gone")], standalone_mode=False)
    assert isinstance(gone.exception, InputError)


GOOD = {
    "id": "a_rule",
    "phase": "load",
    "kind": "fault",
    "patterns": ["broken (?P<what>\\w+)"],
    "cause": "{what} is broken",
    "remedies": [{"action": "restart", "text": "again"}],
    "sources": ["somewhere"],
    "sample": "broken cup",
}


def parsed(*changes: dict[str, object], version: int = 1) -> None:
    parse_catalogue(
        json.dumps({"version": version, "failures": [GOOD | change for change in changes]}).encode(), "f.json"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "A-rule"}, r"f\.json: failures\.0\.id"),
        ({"phase": "later"}, r"failures\.0\.phase"),
        ({"kind": "error"}, r"failures\.0\.kind"),
        ({"extra": 1}, r"failures\.0\.extra"),
        ({"patterns": []}, r"failures\.0\.patterns"),
        ({"patterns": ["("]}, r"a_rule: pattern '\('"),
        ({"cause": "{who} did it"}, r"\{who\} is neither"),
        ({"patterns": ["broken (?P<what>cup)", "broken"]}, r"\{what\} is neither"),
        ({"sample": "a whole cup"}, "does not fit its own sample"),
        ({"remedies": []}, "no remedy"),
        ({"remedies": [{"action": "pray", "text": "x"}]}, r"remedies\.0\.action"),
        ({"kind": "hang"}, "timeout_s"),
        ({"timeout_s": 5.0}, "timeout_s"),
        ({"timeout_s": -5.0, "kind": "hang"}, r"failures\.0\.timeout_s"),
    ],
)
def test_a_wrong_catalogue_is_refused_and_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parsed(change)


def test_a_catalogue_says_which_rule_steals_and_which_version_it_is() -> None:
    parsed({})
    with pytest.raises(InputError, match="the id is taken"):
        parsed({}, {})
    with pytest.raises(InputError, match="its sample goes to a_rule"):
        parsed({}, {"id": "another"})
    with pytest.raises(InputError, match="version is 2"):
        parsed({}, version=2)
    with pytest.raises(InputError, match="nojson"):
        parse_catalogue(b"{", "nojson")


def test_no_rule_takes_the_sample_of_another_nor_takes_long_over_one() -> None:
    """Patterns must be linear: a line may be thousands of letters of nothing."""
    known = catalogue()
    for rule in known.rules:
        found = known.find(rule.sample)
        assert found is not None
        assert found[0] is rule
    for filler in ("x", "a.so ", "/", "(", "'", "0", "nvrtc ", "shm ", "<pad", "GiB ("):
        assert known.find((filler * 4000)[:4000]) is None, filler


def test_the_documents_name_every_rule_with_its_remedies(root: Path) -> None:
    rows = (root / "docs" / "failures.md").read_text().splitlines()
    for rule in catalogue().rules:
        begins = f"| `{rule.id}` | {rule.phase} | {rule.kind} |"
        row = next(line for line in rows if line.startswith(begins))
        assert all(f"`{remedy.action}`" in row for remedy in rule.remedies)
