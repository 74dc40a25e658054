"""Clause pairs about what two parties do with each other, and about ways and states that exclude each other.

Where ``clause_generic`` tells the two clauses apart by a value, a party or a noun, here one clause may tell the giver's
side and the other one the taker's (delivers, receives), one may name a value and the other one say that there is none
(pays 400 euros, gets it for free), and words may be opposites (indoors, in the open).
"""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.train_demo import relation_scenes as scenes
from tools.train_demo import relation_words as v
from tools.train_demo import words
from tools.train_demo.sample import Random, T, Weighted, other
from tools.train_demo.words import different

SHARES = Weighted({"valued": 30, "rate": 7, "polar": 30, "limit": 7, "way": 13, "state": 9, "except": 4})
NONE = 0.3  # share of contradictions of valued scenes in which one clause says that there is nothing
ALONE_POOLS = {"one": v.THINGS, "many": v.MANY, "stuff": v.STUFF}
_PLURAL = {"is": "are", "has": "have", "does": "do", "was": "were", "costs": "cost", "stays": "stay", "goes": "go", "comes": "come", "passes": "pass", "waits": "wait", "reaches": "reach", "sets": "set",
           "can": "can"}  # fmt: skip
_SINGULAR = {plural: singular for singular, plural in _PLURAL.items()} | {"belong": "belongs", "bear": "bears", "remain": "remains", "become": "becomes", "leave": "leaves"}  # fmt: skip
WAY_FRAMES = """{q} {s} {n} {w} | {n} are {pp} {w} | {w}, {q} {s} {n} | {ing} {n} happens {w} | {q} has to {base} {n} {w} | {q} {s} {n} only {w} | it is {w} that {q} {s} {n} | {q} wants to {base} {n} {w} | {p} has {n} {pp} {w}
 | {n} are to be {pp} {w} | the way of {q} to {base} {n}: {w}"""
STATE_FRAMES = "{n} are {w} | {q} has {n} that are {w} | {p} keeps {n} {w} | everyone can see that {n} are {w} | {p} leaves {n} {w} to {q} | the state of {n}: {w} | {n} of {p} are {w} | {p} wants {n} to be {w}"
EXCEPT = (
    "{q} {s} {a} but not {b}.|{q} {s} {a}; it does not {base} {b}.|apart from {b}, {q} {s} everything.|{b} are not {pp} by {q}, only {a}.|of {a} and {b}, {q} {s} only {a}.|{b} are excepted when {q} {s} {a}.",
    "{q} also {s} {b}.|{q} {s} both {a} and {b}.|besides {a}, {q} {s} {b} too.|{b} are {pp} by {q} as well.|{q} {s} {b} just like {a}.|{q} {s} {a}, and {b} as well.",
    "{q} does not {base} {b}.|{b} are not {pp} by {q}.|{q} leaves out {b}.|no {b} are {pp} by {q}.",
)
_EXCEPT = [side.split("|") for side in EXCEPT]
_BARE = re.compile(r"\b(?:no|the|a|late) \{n\}")


@dataclass(frozen=True)
class Cast:
    """Who and what a pair is about; a clause is a frame filled with one of these."""

    p: str
    q: str
    n: str
    verb: tuple[str, ...]

    def fill(self, frame: str, **slots: str) -> str:
        """The frame with everything put in."""
        base, s, pp, ing = self.verb
        n = self.n.removeprefix("the ") if _BARE.search(frame) else self.n
        text = frame.format(p=self.p, q=self.q, n=n, base=base, s=s, pp=pp, ing=ing, **slots)
        return _agreeing(text, n)


def _agreeing(text: str, noun: str) -> str:
    """Verbs right after the noun in its number."""
    many = noun.removeprefix("the ").split(" of ")[0].split()[-1].endswith("s") or noun in v.MANY
    table = _PLURAL if many else _SINGULAR

    def turned(match: re.Match[str]) -> str:
        return match.group(1) + table.get(match.group(2), match.group(2))

    text = re.sub(rf"((?<!of )(?<!for )\b{re.escape(noun)} )(\w+)\b", turned, text)
    return text if many else re.sub(rf"\bthere are (no )?(?={re.escape(noun)})", r"there is \1", text)


def _party(r: Random) -> str:
    return r.choice(v.PEOPLE) if r.random() < 0.3 else words.party(r)


def _noun(r: Random, pool: Sequence[str], article: bool) -> str:
    """A noun, sometimes with an adjective or unheard of."""
    u = r.random()
    noun = words.invented(r).lower() if u < 0.08 else r.choice(pool)
    if 0.08 <= u < 0.22:
        noun = f"{r.choice(words.ADJECTIVES)} {noun}"
    return f"the {noun}" if article else noun


def _thing(r: Random) -> str:
    """What is done something to: one thing, several, or some stuff."""
    u = r.random()
    if u < 0.4:
        return _noun(r, v.THINGS, article=True)
    return _noun(r, v.MANY if u < 0.8 else v.STUFF, article=r.random() < 0.5)


def _another(r: Random, draw: Callable[[], str], than: str) -> str:
    while (found := draw()).removeprefix("the ") == than.removeprefix("the "):
        pass
    return found


def _apart(
    r: Random, cast: Cast, first: Sequence[str], second: Sequence[str], draw: Callable[[], str], strangers: bool = True
) -> tuple[str, str, Cast]:
    """Two frames and a cast for the second one: they speak of different things or, with ``strangers``, parties."""
    shown = [
        slot for slot in ("{q}", "{p}") if sum(slot in f for f in first) > 1 and sum(slot in f for f in second) > 1
    ]
    if shown and strangers and r.random() < 0.4:
        slot = r.choice(shown)
        a, b = (r.choice([frame for frame in frames if slot in frame]) for frames in (first, second))
        stranger = _another(r, lambda: _party(r), cast.p if slot == "{p}" else cast.q)
        p, q = (stranger, cast.q) if slot == "{p}" else (cast.p, stranger)
        return a, b, Cast(p, q, cast.n, cast.verb)
    a, b = (r.choice([frame for frame in frames if "{n}" in frame] or list(frames)) for frames in (first, second))
    p, q = (cast.q, cast.p) if r.random() < 0.3 else (cast.p, cast.q)
    return a, b, Cast(p, q, _another(r, draw, cast.n), cast.verb)


def _sides(
    r: Random,
    cast: Cast,
    sides: tuple[Sequence[str], Sequence[str]],
    conflict: bool,
    same: bool,
    draw: Callable[[], str],
    strangers: bool = True,
) -> tuple[str, str]:
    """Clauses from two sides that exclude each other."""
    first, second = sides if r.random() < 0.5 else sides[::-1]
    if conflict:
        return cast.fill(r.choice(first)), cast.fill(r.choice(second))
    if same:
        a, b = _two(r, first)
        return cast.fill(a), cast.fill(b)
    a, b, there = _apart(r, cast, first, second if r.random() < 0.8 else first, draw, strangers)
    return cast.fill(a), there.fill(b)


def _two(r: Random, frames: Sequence[T]) -> tuple[T, T]:
    """Two different ones."""
    a = r.choice(frames)
    return a, other(r, list(frames), a)


def _unrated(r: Random, unit: tuple[str, ...], frames: Sequence[str]) -> list[str]:
    u, d, a, one = unit
    return [frame.replace("{u}", u).replace("{d}", d).replace("{a}", a).replace("{one}", one) for frame in frames]


def _valued(r: Random, parties: tuple[str, str], conflict: bool, same: bool, rate: bool = False) -> tuple[str, str]:
    kind, nouns, some, none = r.choice(scenes.VALUED)
    if rate:
        kind, nouns = "money", "one"
        some, none = (_unrated(r, r.choice(scenes.RATE_UNITS), frames) for frames in scenes.RATES)

    def draw() -> str:
        return _noun(r, ALONE_POOLS[nouns], article=False)

    cast = Cast(*parties, draw(), r.choice(v.VERBS))
    value = words.KINDS[kind](r)

    def valued(frames: Sequence[str], amount: words.Value) -> list[str]:
        return [frame.replace("{v}", amount.text(r, 0.5)) for frame in frames]

    if (conflict and r.random() < NONE) or (not conflict and r.random() < 0.12):
        return _sides(r, cast, (valued(some, value), none), conflict, same, draw)
    if same:
        a, b = _two(r, some)
        return cast.fill(a, v=value.text(r, 0.5)), cast.fill(b, v=value.text(r, 0.5))
    second = different(r, kind, value)
    if conflict:
        a, b = _two(r, some)
        return cast.fill(a, v=value.text(r, 0.5)), cast.fill(b, v=second.text(r, 0.5))
    a, b, there = _apart(r, cast, some, some, draw)
    return cast.fill(a, v=value.text(r, 0.5)), there.fill(b, v=second.text(r, 0.5))


def _polar(r: Random, parties: tuple[str, str], conflict: bool, same: bool) -> tuple[str, str]:
    strangers, one, other_side = r.choice(scenes.POLAR)
    cast = Cast(*parties, _thing(r), r.choice(v.VERBS))
    return _sides(r, cast, (one, other_side), conflict, same, lambda: _thing(r), strangers)


def _limit(r: Random, parties: tuple[str, str], conflict: bool, same: bool) -> tuple[str, str]:
    some, none = r.choice(scenes.LIMITS)
    measured, kind = r.choice(scenes.MEASURED), r.choice(("measure", "count", "money"))
    cast = Cast(*parties, _thing(r), r.choice(v.VERBS))
    value = words.KINDS[kind](r)
    second = different(r, kind, value)
    some, none = ([frame.replace("{m}", measured) for frame in frames] for frames in (some, none))
    limits = [[frame.replace("{v}", x.text(r, 0.6)) for frame in some] for x in (value, value if same else second)]
    if conflict and r.random() < 0.7:
        i, j = _two(r, range(len(some)))
        return cast.fill(limits[0][i]), cast.fill(limits[1][j])
    return _sides(r, cast, (limits[0], none), conflict, same, lambda: _thing(r))


def _grouped(
    r: Random, parties: tuple[str, str], conflict: bool, same: bool, groups: list[list[list[str]]], frames: str
) -> tuple[str, str]:
    group = r.choice(groups)
    first, second = r.sample(group, 2)
    said = [f"{frame.strip()}." for frame in frames.split(" | ")]
    sides = tuple([frame.replace("{w}", r.choice(ways)) for frame in said] for ways in (first, second))
    if same:  # other words for the same way, too
        sides = ([frame.replace("{w}", r.choice(first)) for frame in said for _ in range(2)],) * 2
    cast = Cast(*parties, _thing(r), r.choice(v.VERBS))
    return _sides(r, cast, (sides[0], sides[1]), conflict, same, lambda: _thing(r))


def _except(r: Random, parties: tuple[str, str], conflict: bool, same: bool) -> tuple[str, str]:
    """One of two things is left out, or it is not."""
    without, both, only = _EXCEPT
    a = _noun(r, v.MANY, article=False)
    b = _another(r, lambda: _noun(r, v.MANY, article=False), a)
    verb, q = r.choice(v.VERBS), parties[1]

    def said(frame: str, first: str, second: str) -> str:
        base, s, pp, ing = verb
        return frame.format(q=q, a=first, b=second, base=base, s=s, pp=pp, ing=ing)

    if conflict:
        return said(r.choice(r.choice((without, only))), a, b), said(r.choice(both), a, b)
    if same:
        return said(r.choice(without), a, b), said(r.choice(r.choice((without, only))), a, b)
    third = _another(r, lambda: _noun(r, v.MANY, article=False), b)
    return said(r.choice(without[:5:4]), a, b), said(r.choice(both[:1]), a, other(r, [third, a], b))


def pair(r: Random, parties: tuple[str, str] | None = None) -> tuple[str, str, bool, bool]:
    """Two plain clauses, whether they contradict, and whether they say the same."""
    if parties is None:
        p = _party(r)
        parties = (p, _another(r, lambda: _party(r), p))
    conflict = r.random() < 0.5
    same = not conflict and r.random() < 0.5
    family = SHARES.draw(r)
    if family in ("valued", "rate"):
        a, b = _valued(r, parties, conflict, same, rate=family == "rate")
    elif family == "polar":
        a, b = _polar(r, parties, conflict, same)
    elif family == "limit":
        a, b = _limit(r, parties, conflict, same)
    elif family == "except":
        a, b = _except(r, parties, conflict, same)
    elif family == "way":
        a, b = _grouped(r, parties, conflict, same, v.WAY_GROUPS, WAY_FRAMES)
    else:
        a, b = _grouped(r, parties, conflict, same, v.STATE_GROUPS, STATE_FRAMES)
    return a, b, conflict, same
