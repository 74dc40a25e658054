"""How clause pairs are shown and what is asked about them."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

STATE_FORMS = [
    "Clause A: {a}\nClause B: {b}", "Clause A: {a}\nClause B: {b}", "Clause A: {a}\nClause B: {b}",
    "A: {a}\nB: {b}", "Clause 1: {a}\nClause 2: {b}", "First clause: {a}\nSecond clause: {b}",
    "A) {a}\nB) {b}", "Text A: {a}\n\nText B: {b}", "- {a}\n- {b}", "Statement 1: {a}\nStatement 2: {b}",
    "First: {a}\nSecond: {b}", "{a}\n{b}", "Contract: {a}\nAmendment: {b}", "Version 1: {a}\nVersion 2: {b}", "He says: {a}\nShe says: {b}", "Paragraph 2: {a}\nParagraph 9: {b}",
    "Left: {a}\nRight: {b}", "Email: {a}\nLetter: {b}", "1. {a}\n2. {b}", "Yesterday: {a}\nToday: {b}", "(a) {a} (b) {b}", "Rule: {a}\nNote: {b}", "Draft: {a}\nFinal: {b}", '{{"clause_a": "{a}", "clause_b": "{b}"}}',
]  # fmt: skip
_PLAIN = [
    "Do the clauses conflict?", "Do clauses A and B conflict?", "Do these two clauses contradict each other?",
    "Is there a contradiction between the two clauses?", "Are the two clauses in conflict?",
    "Does clause A contradict clause B?", "Does the second clause contradict the first?", "Is there a conflict?",
    "Do the two statements contradict each other?", "Are the two texts incompatible?", "Is B at odds with A?",
    "Do A and B exclude each other?", "Does one clause say the opposite of the other?",
    "Would it be impossible to follow both clauses?", "Is one clause inconsistent with the other?",
    "Do A and B contradict one another?", "Do clause A and clause B conflict with each other?",
    "Is there a contradiction?", "Do they contradict each other?",
]  # fmt: skip
_WHAT = (
    "the two",
    "the clauses",
    "the two clauses",
    "the statements",
    "both statements",
    "the two texts",
    "A and B",
    "the lines",
    "these clauses",
    "the sentences",
    "the two passages",
    "the provisions",
)
_ARE = ("contradictory", "incompatible", "inconsistent", "in conflict", "at odds", "irreconcilable", "in conflict with each other", "at odds with each other", "incompatible with one another",
        "contradicting each other", "opposed to each other", "mutually exclusive")  # fmt: skip
_DO = (
    "conflict",
    "clash",
    "contradict each other",
    "exclude each other",
    "collide",
    "disagree",
    "stand in conflict",
    "conflict with each other",
    "say opposite things",
    "oppose each other",
)
_OTHER = [
    "Is there a clash?", "Is there an inconsistency?", "Is there a conflict between A and B?", "Is there a contradiction between the lines?", "Does one contradict the other?", "Does B contradict A?",
    "Does A conflict with B?", "Does the first conflict with the second?", "Is one the opposite of the other?", "Does one exclude the other?", "Would both together be a contradiction?", "Must one of them be wrong?",
    "Is it impossible to obey both?", "Is it impossible to comply with both?", "Is it a conflict?", "Is this a contradiction?", "Do we have a conflict here?", "Is one clause in conflict with the other?",
]  # fmt: skip
# Questions that turn on "only one" and "both": alike in words, opposite in meaning.
_OF = (
    "of the clauses",
    "of these clauses",
    "of the statements",
    "of A and B",
    "of the sentences",
    "of the two texts",
    "of them",
    "of the provisions",
)
_HOLD = (
    "hold",
    "apply",
    "be true",
    "be valid",
    "be followed",
    "stand",
    "be correct",
    "be in force",
    "be obeyed",
    "be kept",
)
ONLY_ONE = [
    *(f"{can} {one} {of} {hold}?" for can in ("Can", "Could", "May") for one in ("only one", "no more than one", "just one", "at most one") for of in _OF for hold in _HOLD),
    *(f"Must one {of} {fail}?" for of in _OF for fail in ("be wrong", "be false", "give way", "be dropped", "be ignored")),
    *(f"Do we have to choose one {of}?" for of in _OF), *(f"Is it one or the other {of}?" for of in _OF),
]  # fmt: skip
BOTH = [
    *(f"{can} both {of} {hold}?" for can in ("Can", "Could", "May") for of in _OF for hold in _HOLD),
    *(f"Is there room for both {of}?" for of in _OF), *(f"{can} we keep both {of}?" for can in ("Can", "May") for of in _OF),
    *(f"Can {what} {hold} together?" for what in _WHAT for hold in _HOLD), *(f"Can {what} be true at once?" for what in _WHAT),
]  # fmt: skip
CONFLICT = [
    *_PLAIN * 3, *_OTHER * 2, *(f"Are {what} {are}?" for what in _WHAT for are in _ARE), *(f"Do {what} {do}?" for what in _WHAT for do in _DO),
]  # fmt: skip
CONSISTENT = [
    "Are the two clauses consistent?", "Can both clauses hold at the same time?", "Are the clauses compatible?",
    "Is it possible to follow both clauses?", "Do the clauses go together without a contradiction?",
    "Are the two statements free of contradiction?", "Can both be true?", "Can both apply?", "Do the two clauses agree with each other?", "Is there no conflict?", "Are A and B compatible?",
    "Are both statements compatible?", "Can A and B stand together?", "Do they fit together?", "Are they consistent?", "Can one obey both?", "May both be right?",
]  # fmt: skip
SAME = [
    "Do the two clauses say the same?", "Do both clauses mean the same thing?", "Is the second clause a paraphrase of the first?",
    "Do A and B agree on the same point?", "Do the clauses have the same meaning?",
]  # fmt: skip
CRITERIA = [
    ("both cannot hold at once", "both can hold"), ("they contradict each other", "they do not contradict each other"),
    ("a conflict", "no conflict"), ("the clauses exclude each other", "the clauses can stand side by side"),
]  # fmt: skip
