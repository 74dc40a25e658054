"""``doctor`` over recorded machines, and the record that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli.main import BAD_INPUT, OK, run
from engine.hardware.findings import find_findings
from engine.hardware.record import load_machine, recorded_machines

RECORDED = recorded_machines()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_the_doctor_says_every_finding_in_a_line_with_its_remedy(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    findings = find_findings(load_machine(RECORDED[name]))
    code = run(["doctor", "--machine", str(RECORDED[name])])
    assert code == (BAD_INPUT if any(finding.severity == "blocker" for finding in findings) else OK)
    said = capsys.readouterr()
    assert not said.err
    lines = said.out.splitlines()
    for finding in findings:
        mark = {"note": "note ", "warning": "warn ", "blocker": "bad  "}[finding.severity]
        line = lines.index(f"{mark}{finding.code}: {finding.text}")
        assert not finding.remedy or lines[line + 1] == f"     {finding.remedy}"
    assert "leftovers" not in said.out, "that is about this machine"


def test_the_doctor_speaks_json_about_a_recorded_machine(capsys: pytest.CaptureFixture[str]) -> None:
    path = RECORDED["3090-pair-browser"]
    assert run(["doctor", "--machine", str(path), "--json"]) == OK
    told = json.loads(capsys.readouterr().out)
    assert [finding["code"] for finding in told["findings"]] == ["gpu.occupied", "gpu.display"]
    assert told["findings"][0]["remedy"]
    cards = [{"load": None} | gpu for gpu in json.loads(path.read_bytes())["gpus"]]  # it was not recorded then
    assert told["machine"]["gpus"] == cards
    assert told["gpus"] == {"status": "ok", "driver": "580.105.08", "cards": cards}


def test_the_doctor_records_this_machine_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "mine.json"
    run(["doctor", "--record", str(target)])
    assert f"recorded in {target}" in capsys.readouterr().out
    machine = load_machine(target)
    run(["doctor", "--machine", str(target), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["machine"]["host"]["kernel"] == machine.host.kernel
    assert run(["doctor", "--record", str(target)]) == BAD_INPUT
    assert "exists" in capsys.readouterr().err


def test_wrong_records_and_wrong_options_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(RECORDED["h100"].read_text().replace('"uuid"', '"uid"', 1))
    assert run(["doctor", "--machine", str(broken)]) == BAD_INPUT
    said = capsys.readouterr().err
    assert "broken.json" in said
    assert "gpus[0].u" in said
    assert run(["doctor", "--machine", str(tmp_path / "none.json")]) == BAD_INPUT
    assert "none.json" in capsys.readouterr().err
    assert run(["doctor", "--machine", str(broken), "--record", str(tmp_path / "x.json")]) == BAD_INPUT
    assert "one of them" in capsys.readouterr().err
