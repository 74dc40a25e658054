"""Wordings, subjects and words of the smaller skills that training never sees, and the questions made of them.

Two sets that share nothing: ``VALIDATION`` to watch training and to choose with, ``TEST`` for the figures.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905

from __future__ import annotations

import json
from dataclasses import dataclass

from tools.train_demo import news_words, record_words, review_words, words
from tools.train_demo.sample import Asked, Random, Read, choice, noul, read, sentence, with_articles


@dataclass(frozen=True)
class Wordings:
    """What one part's questions are made of; the fields are frames with slots unless said otherwise.

    Attributes:
        subjects: what reviews are about (words).
        remarks: of reviews, with a word that carries the tone.
        denials: the same, turned round by a negation.
        like: whole sentences, as ``dislike``.
        dislike: whole sentences.
        reviews: what stands around a review.
        positive: questions whether a review is good.
        negative: questions whether a review is bad.
        news: lines by topic.
        report: what stands around a report.
        topic: questions for its topic.
        more: questions whether a field is above a number.
        less: questions whether it is below.
        equals: questions whether a field has a value.
        pools: words that lists are drawn from.
        listed: sentences around a list.
        mentions: questions whether a word occurs.
        compared: two amounts.
        bigger: questions whether the first amount is larger.
        smaller: questions whether it is smaller.
    """

    subjects: tuple[str, ...]
    remarks: tuple[str, ...]
    denials: tuple[str, ...]
    like: tuple[str, ...]
    dislike: tuple[str, ...]
    reviews: tuple[str, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    news: dict[str, tuple[str, ...]]
    report: str
    topic: tuple[str, ...]
    more: tuple[str, ...]
    less: tuple[str, ...]
    equals: tuple[str, ...]
    pools: tuple[tuple[str, ...], ...]
    listed: tuple[str, ...]
    mentions: tuple[str, ...]
    compared: tuple[str, ...]
    bigger: tuple[str, ...]
    smaller: tuple[str, ...]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().split("|"))


TEST = Wordings(
    subjects=tuple("mattress sauna souvenir balcony podcast trailer keyboard sandwich buffet campsite lecture printer zoo barber headset scarf trainer gym lodge playlist backpack museum-shop parking elevator omelette".split()),
    remarks=("To my mind the {s} was {d}{w}.", "Honestly, a {w} {s}.", "The {s} struck us as {w}.", "They offer a {d}{w} {s}.", "One word for the {s}: {w}.", "Last summer the {s} was already {w}.",),
    denials=("At no point was the {s} {w}.", "The {s} could hardly be called {w}.", "Do not expect a {w} {s}.",),
    like=("We recommend it to all.", "I would do it again.", "Great from the first minute to the last.", "The best money I ever spent.", "Not one thing was wrong.",),
    dislike=("We warn everybody.", "I would not do it again.", "Bad from the first minute to the last.", "The worst money I ever spent.", "Not one thing was right.",),
    reviews=("Guest book: {t}", "Rating text: {t}",),
    positive=("Is it a positive text?", "Is the writer happy with it?", "Does the author find it good?",),
    negative=("Is it a negative text?", "Is the writer unhappy with it?", "Does the author find it bad?",),
    news={
        "sports": _lines("visitors won by three goals|young rider crossed the line first|players celebrated with the cup|trainer was happy with the draw|team plays the final on Sunday|runner was injured in the race"),
        "weather": _lines("sky stays grey and it will rain|snow melts in the valleys|wind turns cold at night|temperatures rise in the afternoon|storm moves to the sea|sun dries the roads"),
        "politics": _lines("new government wants to change the law|mayor lost the vote in the council|parties speak about the election|senator calls the budget too small|voters decide in autumn|treaty was signed by the president"),
        "business": _lines("bank reports a profit|shares of the carmaker went up|investors bought a factory|sales of the company grew|shop chain cuts prices|traders expect a loss"),
        "science": _lines("professor found old bones|probe sent data from the planet|researchers study the brain|microscope shows new crystals|theory was tested by physicists|scientists discovered water on the moon"),
        "culture": _lines("writer received a prize for the novel|choir sings in the theatre|exhibition shows old pictures|actress plays in a new film|concert of the pianist was praised|gallery opens on Friday"),
        "health": _lines("patients get a new medicine|doctor treats the infection|vaccine helps against fever|clinic needs more beds|nurses care for ill children|flu makes many people stay in bed"),
        "traffic": _lines("tunnel is closed after a crash|trains to the airport run late|bus stands in a jam|drivers wait at the crossing|bridge gets a new lane|tram broke down at the station"),
    },
    report="Bulletin: {t}",
    topic=("Which heading fits the bulletin?", "What does the bulletin deal with?",),
    more=("Would you say the {k} lies above {n}?", "Has the {k} passed {n}?",),
    less=("Would you say the {k} lies below {n}?", "Does the {k} fall short of {n}?",),
    equals=("Would {n} be the right {k}?", "According to the data, is the {k} {n}?",),
    pools=(
        tuple("anvil bassoon compass dynamo easel ferret gondola hammock igloo jigsaw kayak lantern marble nutcracker obelisk paddle quiver rudder sundial tripod".split()),
        tuple("Anchorage Bruges Cordoba Dresden Eindhoven Florence Galway Heidelberg Innsbruck Jena Kyoto Leipzig Malaga Nantes Odense Perugia Quito Ravenna Seville Tampere".split()),
        tuple("badger cheetah dolphin ermine flamingo gazelle hedgehog ibis jackal koala lemur meerkat newt ocelot panther quail raccoon salamander tapir walrus".split()),
    ),
    listed=("Mother packed {t} for the journey.", "Seen so far: {t}.", "Nobody forgot {t}.", "My notes say {t}.",),
    mentions=("Is {x} among what is mentioned?", "Does {x} come up in the text?", "Can you find {x} in the text?",),
    compared=("Bill of {a}: {m} {u}. Bill of {b}: {n} {u}.", "{a} ended at {m} {u}, while {b} ended at {n} {u}.", '{{"first": "{a}", "value": {m}, "second": "{b}", "other": {n}}}',),
    bigger=("Is there more on the side of {p} than on that of {q}?", "Does {p} beat {q}?", "Has {p} got a higher figure than {q}?",),
    smaller=("Is there less on the side of {p} than on that of {q}?", "Does {p} trail {q}?", "Has {p} got a lower figure than {q}?",),
)  # fmt: skip
VALIDATION = Wordings(
    subjects=tuple("hostel notebook dentist casserole monitor theme-park scooter podium tutor gravy cruise headphones stadium tailor aquarium smoothie brochure sofa landlord bakery".split()),
    remarks=("Sad to say or not, the {s} came across as {w}.", "Ours was a {d}{w} {s}.", "If you ask my brother, the {s} was {w}.", "By evening the {s} had become {d}{w}.", "{W}: that is how I remember the {s}.", "From the outside the {s} looked {w}.",),
    denials=("No one in our group thought of the {s} as {w}.", "The {s} failed to be {w}.", "You will search in vain for a {w} {s}.",),
    like=("We are already planning the next visit.", "They have won a customer for life.", "My heart sang.", "I wish every place were like this.", "This deserves a prize.",),
    dislike=("We are already looking for another place.", "They have lost a customer for life.", "My heart sank.", "I wish I had stayed at home.", "This deserves a fine.",),
    reviews=("What a visitor said: {t}", "Feedback card: {t}",),
    positive=("Does it read as positive?", "Is the mood of the person good?", "Did things go well for the person?"),
    negative=("Does it read as negative?", "Is the mood of the person bad?", "Did things go badly for the person?"),
    news={
        "sports": _lines("hosts turned the match around after the break|diver won a medal with the last jump|captain lifted the trophy|referee ended the game early"),
        "weather": _lines("clouds hide the sun until noon|hail damaged the fields|nights become warmer again|frost covers the windows"),
        "politics": _lines("chancellor answers questions in parliament|citizens vote on the reform|deputies argue about taxes|ministers signed a treaty"),
        "business": _lines("insurer pays a higher dividend|market for houses cools down|carmaker hires workers|shop owner borrows money from the bank"),
        "science": _lines("geologists date the rock|new telescope sees distant stars|mice help to understand the brain|robot dives into the deep sea"),
        "culture": _lines("sculptor shows her work in the gallery|band records its third album|play was sold out for weeks|poet reads in the library"),
        "health": _lines("dentists warn of sugar|surgeons replaced a heart|virus spreads more slowly|patients sleep better with the new drug"),
        "traffic": _lines("motorway is jammed after the holiday|pilots refuse to fly|trams stop at midnight|lorry lost its load on the road"),
    },
    report="From the wire: {t}",
    topic=("Under which label would you file this?", "What field is this from?",),
    more=("Do we have a {k} beyond {n}?", "Would {n} be topped by the {k}?",),
    less=("Do we have a {k} short of {n}?", "Would the {k} fit under {n}?",),
    equals=("Have they noted {n} as the {k}?", "Is {n} on file for the {k}?",),
    pools=(
        tuple("abacus bellows corkscrew doormat earring funnel goblet harpoon inkwell javelin kettle lasso megaphone necklace oar pitcher quilt rattle stapler thimble".split()),
        tuple("Antwerp Bologna Cadiz Davos Essen Fez Grenoble Hobart Izmir Jaipur Kazan Linz Marseille Nicosia Oviedo Pisa Stavanger Rotterdam Salzburg Trieste".split()),
        tuple("antelope beaver chinchilla dromedary gopher gibbon heifer iguana jaguar llama lynx mongoose narwhal opossum puffin reindeer stoat turtle vulture weasel".split()),
    ),
    listed=("Uncle Ed cannot live without {t}.", "Still to come: {t}.", "What remained in the attic was {t}.", "Half the village argued over {t}.",),
    mentions=("Would a search for {x} succeed here?", "Has {x} been written down here?", "Do we read of {x}?",),
    compared=("On the scale of {a} stood {m} {u}, on that of {b} {n} {u}.", "{a} ({m} {u}) met {b} ({n} {u}).", "{a} reports {m} {u}; {b} reports {n} {u}.",),
    bigger=("Is {p} in front of {q}?", "Would {p} win against {q} by amount?",),
    smaller=("Is {p} at the back of {q}?", "Would {p} lose against {q} by amount?",),
)  # fmt: skip

PARTS = {"validation": VALIDATION, "test": TEST}


def _remark(r: Random, own: Wordings, good: bool) -> str:
    subject = r.choice(own.subjects)
    denied = r.random() < 0.25
    frame = r.choice(own.denials if denied else own.remarks)
    word = r.choice(review_words.GOOD if good != denied else review_words.BAD)
    return with_articles(frame.format(s=subject, w=word, W=sentence(word), d=r.choice(review_words.DEGREES)))


def review(r: Random, own: Wordings) -> Read:
    """A review that is good or bad, and a yes/no question about that."""
    good = r.choice((False, True))
    parts = [_remark(r, own, good) for _ in range(r.randint(1, 3))]
    if r.random() < 0.6:
        parts.append(r.choice(own.like if good else own.dislike))
        if r.random() < 0.25:
            del parts[:-1]
    r.shuffle(parts)
    state = r.choice(own.reviews).format(t=" ".join(parts))
    positive = r.random() < 0.5
    return read(state, [noul(r.choice(own.positive if positive else own.negative), good == positive)], "sentiment")


def news(r: Random, own: Wordings) -> Read:
    """A report of two or three lines and the choice of its topic among five."""
    topics = list(own.news)
    topic = r.choice(topics)
    text = " ".join(f"The {r.choice(own.news[topic])}." for _ in range(r.randint(2, 3)))
    if r.random() < 0.4:
        text = f"{r.choice(words.CITIES)}, {r.choice(words.WEEKDAYS)}. {text}"
    shown = [topic, *r.sample([t for t in topics if t != topic], 4)]
    described = r.random() < 0.4
    options = [(name, news_words.DESCRIBED[name] if described else "") for name in shown]
    return read(own.report.format(t=text), [choice(r, r.choice(own.topic), options, 0)], "topic")


def mention(r: Random, own: Wordings) -> Read:
    """A list of unknown words in an unknown sentence, and whether one of them occurs."""
    pool = r.choice(own.pools)
    chosen = r.sample(pool, r.randint(3, 8))
    inside = r.random() < 0.5
    asked = r.choice(chosen) if inside else r.choice([word for word in pool if word not in chosen])
    text = r.choice(own.listed).format(t=", ".join(chosen[:-1]) + " and " + chosen[-1])
    return read(text, [noul(r.choice(own.mentions).format(x=asked), inside)], "mention")


def record(r: Random, own: Wordings) -> Read:
    """A JSON record and a yes/no question about a field."""
    fields: dict[str, object] = {key: r.choice(pool) for key, pool in record_words.FIELDS.items()}
    fields |= {key: r.randint(*bounds) for key, bounds in record_words.NUMBERS.items()}
    fields["name"] = words.person(r)
    shown = {key: fields[key] for key in r.sample(list(fields), r.randint(2, 6))}
    state = json.dumps(shown)
    if r.random() < 0.2:
        state = f"Record: {state}"
    return read(state, [_about_field(r, shown, own)], "record")


def _about_field(r: Random, shown: dict[str, object], own: Wordings) -> Asked:
    key = r.choice(list(shown))
    value = shown[key]
    if isinstance(value, int):
        limit = max(0, value + r.choice((-1, 1)) * r.randint(1, r.choice((3, 12, 60))))
        if r.random() < 0.15:
            number = value if r.random() < 0.5 else limit
            return noul(r.choice(own.equals).format(k=key, n=number), number == value)
        if r.random() < 0.5:
            return noul(r.choice(own.more).format(k=key, n=limit), value > limit)
        return noul(r.choice(own.less).format(k=key, n=limit), value < limit)
    pools = {**record_words.FIELDS, "name": [words.person(r)]}
    guess = value if r.random() < 0.5 else r.choice(pools[key])
    return noul(r.choice(own.equals).format(k=key, n=guess), guess == value)


def compare(r: Random, own: Wordings) -> Read:
    """Two amounts and a yes/no question which is larger."""
    pool = r.choice((words.COMPANY_FIRST, words.CITIES, words.PERSON_FIRST, words.THINGS))
    a, b = (words.plain(word) for word in r.sample(pool, 2))
    top = r.choice((20, 100, 199))
    m = r.randint(0, top)
    n = max(0, m + r.choice((-1, 1)) * r.randint(1, r.choice((3, 20, top))))
    n += m == n
    state = r.choice(own.compared).format(a=a, b=b, m=m, n=n, u=r.choice(record_words.UNITS))
    p, q, x, y = (b, a, n, m) if r.random() < 0.5 else (a, b, m, n)
    if r.random() < 0.5:
        return read(state, [noul(r.choice(own.bigger).format(p=p, q=q), x > y)], "compare")
    return read(state, [noul(r.choice(own.smaller).format(p=p, q=q), x < y)], "compare")
