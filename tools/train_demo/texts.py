"""Smaller skills: sentiment of reviews, topics of short news, mentions, and yes/no about a record of fields.

Every generator takes ``held_out``: wordings, subjects and words of ``held_out_texts`` that training never sees.
"""

# ruff: noqa: E501, SIM905 (dense lists of phrases)

from __future__ import annotations

import json
import re

from tools.train_demo import clauses, held_out_texts, news_words, tickets, words
from tools.train_demo.sample import Asked, Random, Read, choice, noul, other, read, score, sentence, with_articles

GOOD = """great wonderful excellent lovely perfect brilliant fantastic superb delightful amazing pleasant friendly tasty
reliable comfortable beautiful fast charming impressive fresh outstanding terrific marvellous splendid helpful polite warm
clean bright smooth exciting funny clever elegant solid generous first-class magnificent enjoyable cosy flawless""".split()
BAD = """terrible awful poor bad horrible disappointing dirty slow rude broken useless boring cold noisy ugly unfriendly
stale uncomfortable cheap dreadful miserable faulty unreliable lousy mediocre overpriced nasty dull tasteless careless
messy crowded unpleasant shabby annoying weak pathetic disgusting unacceptable worthless""".split()
SUBJECTS = """food service room bed view staff pool breakfast coffee soup pizza story acting music ending sound picture screen
battery case handle seat colour fabric price location waiter driver tour guide book film concert hotel restaurant museum
phone camera chair lamp jacket bike app course lunch dinner cake bread wine garden beach bathroom lobby ticket ride show
game song singer teacher lesson doctor nurse shop market train flight boat taxi house flat kitchen table shoes dress""".split()
LIKE = ["I loved it.", "We will come again.", "I recommend it to everyone.", "Worth every cent.", "Five stars.", "I am thrilled.",
        "Could not be better.", "It made my day.", "Best choice of the year.", "My family was delighted.", "I would buy it again.",
        "We had a great time.", "I am very happy with it.", "Simply the best.", "I enjoyed every minute.", "A real pleasure.",
        "It is exactly what I wanted.", "You cannot go wrong with it.", "I will tell all my friends.", "We did not want to leave.",
        "It works like a charm.", "I cannot praise it enough.", "Money well spent.", "What a joy!", "No complaints at all.",
        "Nothing to complain about.", "It never lets me down.", "I would give six stars if I could.", "Keep it up!"]  # fmt: skip
DISLIKE = ["I hated it.", "Never again.", "I want to forget it.", "A waste of money.", "One star.", "I am disappointed.",
           "Do not buy it.", "We left early.", "It ruined our evening.", "I threw it away.", "I would not go there again.",
           "We had a bad time.", "I am very unhappy with it.", "Simply the worst.", "I regret every minute.", "A real pain.",
           "It is not what I wanted.", "Stay away from it.", "I will warn all my friends.", "We could not wait to leave.",
           "It does not work at all.", "I cannot recommend it.", "Money thrown away.", "What a mess!", "Nothing but trouble.",
           "Nothing was right.", "It always lets me down.", "I would give no star if I could.", "Shame on them!"]  # fmt: skip
NEUTRAL = ["It was okay.", "It is neither good nor bad.", "Nothing special.", "It does what it should.", "Average.",
           "I have seen better and worse.", "It is fine.", "So so.", "It was all right.", "Some good, some bad.", "I have no strong opinion.",
           "Half of it was good.", "It is what you expect.", "Not great, not terrible.", "It has two sides.", "Mixed feelings.",
           "I am not sure what to think."]  # fmt: skip
DEGREES = ["", "", "very ", "really ", "quite ", "so ", "extremely ", "rather ", "truly ", "absolutely "]
REMARKS = ["The {s} was {d}{w}.", "I found the {s} {d}{w}.", "{W} {s}!", "The {s} is {d}{w}.", "What a {w} {s}!", "Such a {w} {s}.",
           "We had a {d}{w} {s}.", "The {s} seemed {d}{w} to me.", "My wife called the {s} {w}.", "We thought the {s} was {w}.",
           "The {s} turned out to be {d}{w}.", "A {d}{w} {s}.", "Our {s} was {d}{w} and that is the truth.", "I must say the {s} was {w}.",
           "The {s}: {d}{w}.", "Everybody said the {s} was {w}.", "It has a {w} {s}.", "The {s} felt {w}.", "As for the {s}, {d}{w}."]  # fmt: skip
DENIALS = ["The {s} was not {w}.", "I did not find the {s} {w}.", "The {s} was not {w} at all.", "The {s} is anything but {w}.",
           "Nobody could call the {s} {w}.", "The {s} was never {w}.", "You cannot say that the {s} is {w}.", "The {s} was far from {w}.",
           "I would not call it a {w} {s}.", "The {s} is by no means {w}.", "There was nothing {w} about the {s}."]  # fmt: skip
REVIEWS = (
    "Review: {t}",
    "{t}",
    "Text: {t}",
    "Comment: {t}",
    "A guest writes: {t}",
    "Opinion: {t}",
    '{{"review": "{t}"}}',
)
POSITIVE = ("Is the review positive?", "Did the writer like it?", "Is the author pleased?", "Is the opinion good?",
            "Does the writer recommend it?", "Was the customer satisfied?", "Is this praise?", "Would the writer come back?")  # fmt: skip
NEGATIVE = ("Is the review negative?", "Is it a complaint?", "Was the writer unhappy?", "Is the opinion bad?", "Does the writer complain?",
            "Was the customer dissatisfied?", "Is this criticism?", "Did the writer dislike it?")  # fmt: skip


def _remark(r: Random, good: bool, held_out: bool) -> str:
    subject = r.choice(held_out_texts.SUBJECTS if held_out else SUBJECTS)
    if r.random() < 0.25:
        frame = r.choice(held_out_texts.DENIALS if held_out else DENIALS)
        word = r.choice(BAD if good else GOOD)
    else:
        frame = r.choice(held_out_texts.REMARKS if held_out else REMARKS)
        word = r.choice(GOOD if good else BAD)
    return with_articles(frame.format(s=subject, w=word, W=sentence(word), d=r.choice(DEGREES)))


def review(r: Random, held_out: bool = False) -> Read:
    """A review with a question about its sentiment."""
    source = held_out_texts if held_out else None
    tone = r.choice((0, 1, 2)) if not held_out else r.choice((0, 2))  # bad, mixed, good
    if tone == 1:
        parts = [r.choice(NEUTRAL)] + (
            [_remark(r, True, held_out), _remark(r, False, held_out)] if r.random() < 0.6 else []
        )
    else:
        parts = [_remark(r, tone == 2, held_out) for _ in range(r.randint(1, 3))]
        if r.random() < 0.6:
            like, dislike = (source.LIKE, source.DISLIKE) if source else (LIKE, DISLIKE)
            parts.append(r.choice(like if tone == 2 else dislike))
            if r.random() < 0.25:
                del parts[:-1]
    r.shuffle(parts)
    state = r.choice(held_out_texts.REVIEWS if held_out else REVIEWS).format(t=" ".join(parts))
    return read(state, [_sentiment(r, tone, held_out)], "sentiment")


def _sentiment(r: Random, tone: int, held_out: bool) -> Asked:
    if held_out:
        positive = r.random() < 0.5
        asked = held_out_texts.POSITIVE if positive else held_out_texts.NEGATIVE
        return noul(r.choice(asked), (tone == 2) == positive)
    u = r.random()
    if u < 0.3 and tone != 1:
        return noul(r.choice(POSITIVE), tone == 2)
    if u < 0.6 and tone != 1:
        return noul(r.choice(NEGATIVE), tone == 0)
    if u < 0.8:
        names = r.choice(
            (("negative", "mixed", "positive"), ("bad", "neutral", "good"), ("unhappy", "undecided", "happy"))
        )
        asked = r.choice(("What is the sentiment?", "How does the writer feel?", "Which mood has the text?"))
        return choice(r, asked, [(name, "") for name in names], tone)
    levels = r.choice((("bad", "mixed", "good"), ("negative", "neutral", "positive"), ("poor", "fair", "excellent")))
    return score(r.choice(("How good is the rating?", "Rate the sentiment.", "How happy is the writer?")), levels, tone)


def news(r: Random, easy: float = 0.0, held_out: bool = False) -> Read:
    """A short report and its topic; the easy question has two options."""
    topic = r.choice(list(news_words.LINES))
    count = r.randint(1, 3) if not held_out else r.randint(2, 3)
    text = " ".join(_line(r, topic, held_out) for _ in range(count))
    if r.random() < 0.4:
        text = f"{r.choice(words.CITIES)}, {r.choice(words.WEEKDAYS)}. {text}"
    form = (
        r.choice(("News: {t}", "{t}", "Report: {t}", "Article: {t}", "Paper: {t}")) if not held_out else "Bulletin: {t}"
    )
    state = form.format(t=text)
    topics = list(news_words.LINES)
    if r.random() < 0.25 and not held_out:
        asked = topic if r.random() < 0.5 else other(r, topics, topic)
        return read(state, [noul(f"Is the {r.choice(('text', 'report'))} about {asked}?", asked == topic)], "topic")
    others = [t for t in topics if t != topic]
    shown = [topic, *r.sample(others, 1 if r.random() < easy else 4 if held_out else r.randint(1, 7))]
    described = r.random() < 0.4
    options = [(name, news_words.DESCRIBED[name] if described else "") for name in shown]
    asked_how = r.choice(held_out_texts.TOPIC_QUESTIONS if held_out else news_words.QUESTIONS)
    return read(state, [choice(r, asked_how, options, 0)], "topic")


def _line(r: Random, topic: str, held_out: bool) -> str:
    if held_out:
        return f"The {r.choice(held_out_texts.NEWS[topic].split('|')).strip()}."
    if r.random() < 0.4:
        return f"The {r.choice(news_words.LINES[topic])}."
    subjects, predicates = news_words.PARTS[topic]
    return f"{r.choice(('The', 'A', 'One', 'Another', 'The'))} {r.choice(subjects)} {r.choice(predicates)}."


FIELDS = {"city": words.CITIES, "language": words.LANGUAGES, "colour": words.COLOURS, "weekday": words.WEEKDAYS, "country": words.COUNTRIES,
          "paid": ["yes", "no"], "month": words.MONTHS, "status": ["open", "closed", "waiting"], "active": ["yes", "no"],
          "size": ["small", "medium", "large"], "role": words.ROLES}  # fmt: skip
NUMBERS = {"age": (18, 90), "members": (2, 99), "amount": (5, 190), "rooms": (1, 30), "stock": (0, 150), "price": (1, 199), "score": (0, 100),
           "visits": (1, 60), "weight": (3, 120)}  # fmt: skip
MORE = ("Is the {k} more than {n}?", "Is the {k} above {n}?", "Is the {k} greater than {n}?", "Is the {k} over {n}?", "Does the {k} exceed {n}?",
        "Is the {k} higher than {n}?", "Is {k} larger than {n}?")  # fmt: skip
LESS = ("Is the {k} less than {n}?", "Is the {k} below {n}?", "Is the {k} under {n}?", "Is the {k} smaller than {n}?", "Is the {k} lower than {n}?",
        "Does the {k} stay below {n}?", "Is {k} less than {n}?")  # fmt: skip
EQUALS = (
    "Is the {k} {n}?",
    "Does the {k} equal {n}?",
    "Is {n} the {k}?",
    "Is the {k} exactly {n}?",
    "Does the record say that the {k} is {n}?",
)


def record(r: Random, held_out: bool = False) -> Read:
    """A record of fields, as lines or JSON, and a yes/no question about a field or a comparison."""
    fields: dict[str, object] = {key: r.choice(pool) for key, pool in FIELDS.items()}
    fields |= {key: r.randint(*bounds) for key, bounds in NUMBERS.items()}
    fields["name"] = words.person(r)
    keys = r.sample(list(fields), r.randint(2, 6))
    shown = {key: fields[key] for key in keys}
    u = r.random()
    if u < 0.55 or held_out:
        state = json.dumps(shown)
    elif u < 0.65:
        state = json.dumps(shown, indent=1)
    else:
        state = "\n".join(f"{key}: {value}" for key, value in shown.items())
    if r.random() < 0.2:
        state = f"Record: {state}"
    return read(state, [_about_field(r, shown, held_out)], "record")


def _about_field(r: Random, shown: dict[str, object], held_out: bool) -> Asked:
    key = r.choice(list(shown))
    value = shown[key]
    more, less, equals = (
        (held_out_texts.MORE, held_out_texts.LESS, held_out_texts.EQUALS) if held_out else (MORE, LESS, EQUALS)
    )
    if isinstance(value, int):
        limit = max(0, value + r.choice((-1, 1)) * r.randint(1, r.choice((3, 12, 60))))
        if r.random() < 0.15:
            return _equal(r, equals, key, value, limit)
        if r.random() < 0.5:
            return noul(r.choice(more).format(k=key, n=limit), value > limit)
        return noul(r.choice(less).format(k=key, n=limit), value < limit)
    pools = {**FIELDS, "name": [words.person(r)]}
    guess = value if r.random() < 0.5 else r.choice(pools[key])
    return noul(r.choice(equals).format(k=key, n=guess), guess == value)


def _equal(r: Random, equals: tuple[str, ...], key: str, value: int, limit: int) -> Asked:
    guess = value if r.random() < 0.5 else limit
    return noul(r.choice(equals).format(k=key, n=guess), guess == value)


COMPARED = [("{a}: {m} {u}\n{b}: {n} {u}", "{a}", "{b}"), ("{a} costs {m} {u}, {b} costs {n} {u}.", "{a}", "{b}"),
            ("{a} has {m} {u} and {b} has {n} {u}.", "{a}", "{b}"), ('{{"{a}": {m}, "{b}": {n}}}', "{a}", "{b}"),
            ("We paid {m} {u} for {a} and {n} {u} for {b}.", "{a}", "{b}")]  # fmt: skip
BIGGER = ("Is {p} more than {q}?", "Does {p} have the larger amount?", "Is the amount of {p} greater than that of {q}?", "Is {p} above {q}?",
          "Does {p} exceed {q}?", "Is {p} ahead of {q}?")  # fmt: skip
SMALLER = ("Is {p} less than {q}?", "Does {p} have the smaller amount?", "Is the amount of {p} lower than that of {q}?", "Is {p} below {q}?",
           "Is {p} behind {q}?")  # fmt: skip


def compare(r: Random, held_out: bool = False) -> Read:
    """Two amounts and which is larger, as yes/no or as a choice."""
    pool = r.choice((words.COMPANY_FIRST, words.CITIES, words.PERSON_FIRST, words.THINGS))
    a, b = (words.plain(word) for word in r.sample(pool, 2))
    top = r.choice((20, 100, 199))
    m = r.randint(0, top)
    n = max(0, m + r.choice((-1, 1)) * r.randint(1, r.choice((3, 20, top))))
    if m == n:
        n += 1
    unit = r.choice(("euros", "dollars", "points", "days", "pieces", "pounds", "tons"))
    frame = r.choice(COMPARED)[0]
    state = frame.format(a=a, b=b, m=m, n=n, u=unit)
    if r.random() < 0.3 and not held_out:
        larger = r.random() < 0.5
        asked = r.choice(
            ("Which is more?", "Who has more?", "Which is larger?")
            if larger
            else ("Which is less?", "Who has less?", "Which is smaller?")
        )
        return read(state, [choice(r, asked, [(a, ""), (b, "")], 0 if (m > n) == larger else 1)], "compare")
    swap = r.random() < 0.5
    p, q = (b, a) if swap else (a, b)
    x, y = (n, m) if swap else (m, n)
    if r.random() < 0.5:
        return read(state, [noul(r.choice(BIGGER).format(p=p, q=q), x > y)], "compare")
    return read(state, [noul(r.choice(SMALLER).format(p=p, q=q), x < y)], "compare")


MENTIONS = ("Does the text mention {x}?", "Is {x} mentioned?", "Does the list contain {x}?", "Does {x} occur?", "Does the text name {x}?",
            "Is {x} part of the text?", "Is there anything about {x}?", "Does the writer speak of {x}?", "Do they talk about {x}?")  # fmt: skip
LISTED = ("We talked about {t}.", "The list has {t}.", "{t}", "On the way we saw {t}.", "They asked for {t}.", "In the box: {t}.",
          "I like {t}.", "The report covers {t}.", "First came {t}, then nothing more.", "Please think of {t}.")  # fmt: skip


def mention(r: Random, held_out: bool = False) -> Read:
    """A list, a sentence or a longer text, and whether a word occurs in it."""
    if held_out:
        return held_out_texts.mention(r)
    if r.random() < 0.5:
        return _mention_in_prose(r)
    pool = r.choice(
        (
            words.THINGS,
            words.PLACES,
            words.CITIES,
            words.COUNTRIES,
            words.LANGUAGES,
            SUBJECTS,
            words.COMPANY_FIRST,
            words.PERSON_FIRST,
        )
    )
    chosen = [words.plain(word) for word in r.sample(pool, r.randint(2, 9))]
    if r.random() < 0.2:
        chosen[0] = words.invented(r)
    joined = ", ".join(chosen[:-1]) + " and " + chosen[-1]
    text = r.choice(LISTED).format(t=joined)
    asked = (
        r.choice(chosen) if r.random() < 0.5 else words.plain(r.choice(pool)) if r.random() < 0.8 else words.invented(r)
    )
    return read(text, [noul(r.choice(MENTIONS).format(x=asked), asked in chosen)], "mention")


def prose(r: Random) -> str:
    """A text of another skill."""
    u = r.random()
    if u < 0.35:
        parties = (words.party(r), words.party(r))
        return " ".join(clauses.say(r, clauses.draw_fact(r, parties)) for _ in range(r.randint(1, 2)))
    if u < 0.65:
        return tickets.draw(r).text
    if u < 0.85:
        return " ".join(_line(r, r.choice(list(news_words.LINES)), False) for _ in range(r.randint(1, 3)))
    return review(r).state


def _mention_in_prose(r: Random) -> Read:
    text = prose(r)
    inside = r.random() < 0.5
    source = text if inside else prose(r)
    candidates = [word for word in re.findall(r"[A-Za-z]{4,}", source) if inside or word.lower() not in text.lower()]
    asked = r.choice(candidates) if candidates else words.invented(r)
    state = r.choice(("{t}", "Text: {t}", "Message: {t}", "Note: {t}")).format(t=text)
    return read(state, [noul(r.choice(MENTIONS).format(x=asked), asked in re.findall(r"[A-Za-z]+", text))], "mention")


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
        (words.THINGS, words.PLACES, words.CITIES, words.COUNTRIES, words.LANGUAGES, SUBJECTS, words.COMPANY_FIRST)
    )
    options = [words.plain(word) for word in r.sample(pool, r.randint(2, 6))]
    text = r.choice(
        ("We talked about {x}.", "It is about {x}.", "{x}", "They asked for {x} today.", "Please bring {x}.")
    ).format(x=options[0])
    asked = r.choice(
        ("Which one is it?", "Which option is named?", "What is the text about?", "Choose the one that occurs.")
    )
    return read(text, [choice(r, asked, [(option, "") for option in options], 0)], "match")
