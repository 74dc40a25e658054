"""Smaller skills: sentiment of reviews, topics of short news, mentions, and yes/no about a record of fields."""

# ruff: noqa: E501, SIM905 (dense lists of phrases)

from __future__ import annotations

import json

from tools.train_demo import words
from tools.train_demo.sample import Asked, Random, Read, choice, noul, other, read, score, sentence

GOOD = """great wonderful excellent lovely perfect brilliant fantastic superb delightful amazing pleasant friendly tasty
reliable comfortable beautiful fast charming impressive fresh""".split()
BAD = """terrible awful poor bad horrible disappointing dirty slow rude broken useless boring cold noisy ugly unfriendly
stale uncomfortable cheap dreadful""".split()
SUBJECTS = """food service room bed view staff pool breakfast coffee soup pizza story acting music ending sound picture screen
battery case handle seat colour fabric price location waiter driver tour guide book film concert hotel restaurant museum
phone camera chair lamp jacket bike app course""".split()
LIKE = ["I loved it.", "We will come again.", "I recommend it to everyone.", "Worth every cent.", "Five stars.", "I am thrilled.",
        "Could not be better.", "It made my day.", "Best choice of the year.", "My family was delighted.", "I would buy it again."]  # fmt: skip
DISLIKE = ["I hated it.", "Never again.", "I want to forget it.", "A waste of money.", "One star.", "I am disappointed.",
           "Do not buy it.", "We left early.", "It ruined our evening.", "I threw it away.", "I would not go there again."]  # fmt: skip
NEUTRAL = ["It was okay.", "It is neither good nor bad.", "Nothing special.", "It does what it should.", "Average.",
           "I have seen better and worse.", "It is fine.", "So so."]  # fmt: skip
DEGREES = ["", "", "very ", "really ", "quite ", "so "]


def _remark(r: Random, good: bool) -> str:
    word, subject = r.choice(GOOD if good else BAD), r.choice(SUBJECTS)
    negated = r.random() < 0.2
    if negated:
        word = r.choice(BAD if good else GOOD)
    verb = "was not" if negated else "was"
    degree = "" if negated else r.choice(DEGREES)
    return r.choice(
        (f"The {subject} {verb} {degree}{word}.", f"I found the {subject} {'not ' if negated else ''}{degree}{word}.",
         f"{sentence(word)} {subject}!" if not negated else f"The {subject} {verb} {word} at all.")
    )  # fmt: skip


def review(r: Random) -> Read:
    """A review with a question about its sentiment."""
    tone = r.choice((0, 1, 2))  # bad, mixed, good
    if tone == 1:
        parts = [r.choice(NEUTRAL)] + ([_remark(r, True), _remark(r, False)] if r.random() < 0.6 else [])
    else:
        parts = [_remark(r, tone == 2) for _ in range(r.randint(1, 3))]
        if r.random() < 0.6:
            parts.append(r.choice(LIKE if tone == 2 else DISLIKE))
    r.shuffle(parts)
    state = r.choice(("Review: {t}", "{t}", "Text: {t}", "Comment: {t}")).format(t=" ".join(parts))
    return read(state, [_sentiment(r, tone)], "sentiment")


def _sentiment(r: Random, tone: int) -> Asked:
    u = r.random()
    if u < 0.25 and tone != 1:
        return noul(
            r.choice(("Is the review positive?", "Did the writer like it?", "Is the author pleased?")), tone == 2
        )
    if u < 0.5 and tone != 1:
        return noul(r.choice(("Is the review negative?", "Is it a complaint?", "Was the writer unhappy?")), tone == 0)
    if u < 0.75:
        names = r.choice(
            (("negative", "mixed", "positive"), ("bad", "neutral", "good"), ("unhappy", "undecided", "happy"))
        )
        asked = r.choice(("What is the sentiment?", "How does the writer feel?", "Which mood has the text?"))
        return choice(r, asked, [(name, "") for name in names], tone)
    levels = r.choice((("bad", "mixed", "good"), ("negative", "neutral", "positive"), ("poor", "fair", "excellent")))
    return score(r.choice(("How good is the rating?", "Rate the sentiment.", "How happy is the writer?")), levels, tone)


NEWS = {
    "sports": """team won the match|striker scored two goals|runner broke the record|coach praised the players|final ended in a draw
|swimmer took the gold medal|club signed a new goalkeeper|race was stopped by rain|champion lost in three sets""",
    "weather": """storm reached the coast|rain will fall all day|temperatures drop below zero|sun returns at the weekend
|heavy snow closed the roads|wind blows from the west|fog covers the valley|heat continues until Friday""",
    "politics": """parliament passed the law|minister resigned|voters elected a new mayor|parties could not agree on a budget
|president visited the neighbours|opposition demands an inquiry|council voted against the plan|election was postponed""",
    "business": """company raised its profit|shares fell by three percent|bank lowered its interest rate|factory cut two hundred jobs
|firm bought its rival|exports grew in spring|start-up found new investors|prices of oil went up""",
    "science": """researchers found a new planet|telescope sent its first pictures|study explains how bees learn
|laboratory tested a vaccine|scientists measured the ice|fossil is older than expected|experiment confirmed the theory""",
    "culture": """museum opened a new exhibition|singer gave a concert|novel won a prize|film was shown for the first time
|orchestra played in the park|theatre celebrates its birthday|painter showed her pictures|festival begins on Friday""",
    "health": """doctors advise more sleep|clinic opened a new ward|flu spreads in the schools|nurses ask for more staff
|patients wait for a bed|new drug lowers blood pressure|walking is good for the heart|hospital trains more doctors""",
    "traffic": """train was two hours late|road is closed for repairs|accident blocked the tunnel|airport cancelled flights
|new bridge opened|bus drivers are on strike|city builds bicycle lanes|ferry hit the pier""",
}  # fmt: skip
DESCRIBED = {"sports": "games, players and results", "weather": "rain, sun and temperature", "politics": "government and elections",
             "business": "companies, money and markets", "science": "research and discovery", "culture": "music, film and art",
             "health": "doctors, illness and medicine", "traffic": "roads, trains and planes"}  # fmt: skip


def news(r: Random, easy: float = 0.0) -> Read:
    """A short report and its topic; the easy question has two options."""
    topic = r.choice(list(NEWS))
    lines = [line.strip() for line in NEWS[topic].split("|")]
    text = " ".join(f"The {line}." for line in r.sample(lines, r.randint(1, 3)))
    if r.random() < 0.4:
        text = f"{r.choice(words.CITIES)}, {r.choice(words.WEEKDAYS)}. {text}"
    state = r.choice(("News: {t}", "{t}", "Report: {t}", "Article: {t}")).format(t=text)
    if r.random() < 0.3:
        asked = topic if r.random() < 0.5 else other(r, list(NEWS), topic)
        return read(state, [noul(f"Is the {r.choice(('text', 'report'))} about {asked}?", asked == topic)], "topic")
    shown = [topic, *r.sample([t for t in NEWS if t != topic], 1 if r.random() < easy else r.randint(1, 6))]
    described = r.random() < 0.4
    options = [(name, DESCRIBED[name] if described else "") for name in shown]
    asked_how = r.choice(
        ("What is the topic?", "What is the text about?", "Which section does it belong to?", "Choose the topic.")
    )
    return read(state, [choice(r, asked_how, options, 0)], "topic")


def record(r: Random) -> Read:
    """A record of fields, as lines or JSON, and a yes/no question about a field or a comparison."""
    fields: dict[str, object] = {
        "name": words.person(r), "city": r.choice(words.CITIES), "age": r.randint(18, 90), "members": r.randint(2, 99),
        "paid": r.choice(("yes", "no")), "language": r.choice(words.LANGUAGES), "amount": r.randint(5, 950),
        "colour": r.choice(words.COLOURS), "weekday": r.choice(words.WEEKDAYS), "country": r.choice(words.COUNTRIES),
    }  # fmt: skip
    keys = r.sample(list(fields), r.randint(3, 6))
    shown = {key: fields[key] for key in keys}
    state = json.dumps(shown) if r.random() < 0.5 else "\n".join(f"{key}: {value}" for key, value in shown.items())
    return read(state, [_about_field(r, shown)], "record")


def _about_field(r: Random, shown: dict[str, object]) -> Asked:
    key = r.choice(list(shown))
    value = shown[key]
    if isinstance(value, int):
        limit = max(1, value + r.choice((-1, 1)) * r.randint(1, max(2, value // 2)))
        if r.random() < 0.5:
            return noul(f"Is the {key} {r.choice(('more than', 'above', 'greater than'))} {limit}?", value > limit)
        return noul(f"Is the {key} {r.choice(('less than', 'below', 'under'))} {limit}?", value < limit)
    pools = {"city": words.CITIES, "language": words.LANGUAGES, "colour": words.COLOURS, "weekday": words.WEEKDAYS,
             "country": words.COUNTRIES, "paid": ["yes", "no"]}  # fmt: skip
    guess = value if r.random() < 0.5 else (r.choice(pools[key]) if key in pools else words.person(r))
    return noul(f"Is the {key} {guess}?", guess == value)


def mention(r: Random) -> Read:
    """A list or a sentence of things, and whether one of them occurs."""
    pool = r.choice(
        (words.THINGS, words.PLACES, words.CITIES, words.COUNTRIES, words.LANGUAGES, SUBJECTS, words.COMPANY_FIRST)
    )
    chosen = [words.plain(word) for word in r.sample(pool, r.randint(2, 8))]
    joined = ", ".join(chosen[:-1]) + " and " + chosen[-1]
    text = r.choice(
        ("We talked about {t}.", "The list has {t}.", "{t}", "On the way we saw {t}.", "They asked for {t}.")
    ).format(t=joined)
    asked = r.choice(chosen) if r.random() < 0.5 else words.plain(r.choice(pool))
    instructions = r.choice(
        ("Does the text mention {x}?", "Is {x} mentioned?", "Does the list contain {x}?", "Does {x} occur?")
    )
    return read(text, [noul(instructions.format(x=asked), asked in chosen)], "mention")


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
