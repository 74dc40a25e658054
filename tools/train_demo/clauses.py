"""Pairs of clauses and the question whether they contradict each other.

A *fact* says something about a topic, a party, a thing and a value. A pair contradicts itself when its two facts
share topic, party and thing and differ in the value; every other pair does not.
"""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

import string
from dataclasses import dataclass, replace

from tools.train_demo import clause_words as vocabulary
from tools.train_demo import words
from tools.train_demo.sample import Asked, Random, Read, Weighted, noul, other, read, sentence, with_articles
from tools.train_demo.words import Value, different

FAMILIES = Weighted(
    {"event": 20, "attribute": 18, "count": 8, "permission": 15, "duty": 7, "state": 9, "doer": 9, "topic": 22}
)
MEASURED = ("money", "duration", "percent", "count")
POLAR = ("permission", "duty", "state")


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
    """

    family: str
    topic: int
    kind: str
    party: str
    thing: str
    value: Value | bool | str


def draw_fact(r: Random, parties: tuple[str, str], family: str | None = None) -> Fact:
    """A random fact about the first of two parties."""
    family = family or FAMILIES.draw(r)
    party = parties[0]
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


def elsewhere(r: Random, fact: Fact, parties: tuple[str, str]) -> Fact:
    """A fact that cannot contradict: another party, another thing or another topic, mostly with another value."""
    changed = opposite(r, fact, parties) if r.random() < 0.85 else fact
    ways = ["topic"]
    if fact.thing and fact.thing != fact.party:
        ways += ["thing", "thing"]
    if fact.family in ("topic", "event", "count", "permission", "duty") or fact.thing == fact.party:
        ways += ["party", "party"]
    if fact.family in ("event", "attribute", "permission", "count", "doer", "duty"):
        ways += ["act"]
    way = r.choice(ways)
    if way == "party":
        owner = parties[1] if fact.thing == fact.party else fact.thing
        return replace(changed, party=parties[1], thing=owner)
    if way == "thing":
        if fact.family == "count":
            return replace(changed, thing=other(r, [words.plain(t) for t in words.THINGS], fact.thing))
        thing = draw_thing(r)
        return replace(changed, thing=thing) if thing != fact.thing else draw_fact(r, parties)
    if way == "act":
        return replace(changed, topic=_another_act(r, fact))
    second = draw_fact(r, parties if r.random() < 0.7 else (parties[1], parties[0]))
    while (second.family, second.topic, second.kind) == (fact.family, fact.topic, fact.kind):
        second = draw_fact(r, parties)
    return second


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
    body = _body(r, fact)
    opener = r.choice(vocabulary.OPENERS) if r.random() < 0.25 else ""
    closer = r.choice(vocabulary.CLOSERS) if r.random() < 0.25 else ""
    if closer and body.endswith("."):
        number = r.choice(
            (str(r.randint(1, 30)), r.choice(string.ascii_uppercase[:8]), f"{r.randint(1, 9)}.{r.randint(1, 9)}")
        )
        body = body[:-1] + closer.format(n=number) + "."
    text = sentence(with_articles(opener + body))
    u = r.random()
    if u < 0.06:
        return f"{r.randint(1, 20)}. {text}"
    if u < 0.1:
        return f"Section {r.randint(1, 20)}.{r.randint(1, 9)}: {text}"
    return text


def _body(r: Random, fact: Fact) -> str:
    p, x, v = fact.party, fact.thing, fact.value
    if isinstance(v, Value):
        return _valued(r, fact, v.text(r))
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


@dataclass(frozen=True)
class Pair:
    """Two clauses, whether they contradict, and whether they say the same."""

    first: str
    second: str
    conflict: bool
    same: bool


def draw_pair(r: Random, easy: float = 0.0) -> Pair:
    """A pair; half of them contradict.

    Args:
        easy: share of pairs whose clauses use the very same wording and that have no third topic (for the start of
            training only).
    """
    p = words.party(r)
    parties = (p, other(r, [words.party(r) for _ in range(4)], p))
    fact = draw_fact(r, parties)
    simple = r.random() < easy
    conflict, same = r.random() < 0.5, False
    if conflict:
        second = opposite(r, fact, parties)
    elif simple or r.random() < 0.45:
        second, same = fact, True
    else:
        second = elsewhere(r, fact, parties)
    seed = r.getrandbits(32)
    a = say(Random(seed) if simple else r, fact)
    b = say(Random(seed) if simple else r, second)
    for _ in range(5):
        if a != b or simple:
            break
        b = say(r, second)
    if r.random() < 0.5:
        a, b = b, a
    return Pair(a, b, conflict, same)


def questions_about(r: Random, pair: Pair, plain_only: bool = False) -> Asked:
    """One of the questions that a pair can be asked."""
    u = r.random()
    if plain_only or u < 0.78:
        yes, no = r.choice(CRITERIA) if r.random() < 0.2 else ("", "")
        return noul(r.choice(CONFLICT), pair.conflict, yes, no)
    if u < 0.9:
        return noul(r.choice(CONSISTENT), not pair.conflict)
    return noul(r.choice(SAME), pair.same)


def contradiction(r: Random, easy: float = 0.0) -> Read:
    """A clause pair with one question."""
    pair = draw_pair(r, easy)
    state = r.choice(STATE_FORMS).format(a=pair.first, b=pair.second)
    return read(state, [questions_about(r, pair, plain_only=r.random() < easy)], "contradiction")
