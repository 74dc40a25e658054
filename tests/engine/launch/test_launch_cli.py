"""``plan`` as a user runs it: the real command, on recorded machines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from launch_helpers import install, machine, planned

from engine.cli.main import BAD_INPUT, OK, run
from engine.cli.plan import BAR, bar
from engine.domain.hardware import GIB
from engine.hardware.record import recorded_machines


def ask(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> tuple[int, str]:
    code = run(["plan", "--machine", str(recorded_machines()[name]), *arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out + captured.err


def test_text_shows_cards_flags_reasons_and_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = ask(capsys, "2x3090-pcie", "--python", "/venv/bin/python", "--model-dir", "/models/dg")
    assert code == OK
    assert text.startswith("2x RTX 3090, tensor parallel 2, FP8")
    assert "weights 14.58" in text
    assert "activations 0.35, CUDA context 0.71, canvases 1.30, others 0.00 GiB" in text
    assert "--linear-backend marlin\n      since vLLM 0.25" in text
    assert "LD_LIBRARY_PATH (removed)" in text
    assert "/venv/bin/python -m vllm.entrypoints.cli.main serve --model /models/dg" in text


def test_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = ask(capsys, "2x3090-pcie", "--json", "--port", "9000", "--context", "32768")
    shown = json.loads(text)
    assert code == OK
    assert shown["wishes"]["context"] == 32_768
    assert shown["plan"]["flags"][0]["reason"]
    card = shown["plan"]["cards"][0]
    assert card["cuda_context"] / GIB == pytest.approx(0.71)
    parts = ("weights", "kv_cache", "activations", "cuda_context", "canvas_buffers")
    assert card["needed"] == sum(card[part] for part in parts) == card["total"] - card["others"] - card["reserve"]
    assert shown["argv"][shown["argv"].index("--port") + 1] == "9000"
    assert shown["environment"]["CUDA_VISIBLE_DEVICES"].count("GPU-") == 2
    assert shown["shell"].startswith("env -u LD_LIBRARY_PATH")


@pytest.mark.parametrize("name", sorted(recorded_machines()))
def test_every_machine_in_both_forms(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, text = ask(capsys, name)
    as_json, shown = ask(capsys, name, "--json", "--profile", "decisions")
    assert code == as_json
    assert text
    assert ("refusal" in json.loads(shown)) == (code == BAD_INPUT)


def test_a_refusal_ends_with_ways_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = ask(capsys, "2x3090-pcie", "--kv-cache-dtype", "fp8")
    assert code == BAD_INPUT
    assert text.startswith("no plan: a KV cache of type fp8")
    assert "\n  - leave the type at auto" in text


def test_cards_by_index(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = ask(capsys, "3x3090-display-quadro", "--cards", "1, 3", "--json")
    base = machine("3x3090-display-quadro")
    assert code == OK
    assert [card["uuid"] for card in json.loads(text)["plan"]["cards"]] == [base.gpus[1].uuid, base.gpus[3].uuid]
    code, text = ask(capsys, "2x3090-pcie", "--cards", "7")
    assert code == BAD_INPUT
    assert "this machine has 0, 1" in text


def test_a_bad_record_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    record = tmp_path / "machine.json"
    record.write_text("{}")
    assert run(["plan", "--machine", str(record)]) == BAD_INPUT
    assert str(record) in capsys.readouterr().err


def test_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever it is: an answer, never a traceback."""
    assert run(["plan"]) in (OK, BAD_INPUT)
    assert "Traceback" not in capsys.readouterr().err


def test_bars_are_to_scale() -> None:
    card = planned(machine("2x3090-pcie")).cards[0]
    drawn = bar(card)
    assert len(drawn) == BAR
    assert drawn.count("█") == round(card.weights / card.total * BAR)
    assert abs(drawn.count("▚") - card.cuda_context / card.total * BAR) < 1
    assert drawn.endswith("·")
    full = bar(replace(card, others=card.total))
    assert len(full) == BAR
    assert "·" not in full


def test_the_checklist_of_an_installed_engine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, text = ask(capsys, "2x3090-pcie", "--engine", str(install(tmp_path)))
    assert code == OK
    assert "proven     Padding of dense FP8 shards for Marlin: 0.33.0" in text
    (tmp_path / "vllm/utils/diffusion.py").unlink()
    code, text = ask(capsys, "2x3090-pcie", "--engine", str(tmp_path), "--json")
    assert code == BAD_INPUT
    assert [line["id"] for line in json.loads(text)["fixes"] if line["status"] == "missing"] == ["seeded-reads"]
    code, text = ask(capsys, "2x3090-pcie", "--engine", str(tmp_path / "vllm"))
    assert code == BAD_INPUT
    assert "there is no vllm in it" in text
