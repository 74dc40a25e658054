"""How clause pairs are shown and what is asked about them."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

STATE_FORMS = [
    "Clause A: {a}\nClause B: {b}", "Clause A: {a}\nClause B: {b}", "Clause A: {a}\nClause B: {b}",
    "A: {a}\nB: {b}", "Clause 1: {a}\nClause 2: {b}", "First clause: {a}\nSecond clause: {b}",
    "A) {a}\nB) {b}", "Text A: {a}\n\nText B: {b}", "- {a}\n- {b}", "Statement 1: {a}\nStatement 2: {b}",
    "First: {a}\nSecond: {b}", "{a}\n{b}", "Contract: {a}\nAmendment: {b}", '{{"clause_a": "{a}", "clause_b": "{b}"}}',
]  # fmt: skip
CONFLICT = [
    "Do the clauses conflict?", "Do clauses A and B conflict?", "Do these two clauses contradict each other?",
    "Is there a contradiction between the two clauses?", "Are the two clauses in conflict?",
    "Does clause A contradict clause B?", "Does the second clause contradict the first?", "Is there a conflict?",
    "Do the two statements contradict each other?", "Are the two texts incompatible?", "Is B at odds with A?",
    "Do A and B exclude each other?", "Does one clause say the opposite of the other?",
    "Would it be impossible to follow both clauses?", "Is one clause inconsistent with the other?",
    "Do A and B contradict one another?", "Do clause A and clause B conflict with each other?",
    "Is there a contradiction?", "Do they contradict each other?",
]  # fmt: skip
CONSISTENT = [
    "Are the two clauses consistent?", "Can both clauses hold at the same time?", "Are the clauses compatible?",
    "Is it possible to follow both clauses?", "Do the clauses go together without a contradiction?",
    "Are the two statements free of contradiction?",
]  # fmt: skip
SAME = [
    "Do the two clauses say the same?", "Do both clauses mean the same thing?", "Is the second clause a paraphrase of the first?",
    "Do A and B agree on the same point?", "Do the clauses have the same meaning?",
]  # fmt: skip
CRITERIA = [
    ("both cannot hold at once", "both can hold"), ("they contradict each other", "they do not contradict each other"),
    ("a conflict", "no conflict"), ("the clauses exclude each other", "the clauses can stand side by side"),
]  # fmt: skip
