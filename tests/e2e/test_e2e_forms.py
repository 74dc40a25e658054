"""The form library runs, and the form commands do what they say, on the embedded engine."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.batch.form_advice import advise
from engine.batch.form_library import TEMPLATES, template, templates
from engine.batch.form_wire import form_schema
from engine.errors import InputError


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_runs_on_its_table(desk: Callable[..., Any], tmp_path: Path, name: str) -> None:
    found = template(name)
    made = desk("form", "new", name, "--to", tmp_path / "mine")
    assert made.code == 0, made.err
    if name == TEMPLATES[0]:
        refused = desk("form", "new", name, "--to", tmp_path / "mine")
        assert (refused.code, "exists" in refused.err) == (2, True)
        assert desk("form", "new", name, "--to", tmp_path / "mine", "--overwrite").code == 0
    out = tmp_path / "out.csv"
    ended = desk("decide", tmp_path / "mine" / "form.json", tmp_path / "mine" / "table.csv", "--out", out, "--json")
    assert ended.code == 0, ended.out
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 6
    for row in rows:
        for question in found.form.questions:
            assert row[f"{question.id}.status"] in ("ok", "unreadable"), row
    with_gold = [question.id for question in found.form.questions if question.gold]
    assert with_gold
    metrics = ended.events[-1]["metrics"]
    assert all(metrics[question]["measured"] > 0 and metrics[question]["bad_gold"] == 0 for question in with_gold)


def test_the_library_follows_its_own_advice() -> None:
    assert [each.id for each in templates()] == list(TEMPLATES)
    for each in templates():
        assert [advice for advice in advise(each.form) if advice.code in ("unknown", "criteria", "gold")] == []
    with pytest.raises(InputError, match="there are contradiction"):
        template("nothing")


def test_a_form_goes_out_and_comes_back(desk: Callable[..., Any], root: Path, tmp_path: Path) -> None:
    folder = root / "resources" / "forms" / "triage"
    form, table = folder / "form.json", folder / "table.csv"
    exported = desk(
        "form", "export", form, "--as", "system-one", "--table", table, "--row", 2, "--out", tmp_path / "b.json"
    )
    assert exported.code == 0, exported.err
    assert "questions[0].gold: a request has none" in exported.err
    body = json.loads((tmp_path / "b.json").read_text())
    assert body["state"] == "Report: The clock in the lobby is four minutes slow."
    back = desk("form", "import", tmp_path / "b.json", "--out", tmp_path / "f.json", "--table", tmp_path / "t.csv")
    assert back.code == 0, back.err
    ended = desk("decide", tmp_path / "f.json", tmp_path / "t.csv", "--out", tmp_path / "o.csv", "--json")
    assert ended.code == 0, ended.out
    assert ended.events[-1]["totals"]["urgent"]["ok"] == 1
    again = desk("form", "import", tmp_path / "b.json", "--out", tmp_path / "f.json")
    assert again.code == 2
    assert "exists" in again.err


def test_one_row_is_shown_with_its_canvas(desk: Callable[..., Any], root: Path) -> None:
    folder = root / "resources" / "forms" / "rubric"
    shown = desk("form", "try", folder / "form.json", folder / "table.csv", "--row", 2, "--draws", 1)
    assert shown.code == 0, shown.err
    assert "| Answer: Bergen, as everybody should know." in shown.out
    single, joint = [line for line in shown.out.splitlines() if line.startswith("  > ")][0::3]
    assert (single.count("[["), joint.count("[[")) == (1, 3)
    machine = desk("form", "try", folder / "form.json", folder / "table.csv", "--row", 2, "--json")
    tried = json.loads(machine.out)
    assert [len(tried[way]["questions"]) for way in ("alone", "joint")] == [3, 3]
    assert tried["alone"]["questions"][0]["draws"][0]["argmax_is_label"] in (True, False)
    beyond = desk("form", "try", folder / "form.json", folder / "table.csv", "--row", 99)
    assert beyond.code == 2
    assert "has no row 99" in beyond.err


def test_some_rows_say_how_long_a_run_takes(desk: Callable[..., Any], small: tuple[Path, Path]) -> None:
    ended = desk("form", "try", *small, "--rows", 8, "--draws", 1, "--json")
    found = json.loads(ended.out)
    assert (found["rows"], found["table_rows"]) == (8, 60)
    assert found["estimate_s"] == pytest.approx(60 / found["rows_per_s"])


def test_check_and_schema(desk: Callable[..., Any], small: tuple[Path, Path]) -> None:
    assert json.loads(desk("form", "schema").out) == form_schema()
    checked = json.loads(desk("form", "check", *small, "--json").out)
    assert [advice["code"] for advice in checked["advice"]] == ["criteria"]
    assert desk("form", "check", small[1]).code == 2


def test_the_method_of_the_command_line_is_in_every_answer(
    desk: Callable[..., Any], root: Path, tmp_path: Path
) -> None:
    """Five options, so five reads; each with two steps, which the rotations of the form's own method keep."""
    folder, out = root / "resources" / "forms" / "routing", tmp_path / "out.csv"
    ended = desk(
        "decide", folder / "form.json", folder / "table.csv", "--out", out, "--steps", 2, "--first", 2, "--json"
    )
    assert ended.code == 0, ended.out
    assert any("5 reads instead of 1" in event.get("text", "") for event in ended.events)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:2]
    assert {(row["desk.method"], row["desk.draws"]) for row in rows} == {("alone/canvas+2 steps+rotate", "5")}
