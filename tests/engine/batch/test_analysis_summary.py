"""A run measured against its gold columns, beside a constant reader and a word reader."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from batch_helpers import CHOICE, NOUL, SCORE, form, make_run
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from engine.batch.analysis.baseline import FILE, load_baseline
from engine.batch.analysis.gold import parse_gold
from engine.batch.analysis.summary import MAX_GROUPS, OTHER_GROUPS, as_json, summarise
from engine.batch.form import parse_form
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.domain.reading import Reading
from engine.domain.run import Totals
from engine.errors import InputError

YES_NO = Noul("q", "?")
TEAMS = Choice("c", "?", (Option("Billing"), Option("sales"), Option("1")))
STARS = Score("s", "?", ("1", "2", "3"))
LEVELS = Score("s", "?", ("low", "mid", "high"))


@pytest.mark.parametrize(
    ("cell", "question", "place"),
    [
        *((word, YES_NO, 0) for word in ("yes", "YES", " Yes ", "1", "true", "True")),
        *((word, YES_NO, 1) for word in ("no", "No", "0", "false", "FALSE")),
        *((word, YES_NO, None) for word in ("", "maybe", "2", "y")),
        ("Billing", TEAMS, 0),
        ("billing ", TEAMS, 0),
        ("1", TEAMS, 2),
        ("0", TEAMS, None),
        ("mid", LEVELS, 1),
        ("2", LEVELS, 2),
        ("2.0", LEVELS, 2),
        ("3", LEVELS, None),
        ("-1", LEVELS, None),
        ("nan", LEVELS, None),
        ("1.5", LEVELS, None),
        ("1", STARS, 0),  # a name counts before a number
        ("3", STARS, 2),
        ("0", STARS, 0),
    ],
)
def test_gold_cells(cell: str, question: Question, place: int | None) -> None:
    assert parse_gold(cell, question) == place


def ok(question: str, value: float | str) -> Reading:
    return Reading(question, "ok", value, (0.5, 0.5), 0.9, True, 0.5, 0.9, 1, method="alone/canvas")


def test_a_run_is_measured_where_it_can_be(tmp_path: Path) -> None:
    header = ("text", "g_q", "g_c", "g_s", "kind")
    rows = [
        ("t1", "yes", "a", "high", "x"),
        ("t2", "1", "b", "0", "x"),
        ("t3", "no", "a", "1", "y"),
        ("t4", "", "zzz", "2", "y"),
        ("t5", "no", "a", "mid", "y"),
        ("t6", "yes", "b", "low", "z"),
    ]
    questions = ({**NOUL, "gold": "g_q"}, {**CHOICE, "gold": "g_c"}, {**SCORE, "gold": "g_s"}, {**NOUL, "id": "free"})
    with make_run(tmp_path, rows, *questions, header=header, group="kind") as store:
        values = [(0.9, "a", 1.8), (0.4, "a", 0.1), (0.4, "a", 0.9), (0.1, "b", 1.5), (0.2, "b", 1.1)]
        for row, (q, c, s) in enumerate(values, start=1):
            store.add_answers(row, (ok("q", q), ok("team", c), ok("size", s), ok("free", 0.5)))
        lost = Reading("q", "unreadable", label_mass=0.1)
        store.add_answers(6, (lost, ok("team", "b"), ok("size", 0.2), ok("free", 0.5)))
        noul, choice, score, free = summarise(store)
    # Pairs of yes (0.9, 0.4) and no (0.4, 0.2): 3 won and one tie.
    assert {metric.name: metric.value for metric in noul.metrics}["auc"] == pytest.approx(3.5 / 4)
    assert (noul.measured, noul.left_out, noul.without_gold, noul.bad_gold) == (4, {"unreadable": 1}, 1, 0)
    assert noul.totals == Totals(ok=5, unreadable=1)
    assert {metric.name: metric.value for metric in choice.metrics} == {"accuracy": 3 / 5, "largest_class": 3 / 5}
    assert (choice.bad_gold, choice.first_bad) == (1, "row 4, column g_c: 'zzz'")
    by_name = {metric.name: metric.value for metric in score.metrics}
    assert by_name["mae"] == pytest.approx((0.2 + 0.1 + 0.1 + 0.5 + 0.1 + 0.2) / 6)
    assert by_name["spearman"] is not None
    assert free.metrics == ()
    assert free.readers == {}
    assert as_json(free) == {}
    assert noul.groups == {"x": Totals(ok=2), "y": Totals(ok=3), "z": Totals(unreadable=1)}
    constant = {metric.name: metric.value for metric in noul.readers["constant"]}
    assert constant == {"auc": 0.5, "brier": 0.25}
    assert {metric.name: metric.value for metric in choice.readers["constant"]}["accuracy"] == 3 / 5
    flat = score.readers["constant"][0]
    assert (flat.name, flat.value, flat.why_not) == ("spearman", None, "all answers are equal")
    assert as_json(noul)["constant"] == constant


def test_one_class_has_no_auc_and_says_why(tmp_path: Path) -> None:
    with make_run(tmp_path, [("a", "yes"), ("b", "yes")], {**NOUL, "gold": "g"}, header=("text", "g")) as store:
        store.add_answers(1, (ok("q", 0.5),))
        (half,) = summarise(store)
        assert half.measured == 1  # the other row is not answered yet
        assert (half.metrics[0].value, half.metrics[0].why_not) == (None, "gold has one class only")


def test_nothing_answered_has_no_figures_and_says_why(tmp_path: Path) -> None:
    with make_run(tmp_path, [("a", "yes")], {**NOUL, "gold": "g"}, header=("text", "g")) as store:
        (empty,) = summarise(store)
        assert [metric.value for metric in empty.metrics] == [None, None]
        assert {metric.why_not for metric in empty.metrics} == {"no answer to measure"}


def test_many_groups_are_counted_together(tmp_path: Path) -> None:
    count = MAX_GROUPS + 50
    with make_run(tmp_path, [("t", str(n)) for n in range(count)], header=("text", "k"), group="k") as store:
        store.submit_answers([(row, (ok("q", 0.5),)) for row in range(1, count + 1)]).result()
        (summary,) = summarise(store)
    assert len(summary.groups) == MAX_GROUPS + 1
    assert summary.groups[OTHER_GROUPS] == Totals(ok=50)
    assert sum(totals.answers for totals in summary.groups.values()) == count


TEXTS = ["refund me now", "refund please now", "send an offer", "an offer please", "it is broken", "broken again now"]


def fit(labels: list[str]) -> tuple[dict[str, object], LogisticRegression, CountVectorizer]:
    """A regression of scikit-learn's, written as the file has it."""
    words = CountVectorizer(token_pattern="[a-z0-9]+")
    counts = words.fit_transform(TEXTS)
    model = LogisticRegression().fit(counts, labels)
    wire = {
        "classes": model.classes_.tolist(),
        "lowercase": True,
        "token_pattern": "[a-z0-9]+",
        "vocabulary": {word: int(at) for word, at in words.vocabulary_.items()},
        "weights": model.coef_.tolist(),
        "bias": model.intercept_.tolist(),
    }
    return wire, model, words


def write_baseline(folder: Path, questions: dict[str, object], **fields: object) -> Path:
    path = folder / FILE
    path.write_text(json.dumps({"version": 1, "kind": "bag_of_words_logistic", "questions": questions, **fields}))
    return path


def test_the_word_reader_gives_scikit_learns_probabilities(tmp_path: Path) -> None:
    two, two_model, words = fit(["yes", "yes", "no", "no", "no", "yes"])
    three, three_model, _ = fit(["b", "b", "a", "a", "c", "c"])
    write_baseline(tmp_path, {"q": two, "team": three})
    choice = {**CHOICE, "criteria": ["a", "b", "c"]}
    readers = load_baseline(tmp_path / "form.json", parse_form(form(NOUL, choice, SCORE), "f"))
    assert set(readers) == {"q", "team"}
    for text in [*TEXTS, "Refund, REFUND: now!", "", "none of these wörds"]:
        counts = words.transform([text])
        yes = two_model.predict_proba(counts)[0, list(two_model.classes_).index("yes")]
        assert readers["q"].shares(text) == pytest.approx([yes, 1 - yes])
        assert readers["team"].shares(text) == pytest.approx(three_model.predict_proba(counts)[0])


def test_the_word_reader_is_measured_beside_the_model_on_the_same_rows(tmp_path: Path) -> None:
    labels = ["yes", "yes", "no", "no", "no", "yes"]
    wire, _, _ = fit(labels)
    write_baseline(tmp_path, {"q": wire})
    rows = list(zip(TEXTS, labels, strict=True))
    with make_run(tmp_path, rows, {**NOUL, "gold": "g"}, header=("text", "g")) as store:
        for row in range(1, 6):
            store.add_answers(row, (ok("q", 0.5),))
        store.add_answers(6, (Reading("q", "error", error="x"),))
        parsed = parse_form(store.spec.form, "f")
        (summary,) = summarise(store, load_baseline(tmp_path / "form.json", parsed))
    assert summary.measured == 5
    by_words = {metric.name: metric.value for metric in summary.readers["words"]}
    assert by_words["auc"] == 1.0
    assert {metric.name: metric.value for metric in summary.metrics}["auc"] == 0.5


def test_no_file_means_no_word_reader(tmp_path: Path) -> None:
    assert load_baseline(tmp_path / "form.json", parse_form(form(), "f")) == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": ["yes", "maybe"]}, "questions.q.classes: 'maybe' is no answer"),
        ({"weights": [[0.0]]}, "shorter than the vocabulary"),
        ({"weights": [[0.0] * 20] * 3}, "2 classes, 3 rows of weights"),
        ({"bias": []}, "0 biases"),
        ({"token_pattern": "("}, "not one set of characters and a plus"),
        ({"token_pattern": "(a+)+$"}, "not one set of characters and a plus"),
        ({"token_pattern": "[z-a]+"}, "bad character range"),
        ({"kind": "x"}, "questions.q.kind"),
        ({"weights": [[float("nan")] * 20]}, "questions.q.weights.0.0"),
        ({"weights": [[1e300] * 20]}, "less than or equal to 1000000"),
        ({"bias": [float("inf")]}, "questions.q.bias.0"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    wire, _, _ = fit(["yes", "yes", "no", "no", "no", "yes"])
    path = write_baseline(tmp_path, {"q": {**wire, **change}})
    with pytest.raises(InputError) as caught:
        load_baseline(tmp_path / "form.json", parse_form(form(), "f"))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_counts_are_measured_in_numpy_types_that_json_can_write(tmp_path: Path) -> None:
    with make_run(tmp_path, [("a", "yes"), ("b", "no")], {**NOUL, "gold": "g"}, header=("text", "g")) as store:
        for row, value in ((1, np.float64(0.75)), (2, 0.25)):
            store.add_answers(row, (ok("q", value),))
        (summary,) = summarise(store)
    assert json.loads(json.dumps(as_json(summary)))["auc"] == 1.0
