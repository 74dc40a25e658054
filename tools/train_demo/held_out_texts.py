"""Wordings, subjects and words of the smaller skills that training never sees: what the held-out figures are made of."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905

from __future__ import annotations

from tools.train_demo.sample import Random, Read, noul, read

SUBJECTS = """mattress sauna souvenir balcony podcast trailer keyboard sandwich buffet campsite lecture printer zoo barber
headset scarf trainer gym lodge playlist backpack museum-shop parking elevator omelette""".split()
REMARKS = [
    "To my mind the {s} was {d}{w}.",
    "Honestly, a {w} {s}.",
    "The {s} struck us as {w}.",
    "They offer a {d}{w} {s}.",
    "One word for the {s}: {w}.",
    "Last summer the {s} was already {w}.",
]
DENIALS = ["At no point was the {s} {w}.", "The {s} could hardly be called {w}.", "Do not expect a {w} {s}."]
LIKE = [
    "We recommend it to all.",
    "I would do it again.",
    "Great from the first minute to the last.",
    "The best money I ever spent.",
    "Not one thing was wrong.",
]
DISLIKE = [
    "We warn everybody.",
    "I would not do it again.",
    "Bad from the first minute to the last.",
    "The worst money I ever spent.",
    "Not one thing was right.",
]
REVIEWS = ("Guest book: {t}", "Rating text: {t}")
POSITIVE = ("Is it a positive text?", "Is the writer happy with it?", "Does the author find it good?")
NEGATIVE = ("Is it a negative text?", "Is the writer unhappy with it?", "Does the author find it bad?")
TOPIC_QUESTIONS = ("Which heading fits the bulletin?", "What does the bulletin deal with?")
NEWS = {
    "sports": "visitors won by three goals|young rider crossed the line first|players celebrated with the cup|trainer was happy with the draw|team plays the final on Sunday|runner was injured in the race",
    "weather": "sky stays grey and it will rain|snow melts in the valleys|wind turns cold at night|temperatures rise in the afternoon|storm moves to the sea|sun dries the roads",
    "politics": "new government wants to change the law|mayor lost the vote in the council|parties speak about the election|senator calls the budget too small|voters decide in autumn|treaty was signed by the president",
    "business": "bank reports a profit|shares of the carmaker went up|investors bought a factory|sales of the company grew|shop chain cuts prices|traders expect a loss",
    "science": "professor found old bones|probe sent data from the planet|researchers study the brain|microscope shows new crystals|theory was tested by physicists|scientists discovered water on the moon",
    "culture": "writer received a prize for the novel|choir sings in the theatre|exhibition shows old pictures|actress plays in a new film|concert of the pianist was praised|gallery opens on Friday",
    "health": "patients get a new medicine|doctor treats the infection|vaccine helps against fever|clinic needs more beds|nurses care for ill children|flu makes many people stay in bed",
    "traffic": "tunnel is closed after a crash|trains to the airport run late|bus stands in a jam|drivers wait at the crossing|bridge gets a new lane|tram broke down at the station",
}
MORE = ("Would you say the {k} lies above {n}?", "Has the {k} passed {n}?")
LESS = ("Would you say the {k} lies below {n}?", "Does the {k} fall short of {n}?")
EQUALS = ("Would {n} be the right {k}?", "According to the data, is the {k} {n}?")

POOLS = [
    "anvil bassoon compass dynamo easel ferret gondola hammock igloo jigsaw kayak lantern marble nutcracker obelisk paddle quiver rudder sundial tripod".split(),
    "Anchorage Bruges Cordoba Dresden Eindhoven Florence Galway Heidelberg Innsbruck Jena Kyoto Leipzig Malaga Nantes Odense Perugia Quito Ravenna Seville Tampere".split(),
    "badger cheetah dolphin ermine flamingo gazelle hedgehog ibis jackal koala lemur meerkat newt ocelot panther quail raccoon salamander tapir walrus".split(),
]
LISTED = ("Mother packed {t} for the journey.", "Seen so far: {t}.", "Nobody forgot {t}.", "My notes say {t}.")
MENTIONS = ("Is {x} among what is mentioned?", "Does {x} come up in the text?", "Can you find {x} in the text?")


def mention(r: Random) -> Read:
    """A list of unknown words in an unknown sentence, and whether one of them occurs."""
    pool = r.choice(POOLS)
    chosen = r.sample(pool, r.randint(3, 8))
    inside = r.random() < 0.5
    asked = r.choice(chosen) if inside else r.choice([word for word in pool if word not in chosen])
    text = r.choice(LISTED).format(t=", ".join(chosen[:-1]) + " and " + chosen[-1])
    return read(text, [noul(r.choice(MENTIONS).format(x=asked), inside)], "mention")
