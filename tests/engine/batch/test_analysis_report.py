"""The analysis of a stored run: figures per question and group, tables of every figure, the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from batch_helpers import CHOICE, NOUL, SCORE, make_run
from click.testing import CliRunner
from sklearn import metrics

from engine import paths
from engine.batch.analysis.report import analyse_run
from engine.batch.analysis.tables import as_json, tables_of, write_tables
from engine.cli.main import main
from engine.domain.reading import Reading
from engine.errors import UserError
from engine.store.runs import RunStore, RunView

HEADER = ("n", "text", "gold", "gold_team", "gold_size", "cell")
ROWS = [
    # n, text, gold, gold_team, gold_size, cell ; p(yes), team, size, status
    ("1", "t", "yes", "a", "low", "x", 0.9, "a", 0.2, "ok"),
    ("2", "t", "no", "b", "mid", "x", 0.4, "b", 1.3, "ok"),
    ("3", "t", "yes", "b", "high", "x", 0.3, "a", 1.8, "ok"),
    ("4", "t", "no", "a", "", "x", 0.1, "a", 0.1, "ok"),
    ("5", "t", "", "a", "2", "y", 0.8, "a", 1.6, "ok"),
    ("6", "t", "maybe", "c", "9", "y", 0.7, "b", 1.0, "ok"),
    ("7", "t", "yes", "a", "low", "y", None, None, None, "unreadable"),
    ("8", "t", "no", "a", "low", "y", 0.2, "b", 0.4, "ok"),
]


@pytest.fixture
def run(desk_home: Path) -> Path:
    """A run with every kind of question, gold that is missing and wrong, and two groups."""
    store = make_run(
        paths.runs_dir(),
        [row[:6] for row in ROWS],
        {**NOUL, "gold": "gold", "threshold": 0.35},
        {**CHOICE, "gold": "gold_team"},
        {**SCORE, "gold": "gold_size"},
        header=HEADER,
        group="cell",
    )
    with store:
        for number, row in enumerate(ROWS, start=1):
            store.add_answers(number, readings(store, row))
        return store.path


def readings(store: RunStore, row: tuple[Any, ...]) -> list[Reading]:
    *_, p, team, size, status = row
    if status != "ok":
        return [Reading(question, status, method="alone/canvas") for question in store.spec.questions]
    low = min(int(size), 1)
    shares = [0.0, 0.0, 0.0]
    shares[low], shares[low + 1] = 1 - (size - low), size - low
    return [
        Reading("q", "ok", p, (p, 1 - p), 0.9, True, 0.5),
        Reading("team", "ok", team, (0.75, 0.25) if team == "a" else (0.25, 0.75), 0.9, True, 0.5),
        Reading("size", "ok", size, tuple(shares), 0.9, True, 0.5),
    ]


def test_the_figures_are_over_rows_that_are_ok_and_have_gold(run: Path) -> None:
    with RunView(run) as view:
        noul, team, size = analyse_run(view)
    assert noul.yes_no is not None
    measured = [row for row in ROWS if row[2] in ("yes", "no") and row[9] == "ok"]
    truth, scores = [row[2] == "yes" for row in measured], [row[6] for row in measured]
    assert noul.measured == len(measured) == 5
    assert (noul.without_gold, noul.bad_gold) == (1, 1)
    assert noul.first_bad.startswith("row 6, column gold: 'maybe'")
    assert noul.yes_no.auc == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert noul.yes_no.recall_above[0.3] == 0.5
    assert noul.totals.unreadable == 1
    cut = noul.yes_no.at_threshold
    assert cut is not None
    assert (cut.precision, cut.recall) == (0.5, 0.5)
    assert team.choices is not None
    given = [(row[3], row[7]) for row in ROWS if row[3] in "ab" and row[9] == "ok"]
    assert team.choices.accuracy == pytest.approx(metrics.accuracy_score(*zip(*given, strict=True)))
    assert team.bad_gold == 1
    assert size.levels is not None
    assert size.measured == 5  # "2" is a level's number, "9" is none, "" is no gold
    golds = [0, 1, 2, 2, 0]
    assert size.levels.mae == pytest.approx(metrics.mean_absolute_error(golds, [0.2, 1.3, 1.8, 1.6, 0.4]))
    assert size.levels.kappa == pytest.approx(metrics.cohen_kappa_score(golds, [0, 1, 2, 2, 0], weights="quadratic"))


def test_histograms_and_coverage(run: Path) -> None:
    with RunView(run) as view:
        noul, team, size = analyse_run(view)
    assert noul.histogram.all.sum() == 7
    assert (noul.histogram.positive.sum(), noul.histogram.negative.sum()) == (2, 3)
    assert size.histogram.edges[-1] == 2.0
    assert team.histogram.all.sum() == 7
    assert team.coverage is not None
    assert team.coverage.coverage[-1] == 1.0
    assert noul.coverage is not None
    assert noul.coverage.accuracy[-1] == pytest.approx(0.8)  # p < 0.5 means no: 0.3 was a yes


def test_groups_are_counted_and_measured_within(run: Path) -> None:
    with RunView(run) as view:
        noul, team, _ = analyse_run(view)
    by_name = {group.name: group for group in noul.groups}
    assert noul.groups[0].name == "y"  # the only one with unreadable answers
    assert (by_name["y"].totals.unreadable, by_name["x"].totals.unreadable) == (1, 0)
    assert not by_name["y"].test.stands_out
    assert by_name["x"].auc == pytest.approx(metrics.roc_auc_score([1, 0, 1, 0], [0.9, 0.4, 0.3, 0.1]))
    assert by_name["x"].recall_030 == 0.5
    assert by_name["y"].auc is None
    assert {group.name: group.measured for group in team.groups} == {"x": 4, "y": 2}


def test_every_figure_becomes_a_table(run: Path, tmp_path: Path) -> None:
    with RunView(run) as view:
        analyses = analyse_run(view)
    assert set(tables_of(analyses[0])) == {
        "histogram", "roc", "precision_recall", "reliability", "thresholds", "recall", "coverage", "groups",
    }  # fmt: skip
    assert set(tables_of(analyses[1])) == {"histogram", "confusion", "coverage", "groups"}
    written = write_tables(analyses, tmp_path / "out")
    assert len(written) == 8 + 4 + 4
    with (tmp_path / "out" / "2-team-confusion.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["gold", "a", "b", "recall"]
    assert [row[:3] for row in rows[1:3]] == [["a", "3", "1"], ["b", "1", "1"]]
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="File exists"):
        write_tables(analyses, tmp_path / "file")


@pytest.mark.parametrize(
    ("masses", "status", "value", "caution"),
    [
        ([1.0] * 20, "ok", None, "exactly 1"),
        ([1.0] * 19 + [0.9], "ok", None, ""),
        ([1.0] * 5, "ok", None, ""),
        ([0.1] * 20, "unreadable", None, "100% of the answers are unreadable"),
        ([0.9] * 20, "ok", 0.25, "All answers are equal"),
    ],
)
def test_odd_answers_are_pointed_at(
    desk_home: Path, masses: list[float], status: Any, value: float | None, caution: str
) -> None:
    with make_run(paths.runs_dir(), [(str(n), "t") for n in range(len(masses))]) as store:
        for row, mass in enumerate(masses, start=1):
            p = row / 100 if value is None else value
            shares = (p, 1 - p) if status == "ok" else ()
            given = p if status == "ok" else None
            store.add_answers(row, [Reading("q", status, given, shares, mass, True, 0.1, mass, 1, method="m")])
        (found,) = analyse_run(store)
    assert len(found.cautions) == bool(caution)
    assert caution in "".join(found.cautions)


def test_the_command_says_it_in_words_json_and_csv(run: Path, tmp_path: Path) -> None:
    with RunView(run) as view:
        expected = [as_json(analysis) for analysis in analyse_run(view)]
    name = run.stem
    said = CliRunner().invoke(main, ["analyse", name, "--csv", str(tmp_path / "figures")])
    assert said.exit_code == 0, said.output
    assert "AUC 0.833" in said.output
    assert "at the form's threshold 0.35: precision 0.500" in said.output
    assert "No group has more unreadable answers than luck explains (2 groups" in said.output
    assert "wrote 16 files" in said.output
    goal = CliRunner().invoke(main, ["analyse", name, "--goal", "recall", "--least", "1"])
    assert "At 0.300 the recall is 1.00" in goal.output
    nothing = CliRunner().invoke(main, ["analyse", name, "--goal", "precision"])
    assert nothing.exit_code != 0
    machine = CliRunner().invoke(main, ["analyse", name, "--json"])
    assert json.loads(machine.output) == json.loads(json.dumps(expected))


def test_a_run_without_gold_groups_or_answers(desk_home: Path) -> None:
    with make_run(paths.runs_dir(), [("1", "t")]) as store:
        (empty,) = analyse_run(store)
    assert (empty.measured, empty.totals.answers, empty.groups, empty.yes_no) == (0, 0, (), None)
    said = CliRunner().invoke(main, ["analyse", store.path.stem])
    assert "no gold column" in said.output
