"""Whether a word stands in a text: lists and prose of many forms, and hundreds of ways to ask."""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tools.train_demo import chat_words, clauses, news_words, reviews, texts, tickets, words
from tools.train_demo.sample import Asked, Random, Read, noul, read, sentence

POOLS = (words.THINGS, words.PLACES, words.CITIES, words.COUNTRIES, words.LANGUAGES, reviews.SUBJECTS, words.COMPANY_FIRST, words.PERSON_FIRST, words.PERSON_LAST,
         *chat_words.LISTS.values(), words.COLOURS, words.ROLES)  # fmt: skip
EVERYTHING = sorted({words.plain(word) for pool in POOLS for word in pool})
WHO = [
    "I",
    "We",
    "They",
    "My aunt",
    "The boss",
    "The crew",
    "Our neighbour",
    "Some people",
    "Grandfather",
    "The children",
    "Dr Reed",
    "A friend",
    "The shop",
    "The baker",
    "Somebody",
    "The museum",
    "Everybody",
    "Her brother",
    "The captain",
    "A stranger",
    "The team",
]
DID = """bought|saw|sold|found|lost|wants|needs|likes|ordered|brought|painted|counted|sent|mentioned|collected|described|wrote about|asked for|dreams of|visited|talked about|knows|offers|keeps|drew|named
|hates|prefers|spoke of|stole|borrowed|studied|compared|chose|put away|looked after|left behind|showed us|thinks of|paid for|threw out|photographed|heard of|praised|complained about""".replace(
    "\n", ""
).split("|")
WHEN = [
    "",
    "",
    "",
    "",
    " yesterday",
    " today",
    " at the market",
    " for the party",
    " in the shop",
    " before noon",
    " on Monday",
    " with great care",
    " as always",
    " last week",
    " once more",
    " on the way home",
    " in the end",
    " and left",
    " and that was all",
    " by chance",
    " without a word",
    " in May",
]
TITLES = [
    "List",
    "Items",
    "In stock",
    "Inventory",
    "To do",
    "Words",
    "Names",
    "Found",
    "Wanted",
    "Topics",
    "Agenda",
    "Contents",
    "Places",
    "Ordered",
    "Basket",
    "Box 4",
    "Bring",
    "Lost",
    "In the box",
    "Stock",
    "Menu",
    "Today",
    "Page 2",
    "Known",
    "Sold out",
    "Participants",
    "Tags",
    "Keywords",
    "Selection",
    "Answer",
    "Room 3",
]
LISTED = ("{t}", "{t}.", "We talked about {t}.", "The list has {t}.", "On the way we saw {t}.", "They asked for {t}.", "I like {t}.", "The report covers {t}.", "First came {t}, then nothing more.", "Please think of {t}.",
          "There are {t}.", "There were {t} in the house.", "{T} are on the list.", "{T}: all of them were there.", "Here we have {t} and nothing else.", "It is about {t}.", "This is about {t}, as you know.", "What about {t}?", "Do you know {t}?",
          "Who has seen {t}?", "Look at {t}!", "Without {t} nothing works.", "Apart from {t} all is well.", "{T} would be nice to have.", "You can choose between {t}.", "{T}, said the man.", "Thanks for {t}.", "With {t} the day began.",
          "Nothing is as good as {t}.", "The story of {t} is long.", "Today's words are {t}.", "The prize goes to {t}.", "{T} play a part in it.", "Beside the road stood {t}.", "Of all things, {t} were chosen.", "Let us speak of {t}.")  # fmt: skip
IN_PROSE = ("{t}", "{t}", "Text: {t}", "Message: {t}", "Note: {t}", "Entry: {t}", '"{t}"', "From the file: {t}")

TEXTS = [
    "text",
    "text",
    "list",
    "message",
    "passage",
    "document",
    "sentence",
    "letter",
    "report",
    "paragraph",
    "email",
    "entry",
    "page",
    "line",
    "content",
    "above text",
    "statement",
    "words",
    "writing",
    "piece",
]
VERBS = [
    "mention",
    "mention",
    "contain",
    "name",
    "include",
    "list",
    "refer to",
    "cite",
    "hold",
    "have",
    "use",
    "show",
    "speak of",
    "talk about",
    "tell of",
    "bring up",
    "point to",
    "touch on",
    "deal with",
    "say something about",
    "make mention of",
    "say",
    "cover",
    "discuss",
    "involve",
    "comprise",
    "bear",
    "state",
]
PAST = [
    "mentioned",
    "mentioned",
    "named",
    "listed",
    "included",
    "contained",
    "cited",
    "referred to",
    "spoken of",
    "noted",
    "stated",
    "given",
    "shown",
    "used",
    "talked about",
    "brought up",
    "dealt with",
    "touched on",
    "covered",
    "discussed",
    "said",
    "named anywhere",
    "to be seen",
    "to be read",
]
ASKED = (
    "Does the {t} {v} {x}?", "Does the {t} {v} {x}?", "Does this {t} {v} {x}?", "Does it {v} {x}?", "Did the {t} {v} {x}?", "Do they {v} {x}?", "Does the writer {v} {x}?", "Does the author {v} {x}?",
    "Is {x} {p}?", "Is {x} {p}?", "Is {x} {p} in the {t}?", "Is {x} {p} here?", "Was {x} {p}?", "Has {x} been {p} in the {t}?", "Is {x} one of the things {p}?", "Is {x} one of those {p}?", "Are {x} {p}?",
    "Does {x} occur?", "Does {x} occur in the {t}?", "Does {x} appear?", "Does {x} appear in the {t}?", "Does {x} show up?", "Does {x} turn up in the {t}?", "Does {x} stand in the {t}?", "Is {x} in the {t}?", "Is {x} there?",
    "Is {x} in there?", "Is {x} present?", "Is {x} present in the {t}?", "Is {x} part of the {t}?", "Is there {x} in the {t}?", "Is there anything about {x}?", "Is there a word about {x}?", "Can one see {x}?", "Can {x} be seen in the {t}?",
    "Do you see {x} in the {t}?", "Do you spot {x}?", "Is {x} among them?", "Is {x} one of them?", "Is {x} one of the words?", "Does anybody {v} {x}?", "Is it right that the {t} {v}s {x}?", "Is it true that {x} is {p}?", "Would you say that {x} is {p}?",
    "Can it be said that {x} occurs?", "Is the word {x} {p}?", "Is the term {x} {p} in the {t}?", "Does the word {x} occur?", "Does the name {x} appear?", "Do we meet {x} in the {t}?", "Is {x} what the {t} {v}s, among others?", "Will I see {x} in the {t}?",
    "{x}: is it {p}?", "{x}: in the {t}?", "Does the {t} have the word {x}?", "Are there any traces of {x} in the {t}?", "Is {x} a part of it?", "Does {x} belong to the {t}?", "Is {x} on it?", "Is {x} a word of the {t}?", "Do the words of the {t} include {x}?",
)  # fmt: skip
MISSING = (
    "Is {x} missing?",
    "Is {x} left out?",
    "Is {x} absent from the {t}?",
    "Does the {t} lack {x}?",
    "Is {x} not {p}?",
    "Does the {t} leave out {x}?",
    "Is there no {x} in the {t}?",
    "Is the {t} without {x}?",
    "Does {x} never occur?",
    "Is {x} {p} nowhere?",
)


def question(r: Random, word: str, inside: bool) -> Asked:
    """A yes/no question whether ``word`` occurs, where ``inside`` says whether it does."""
    absent = r.random() < 0.08
    frame = r.choice(MISSING if absent else ASKED)
    shown = f'"{word}"' if r.random() < 0.12 else word
    asked = frame.format(x=shown, t=r.choice(TEXTS), v=r.choice(VERBS), p=r.choice(PAST))
    return noul(sentence(asked) if asked.startswith(word) and r.random() < 0.5 else asked, inside != absent)


def strange(r: Random) -> str:
    """A word that is in no list, so that letters must be compared."""
    word = words.invented(r)
    u = r.random()
    if u < 0.55:
        return word.lower()
    return word if u < 0.9 else word.lower() + r.choice(("er", "ing", "ness", "ette", "ton", "box", "berry"))


def resembling(r: Random, word: str) -> str:
    """Another word that begins or ends as ``word`` does."""
    cut = r.randint(2, max(2, len(word) - 2))
    tail = strange(r).lower()
    return word[:cut] + tail[-3:] if r.random() < 0.6 else (tail[:3] + word[-cut:])


def _members(r: Random) -> tuple[list[str], str]:
    """Words of a list, and one that is not among them but could be."""
    count = r.randint(2, 9)
    u = r.random()
    if u < 0.45:
        pool: Sequence[str] = [words.plain(word) for word in r.choice(POOLS)]
        chosen = r.sample(pool, min(count, len(pool) - 1))
        rest = [word for word in pool if word not in chosen]
        outside = r.choice(rest)
    elif u < 0.6:
        chosen = r.sample(EVERYTHING, count)
        outside = r.choice([word for word in r.sample(EVERYTHING, 12) if word not in chosen])
    else:
        chosen = [strange(r) for _ in range(count)]
        outside = strange(r)
    for place in range(len(chosen)):
        if r.random() < 0.08:
            chosen[place] = strange(r)
    if r.random() < 0.15:
        outside = resembling(r, r.choice(chosen))
    return chosen, outside


def _joined(r: Random, chosen: list[str]) -> str:
    u = r.random()
    if u < 0.7:
        return ", ".join(chosen[:-1]) + r.choice((" and ", " and ", " or ", ", ", " and also ", ", and ")) + chosen[-1]
    if u < 0.9:
        return r.choice(("; ", " / ", " - ", ", ", " | ", " and ", " ")).join(chosen)
    return " and ".join(chosen)


def _listing(r: Random, chosen: list[str]) -> str:
    """The words in a sentence, in lines, or as JSON."""
    u = r.random()
    if u < 0.08:
        return "\n".join(f"{r.choice(('- ', '* ', ''))}{word}" for word in chosen)
    if u < 0.13:
        return "\n".join(f"{number}. {word}" for number, word in enumerate(chosen, 1))
    if u < 0.18:
        return json.dumps(chosen if r.random() < 0.5 else {r.choice(TITLES).lower(): chosen})
    joined = _joined(r, chosen)
    if u < 0.34:
        return f"{r.choice(TITLES)}: {joined}{r.choice(('', '.'))}"
    if u < 0.62:
        who = words.person(r) if r.random() < 0.3 else r.choice(WHO)
        if r.random() < 0.3:
            plain = (
                who[0].lower() + who[1:]
                if who.startswith(("The ", "My ", "Our ", "Some", "A ", "Every", "Her ", "We", "They"))
                else who
            )
            who = f"{r.choice(reviews.LEADS)} {plain}"
        return f"{who} {r.choice(DID)} {joined}{r.choice(WHEN)}."
    return r.choice(LISTED).format(t=joined, T=sentence(joined))


def mention(r: Random) -> Read:
    """A list, a sentence or a longer text, and whether a word occurs in it."""
    if r.random() < 0.32:
        return _in_prose(r)
    chosen, outside = _members(r)
    text = _listing(r, chosen)
    if r.random() < 0.2:
        parts = [text, prose(r)]
        r.shuffle(parts)
        text = " ".join(parts)
    inside = r.random() < 0.5
    word = r.choice(chosen) if inside else outside
    return read(text, [question(r, word, inside or word in text)], "mention")


def prose(r: Random) -> str:
    """A text of another skill."""
    u = r.random()
    if u < 0.35:
        parties = (words.party(r), words.party(r))
        return " ".join(clauses.say(r, clauses.draw_fact(r, parties)) for _ in range(r.randint(1, 2)))
    if u < 0.6:
        return tickets.draw(r).text
    if u < 0.8:
        return " ".join(texts.line(r, r.choice(list(news_words.LINES))) for _ in range(r.randint(1, 3)))
    return reviews.review(r).state


def _in_prose(r: Random) -> Read:
    text = prose(r)
    if r.random() < 0.3:  # a word that no one has, somewhere inside
        pieces = text.split(" ")
        pieces.insert(r.randrange(len(pieces)), strange(r))
        text = " ".join(pieces)
    inside = r.random() < 0.5
    source = text if inside else prose(r)
    candidates = [word for word in re.findall(r"[A-Za-z]{4,}", source) if inside or word.lower() not in text.lower()]
    asked = r.choice(candidates) if candidates else strange(r)
    found = asked in re.findall(r"[A-Za-z]+", text)
    return read(r.choice(IN_PROSE).format(t=text), [question(r, asked, found)], "mention")
