"""Which skills are trained how often, and a few words of noise on the labels."""

# ruff: noqa: E501 (tables of shares)

from __future__ import annotations

from dataclasses import replace

from tools.train_demo import amounts, chat, clause_questions, clauses, mentions, reviews, texts, tickets
from tools.train_demo import chat_words as v
from tools.train_demo.sample import Chat, Random, Read, Sample, Weighted, read, with_label_noise

LABEL_NOISE = 0.03
SHARES = Weighted(
    {"contradiction": 36, "ticket": 6, "joint": 4, "sentiment": 9, "topic": 5, "record": 5, "compare": 7, "mention": 4, "values": 1,
     "match": 1, "chat": 22}
)  # fmt: skip
# At the start: comparing and matching in their plainest form, until the circuits for them exist.
FIRST_SHARES = Weighted(
    {"contradiction": 40, "ticket": 16, "sentiment": 2, "topic": 6, "record": 5, "mention": 7, "values": 10, "match": 8, "chat": 6}
)  # fmt: skip
WHOLE_WORDS = sorted(
    {
        word
        for group in (*v.LISTS.values(), v.HEROES, v.NAMES, v.DEFINITIONS, *v.OPPOSITES)
        for word in group
        if word.isalpha()
    }
)


def parse_shares(text: str) -> Weighted:
    """Other shares than ``SHARES`` from "contradiction=70,chat=8"; nothing means ``SHARES``.

    Raises:
        ValueError: an unknown skill, or no number.
    """
    if not text:
        return SHARES
    given = {name.strip(): float(weight) for name, _, weight in (part.partition("=") for part in text.split(","))}
    unknown = sorted(set(given) - set(SHARES.weights))
    if unknown:
        raise ValueError(f"unknown skills {', '.join(unknown)}; there are {', '.join(SHARES.weights)}")
    return Weighted(given)


def draw(
    r: Random,
    easy: float = 0.0,
    skill: str | None = None,
    label_noise: float = LABEL_NOISE,
    shares: Weighted = SHARES,
) -> Sample:
    """A random training sample.

    Args:
        easy: the share of simple samples, 1 at the start of training and 0 later.
        skill: one of ``SHARES``; None draws one.
        label_noise: probability that an answer is replaced by a wrong one.
        shares: how often each skill is drawn after the start.
    """
    skill = skill or (FIRST_SHARES if r.random() < easy else shares).draw(r)
    if skill == "chat":
        return chat.chat(r)
    if skill == "contradiction":
        sample = clauses.contradiction(r, easy)
    elif skill == "ticket":
        sample = tickets.triage(r, easy)
    elif skill == "topic":
        sample = texts.news(r, easy)
    else:
        sample = _READS[skill](r)
    return with_label_noise(r, introduced(r, sample), label_noise)


INTRODUCTIONS = (
    "Please answer: ", "Tell me: ", "Quick question: ", "Decide: ", "Yes or no: ", "Say whether this is right: ", "Question: ", "Judge: ", "Please check. ",
    "Read it carefully. ", "Look at it again. ", "I would like to know: ", "One thing: ",
)  # fmt: skip
INTRODUCED = 0.06  # share of questions


def introduced(r: Random, sample: Read) -> Read:
    """Now and then words before a question that change nothing."""
    if r.random() >= INTRODUCED:
        return sample
    lead = r.choice(INTRODUCTIONS)
    asked = tuple(replace(question, instructions=lead + question.instructions) for question in sample.questions)
    return replace(sample, questions=asked)


def _joint(r: Random) -> Read:
    if r.random() < 0.75:
        return tickets.triage_joint(r)
    pair = clauses.draw_pair(r)
    state = r.choice(clause_questions.STATE_FORMS).format(a=pair.first, b=pair.second)
    return read(state, [clauses.questions_about(r, pair) for _ in range(r.randint(2, 3))], "joint")


_READS = {
    "joint": _joint,
    "sentiment": reviews.review,
    "record": amounts.record,
    "compare": amounts.compare,
    "mention": mentions.mention,
    "values": texts.values,
    "match": texts.match,
}


def text_of(sample: Sample) -> str:
    """All words of a sample, to learn a vocabulary from."""
    if isinstance(sample, Chat):
        return "\n".join([*(content for _, content in sample.messages), sample.answer])
    names = [part for q in sample.questions for part in (q.instructions, *q.answers)]
    return "\n".join([sample.state, *names])
