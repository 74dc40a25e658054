"""Yes/no questions about a record of fields, and which of two amounts is larger."""

from __future__ import annotations

import json

from tools.train_demo import record_words as v
from tools.train_demo import words
from tools.train_demo.sample import Asked, Random, Read, choice, noul, other, read

ABOVE, BELOW, AT_LEAST, AT_MOST = (tuple(text.split("|")) for text in (v.ABOVE, v.BELOW, v.AT_LEAST, v.AT_MOST))
EXCEED, FALL = tuple(v.EXCEED.split("|")), tuple(v.FALL.split("|"))
NUMBERS, FIELDS = v.NUMBERS | v.MORE_NUMBERS, v.FIELDS | v.MORE_FIELDS
LARGEST = 199  # numbers up to here are one token
NEAR = (3, 12, 60, 199)


def near(r: Random, value: int) -> int:
    """Another number that is not far away."""
    while True:
        number = value + r.choice((-1, 1)) * r.randint(1, r.choice(NEAR))
        if 0 <= number <= LARGEST:
            return number


def record(r: Random) -> Read:
    """A record of fields, as lines, in a sentence or as JSON, and a yes/no question about a field or a comparison."""
    numbers = r.sample(list(NUMBERS), r.randint(1, 4))
    fields: dict[str, object] = {key: r.randint(*NUMBERS[key]) for key in numbers}
    fields |= {key: words.plain(r.choice(FIELDS[key])) for key in r.sample(list(FIELDS), r.randint(0, 4))}
    if r.random() < 0.5:
        fields["name"] = words.person(r)
    keys = r.sample(list(fields), len(fields))[:6]
    shown = {key: fields[key] for key in keys}
    u = r.random()
    if u < 0.55:
        state = json.dumps(shown)
    elif u < 0.65:
        state = json.dumps(shown, indent=1)
    elif u < 0.75:
        state = ", ".join(f"{key} {value}" for key, value in shown.items())
    elif u < 0.82:
        state = " ".join(f"The {key} is {value}." for key, value in shown.items())
    else:
        state = "\n".join(f"{key}: {value}" for key, value in shown.items())
    if r.random() < 0.25:
        state = f"{r.choice(('Record', 'Data', 'Entry', 'File 12', 'Row'))}: {state}"
    return read(state, [about_field(r, shown)], "record")


def about_field(r: Random, shown: dict[str, object]) -> Asked:
    """A question about one of the fields, mostly about a number."""
    numeric = [key for key, value in shown.items() if isinstance(value, int)]
    key = r.choice(numeric) if numeric and r.random() < 0.6 else r.choice(list(shown))
    value = shown[key]
    if isinstance(value, int) and r.random() < 0.85:
        return whether(r, key, value, near(r, value))
    if isinstance(value, int):
        guess: object = value if r.random() < 0.5 else near(r, value)
    else:
        pool = [words.plain(word) for word in FIELDS[key]] if key != "name" else [words.person(r), words.person(r)]
        guess = value if r.random() < 0.5 else other(r, pool, str(value))
    if r.random() < 0.08:
        return noul(r.choice(v.DIFFERS).format(k=key, n=guess), guess != value)
    return noul(r.choice(v.EQUALS).format(k=key, n=guess), guess == value)


def whether(r: Random, key: str, value: int, limit: int) -> Asked:
    """Whether a number is above or below another one."""
    more = r.random() < 0.5
    truth = value > limit if more else value < limit
    u = r.random()
    if u < 0.3:
        verb = r.choice(EXCEED if more else FALL)
        return noul(r.choice(v.DOES).format(k=key, v=verb, n=limit), truth)
    if u < 0.4:
        compared = r.choice(AT_LEAST if more else AT_MOST)
        return noul(r.choice(v.WHETHER).format(k=key, c=compared, n=limit), truth)
    return noul(r.choice(v.WHETHER).format(k=key, c=r.choice(ABOVE if more else BELOW), n=limit), truth)


def _plain(r: Random, m: int, n: int) -> Read:
    """Comparing in its plainest form: one number in the text, one in the question."""
    key = r.choice(("number", "value", "amount", "result", "x"))
    state = r.choice(("{m}", "{k}: {m}", "{k} = {m}", "The {k} is {m}.", "{m} {u}", "It is {m}.")).format(
        m=m, k=key, u=r.choice(v.UNITS)
    )
    return read(state, [whether(r, key, m, n)], "compare")


def _bridged(r: Random, state: str, named: dict[str, int]) -> Read:
    """A question about two amounts that says a part of what must be looked up: a number, or the place."""
    more = r.random() < 0.5
    (p, x), (q, y) = r.sample(list(named.items()), 2)
    truth = x > y if more else x < y
    compared = r.choice(ABOVE if more else BELOW)
    u = r.random()
    if u < 0.35:  # both numbers
        return read(state, [noul(r.choice(v.BOTH_SAID).format(p=p, q=q, x=x, y=y, c=compared), truth)], "compare")
    if u < 0.75:  # the other one's
        return read(state, [noul(r.choice(v.ONE_SAID).format(p=p, y=y, c=compared), truth)], "compare")
    first, second = named.values()
    truth = first > second if more else first < second
    return read(state, [noul(r.choice(v.PLACE_SAID).format(c=compared), truth)], "compare")


def compare(r: Random) -> Read:
    """Two amounts and which is larger, as yes/no or as a choice.

    Looking up two numbers by name and comparing them is learned in steps: one number in the text (`_plain`), two of
    which the question says a part (`_bridged`), short texts of one form, all texts.
    """
    top = r.choice((10, 10, 20, 20, 50, 100, 199))
    m = r.randint(0, top)
    n = near(r, m)
    u = r.random()
    if u < 0.2:
        return _plain(r, m, n)
    pool = r.choice((words.COMPANY_FIRST, words.CITIES, words.PERSON_FIRST, words.THINGS, "ABCDEFGH", words.COUNTRIES))
    a, b = (words.plain(word) for word in r.sample(pool, 2))
    frames = v.COMPARED if u < 0.8 else v.SHORT
    state = r.choice(frames).format(a=a, b=b, m=m, n=n, u=r.choice(v.UNITS))
    if u < 0.45:
        return _bridged(r, state, {a: m, b: n})
    if r.random() < 0.3:
        larger = r.random() < 0.5
        asked = r.choice(v.WHICH_MORE if larger else v.WHICH_LESS)
        return read(state, [choice(r, asked, [(a, ""), (b, "")], 0 if (m > n) == larger else 1)], "compare")
    p, q, x, y = (b, a, n, m) if r.random() < 0.5 else (a, b, m, n)
    if r.random() < 0.5:
        return read(state, [noul(r.choice(v.BIGGER).format(p=p, q=q), x > y)], "compare")
    return read(state, [noul(r.choice(v.SMALLER).format(p=p, q=q), x < y)], "compare")
