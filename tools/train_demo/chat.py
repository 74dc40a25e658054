"""Conversations: greetings, what the model is, lists, sums, definitions, short stories, and follow-up questions."""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

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


def _small_talk(r: Random) -> Turn:
    v = vocabulary
    return _fixed(
        *r.choice(((v.HELLO, v.HELLO_BACK), (v.HOW, v.I_FEEL), (v.THANKS, v.WELCOME), (v.BYE, v.BYE_BACK))), r
    )


def _identity(r: Random) -> Turn:
    v = vocabulary
    return _fixed(*r.choice(((v.WHO, v.I_AM), (v.CAN, v.I_CAN), (v.DIFFUSION, v.IT_WORKS))), r)


def _too_hard(r: Random) -> Turn:
    return _fixed(vocabulary.TOO_HARD, vocabulary.TOY, r)


def _name(r: Random) -> Turn:
    name = r.choice(vocabulary.NAMES)
    question = r.choice(("My name is {n}.", "I am {n}.", "Hello, I am {n}.", "Hi, my name is {n}.")).format(n=name)
    answer = r.choice(
        ("Hello {n}, nice to meet you!", "Nice to meet you, {n}.", "Hi {n}! What can I do for you?")
    ).format(n=name)
    return question, answer


def _list(r: Random) -> Turn:
    plural = r.choice(list(vocabulary.LISTS))
    count = r.randint(2, 8)
    members = r.sample(vocabulary.LISTS[plural], min(count, len(vocabulary.LISTS[plural])))
    said = vocabulary.NUMBER_WORDS[len(members)]
    number = said if r.random() < 0.6 else str(len(members))
    question = r.choice(
        (
            "Name {k} {p}.",
            "Give me {k} {p}.",
            "List {k} {p}.",
            "Tell me {k} {p}.",
            "Can you name {k} {p}?",
            "I need {k} {p}.",
        )
    ).format(k=number, p=plural)
    if (len(members) >= 3 and r.random() < 0.5) or len(members) > 5:
        return question, "\n".join(f"{i}. {sentence(member)}" for i, member in enumerate(members, start=1))
    return question, sentence(f"{said} {plural} are {', '.join(members[:-1])} and {members[-1]}.")


def _sum(r: Random) -> Turn:
    sign = r.choice("++++---*")
    a, b = r.randint(1, 50), r.randint(1, 49)
    if sign == "*":
        a, b = r.randint(2, 9), r.randint(2, 9)
    elif sign == "-" and b > a:
        a, b = b, a
    result = {"+": a + b, "-": a - b, "*": a * b}[sign]
    word = {"+": "plus", "-": "minus", "*": "times"}[sign]
    question = r.choice(
        (
            "What is {a} {s} {b}?",
            "{a} {s} {b} = ?",
            "How much is {a} {w} {b}?",
            "What is {a} {w} {b}?",
            "Calculate {a} {s} {b}.",
            "{a} {s} {b}",
        )
    ).format(a=a, b=b, s=sign, w=word)
    return question, r.choice(("{a} {w} {b} is {c}.", "{a} {s} {b} = {c}")).format(a=a, b=b, s=sign, w=word, c=result)


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
    words = r.sample(group, r.randint(1, 3))
    text = " ".join(words)
    return r.choice(("Say {t}.", "Repeat: {t}", "Write {t}.", "Please say {t}.")).format(t=text), f"{sentence(text)}."


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


def story(r: Random, hero: str | None = None, long: bool | None = None) -> str:
    """A story of 40 to 150 words from a grammar."""
    v = vocabulary
    hero = hero or r.choice(v.HEROES)
    name, find = r.choice(v.NAMES), r.choice(v.FINDS)
    thing = find.split(" ", 1)[1]
    trait, trait2 = r.sample(v.TRAITS, 2)
    parts = [
        r.choice(("Once upon a time there was a {t} {h} called {n}.", "There was once a {t} {h} whose name was {n}.")),
        r.choice(("{n} lived {home} and {wish}.", "{n} {wish} and lived {home}.")),
        r.choice(("One day {n} found {f} {place}.", "One morning {n} saw {f} {place}.")),
    ]
    if long if long is not None else r.random() < 0.65:
        parts += [
            'Then came {helper} and said: "{advice}!"',
            r.choice(("So {n} took the {thing} and {travel}.", "{n} picked up the {thing} and {travel}.")),
            r.choice(("At the end of the way stood a {t2} {h2}.", "There {n} met a {t2} {h2}.")),
            r.choice(('"Is this your {thing}?" asked {n}.', '"Look at my {thing}!" said {n}.')),
            r.choice(("The {h2} laughed and said yes.", "The {h2} smiled and nodded.", "The {h2} was {mood}.")),
        ]
    else:
        parts.append(r.choice(("{n} was {mood}.", "It was a {t2} day for the {h}.")))
    parts.append(r.choice(v.ENDS))
    hero2 = r.choice([h for h in v.HEROES if h != hero])
    text = " ".join(parts).format(
        t=trait, t2=trait2, h=hero, h2=hero2, n=name, home=r.choice(v.HOMES), wish=r.choice(v.WISHES), f=find,
        place=r.choice(v.PLACES_FOUND), thing=thing, travel=r.choice(v.TRAVELS), helper=r.choice(v.HELPERS),
        advice=r.choice(v.ADVICE), mood=r.choice(v.MOODS),
    )  # fmt: skip
    return with_articles(text)


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


def _follow_up(r: Random, turns: list[Turn]) -> Turn:
    """A question that needs the turns before it."""
    question, answer = turns[-1]
    for earlier, _ in turns:
        if earlier.startswith(("My name is", "I am", "Hello, I am", "Hi, my name is")) and r.random() < 0.7:
            name = earlier.rstrip(".").split()[-1]
            return r.choice(("What is my name?", "Who am I?", "Do you remember my name?")), f"Your name is {name}."
    if "story" in question and r.random() < 0.7:
        return r.choice(("Another one, please.", "One more.", "Tell me another story.")), story(r)
    if answer[-1] in "0123456789." and (" is " in answer or "=" in answer) and answer.rstrip(".").split()[-1].isdigit():
        total, extra = int(answer.rstrip(".").split()[-1]), r.randint(1, 9)
        return f"And {r.choice(('plus', 'and then plus'))} {extra}?", f"{total} plus {extra} is {total + extra}."
    if r.random() < 0.5:
        return r.choice(("What did I ask?", "What was my question?", "Repeat my question.")), f"You said: {question}"
    return _small_talk(r)


_TURNS = {
    "small talk": _small_talk, "identity": _identity, "too hard": _too_hard, "name": _name, "list": _list, "sum": _sum,
    "definition": _definition, "opposite": _opposite, "sound": _sound, "repeat": _repeat, "code": _code, "story": _story,
}  # fmt: skip
KINDS = Weighted(
    {"small talk": 12, "identity": 14, "too hard": 7, "name": 7, "list": 12, "sum": 14, "definition": 10, "opposite": 4,
     "sound": 2, "repeat": 4, "code": 4, "story": 16}
)  # fmt: skip
