"""Topics of short news, and two plain skills: whether values are equal, and which option a text names."""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

from tools.train_demo import news_words, review_words, words
from tools.train_demo.sample import Random, Read, choice, noul, other, read

REPORTS = (
    "News: {t}", "{t}", "Report: {t}", "Article: {t}", "Paper: {t}", "Headline and text: {t}", "Radio: {t}", "{t} (agency)", "Message of the day: {t}",
    "Today: {t}", "Story: {t}",
)  # fmt: skip


def news(r: Random, easy: float = 0.0) -> Read:
    """A short report and its topic; the easy question has two options."""
    topic = r.choice(list(news_words.LINES))
    text = " ".join(line(r, topic) for _ in range(r.randint(1, 3)))
    if r.random() < 0.4:
        text = f"{r.choice(words.CITIES)}, {r.choice(words.WEEKDAYS)}. {text}"
    state = r.choice(REPORTS).format(t=text)
    topics = list(news_words.LINES)
    if r.random() < 0.25:
        asked = topic if r.random() < 0.5 else other(r, topics, topic)
        return read(state, [noul(r.choice(news_words.WHETHER).format(x=asked), asked == topic)], "topic")
    others = [t for t in topics if t != topic]
    shown = [topic, *r.sample(others, 1 if r.random() < easy else r.randint(1, 7))]
    described = r.random() < 0.4
    options = [(name, news_words.DESCRIBED[name] if described else "") for name in shown]
    return read(state, [choice(r, r.choice(news_words.QUESTIONS), options, 0)], "topic")


def line(r: Random, topic: str) -> str:
    """A sentence of a report."""
    if r.random() < 0.4:
        return f"The {r.choice(news_words.LINES[topic])}."
    subjects, predicates = news_words.PARTS[topic]
    return f"{r.choice(('The', 'A', 'One', 'Another', 'The'))} {r.choice(subjects)} {r.choice(predicates)}."


def values(r: Random) -> Read:
    """Two short phrases with a value each, and whether the values are the same: the core of comparing clauses."""
    kind = r.choice(list(words.KINDS))
    first = words.KINDS[kind](r)
    same = r.random() < 0.5
    second = first if same else words.different(r, kind, first)
    thing = words.plain(r.choice(words.THINGS))
    lead = r.choice(("", f"the {thing}: ", f"{words.company(r)}: "))
    a, b = lead + first.text(r), lead + second.text(r)
    form = r.choice(("A: {a}\nB: {b}", "{a}\n{b}", "First: {a}\nSecond: {b}", "1. {a}\n2. {b}"))
    if r.random() < 0.5:
        return read(form.format(a=a, b=b), [noul(r.choice(EQUAL), same)], "values")
    return read(form.format(a=a, b=b), [noul(r.choice(UNEQUAL), not same)], "values")


EQUAL = [
    "Are they the same?",
    "Is it the same value?",
    "Do both lines say the same?",
    "Are the two equal?",
    "Do A and B agree?",
]
UNEQUAL = [
    "Are they different?",
    "Do they differ?",
    "Do they conflict?",
    "Is there a difference?",
    "Do they contradict each other?",
]


def match(r: Random) -> Read:
    """Which of several options stands in the text: the core of choosing."""
    pool = r.choice(
        (
            words.THINGS,
            words.PLACES,
            words.CITIES,
            words.COUNTRIES,
            words.LANGUAGES,
            review_words.SUBJECTS,
            words.COMPANY_FIRST,
        )
    )
    options = [words.plain(word) for word in r.sample(pool, r.randint(2, 6))]
    text = r.choice(
        ("We talked about {x}.", "It is about {x}.", "{x}", "They asked for {x} today.", "Please bring {x}.")
    ).format(x=options[0])
    asked = r.choice(
        ("Which one is it?", "Which option is named?", "What is the text about?", "Choose the one that occurs.")
    )
    return read(text, [choice(r, asked, [(option, "") for option in options], 0)], "match")
