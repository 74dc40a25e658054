"""Reviews and questions about their tone, put together from parts so that no two are built alike."""

# ruff: noqa: E501 (dense lists of phrases)

from __future__ import annotations

from tools.train_demo import held_out_texts, words
from tools.train_demo import review_words as v
from tools.train_demo.sample import Asked, Random, Read, choice, noul, read, score, sentence, with_articles


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\n") for part in text.replace("\n|", "|").split("|"))


LEADS, TAILS, VERBS, NOT_VERBS = (_parts(text) for text in (v.LEADS, v.TAILS, v.VERBS, v.NOT_VERBS))
NOUN_FRAMES, NOT_FRAMES, WHO, DEEDS = (_parts(text) for text in (v.NOUN_FRAMES, v.NOT_FRAMES, v.WHO, v.DEEDS))
SPANS, NOT_SPANS, HAD = (_parts(text) for text in (v.SPANS, v.NOT_SPANS, v.HAD))
FEELINGS = tuple(tuple(side.strip() for side in pair.split(" / ")) for pair in _parts(v.FEELINGS))
TEXTS, WRITERS = _parts(v.TEXTS), _parts(v.WRITERS)
KINDS, STATES, DOINGS = (
    tuple(_parts(side) for side in pair) for pair in ((v.UNKIND, v.KIND), (v.UNHAPPY, v.HAPPY), (v.DISLIKES, v.LIKES))
)
UNSEEN = {word for part in held_out_texts.PARTS.values() for word in part.subjects}  # subjects of held-out reviews
SUBJECTS = (*v.SUBJECTS, *(words.plain(word) for word in words.PLACES if word not in UNSEEN))
AROUND = (
    "Review: {t}", "{t}", "{t}", "Text: {t}", "Comment: {t}", "A guest writes: {t}", "Opinion: {t}", '{{"review": "{t}"}}', '"{t}"',
    "Customer: {t}", "Stars and words: {t}", "{t} (a customer)", "From the web: {t}", "Message: {t}", "Survey answer: {t}",
)  # fmt: skip
MOODS = (
    ("negative", "mixed", "positive"),
    ("bad", "neutral", "good"),
    ("unhappy", "undecided", "happy"),
    ("critical", "balanced", "friendly"),
)
LEVELS = (
    ("bad", "mixed", "good"),
    ("negative", "neutral", "positive"),
    ("poor", "fair", "excellent"),
    ("low", "middle", "high"),
)


def subject(r: Random) -> str:
    """What a review is about; sometimes a word that no one has seen."""
    u = r.random()
    if u < 0.12:
        return words.invented(r).lower()
    if u < 0.2:
        return f"{r.choice(words.ADJECTIVES)} {r.choice(SUBJECTS)}"
    return r.choice(SUBJECTS)


def _filled(r: Random, frame: str, good: bool) -> str:
    """A frame with words of one tone; its own tone may be the other one."""
    pool, first = (v.ALL_GOOD if good else v.ALL_BAD), subject(r)
    word, second = r.choice(pool), subject(r)
    who = r.choice(WHO)
    plain = who if r.random() < 0.4 else "I"
    return frame.format(
        s=first, S=sentence(first), s2=second, w=word, W=sentence(word), w2=r.choice(pool), d=r.choice(v.DEGREES), t=r.choice(TAILS), I=plain,
        me="me" if plain == "I" else "us", e=r.choice(v.BEST if good else v.WORST), c=r.choice(v.BETTER if good else v.WORSE), had=r.choice(HAD),
    )  # fmt: skip


def _clause(r: Random, good: bool) -> str:
    """A main clause without its full stop: subject, verb, word."""
    denied = r.random() < 0.35
    word = r.choice(v.ALL_GOOD if good != denied else v.ALL_BAD)
    verb = r.choice(NOT_VERBS if denied else VERBS)
    degree = "" if denied else r.choice(v.DEGREES)
    article = r.choice(("the", "the", "the", "our", "this", "that", "their"))
    return f"{article} {subject(r)} {verb} {degree}{word}"


NOBODY, THOUGHT, NEVER, MODALS, ADVERBS = (_parts(text) for text in (v.NOBODY, v.THOUGHT, v.NEVER, v.MODALS, v.ADVERBS))
CALLED, HOPE, DO_NOT, WITHOUT = (_parts(text) for text in (v.CALLED, v.HOPE, v.DO_NOT, v.WITHOUT))


def denial(r: Random, good: bool) -> str:
    """A sentence that turns a word of the other tone round."""
    u = r.random()
    if u < 0.3:
        frame = f"{r.choice(NOBODY)} {r.choice(THOUGHT)}{{t}}."
    elif u < 0.5:
        frame = f"{r.choice(NEVER)} {r.choice(('was', 'was', 'is', 'has', 'did', 'will'))} the {{s}} "
        verb = frame.split()[-3]
        frame += {"has": "been ", "did": "seem ", "will": "be "}.get(verb, "") + "{d}{w}."
    elif u < 0.65:
        frame = f"The {{s}} {r.choice(MODALS)} {r.choice(ADVERBS)} {r.choice(CALLED)} {{w}}{{t}}."
    elif u < 0.8:
        frame = f"{r.choice(DO_NOT)} {r.choice(HOPE)} a {{w}} {{s}}{{t}}."
    else:
        frame = r.choice(WITHOUT)
    if r.random() < 0.25:
        lead = r.choice(LEADS)
        frame = f"{lead} {frame[0].lower() + frame[1:] if not frame.startswith(('I ', '{')) else frame}"
    return sentence(with_articles(_filled(r, frame, not good)))


def remark(r: Random, good: bool) -> str:
    """A sentence of one tone in one of thousands of forms."""
    u = r.random()
    if u < 0.16:
        return with_articles(_filled(r, r.choice(v.REMARKS), good))
    if u < 0.2:
        return with_articles(_filled(r, r.choice(v.DENIALS), not good))
    if u < 0.37:
        return denial(r, good)
    if u < 0.5:
        return sentence(with_articles(_filled(r, r.choice(NOUN_FRAMES), good)))
    if u < 0.57:
        return sentence(with_articles(_filled(r, r.choice(NOT_FRAMES), not good)))
    if u < 0.66:
        return verdict(r, good)
    text = _clause(r, good)
    if r.random() < 0.5:
        text = f"{r.choice(LEADS)} {text}"
    return sentence(with_articles(text + r.choice(TAILS) + r.choice((".", ".", ".", "!"))))


def verdict(r: Random, good: bool) -> str:
    """A sentence about the whole."""
    u = r.random()
    if u < 0.25:
        return r.choice(v.LIKE if good else v.DISLIKE)
    if u < 0.5:
        text = r.choice(FEELINGS)[0 if good else 1]
        tail = r.choice(
            ("", "", "", " in the end", " again", " this time", ", really", ", as always", " after all", " once more")
        )
        return sentence(with_articles(_filled(r, text + tail + r.choice((".", ".", "!")), good)))
    if u < 0.7:
        who = r.choice(WHO) if r.random() < 0.4 else "I"
        would = r.choice(
            ("would", "will", "would gladly", "will certainly")
            if good
            else ("would not", "will not", "won't", "would never", "will never")
        )
        deed = r.choice(DEEDS)
        if deed == "miss it for anything":
            would = "would not" if good else "would gladly"
        return with_articles(f"{who} {would} {deed.format(s=subject(r))}{r.choice(('.', '.', '!'))}")
    if u < 0.85:
        return sentence(with_articles(_filled(r, r.choice(v.EXTREMES), good)))
    if u < 0.93:
        return sentence(with_articles(_filled(r, r.choice(SPANS), good)))
    return sentence(with_articles(_filled(r, r.choice(NOT_SPANS), not good)))


CONTRASTS = (
    "{a}, but {b}",
    "{a}, yet {b}",
    "although {a}, {b}",
    "while {a}, {b}",
    "{a}; however, {b}",
    "{a}. Still, {b}",
)


def _mixed(r: Random) -> list[str]:
    """Good and bad in one review."""
    if r.random() < 0.5:
        good = r.random() < 0.5
        frame = r.choice(CONTRASTS)
        return [sentence(with_articles(frame.format(a=_clause(r, good), b=_clause(r, not good)) + "."))]
    parts = [r.choice(v.NEUTRAL)] if r.random() < 0.6 else []
    if not parts or r.random() < 0.6:
        parts += [remark(r, True), remark(r, False)]
    return parts


def review(r: Random) -> Read:
    """A review with a question about its tone."""
    tone = r.choice((0, 0, 0, 1, 2, 2, 2))  # bad, mixed, good
    if tone == 1:
        parts = _mixed(r)
    else:
        parts = [remark(r, tone == 2) for _ in range(r.choice((1, 1, 2, 2, 3)))]
        if r.random() < 0.4:
            parts.append(verdict(r, tone == 2))
            if r.random() < 0.35:
                del parts[:-1]
        if r.random() < 0.05:
            parts.append(
                r.choice(
                    (
                        "We were there in May.",
                        "It was our first visit.",
                        "The weather was as usual.",
                        "There were four of us.",
                    )
                )
            )
    r.shuffle(parts)
    text = " ".join(parts)
    if r.random() < 0.08:
        text = text.lower()
    return read(r.choice(AROUND).format(t=text), [_asked(r, tone)], "sentiment")


def _asked(r: Random, tone: int) -> Asked:
    u = r.random()
    if u < 0.76 and tone != 1:
        good = r.random() < 0.5
        return noul(question(r, good), (tone == 2) == good)
    if u < 0.9:
        asked = r.choice(
            (
                "What is the sentiment?",
                "How does the writer feel?",
                "Which mood has the text?",
                "Choose the tone.",
                "Which tone is it?",
            )
        )
        return choice(r, asked, [(name, "") for name in r.choice(MOODS)], tone)
    levels = r.choice(LEVELS)
    return score(
        r.choice(
            ("How good is the rating?", "Rate the sentiment.", "How happy is the writer?", "How warm is the tone?")
        ),
        levels,
        tone,
    )


def question(r: Random, good: bool) -> str:
    """A yes/no question whether the tone is good (or bad)."""
    text, who, this = r.choice(TEXTS), r.choice(WRITERS), r.choice(("the", "the", "this"))
    state, doing, kind = r.choice(STATES[good]), r.choice(DOINGS[good]), r.choice(KINDS[good])
    noun = r.choice(("praise", "a recommendation", "applause", "a compliment", "good news", "a thank-you") if good
                    else ("criticism", "a complaint", "a warning", "a reproach", "bad news", "a rant"))  # fmt: skip
    frames = (
        f"Is {this} {text} {kind}?", f"Is {this} {text} {kind}?", f"Is the tone {kind}?", f"Is the {text}'s tone {kind}?", f"Does {this} {text} sound {kind}?",
        f"Would you call {this} {text} {kind}?", f"Is what the {who} writes {kind}?", f"Is the {who} {state}?", f"Was the {who} {state}?",
        f"Does the {who} seem {state}?", f"Is somebody {state} here?", f"Does the {who} {doing}?", f"Did the {who} {doing}?", f"Do they {doing}?",
        f"Is {this} {noun}?", f"Is {this} {text} {noun}?", f"Is it {noun}?", f"Does the {who} express {noun}?", f"Is the opinion {kind}?",
        f"Is the overall opinion {kind}?", f"Are the words of the {who} {kind}?", f"Does one hear that the {who} is {state}?", f"Is it fair to say that the {who} is {state}?",
        f"Can we tell that the {who} is {state}?", f"Does {this} {text} {'praise' if good else 'criticise'} something?", f"Is {this} a {'good' if good else 'bad'} {text}?",
        f"Would the {who} {'come back' if good else 'stay away from now on'}?", f"Would the {who} {'buy it again' if good else 'refuse to buy it again'}?",
        f"Does the {who} have a {'good' if good else 'bad'} opinion of it?", f"Is the {text} on the {'good' if good else 'bad'} side?", f"Is this how a {state} {who} writes?",
        f"Are the words {kind}?", f"Is there {'praise' if good else 'criticism'} in the {text}?", f"Is this {'praise' if good else 'criticism'} or not?", f"Was it a {'good' if good else 'bad'} experience?",
        f"Is the mood {'good' if good else 'bad'}?", f"Is the {who} speaking in a {kind} way?", f"Do you hear a {state} {who}?", f"Should this {text} be counted as {'positive' if good else 'negative'}?",
        f"{'Positive' if good else 'Negative'}?", f"Is the overall impression {'positive' if good else 'negative'}?", f"Thumbs {'up' if good else 'down'}?", f"Is the {who}'s view {'positive' if good else 'negative'}?",
        f"Is the experience described as {'good' if good else 'bad'}?", f"Does the {who} think it is {r.choice(v.ALL_GOOD if good else v.ALL_BAD)}?",
        f"Is {this} {text} more {'positive' if good else 'negative'} than {'negative' if good else 'positive'}?",
    )  # fmt: skip
    return with_articles(r.choice(frames))
