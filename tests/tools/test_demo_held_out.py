"""No row, party, value pair, question or sentence of the bundled examples occurs in the training data."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.tools.demo_files import EXAMPLES, RESOURCES
from tools.train_demo import clauses, held_out, mixture, tickets, words
from tools.train_demo.mixture import text_of
from tools.train_demo.sample import Read
from tools.train_demo.words import Value

SAMPLES = 8_000
# Parties of the examples as they stand in the tables; the rest of the test is derived from them.
PARTIES = """Halvorsen Freight|Stonegate Estates|Lindqvist Robotics|Okafor Studios|Mirabel Hotels|Tarn Valley Dairy
|Pellworth Advisers|Castellan Rail|Greenbriar School|Dunmore Cleaning|Wexford Marine|Ansley Cranes|Quillfeather Press
|Ines Marchetti|Ostrava Glass|Bellamy Imports|Northfold Bakery|Samir Haddad|Calloway Mutual|Rosenthal Pharmacy
|Skerry Cloud|Vantongeren Bank|Hartigan Builders|Town of Elmsworth|Peakline Fitness|Larkhall Arena|Dovetail Events
|Helianth Solar|Farrow Farms|Polyglossa|Brandt Legal|Zephyr Couriers|Abernathy Dental|University of Calder
|Sorrel Biotech|Pixelcroft|Garrick Toys|Tamsin Motors|Redgrave Taxis|Birchall Homes|Ms Oduya"""
PARTY_NAMES = [name.strip() for name in PARTIES.split("|")]
_VALUES = sorted(
    {*words.CITIES, *words.COUNTRIES, *words.LANGUAGES, *words.WEEKDAYS, *words.MONTHS, *words.COLOURS}
    | {*words.CURRENCIES, *words.ONES[1:], *words.TENS[2:]},
    key=len,
    reverse=True,
)
_VALUE = re.compile(r"\b(?:" + "|".join(map(re.escape, _VALUES)) + r")s?\b", re.IGNORECASE)


def rows(example: str) -> list[dict[str, str]]:
    with (EXAMPLES / example / "table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def skeleton(text: str) -> tuple[str, ...]:
    """A clause's words with parties and values masked."""
    for name in PARTY_NAMES:
        text = re.sub(rf"(?:the )?{re.escape(name)}", "PPP", text, flags=re.IGNORECASE)
    text = _VALUE.sub("#", re.sub(r"\d[\d,.:]*", "#", text))
    return tuple(re.findall(r"[a-z]+|#", text.lower()))


def sentences(text: str) -> Iterator[tuple[str, ...]]:
    """The sentences of a ticket as words, numbers masked."""
    for part in re.split(r"(?<=[.!?])\s", re.sub(r"\d[\d,.:]*", "#", text.lower())):
        yield tuple(re.findall(r"[a-z']+|#", part))


@cache
def generated() -> tuple[str, ...]:
    r = random.Random(2026)
    return tuple(text_of(mixture.draw(r)) for _ in range(SAMPLES))


@cache
def generated_clauses() -> frozenset[tuple[str, ...]]:
    r = random.Random(2027)
    return frozenset(skeleton(clauses.say(r, clauses.draw_fact(r, ("PPP", "PPP")))) for _ in range(4 * SAMPLES))


def example_clauses() -> set[str]:
    return {row[column] for row in rows("contradictions") for column in ("clause_a", "clause_b")}


def test_the_tables_are_as_large_and_as_balanced_as_promised() -> None:
    pairs, messages = rows("contradictions"), rows("tickets")
    assert len(pairs) >= 200
    assert sum(row["gold"] == "yes" for row in pairs) * 2 == len(pairs)
    assert len(messages) >= 100
    teams = [row["gold_team"] for row in messages]
    assert max(teams.count(team) for team in set(teams)) / len(teams) <= 0.25


@pytest.mark.parametrize("name", PARTY_NAMES)
def test_no_party_occurs_in_training_data(name: str) -> None:
    assert any(name in clause for clause in example_clauses()), "the list above is not that of the table"
    assert not any(name in text for text in generated())


def test_no_party_word_can_be_drawn() -> None:
    lists = (words.COMPANY_FIRST, words.COMPANY_LAST, words.PERSON_FIRST, words.PERSON_LAST, words.ROLES)
    drawable = {word.lower() for group in lists for word in group}
    assert not drawable & held_out.PARTY_WORDS
    firsts = {
        name.lower().removeprefix("ms ").removeprefix("town of ").removeprefix("university of ").split()[0]
        for name in PARTY_NAMES
    }
    assert firsts <= held_out.PARTY_WORDS


def test_every_contradicting_value_pair_of_the_examples_is_held_out() -> None:
    numbers = re.compile(r"\d[\d,]*(?:\.\d+)?")
    found = 0
    for row in rows("contradictions"):
        if row["gold"] != "yes":
            continue
        a, b = ({float(n.replace(",", "")) for n in numbers.findall(row[c])} for c in ("clause_a", "clause_b"))
        different = a ^ b
        months = [m for m in words.MONTHS if m in row["clause_a"] or m in row["clause_b"]]
        if len(a - b) == len(b - a) == 1 and not months and ":" not in row["clause_a"] + row["clause_b"]:
            assert frozenset(different) in held_out.NUMBER_PAIRS, row
            found += 1
    assert found >= 30


def test_held_out_pairs_never_meet() -> None:
    r = random.Random(12)
    for pair in held_out.NUMBER_PAIRS:
        n, other = sorted(pair)
        for unit in ("day", "euros"):
            value = Value((n, unit), (f"{n}",))
            kind = "duration" if unit == "day" else "money"
            drawn = {words.different(r, kind, value).key for _ in range(200)}
            assert (other, unit) not in drawn
    for word, other_word in (sorted(pair) for pair in held_out.WORD_PAIRS if all(p in words.WEEKDAYS for p in pair)):
        drawn_words = {words.different(r, "weekday", Value(word, (word,))).key for _ in range(200)}
        assert other_word not in drawn_words
        assert drawn_words


def test_no_clause_template_of_the_examples_is_a_training_template() -> None:
    trained = generated_clauses()
    shared = [clause for clause in example_clauses() if skeleton(clause) in trained]
    assert shared == []


def test_long_word_runs_of_the_clauses_are_rare_in_training() -> None:
    width = 6
    trained = {run for words_ in generated_clauses() for run in _runs(words_, width)}
    runs = [run for clause in example_clauses() for run in _runs(skeleton(clause), width)]
    shared = sum(run in trained for run in runs) / len(runs)
    assert len(runs) > 500
    assert shared < 0.15, f"{shared:.0%} of the {width}-word runs are known"


def test_no_sentence_of_the_tickets_is_a_training_sentence() -> None:
    r = random.Random(13)
    trained = {words_ for _ in range(2 * SAMPLES) for words_ in sentences(tickets.draw(r).text)}
    shared = [row["message"] for row in rows("tickets") if any(s in trained for s in sentences(row["message"]))]
    assert shared == []


def test_no_row_occurs() -> None:
    texts = generated()
    for row in rows("contradictions"):
        assert not any(row["clause_a"] in text or row["clause_b"] in text for text in texts)
    for row in rows("tickets"):
        assert not any(row["message"] in text for text in texts)


def test_the_questions_of_the_forms_are_not_asked_in_training() -> None:
    asked = set()
    for example in ("contradictions", "tickets"):
        form = json.loads((EXAMPLES / example / "form.json").read_text(encoding="utf-8"))
        asked |= {question["instructions"] for question in form["questions"]}
    assert asked == held_out.INSTRUCTIONS
    r = random.Random(14)
    trained: set[str] = set()
    for _ in range(SAMPLES):
        sample = mixture.draw(r)
        if isinstance(sample, Read):
            trained |= {question.instructions for question in sample.questions}
    assert not trained & asked


def _runs(words_: tuple[str, ...], width: int) -> Iterator[tuple[str, ...]]:
    for start in range(len(words_) - width + 1):
        yield words_[start : start + width]


LONG = 25  # characters; shorter cells are names and codes that any text may hold


def library() -> Iterator[tuple[str, str]]:
    """Where it stands, and a question or a longer cell, of every form that comes with the program but the two above."""
    for form in (*sorted((RESOURCES / "forms").glob("*/form.json")), EXAMPLES / "contract" / "form.json"):
        for question in json.loads(form.read_text(encoding="utf-8"))["questions"]:
            yield f"{form.parent.name}: {question['id']}", question["instructions"]
        for table in sorted(form.parent.glob("*.csv")):
            with table.open(encoding="utf-8", newline="") as file:
                for number, row in enumerate(csv.DictReader(file), 1):
                    for column, cell in row.items():
                        if len(cell) >= LONG:
                            yield f"{form.parent.name}/{table.name} row {number}, {column}", cell


def test_the_library_and_the_contract_are_held_out_too() -> None:
    found = dict(library())
    assert len(found) > 100
    trained = "\n".join(generated())
    assert [place for place, text in found.items() if text in trained] == []
