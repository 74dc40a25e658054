"""Conversations: greetings, what the model is, lists, sums, definitions, short stories, and follow-up questions."""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

from tools.train_demo import chat_words as vocabulary
from tools.train_demo.sample import Chat, Random, Weighted, sentence, with_articles

Turn = tuple[str, str]  # what the user says, what the model answers
SYSTEM = [
    "You are a helpful assistant.",
    "You are a small demo model.",
    "Answer briefly.",
    "Be friendly.",
    "You are Diffusion Desk.",
]


def chat(r: Random) -> Chat:
    """A conversation of one to three questions; a later one sometimes refers to the one before."""
    turns = [_TURNS[KINDS.draw(r)](r)]
    while r.random() < 0.4 and len(turns) < 3:
        turns.append(_follow_up(r, turns) if r.random() < 0.6 else _TURNS[KINDS.draw(r)](r))
    messages: list[tuple[str, str]] = []
    if r.random() < 0.12:
        messages.append(("system", r.choice(SYSTEM)))
    for question, answer in turns[:-1]:
        messages += [("user", question), ("assistant", answer)]
    question, answer = turns[-1]
    messages.append(("user", question))
    return Chat(tuple(messages), answer)


def _fixed(questions: list[str], answers: list[str], r: Random) -> Turn:
    return r.choice(questions), r.choice(answers)


SMALL_TALK = (
    (vocabulary.HELLO, vocabulary.HELLO_BACK), (vocabulary.HOW, vocabulary.I_FEEL), (vocabulary.THANKS, vocabulary.WELCOME),
    (vocabulary.BYE, vocabulary.BYE_BACK), (vocabulary.FEEL_GOOD, vocabulary.GOOD_BACK), (vocabulary.FEEL_BAD, vocabulary.BAD_BACK),
    (vocabulary.MORE_HELP, vocabulary.IDEAS),
)  # fmt: skip
IDENTITY = (
    (vocabulary.WHO, vocabulary.I_AM),
    (vocabulary.CAN, vocabulary.I_CAN),
    (vocabulary.DIFFUSION, vocabulary.IT_WORKS),
)


def _small_talk(r: Random) -> Turn:
    return _fixed(*r.choice(SMALL_TALK), r)


def _identity(r: Random) -> Turn:
    return _fixed(*r.choice(IDENTITY), r)


def _too_hard(r: Random) -> Turn:
    return _fixed(vocabulary.TOO_HARD, vocabulary.TOY, r)


def _name(r: Random) -> Turn:
    name = r.choice(vocabulary.NAMES)
    question = r.choice(("My name is {n}.", "I am {n}.", "Hello, I am {n}.", "Hi, my name is {n}.")).format(n=name)
    answer = r.choice(
        ("Hello {n}, nice to meet you!", "Nice to meet you, {n}.", "Hi {n}! What can I do for you?")
    ).format(n=name)
    return question, answer


ASK_LIST = ("Name {k} {p}.", "Give me {k} {p}.", "List {k} {p}.", "Tell me {k} {p}.", "Can you name {k} {p}?", "I need {k} {p}.", "Write down {k} {p}.",
            "{k} {p}, please.", "Name {k} {p}", "name {k} {p}", "What are {k} {p}?", "Do you know {k} {p}?", "Please list {k} {p}.")  # fmt: skip


def _list(r: Random) -> Turn:
    plural = r.choice(list(vocabulary.LISTS))
    pool = vocabulary.LISTS[plural]
    count = r.choice((2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8))
    count = min(count, len(pool))
    # Neighbours from one of two places: one member tells the others, so that none comes twice on the canvas.
    start = 0 if count > 4 else r.choice((0, len(pool) // 2))
    members = pool[start : start + count]
    count = len(members)
    said = vocabulary.NUMBER_WORDS[len(members)]
    question = r.choice(ASK_LIST).format(k=said if r.random() < 0.6 else str(len(members)), p=plural)
    question = sentence(question) if not question.startswith("name") else question
    if len(members) > 3:
        return question, numbered(members)
    return question, sentence(f"{said} {plural} are {', '.join(members[:-1])} and {members[-1]}.")


def numbered(members: list[str]) -> str:
    """A list with a number on every line."""
    return "\n".join(f"{i}. {member}" for i, member in enumerate(members, start=1))


ASK_SUM = ("What is {a} {s} {b}?", "{a} {s} {b} = ?", "How much is {a} {w} {b}?", "What is {a} {w} {b}?", "Calculate {a} {s} {b}.", "{a} {s} {b}",
           "{a} {w} {b}?", "How much is {a} {s} {b}?", "{a} {s} {b} =", "Tell me {a} {w} {b}.", "Please add up: {a} {s} {b}", "And {a} {s} {b}?")  # fmt: skip
SIGNS = {"+": "plus", "-": "minus", "*": "times"}


def result_of(a: int, sign: str, b: int) -> int:
    """What comes out."""
    return {"+": a + b, "-": a - b, "*": a * b}[sign]


def held_out_sum(a: int, sign: str, b: int) -> bool:
    """Whether training leaves this task out, so that sums can be measured on tasks that were never seen (5 %).

    A hash decides, so that no kind of task is missing as a whole.
    """
    low, high = (min(a, b), max(a, b)) if sign != "-" else (b, a)
    return max(a, b) > 10 and zlib.crc32(f"{low} {sign} {high}".encode()) % 20 == 0


def draw_sum(r: Random, held_out: bool = False) -> tuple[int, str, int]:
    """Two numbers of up to two digits and a sign; nothing below zero comes out."""
    while True:
        sign = r.choice("+++++----*" if not held_out else "++-")
        top = r.choice((10, 20, 50, 99, 99, 99)) if not held_out else 99
        a, b = r.randint(0, top), r.randint(0, top)
        if sign == "*":
            a, b = r.randint(0, 10), r.randint(0, 10)
        elif sign == "-" and b > a:
            a, b = b, a
        if held_out_sum(a, sign, b) == held_out:
            return a, sign, b


def _sum(r: Random, held_out: bool = False) -> Turn:
    a, sign, b = draw_sum(r, held_out)
    word, shown = SIGNS[sign], "x" if sign == "*" and r.random() < 0.3 else sign
    question = r.choice(ASK_SUM[:-2]).format(a=a, b=b, s=shown, w=word)
    if shown != "+" or r.random() < 0.8:
        return question, f"{a} {word} {b} is {result_of(a, sign, b)}."
    return r.choice(ASK_SUM).format(a=a, b=b, s=shown, w=word), f"{a} {word} {b} is {result_of(a, sign, b)}."


def _count(r: Random) -> Turn:
    first = r.randint(1, 30)
    last = first + r.randint(2, 9)
    question = r.choice(("Count from {a} to {b}.", "Please count from {a} to {b}.", "Count up from {a} to {b}")).format(
        a=first, b=last
    )
    return question, " ".join(str(n) for n in range(first, last + 1))


def _larger(r: Random) -> Turn:
    a, b = r.sample(range(0, 150), 2)
    larger = r.random() < 0.5
    word = r.choice(("larger", "more", "greater")) if larger else r.choice(("smaller", "less"))
    question = r.choice(("Which is {w}, {a} or {b}?", "What is {w}: {a} or {b}?", "Is {a} or {b} {w}?")).format(
        w=word, a=a, b=b
    )
    high, low = max(a, b), min(a, b)
    return question, f"{high} is more than {low}." if larger else f"{low} is less than {high}."


def _definition(r: Random) -> Turn:
    word = r.choice(list(vocabulary.DEFINITIONS))
    question = r.choice(
        ("What is a {w}?", "Explain the word {w}.", "What does {w} mean?", "Define {w}.", "Tell me what a {w} is.")
    )
    return with_articles(question.format(w=word)), vocabulary.DEFINITIONS[word]


def _opposite(r: Random) -> Turn:
    a, b = r.choice(vocabulary.OPPOSITES)
    question = r.choice(("What is the opposite of {a}?", "Opposite of {a}?", "Give me the opposite of {a}.")).format(
        a=a
    )
    return question, f"The opposite of {a} is {b}."


def _sound(r: Random) -> Turn:
    animal, sound = r.choice(list(vocabulary.SOUNDS.items()))
    return with_articles(f"What does a {animal} do?"), with_articles(f"A {animal} {sound}.")


def _repeat(r: Random) -> Turn:
    group = vocabulary.LISTS[r.choice(list(vocabulary.LISTS))]
    pool = group if r.random() < 0.5 else [*group, *vocabulary.HEROES, *vocabulary.NAMES, *vocabulary.DEFINITIONS]
    words = r.sample(pool, r.randint(1, 4))
    text = " ".join(words)
    asked = r.choice(
        (
            "Say {t}.",
            "Repeat: {t}",
            "Write {t}.",
            "Please say {t}.",
            "Repeat {t}",
            "Say: {t}",
            "Repeat after me: {t}",
            "Please repeat {t}.",
        )
    )
    return asked.format(t=text), text


def _code(r: Random) -> Turn:
    n, word = r.randint(2, 20), r.choice(("hello", "done", "ready", "good morning"))
    if r.random() < 0.5:
        question = r.choice(
            ("Write a loop up to {n}.", "Count to {n} in Python.", "Show me a Python loop to {n}.")
        ).format(n=n)
        return question, f"```python\nfor i in range(1, {n + 1}):\n    print(i)\n```"
    question = r.choice(('Print "{w}" in Python.', "Write Python that prints {w}.", "How do I print {w}?")).format(
        w=word
    )
    return question, f'```python\nprint("{word}")\n```'


STORY_START = ("Once upon a time there was a {t} {h} called {n}.", "There was once a {t} {h} whose name was {n}.")
STORY_HOME = ("{n} lived {home} and {wish}.", "{n} {wish} and lived {home}.")
STORY_FIND = ("One day {n} found {f} {place}.", "One morning {n} saw {f} {place}.")
STORY_LONG = (
    ('Then came {helper} and said: "{advice}!"',),
    ("So {n} took the {thing} and {travel}.", "{n} picked up the {thing} and {travel}."),
    ("At the end of the way stood a {t2} {h2}.", "There {n} met a {t2} {h2}."),
    ('"Is this your {thing}?" asked {n}.', '"Look at my {thing}!" said {n}.'),
    ("The {h2} laughed and said yes.", "The {h2} smiled and nodded.", "The {h2} was {mood}."),
)
STORY_SHORT = ("{n} was {mood}.", "It was a {t2} day for the {h}.")


def story(r: Random, hero: str | None = None, long: bool | None = None) -> str:
    """A story of 40 to 150 words from a grammar."""
    v = vocabulary
    hero = hero or r.choice(v.HEROES)
    name, find = r.choice(v.NAMES), r.choice(v.FINDS)
    trait, trait2 = r.sample(v.TRAITS, 2)
    parts = [r.choice(STORY_START), r.choice(STORY_HOME), r.choice(STORY_FIND)]
    if long if long is not None else r.random() < 0.65:
        parts += [r.choice(choices) for choices in STORY_LONG]
    else:
        parts.append(r.choice(STORY_SHORT))
    parts.append(r.choice(v.ENDS))
    hero2 = r.choice([h for h in v.HEROES if h != hero])
    text = " ".join(parts).format(
        t=trait, t2=trait2, h=hero, h2=hero2, n=name, home=r.choice(v.HOMES), wish=r.choice(v.WISHES), f=find,
        place=r.choice(v.PLACES_FOUND), thing=find.split(" ", 1)[1], travel=r.choice(v.TRAVELS), helper=r.choice(v.HELPERS),
        advice=r.choice(v.ADVICE), mood=r.choice(v.MOODS),
    )  # fmt: skip
    return with_articles(text)


def story_pattern() -> str:
    """A regular expression of all stories of the grammar (names and things need not agree)."""
    v = vocabulary
    slots = {
        "t": v.TRAITS, "t2": v.TRAITS, "h": v.HEROES, "h2": v.HEROES, "n": v.NAMES, "home": v.HOMES, "wish": v.WISHES, "f": v.FINDS,
        "place": v.PLACES_FOUND, "thing": [find.split(" ", 1)[1] for find in v.FINDS], "travel": v.TRAVELS, "helper": v.HELPERS,
        "advice": v.ADVICE, "mood": v.MOODS,
    }  # fmt: skip

    def one_of(frames: Sequence[str]) -> str:
        return "(?:" + "|".join(_filled(frame, slots) for frame in frames) + ")"

    start = " ".join(map(one_of, (STORY_START, STORY_HOME, STORY_FIND)))
    middle = " ".join(map(one_of, STORY_LONG))
    return f"{start} (?:{middle}|{one_of(STORY_SHORT)}) {one_of(v.ENDS)}"


def _filled(frame: str, slots: dict[str, list[str]]) -> str:
    pattern = re.escape(frame.replace("{", "\x00").replace("}", "\x01"))
    for name, words in slots.items():
        pattern = pattern.replace(f"\x00{name}\x01", "(?:" + "|".join(map(re.escape, words)) + ")")
    return re.sub(r"(^|\\ )a\\ ", r"\1an?\\ ", pattern)


def _story(r: Random) -> Turn:
    hero = r.choice(vocabulary.HEROES) if r.random() < 0.6 else None
    if hero is None:
        question = r.choice(
            (
                "Tell me a story.",
                "Tell me a short story.",
                "Write a story.",
                "A story, please.",
                "Can you tell a story?",
            )
        )
    else:
        question = with_articles(
            r.choice(
                ("Tell me a story about a {h}.", "Write a story about a {h}.", "A story about a {h}, please.")
            ).format(h=hero)
        )
    if "short" in question:
        return question, story(r, hero, long=False)
    return question, story(r, hero)


def referring(r: Random, turn: Turn) -> Turn | None:
    """A question that only the turn before makes clear, where there is one."""
    question, answer = turn
    last = answer.rstrip(".").split()[-1]
    if " is " in answer and last.isdigit() and int(last) <= 99 and not question.startswith("Which"):
        total, extra = int(last), r.randint(1, 20)
        if total >= extra and r.random() < 0.4:
            return r.choice(("And minus {e}?", "Minus {e}?", "Take away {e}.")).format(
                e=extra
            ), f"{total} minus {extra} is {total - extra}."
        return r.choice(("And plus {e}?", "Plus {e}?", "And then plus {e}?", "Add {e}.")).format(
            e=extra
        ), f"{total} plus {extra} is {total + extra}."
    for words in vocabulary.DEFINITIONS:
        if answer == vocabulary.DEFINITIONS[words]:
            word = r.choice(list(vocabulary.DEFINITIONS))
            return with_articles(
                r.choice(("And a {w}?", "And what is a {w}?", "What about a {w}?")).format(w=word)
            ), vocabulary.DEFINITIONS[word]
    if answer.startswith("The opposite of"):
        first, second = r.choice(vocabulary.OPPOSITES)
        return r.choice((f"And of {first}?", f"And the opposite of {first}?")), f"The opposite of {first} is {second}."
    return None


def _follow_up(r: Random, turns: list[Turn]) -> Turn:
    """A question that needs the turns before it."""
    question = turns[-1][0]
    for earlier, _ in turns:
        if earlier.startswith(("My name is", "I am", "Hello, I am", "Hi, my name is")) and r.random() < 0.7:
            name = earlier.rstrip(".").split()[-1]
            return r.choice(("What is my name?", "Who am I?", "Do you remember my name?")), f"Your name is {name}."
    if "story" in question and r.random() < 0.7:
        return r.choice(("Another one, please.", "One more.", "Tell me another story.")), story(r)
    if r.random() < 0.85:
        found = referring(r, turns[-1])
        if found:
            return found
    if r.random() < 0.5 and len(question) < 60:
        return r.choice(("What did I ask?", "What was my question?", "Repeat my question.")), f"You said: {question}"
    return _small_talk(r)


_TURNS = {
    "small talk": _small_talk, "identity": _identity, "too hard": _too_hard, "name": _name, "list": _list, "sum": _sum,
    "definition": _definition, "opposite": _opposite, "sound": _sound, "repeat": _repeat, "code": _code, "story": _story, "count": _count,
    "larger": _larger,
}  # fmt: skip
KINDS = Weighted(
    {"small talk": 8, "identity": 7, "too hard": 5, "name": 4, "list": 18, "sum": 25, "definition": 7, "opposite": 3,
     "sound": 2, "repeat": 6, "code": 3, "story": 22, "count": 3, "larger": 3}
)  # fmt: skip
