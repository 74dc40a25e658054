"""Support tickets with a topic, an urgency, a wish for a refund or none, and a mood, and questions about each."""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

from dataclasses import dataclass

from tools.train_demo import held_out, ticket_parts, words
from tools.train_demo import ticket_words as vocabulary
from tools.train_demo.sample import Asked, Random, Read, choice, noul, read, score, sentence
from tools.train_demo.synonyms import vary

CORE = ("billing", "delivery", "technical", "account", "sales")
BACKGROUND = [
    "I have been a customer for {w}.", "We are a small company with {n} people.", "My order number is {o}.", "I live in {c}.",
    "I bought it on {d}.", "We use the {x} every day.", "I already wrote to you on {d}.", "My name is {name}.",
    "The customer number is {o}.", "I work for {company}.", "It was a present for my mother.", "My colleague told me to write here.",
    "This is the second time.", "I tried it {n} times.", "Ticket {o}.", "I am writing from {c}.",
]  # fmt: skip


@dataclass(frozen=True)
class Ticket:
    """A ticket and everything that is true of it."""

    text: str
    topic: str
    refund: bool
    tier: int
    mood: str
    product: str | None


def draw(r: Random) -> Ticket:
    """A random ticket that shares no sentence with the bundled examples."""
    while True:
        ticket = _draw(r)
        if not any(held.lower() in ticket.text.lower() for held in held_out.SENTENCES):
            return ticket


def _draw(r: Random) -> Ticket:
    topic = r.choice(CORE) if r.random() < 0.72 else r.choice(list(vocabulary.TOPICS))
    product = words.plain(r.choice(vocabulary.PRODUCTS))
    refund, tier = r.random() < 0.42, r.randrange(4)
    mood = r.choices(("angry", "pleased", ""), (0.12, 0.12, 0.76))[0]
    parts = [_matter(r, topic) for _ in range(2 if r.random() < 0.3 else 1)]
    if r.random() < 0.3:
        parts.insert(r.randrange(len(parts) + 1), r.choice(BACKGROUND))
    parts += _wish_and_urgency(r, refund, tier)
    if mood:
        parts.insert(r.randrange(len(parts) + 1), r.choice(vocabulary.MOODS[mood]))
    body = " ".join(parts)
    greeting = r.choice(vocabulary.GREETINGS) if r.random() < 0.4 else ""
    goodbye = r.choice(vocabulary.GOODBYES) if r.random() < 0.4 else ""
    if greeting.endswith(", ") and r.random() < 0.5:
        body = body[0].lower() + body[1:] if not body.startswith("I ") else body
    text = greeting + body + goodbye
    filled = _fill(r, text, product)
    if r.random() < 0.3:
        filled = vary(r, filled, 0.3)
    return Ticket(filled, topic, refund, tier, mood, product if product in filled else None)


def _matter(r: Random, topic: str) -> str:
    """A sentence that says what the ticket is about; a settled matter of another topic is no such thing."""
    u = r.random()
    if topic not in CORE or u < 0.4:
        return r.choice(vocabulary.TOPICS[topic][2])
    if u < 0.65:
        return r.choice(ticket_parts.MORE[topic])
    noun = r.choice(ticket_parts.NOUNS[topic])
    if u < 0.9:
        frames = ticket_parts.SALES_ABOUT if topic == "sales" else ticket_parts.ABOUT
        return r.choice(frames).format(a=noun)
    settled = r.choice(ticket_parts.NOUNS[r.choice([t for t in CORE if t != topic])])
    return r.choice(ticket_parts.NOT_THIS).format(a=noun, b=settled, B=sentence(settled))


def _wish_and_urgency(r: Random, refund: bool, tier: int) -> list[str]:
    """The sentences that ask for something and say by when, apart or in one."""
    wish = ""
    if refund or r.random() < 0.6:
        wish = r.choice(vocabulary.REFUND if refund else vocabulary.NO_REFUND)
    if wish and r.random() < 0.4:
        word = r.choice(vocabulary.URGENT_WORDS[tier])
        return (
            [f"{wish[:-1]} {word}{wish[-1]}"]
            if r.random() < 0.7
            else [f"{sentence(word)}: {wish[0].lower()}{wish[1:]}"]
        )
    by_when = r.choice(vocabulary.URGENCY[tier])
    if wish and r.random() < 0.2:
        return [f"{wish[:-1]}, {by_when[0].lower()}{by_when[1:]}"]
    both = [part for part in (wish, by_when) if part]
    if r.random() < 0.3:
        both.reverse()
    return both


def _fill(r: Random, text: str, product: str) -> str:
    return text.format(
        x=product,
        n=r.randint(2, 60),
        m=words.money(r).text(r),
        d=r.choice((words.date(r).text(r), r.choice(words.WEEKDAYS), "last week", "yesterday", r.choice(words.MONTHS))),
        w=r.choice((words.duration(r).text(r), "two weeks", "ten days", "one week", "a month")),
        o=r.randint(1000, 99999),
        c=r.choice(words.CITIES),
        name=words.person(r),
        company=words.company(r),
    )


STATES = ["Ticket: {t}", "{t}", "Message: {t}", "Customer: {t}", "Subject: {s}\n\n{t}", '{{"ticket": "{t}"}}', "Mail:\n{t}",
          "Ticket {o}\n{t}", "Text: {t}", "Request: {t}", "From: {name}\n{t}"]  # fmt: skip


def state_of(r: Random, ticket: Ticket) -> str:
    """The ticket as a form's template would show it."""
    return r.choice(STATES).format(
        t=ticket.text,
        s=r.choice(("Question", "Help", "Request", "Order", "Hello")),
        o=r.randint(100, 9999),
        name=words.person(r),
    )


TEAM = ["Which team is responsible?", "Who should answer this ticket?", "Which department fits best?", "What is the ticket about?",
        "Where should the message go?", "Which topic is it?", "Choose the right team.", "Which category fits?",
        "Who takes care of this request?", "To which team does it belong?", "What does the customer write about?",
        "Route the ticket to a team.", "Which desk handles this message?", "Pick the department for this mail.",
        "Which team should get the message?", "Which group should deal with this ticket?"]  # fmt: skip
REFUND = ["Does the customer ask for a refund?", "Is a refund requested?", "Does the writer want a refund?",
          "Should money be paid back?", "Is the customer asking for money?", "Does the customer want the money back?",
          "Does this person demand a refund?", "Is this a request for a refund?", "Is reimbursement wanted?",
          "Does the sender want to be paid back?", "Does the customer expect a refund?", "Is a repayment asked for?"]  # fmt: skip
REFUND_MEANS = [("the customer wants money back", "no money is asked for"), ("a refund is asked for", "no refund is asked for"),
                ("money should be returned", "something else is wanted")]  # fmt: skip
URGENT = ["How urgent is it?", "How urgent is this message?", "Rate the urgency.", "How soon is an answer needed?",
          "What is the priority?", "How fast must the team react?", "Which priority has this ticket?", "Grade the urgency.",
          "When does the customer need an answer?", "How much time is there?", "How quickly should somebody answer?"]  # fmt: skip
TODAY = ["Does a human have to look at this today?", "Is an answer needed today?", "Is it urgent?", "Must somebody react by tomorrow?",
         "Should this be handled today?", "Is there time pressure?"]  # fmt: skip
EMERGENCY = [
    "Is this an emergency?",
    "Must somebody act at once?",
    "Is immediate action needed?",
    "Does it need a reaction right now?",
]
ANGRY = ["Is the customer angry?", "Is the writer upset?", "Does the message sound angry?"]
MOOD = ["What is the mood of the writer?", "How does the customer feel?", "Which tone has the message?"]
ABOUT = ["Is the message about {t}?", "Is this about {t}?", "Does the ticket concern {t}?", "Is the topic {t}?"]
MENTION = [
    "Does the text mention a {x}?",
    "Is a {x} mentioned?",
    "Does the message talk about a {x}?",
    "Does the word {x} occur?",
]


def ask_team(r: Random, ticket: Ticket, easy: bool = False) -> Asked:
    """Which of 2 to 7 teams; the easy question has 2 or 3."""
    others = [t for t in vocabulary.TOPICS if t != ticket.topic]
    if r.random() < 0.5:
        others = [t for t in CORE if t != ticket.topic]
    chosen = [ticket.topic, *r.sample(others, r.randint(1, 2) if easy else min(len(others), r.randint(1, 6)))]
    described = r.random() < 0.6
    options = []
    for topic in chosen:
        names, descriptions, _ = vocabulary.TOPICS[topic]
        name = names[0] if r.random() < 0.4 else r.choice(names)
        if r.random() < 0.1:
            name = sentence(name)
        options.append((name, r.choice(descriptions) if described else ""))
    return choice(r, r.choice(TEAM), options, 0)


def ask_urgency(r: Random, ticket: Ticket) -> Asked:
    """A score of 2 to 4 levels, in one direction or the other; each level's words are drawn anew."""
    cuts = r.choice(
        ([0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 1, 2], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 2, 2])
    )
    levels = []
    for level in range(max(cuts) + 1):
        tiers = [tier for tier in range(4) if cuts[tier] == level]
        texts = [r.choice(vocabulary.TIERS[tier]) for tier in tiers]
        if len(tiers) == 1 and r.random() < 0.35:
            texts = r.sample(vocabulary.TIERS[tiers[0]], 2)
        levels.append((", " if len(tiers) == 1 else " or ").join(texts))
    right = cuts[ticket.tier]
    if r.random() < 0.15:
        levels.reverse()
        right = len(levels) - 1 - right
    return score(r.choice(URGENT), levels, right)


def ask(r: Random, ticket: Ticket, what: str, easy: bool = False) -> Asked:
    """One question of the named sort."""
    if what == "team":
        return ask_team(r, ticket, easy)
    if what == "urgency":
        return ask_urgency(r, ticket)
    if what == "refund":
        yes, no = r.choice(REFUND_MEANS) if r.random() < 0.2 else ("", "")
        return noul(r.choice(REFUND), ticket.refund, yes, no)
    if what == "today":
        return noul(r.choice(TODAY), ticket.tier >= 2)
    if what == "emergency":
        return noul(r.choice(EMERGENCY), ticket.tier == 3)
    if what == "angry":
        return noul(r.choice(ANGRY), ticket.mood == "angry")
    if what == "mood":
        moods = [("angry", ""), ("pleased", ""), ("neutral", "")]
        return choice(r, r.choice(MOOD), moods, {"angry": 0, "pleased": 1, "": 2}[ticket.mood])
    if what == "about":
        topic = ticket.topic if r.random() < 0.5 else r.choice(list(vocabulary.TOPICS))
        names, descriptions, _ = vocabulary.TOPICS[topic]
        return noul(r.choice(ABOUT).format(t=r.choice(names + descriptions)), topic == ticket.topic)
    product = ticket.product if ticket.product and r.random() < 0.5 else words.plain(r.choice(vocabulary.PRODUCTS))
    return noul(r.choice(MENTION).format(x=product), product in ticket.text)


WEIGHTS = {
    "team": 30,
    "urgency": 25,
    "refund": 22,
    "today": 4,
    "emergency": 3,
    "angry": 3,
    "mood": 3,
    "about": 5,
    "mention": 5,
}


def triage(r: Random, easy: float = 0.0, what: str | None = None) -> Read:
    """A ticket with one question: ``what`` of ``WEIGHTS``, or a random one."""
    ticket = draw(r)
    what = what or r.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    skill = what if what in ("team", "urgency", "refund") else "ticket-other"
    return read(state_of(r, ticket), [ask(r, ticket, what, r.random() < easy)], skill)


def triage_joint(r: Random) -> Read:
    """A ticket with 2 to 6 questions on one canvas."""
    ticket = draw(r)
    kinds = list(WEIGHTS)
    count = r.randint(2, 6)
    chosen = r.sample(kinds, count) if r.random() < 0.6 else r.choices(kinds, list(WEIGHTS.values()), k=count)
    if r.random() < 0.3:
        chosen = r.sample(["refund", "team", "urgency"], 3)
    return read(state_of(r, ticket), [ask(r, ticket, what) for what in chosen], "joint")
