"""The held-out questions: unseen topics, wordings, entities and tasks, in two parts that share no topic.

The part "validation" is for choosing the temperature of the weights, "test" for the figures. The test part ships with
the model (``held_out.jsonl``), so that the figures can be measured without the generators:

    python -m tools.train_demo.held_out_set resources/demo_model
"""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.domain.question import Choice, Noul
from tools.train_demo import chat, clauses, held_out_clauses, held_out_texts
from tools.train_demo import chat_words as v
from tools.train_demo.clauses import Book
from tools.train_demo.sample import Random, Read, read

FILE = "held_out.jsonl"
READS = 250  # of every skill
CHATS = 30  # of every kind
SKILLS = ("contradiction", "mention", "sentiment", "topic", "record", "compare")
STATE_FORMS = {
    "validation": ("This side: {a}\nThat side: {b}", "Old: {a}\nNew: {b}", "Ann wrote: {a}\nBob wrote: {b}"),
    "test": ("Clause A: {a}\nClause B: {b}", "One side: {a}\nOther side: {b}", "Page 3: {a}\nPage 8: {b}"),
}
QUESTIONS = {
    "validation": ("Would it be a contradiction to accept both?", "Do A and B rule each other out?", "Can only one of the two be right?"),
    "test": (
        "Do clause A and clause B exclude one another?", "Is it impossible for both to be true?", "Do the two contradict one another?",
        "Are these two in contradiction?",
    ),
}  # fmt: skip


def book(part: str) -> Book:
    """Half of the held-out clause topics."""
    start = 0 if part == "validation" else 1
    return Book(
        held_out_clauses.VALUED[start::2],
        held_out_clauses.POLAR[start::2],
        held_out_clauses.ROLES[start::2],
        lambda r: r.choice(held_out_clauses.PARTIES[start::2]),
        lambda r: r.choice(held_out_clauses.THINGS[start::2]),
    )


def contradiction(r: Random, part: str) -> Read:
    """Two clauses on unseen topics."""
    pair = clauses.draw_pair(r, book=book(part))
    state = r.choice(STATE_FORMS[part]).format(a=pair.first, b=pair.second)
    return read(state, [clauses.noul(r.choice(QUESTIONS[part]), pair.conflict)], "contradiction")


MAKERS: dict[str, Callable[[Random, held_out_texts.Wordings], Read]] = {
    "mention": held_out_texts.mention, "sentiment": held_out_texts.review, "topic": held_out_texts.news, "record": held_out_texts.record,
    "compare": held_out_texts.compare,
}  # fmt: skip


def draw(r: Random, skill: str, part: str) -> Read:
    """A held-out question."""
    if skill == "contradiction":
        return contradiction(r, part)
    return MAKERS[skill](r, held_out_texts.PARTS[part])


def reads(part: str, skill: str, count: int = READS) -> list[Read]:
    """The questions of a part and skill, always the same."""
    r = Random(f"held out {part} {skill}")
    found: list[Read] = []
    seen: set[str] = set()
    while len(found) < count:
        sample = draw(r, skill, part)
        key = sample.state + sample.questions[0].instructions
        if key not in seen:
            seen.add(key)
            found.append(sample)
    return found


def raw_question(sample: Read) -> dict[str, Any]:
    """The question as a form would have it."""
    question = sample.questions[0]
    raw: dict[str, Any] = {"id": "q", "type": question.type, "instructions": question.instructions}
    if isinstance(question, Choice):
        raw["criteria"] = {option.name: option.description for option in question.options}
    elif not isinstance(question, Noul):
        raise TypeError("held-out questions are yes/no or a choice")
    return raw


def _one_of(answers: Sequence[str]) -> str:
    return "(?:" + "|".join(map(re.escape, answers)) + ")"


def fixed_pattern(question: str) -> str:
    """All answers that a question of small talk has."""
    groups = (*chat.SMALL_TALK, *chat.IDENTITY, (v.TOO_HARD, v.TOY))
    return _one_of([answer for questions, answers in groups if question in questions for answer in answers])


# Of answers that can be well-formed and wrong.
FORMS = {
    "sum": r"\d+ (?:plus|minus|times) \d+ is \d+\.",
    "larger": r"\d+ is (?:more|less) than \d+\.",
    "count": r"\d+(?: \d+)+",
}


def chat_entry(r: Random, kind: str) -> dict[str, Any]:
    """A conversation and what a well-formed answer looks like: a pattern, or members of a list."""
    messages: list[tuple[str, str]] = []
    if kind == "follow-up":
        while True:
            first = chat._TURNS[r.choice(("sum", "definition", "opposite"))](r)
            found = chat.referring(r, first)
            if found:
                break
        question, answer = found
        messages = [("user", first[0]), ("assistant", first[1])]
    elif kind == "sum":
        question, answer = chat._sum(r, held_out=True)
    else:
        question, answer = chat._TURNS[kind](r)
    entry: dict[str, Any] = {"kind": kind, "messages": [*messages, ("user", question)]}
    if kind == "list":
        plural = next(p for p in v.LISTS if re.search(rf"\b{p}\b", question))
        return {**entry, "members": v.LISTS[plural], "count": asked_count(question)}
    if kind == "story":
        return {**entry, "grammar": "story"}
    if kind in ("small talk", "identity", "too hard"):
        return {**entry, "pattern": fixed_pattern(question)}
    if kind == "name":
        return {**entry, "pattern": ".*" + re.escape(question.rstrip(".").split()[-1]) + ".{0,40}"}
    if kind in FORMS or (kind == "follow-up" and answer[0].isdigit()):
        form = FORMS.get(kind, FORMS["sum"])
        return {**entry, "pattern": form, "right": re.escape(answer)}
    return {**entry, "pattern": re.escape(answer)}


def asked_count(question: str) -> int:
    """How many the question asks for, as a word or a number."""
    said = {word: n for n, word in v.NUMBER_WORDS.items()}
    found = (said.get(word.lower(), int(word) if word.isdigit() else 0) for word in re.findall(r"\w+", question))
    return next(n for n in found if n)


KINDS = (*chat._TURNS, "follow-up")


def entries() -> list[dict[str, Any]]:
    """The test part as JSON objects: the grammar of stories, reads, chats."""
    found: list[dict[str, Any]] = [{"grammars": {"story": chat.story_pattern()}}]
    for skill in SKILLS:
        for sample in reads("test", skill):
            gold = sample.questions[0].answers[sample.answers[0]]
            found.append({"skill": skill, "state": sample.state, "question": raw_question(sample), "gold": gold})
    for kind in KINDS:
        r = Random(f"held out chat {kind}")
        found += [chat_entry(r, kind) for _ in range(CHATS)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    lines = [json.dumps(entry, separators=(",", ":")) for entry in entries()]
    (parser.parse_args().folder / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
