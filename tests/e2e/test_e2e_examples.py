"""The bundled examples through the command line: the contract of the CSV for every row, and how good the answers are.

The figures are computed here once more, with scikit-learn and scipy, from nothing but the CSV.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, roc_auc_score

STATUSES = {"ok", "unreadable", "error", "skipped"}
TAIL = ("label_mass", "argmax_is_label", "entropy", "draws", "stderr", "agreement", "method", "error")


def read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return list(reader.fieldnames or ()), list(reader)


def options(question: dict[str, Any]) -> list[str]:
    match question["type"]:
        case "noul":
            return ["yes", "no"]
        case "choice":
            return list(question["criteria"])
        case _:
            return [str(level) for level in range(len(question["criteria"]))]


def check_contract(form: dict[str, Any], table: Path, out: Path) -> list[dict[str, str]]:
    """Every promise of the export about every row; the rows."""
    inputs, given = read(table)
    columns, rows = read(out)
    own = [
        [question["id"], f"{question['id']}.status", *(f"{question['id']}.p.{name}" for name in options(question))]
        + [f"{question['id']}.{name}" for name in TAIL]
        for question in form["questions"]
    ]
    assert columns == ["row_id", *inputs, *(name for names in own for name in names)]
    assert len(rows) == len(given)
    for number, (row, source) in enumerate(zip(rows, given, strict=True), start=1):
        assert row["row_id"] == str(number)
        assert {name: row[name] for name in inputs} == source
        for question in form["questions"]:
            check_answer(row, question)
    return rows


def check_answer(row: dict[str, str], question: dict[str, Any]) -> None:
    name = question["id"]
    shares = [row[f"{name}.p.{option}"] for option in options(question)]
    assert row[f"{name}.status"] in STATUSES
    assert row[f"{name}.method"] == "alone/canvas"
    assert 0.0 <= float(row[f"{name}.label_mass"]) <= 1.0 + 1e-6
    assert row[f"{name}.argmax_is_label"] in {"true", "false"}
    assert float(row[f"{name}.entropy"]) >= 0.0
    assert row[f"{name}.draws"] in {"1", "4"}
    if row[f"{name}.status"] != "ok":
        assert row[name] == "" == "".join(shares)
        return
    numbers = [float(share) for share in shares]
    assert sum(numbers) == pytest.approx(1.0)
    match question["type"]:
        case "noul":
            assert float(row[name]) == numbers[0]
        case "choice":
            assert row[name] == options(question)[numbers.index(max(numbers))]
        case _:
            assert float(row[name]) == pytest.approx(sum(at * share for at, share in enumerate(numbers)))


def answered(rows: list[dict[str, str]], question: str, gold: str) -> tuple[list[str], list[str]]:
    """(answers, gold) of the rows whose status is ok."""
    ok = [row for row in rows if row[f"{question}.status"] == "ok"]
    return [row[question] for row in ok], [row[gold] for row in ok]


@pytest.fixture
def example(desk: Any, root: Path, tmp_path: Path) -> Any:
    """Runs a bundled example by its name; gives the rows of its CSV and the metrics that ``decide`` names."""

    def run(name: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
        folder = root / "resources" / "examples" / name
        out = tmp_path / "out.csv"
        ended = desk("decide", folder / "form.json", folder / "table.csv", "--out", out, "--json")
        assert ended.code == 0, ended.out
        form = json.loads((folder / "form.json").read_text(encoding="utf-8"))
        rows = check_contract(form, folder / "table.csv", out)
        return rows, ended.events[-1]["metrics"]

    return run


def test_contradictions(example: Any) -> None:
    rows, metrics = example("contradictions")
    answers, gold = answered(rows, "contradiction", "gold")
    assert len(rows) >= 200
    assert len(answers) >= 0.9 * len(rows)
    auc = roc_auc_score([value == "yes" for value in gold], [float(value) for value in answers])
    found = metrics["contradiction"]
    assert found["auc"] == pytest.approx(auc)
    assert found["auc"] >= 0.80
    assert found["constant"]["auc"] == pytest.approx(0.5)
    assert found["words"]["auc"] < found["auc"]


def test_tickets(example: Any) -> None:
    rows, metrics = example("tickets")
    assert len(rows) >= 100
    answers, gold = answered(rows, "refund", "gold_refund")
    auc = roc_auc_score([value == "yes" for value in gold], [float(value) for value in answers])
    assert metrics["refund"]["auc"] == pytest.approx(auc)
    assert auc >= 0.80
    teams, gold = answered(rows, "team", "gold_team")
    accuracy = accuracy_score(gold, teams)
    largest = max(gold.count(team) for team in set(gold)) / len(gold)
    assert metrics["team"]["accuracy"] == pytest.approx(accuracy)
    assert accuracy >= 0.70
    assert accuracy >= 2 * largest
    levels, gold = answered(rows, "urgency", "gold_urgency")
    correlation = spearmanr([float(level) for level in levels], [float(level) for level in gold]).statistic
    assert metrics["urgency"]["spearman"] == pytest.approx(correlation)
    assert correlation >= 0.5
