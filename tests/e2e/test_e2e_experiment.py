"""The seed's experiment on the bundled lease: every clause pair in four wordings, alone, then jointly.

The figures are computed here once more, with scikit-learn and scipy, from nothing but the exported CSV.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from engine import paths
from engine.batch.joint_price import price_in
from engine.reads.interference import Interference
from engine.store.runs import RunView, run_path

QUESTIONS = ("contradiction", "same_point")


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def lease(root: Path) -> Path:
    return root / "resources" / "examples" / "contract"


@pytest.fixture
def run(desk: Callable[..., Any], lease: Path, tmp_path: Path) -> Callable[..., tuple[list[dict[str, str]], Any, str]]:
    """Reads the table some way: the exported rows, the analysis of the command, the run's id."""

    def reading(*options: str) -> tuple[list[dict[str, str]], Any, str]:
        out = tmp_path / f"{'-'.join(options)}.csv"
        ended = desk("decide", lease / "form.json", lease / "table.csv", "--out", out, "--json", *options)
        assert ended.code == 0, ended.out
        name = ended.events[-1]["run"]
        notes = [event["text"] for event in ended.events if event["event"] == "note"]
        told = [note for note in notes if note.startswith("On 24 rows joint reading moved the answers")]
        assert len(told) == ("--joint" in options)  # before the run, and only where it has a price
        analysed = desk("analyse", name, "--json")
        assert analysed.code == 0, analysed.err
        return read(out), json.loads(analysed.out), name

    return reading


def test_the_table_is_every_pair_of_the_contract_in_every_wording(lease: Path) -> None:
    clauses: dict[str, dict[str, str]] = {}
    for row in read(lease / "clauses.csv"):
        clauses.setdefault(row["wording"], {})[row["clause"]] = row["text"]
    rows = read(lease / "table.csv")
    expected = [
        (wording, texts[a], texts[b]) for wording, texts in clauses.items() for a, b in itertools.combinations(texts, 2)
    ]
    assert [(row["wording"], row["clause_a"], row["clause_b"]) for row in rows] == expected
    assert len(clauses) == 4
    assert len(rows) == 4 * math.comb(16, 2)
    assert Counter(row["wording"] for row in rows if row["gold"] == "yes") == dict.fromkeys(clauses, 6)


def check_figures(found: dict[str, Any], rows: list[dict[str, str]]) -> None:
    """AUC, recall above 0.30, top 5 %, median rank, over rows that are ok."""
    ok = [row for row in rows if row["contradiction.status"] == "ok"]
    truth = np.array([row["gold"] == "yes" for row in ok])
    scores = np.array([float(row["contradiction"]) for row in ok])
    assert found["positives"] == truth.sum()
    assert found["auc"] == pytest.approx(roc_auc_score(truth, scores))
    recall = found.get("recall_above_0.3", found.get("recall_above", {}).get("0.3"))
    assert recall == pytest.approx((scores[truth] > 0.3).mean())
    size = math.ceil(len(ok) * 5 / 100)
    top = np.argsort(-scores, kind="stable")[:size]
    inside = found.get("recall_top_0.05", found.get("recall_top", {}).get("0.05"))
    assert inside == pytest.approx(truth[top].sum() / truth.sum())
    assert found["median_rank"] == pytest.approx(np.median(stats.rankdata(-scores)[truth] / len(ok)))


def test_alone_grouped_by_wording(run: Any) -> None:
    rows, (contradiction, same_point), _ = run("--alone")
    assert {row["contradiction.method"] for row in rows} == {"alone/canvas"}
    assert contradiction["totals"]["ok"] + contradiction["totals"]["unreadable"] == len(rows) == 480
    check_figures(contradiction, rows)
    assert contradiction["auc"] >= 0.6
    low, high = contradiction["auc_interval"]
    assert low < contradiction["auc"] < high
    assert {group["group"] for group in contradiction["groups"]} == {"plain", "formal", "passive", "terse"}
    for group in contradiction["groups"]:
        own = [row for row in rows if row["wording"] == group["group"]]
        check_figures(group, own)
        assert group["unreadable"] == sum(row["contradiction.status"] == "unreadable" for row in own)
    assert same_point["measured"] == 0
    assert sum(group["ok"] + group["unreadable"] for group in same_point["groups"]) == 480


def test_jointly_with_the_interference_report(run: Any, desk: Callable[..., Any], lease: Path) -> None:
    rows, (contradiction, _), name = run("--joint")
    assert {row[f"{question}.method"] for row in rows for question in QUESTIONS} == {"joint/canvas"}
    check_figures(contradiction, rows)
    checked = desk("check-interference", lease / "form.json", lease / "table.csv", "--json")
    assert checked.code == 0, checked.err
    report = json.loads(checked.out)
    assert report["rows"] == 24
    assert {each["question_id"] for each in report["questions"]} == set(QUESTIONS)
    assert 0.0 <= report["shift"] <= 1.0
    assert report["advice"]
    # The same check was made before the run and is kept with it.
    with RunView(run_path(paths.runs_dir(), name)) as view:
        kept = price_in(view.spec)
    assert kept == Interference.from_json(report)


def test_the_methods_are_compared_on_the_lease(desk: Callable[..., Any], lease: Path, tmp_path: Path) -> None:
    """The bundled document as state, both questions together, and nothing else that takes long."""
    out = tmp_path / "comparison.json"
    options = ("--sample", 12, "--draws", "1", "--steps", "1,2", "--layout", "alone,joint", "--out", out)
    compared = desk("compare-methods", lease / "form.json", lease / "table.csv", *options, "--json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert (found["question"], found["figure"], found["rows"]) == ("contradiction", "AUC", 12)
    assert [cell["refusal"] for cell in found["cells"]] == ["", "", "", ""]
    assert [(cell["steps"], cell["layout"], cell["state"]) for cell in found["cells"]] == [
        (1, "alone", "row"),
        (2, "alone", "row"),
        (1, "joint", "row"),
        (1, "alone", "document"),
    ]
    again = desk("compare-methods", lease / "form.json", lease / "table.csv", *options)
    assert again.code == 0, again.err
    assert "alone, 1 draw, 1 step, whole document" in again.out
    assert found["recommendation"] in again.out
