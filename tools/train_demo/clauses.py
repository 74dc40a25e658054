"""Pairs of clauses and the question whether they contradict each other.

A *fact* says something about a topic, a party, a thing and a value. Two facts contradict each other when they share
topic, party and thing and differ in the value; no other pair does.
"""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass, replace

from tools.train_demo import clause_daily, clause_generic, clause_polar, clause_relations, clause_topics, words
from tools.train_demo import clause_questions as questions
from tools.train_demo import clause_words as vocabulary
from tools.train_demo.sample import Asked, Random, Read, Weighted, noul, other, read, sentence, with_articles
from tools.train_demo.synonyms import vary
from tools.train_demo.words import Value, different

FAMILIES = Weighted(
    {"event": 16, "attribute": 15, "count": 6, "permission": 14, "duty": 7, "state": 9, "doer": 8, "topic": 22,
     "valued": 52, "said": 40, "role": 18}
)  # fmt: skip
GENERIC = 0.6  # share of pairs about anything
RELATIONS = 0.55  # of these: what two parties do with each other, and ways that exclude each other
BOOK_FAMILIES = Weighted({"valued": 52, "said": 30, "role": 18})
MEASURED = ("money", "duration", "percent", "count")
POLAR = ("permission", "duty", "state")


@dataclass(frozen=True)
class Book:
    """Topics with their wordings, and who and what they are about.

    Attributes:
        valued: (kind of value, wordings).
        said: (wordings of the yes side, of the no side).
        roles: wordings that say that {p} does something.
    """

    valued: list[tuple[str, list[str]]]
    said: list[tuple[list[str], list[str]]]
    roles: list[list[str]]
    party: Callable[[Random], str]
    thing: Callable[[Random], str]


@dataclass(frozen=True)
class Fact:
    """One statement, not yet put into words.

    Attributes:
        family: which kind of sentence.
        topic: index into the family's list (a verb, an attribute, an act, ...).
        kind: of value, where there is one.
        party: who.
        thing: what; empty where the topic names it.
        value: a Value, or True/False for the two sides of a polar fact, or the party that a "doer" fact is about.
        book: where the topics of the families "valued", "said" and "role" stand.
        shown: a slot that the wording must have, such as "{p}", or nothing.
    """

    family: str
    topic: int
    kind: str
    party: str
    thing: str
    value: Value | bool | str
    book: Book | None = None
    shown: str = ""


def draw_fact(r: Random, parties: tuple[str, str], family: str | None = None, book: Book | None = None) -> Fact:
    """A random fact about the first of two parties; with a ``book``, one of its topics."""
    family = family or (FAMILIES if book is None else BOOK_FAMILIES).draw(r)
    party = parties[0]
    if family in BOOK_FAMILIES.weights:
        return _from_book(r, party, family, book or TRAINING)
    thing = draw_thing(r)
    if family == "event":
        kind = r.choice(list(vocabulary.ADJUNCTS))
        return Fact(family, r.randrange(len(vocabulary.VERBS)), kind, party, thing, words.KINDS[kind](r))
    if family == "attribute":
        kind = r.choice((*vocabulary.ATTRIBUTES, "money", "duration", "percent"))
        owner = party if r.random() < 0.45 else thing
        topic = r.randrange(len(vocabulary.ATTRIBUTES[kind]))
        return Fact(family, topic, kind, party, owner, words.KINDS[kind](r))
    if family == "count":
        plural = words.plain(r.choice(words.THINGS))
        return Fact(family, r.randrange(len(vocabulary.VERBS)), "count", party, plural, words.count(r))
    if family == "permission":
        return Fact(family, r.randrange(len(vocabulary.ACTS)), "", party, "", r.random() < 0.5)
    if family == "duty":
        return Fact(family, r.randrange(len(vocabulary.VERBS)), "", party, thing, r.random() < 0.5)
    if family == "state":
        return Fact(family, r.randrange(len(vocabulary.STATES)), "", party, thing, r.random() < 0.5)
    if family == "doer":
        topic = r.randrange(-1, len(vocabulary.VERBS))  # -1 is ownership
        return Fact(family, topic, "", "", thing, party)
    topic = r.randrange(len(vocabulary.TOPICS))
    kind = vocabulary.TOPICS[topic][0]
    return Fact(family, topic, kind, party, "", words.KINDS[kind](r))


def _from_book(r: Random, party: str, family: str, book: Book) -> Fact:
    thing = book.thing(r)
    if family == "valued":
        topic = r.randrange(len(book.valued))
        kind = book.valued[topic][0]
        return Fact(family, topic, kind, party, thing, words.KINDS[kind](r), book)
    if family == "said":
        return Fact(family, r.randrange(len(book.said)), "", party, thing, r.random() < 0.5, book)
    return Fact(family, r.randrange(len(book.roles)), "", "", thing, party, book)


def draw_thing(r: Random) -> str:
    """A thing or place that clauses are about, with its article."""
    u = r.random()
    adjective = f"{r.choice(words.ADJECTIVES)} " if r.random() < 0.2 else ""
    if u < 0.5:
        return f"the {adjective}{words.plain(r.choice(words.PLACES))}"
    if u < 0.85:
        return f"the {adjective}{words.plain(r.choice(words.THINGS))}"
    name = f"{r.choice(('Hall', 'Room', 'Unit', 'Plot', 'Building', 'Lot'))} {r.choice([*'ABCDEFGH', *map(str, range(1, 30))])}"
    return name if r.random() < 0.6 else f"the {words.plain(r.choice(words.PLACES))} of {name}"


def opposite(r: Random, fact: Fact, parties: tuple[str, str]) -> Fact:
    """The same fact with another value: it contradicts."""
    if isinstance(fact.value, Value):
        return replace(fact, value=different(r, fact.kind, fact.value))
    if isinstance(fact.value, bool):
        return replace(fact, value=not fact.value)
    return replace(fact, value=parties[1] if fact.value == parties[0] else parties[0])


def elsewhere(r: Random, fact: Fact, parties: tuple[str, str]) -> tuple[Fact, Fact]:
    """The fact and one that cannot contradict it: another party, thing or topic, mostly with another value.

    Both are marked with the slot in which they differ, so that their wordings show it.
    """
    changed = opposite(r, fact, parties) if r.random() < 0.85 else fact
    ways = ["topic"]
    if fact.book:
        frames = _frames(fact)
        ways += [way for way, slot in (("party", "{p}"), ("thing", "{x}")) if _may_differ(fact, frames, slot)] * 2
    else:
        if fact.thing and fact.thing != fact.party:
            ways += ["thing", "thing"]
        if fact.family in ("topic", "event", "count", "permission", "duty") or fact.thing == fact.party:
            ways += ["party", "party"]
        if fact.family in ("event", "attribute", "permission", "count", "doer", "duty"):
            ways += ["act"]
    way = r.choice(ways)
    if way == "party":
        owner = parties[1] if fact.thing == fact.party else fact.thing
        return replace(fact, shown="{p}"), replace(changed, party=parties[1], thing=owner, shown="{p}")
    if way == "thing":
        if fact.family == "count":
            return fact, replace(changed, thing=other(r, [words.plain(t) for t in words.THINGS], fact.thing))
        thing = fact.book.thing(r) if fact.book else draw_thing(r)
        if thing != fact.thing:
            return replace(fact, shown="{x}"), replace(changed, thing=thing, shown="{x}")
        return fact, another_topic(r, [fact], parties, fact.book)
    if way == "act":
        return fact, replace(changed, topic=_another_act(r, fact))
    return fact, another_topic(r, [fact], parties, fact.book)


def _may_differ(fact: Fact, frames: list[str], slot: str) -> bool:
    """Whether enough wordings show the slot; in a role the party is the value."""
    return not (slot == "{p}" and fact.family == "role") and sum(slot in frame for frame in frames) >= 2


def another_topic(r: Random, facts: list[Fact], parties: tuple[str, str], book: Book | None) -> Fact:
    """A fact on a topic that none of ``facts`` has."""
    book = None if book is TRAINING else book
    while True:
        found = draw_fact(r, parties if r.random() < 0.7 else (parties[1], parties[0]), book=book)
        if all((found.family, found.topic, found.kind) != (f.family, f.topic, f.kind) for f in facts):
            return found


def _another_act(r: Random, fact: Fact) -> int:
    if fact.family == "attribute":
        return other(r, range(len(vocabulary.ATTRIBUTES[fact.kind])), fact.topic)
    if fact.family == "permission":
        own = vocabulary.ACTS[fact.topic]
        return r.choice([i for i, act in enumerate(vocabulary.ACTS) if act[3] != own[3]])
    own_noun = vocabulary.VERBS[fact.topic][4]
    return r.choice([i for i, verb in enumerate(vocabulary.VERBS) if verb[4] != own_noun])


def say(r: Random, fact: Fact) -> str:
    """The fact as a sentence, in one of its many wordings."""
    body = _decorated(r, phrase(r, fact))
    u = r.random()
    if u < 0.06:
        return f"{r.randint(1, 20)}. {body}"
    if u < 0.1:
        return f"Section {r.randint(1, 20)}.{r.randint(1, 9)}: {body}"
    return body


def phrase(r: Random, fact: Fact) -> str:
    """One plain wording, half of the time with some words replaced by others that say the same."""
    body = _body(r, fact)
    return vary(r, body, 0.35) if r.random() < 0.5 else body


def _decorated(r: Random, body: str) -> str:
    """With words before and after it that change nothing."""
    u = r.random()
    opener = r.choice(vocabulary.OPENERS) if u < 0.15 else r.choice(clause_topics.LEADS) if u < 0.28 else ""
    u = r.random()
    closer = r.choice(vocabulary.CLOSERS) if u < 0.15 else r.choice(clause_topics.TAILS) if u < 0.32 else ""
    if closer and body.endswith("."):
        number = r.choice(
            (str(r.randint(1, 30)), r.choice(string.ascii_uppercase[:8]), f"{r.randint(1, 9)}.{r.randint(1, 9)}")
        )
        body = body[:-1] + closer.format(n=number) + "."
    return sentence(with_articles(opener + body))


def _frames(fact: Fact) -> list[str]:
    """All wordings of a fact of a book."""
    if fact.book is None:
        return []
    if fact.family == "valued":
        return fact.book.valued[fact.topic][1]
    if fact.family == "said":
        return fact.book.said[fact.topic][0 if fact.value else 1]
    return fact.book.roles[fact.topic]


def _body(r: Random, fact: Fact) -> str:
    p, x, v = fact.party, fact.thing, fact.value
    if fact.book:
        frames = [frame for frame in _frames(fact) if fact.shown in frame] or _frames(fact)
        text = v.text(r, 0.5) if isinstance(v, Value) else ""
        return r.choice(frames).format(p=v if isinstance(v, str) else p, x=x, v=text)
    if isinstance(v, Value):
        return _valued(r, fact, v.text(r, 0.6))
    if fact.family == "permission":
        base, ing, pp, thing = vocabulary.ACTS[fact.topic]
        frames = vocabulary.PERMIT if v else vocabulary.FORBID
        return r.choice(frames).format(p=p, base=base, ing=ing, pp=pp, o=thing)
    if fact.family == "state":
        return r.choice(vocabulary.STATES[fact.topic][0 if v else 1]).format(p=p, x=x)
    if fact.family == "duty":
        return _verbal(r.choice(vocabulary.OBLIGE if v else vocabulary.EXEMPT), fact, p)
    if fact.topic < 0:
        return r.choice(vocabulary.OWNER).format(p=v, x=x)
    return _verbal(r.choice(vocabulary.DOER), fact, str(v))


def _verbal(frame: str, fact: Fact, p: str, v: str = "") -> str:
    base, s, pp, ing, noun = (words.plain(form) for form in vocabulary.VERBS[fact.topic])
    plural = fact.thing.startswith("the ") and fact.thing.endswith("s") and " of " not in fact.thing
    text = frame.format(p=p, x=fact.thing, base=base, s=s, pp=pp, ing=ing, noun=noun, v=v)
    return text.replace(f"{fact.thing} is ", f"{fact.thing} are ") if plural else text


def _valued(r: Random, fact: Fact, v: str) -> str:
    p, x = fact.party, fact.thing
    if fact.family == "topic":
        return r.choice(vocabulary.TOPICS[fact.topic][1]).format(p=p, v=v)
    if fact.family == "attribute":
        frames = vocabulary.ATTRIBUTE_FRAMES
        if fact.kind in MEASURED and r.random() < 0.4:
            frames = vocabulary.MEASURED_FRAMES
        synonyms = vocabulary.ATTRIBUTES[fact.kind][fact.topic].split("|")
        return r.choice(frames).format(a=synonyms[0] if r.random() < 0.6 else r.choice(synonyms), x=x, v=v)
    if fact.family == "count":
        return _verbal(r.choice(vocabulary.COUNT_FRAMES), fact, p, v)
    adjunct = r.choice(vocabulary.ADJUNCTS[fact.kind]).format(v=v)
    frame = r.choice(
        (
            "{p} {s} {x} {a}.", "{p} shall {base} {x} {a}.", "{p} must {base} {x} {a}.", "{p} will {base} {x} {a}.",
            "{p} undertakes to {base} {x} {a}.", "{x} is {pp} by {p} {a}.", "{x} shall be {pp} {a} by {p}.",
            "{x} must be {pp} by {p} {a}.", "the {noun} of {x} by {p} takes place {a}.", "{a}, {p} {s} {x}.",
            "{a}, {x} is {pp} by {p}.", "{p} has to {base} {x} {a}.", "{a} {p} {s} {x}.", "the {noun} of {x} by {p} is {a}.",
            "{p} is to {base} {x} {a}.", "{x}: {noun} by {p} {a}.", "{p} agrees to {base} {x} {a}.",
            "{p} arranges the {noun} of {x} {a}.",
        )
    )  # fmt: skip
    return _verbal(frame.replace("{a}", adjunct), fact, p)


@dataclass(frozen=True)
class Pair:
    """Two clauses, whether they contradict, and whether they say the same."""

    first: str
    second: str
    conflict: bool
    same: bool


def draw_pair(r: Random, easy: float = 0.0, book: Book | None = None) -> Pair:
    """A pair; half of them contradict.

    Args:
        easy: share of pairs whose clauses use the very same wording and that have no third topic (for the start of
            training only).
        book: draws from these topics alone, in plain wordings; None draws as in training.
    """
    draw_party = words.party if book is None else book.party
    p = draw_party(r)
    parties = (p, other(r, [draw_party(r) for _ in range(6)], p))
    if book is None and r.random() < GENERIC * (1 - easy):
        return _generic(r, parties)
    fact = draw_fact(r, parties, book=book)
    simple = r.random() < easy
    conflict, same = r.random() < 0.5, False
    if conflict:
        second = opposite(r, fact, parties)
    elif simple or r.random() < 0.45:
        second, same = fact, True
    else:
        fact, second = elsewhere(r, fact, parties)
    if simple:
        seed = r.getrandbits(32)
        a, b = say(Random(seed), fact), say(Random(seed), second)
    else:
        a, b = _two_texts(r, fact, second, parties, book)
    if r.random() < 0.5:
        a, b = b, a
    return Pair(a, b, conflict, same)


def _generic(r: Random, parties: tuple[str, str]) -> Pair:
    if r.random() < RELATIONS:
        a, b, conflict, same = clause_relations.pair(r)
    else:
        a, b, conflict, same = clause_generic.pair(r, parties)
    a, b = (_decorated(r, vary(r, text, 0.25)) for text in (a, b))
    return Pair(b, a, conflict, same) if r.random() < 0.5 else Pair(a, b, conflict, same)


def _two_texts(r: Random, fact: Fact, second: Fact, parties: tuple[str, str], book: Book | None) -> tuple[str, str]:
    """Wordings of both that differ; some clauses say a second thing that has nothing to do with the other clause."""
    used = [fact, second]

    def text(of: Fact) -> str:
        if book:
            return sentence(with_articles(_body(r, of)))
        if r.random() > 0.16:
            return say(r, of)
        extra = another_topic(r, used, parties, book)
        used.append(extra)
        parts = [phrase(r, of), phrase(r, extra)]
        if r.random() < 0.35:
            parts.reverse()
        joiner = r.choice(clause_topics.JOINERS)
        tail = sentence(parts[1]) if joiner.startswith(". ") and joiner.endswith(". ") else parts[1]
        return sentence(with_articles(parts[0][:-1] + joiner + tail))

    a = text(fact)
    for _ in range(5):
        b = text(second)
        if a != b:
            break
    return a, b


TRAINING = Book(
    clause_topics.VALUED + clause_daily.VALUED,
    clause_polar.POLAR + clause_daily.POLAR,
    clause_polar.ROLES + clause_daily.ROLES,
    words.party,
    draw_thing,
)


def questions_about(r: Random, pair: Pair, plain_only: bool = False) -> Asked:
    """One of the questions that a pair can be asked."""
    u = r.random()
    if plain_only or u < 0.78:
        yes, no = r.choice(questions.CRITERIA) if r.random() < 0.2 else ("", "")
        asked = questions.ONLY_ONE if not plain_only and r.random() < 0.15 else questions.CONFLICT
        return noul(r.choice(asked), pair.conflict, yes, no)
    if u < 0.92:
        asked = questions.BOTH if r.random() < 0.4 else questions.CONSISTENT
        return noul(r.choice(asked), not pair.conflict)
    return noul(r.choice(questions.SAME), pair.same)


def contradiction(r: Random, easy: float = 0.0) -> Read:
    """A clause pair with one question."""
    pair = draw_pair(r, easy)
    state = r.choice(questions.STATE_FORMS).format(a=pair.first, b=pair.second)
    return read(state, [questions_about(r, pair, plain_only=r.random() < easy)], "contradiction")
