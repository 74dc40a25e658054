"""Clause pairs about anything: a noun, one aspect of it, and many wordings for each aspect.

The hand-written topics of the other modules have a few wordings each; here every noun meets every aspect, so that the
model must find what two clauses share (a noun, often one that it has never seen) and then compare what they say of it.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905

from __future__ import annotations

from tools.train_demo import clause_words, words
from tools.train_demo.sample import Random, other
from tools.train_demo.words import different

NOUNS = """tour course concert workshop seminar banquet parade auction raffle race match picnic wedding hike sermon broadcast interview exam meeting conference survey
audit search repair rescue harvest census training lesson therapy surgery massage haircut voyage flight drive transfer shuttle laundry cleaning catering security translation
edition poster album film sculpture mural portrait ballad anthem quiz menu cocktail cake soup cheese harvest timber gravel cement copper cotton silk leather paper glass
engine turbine generator pump boiler filter valve cable antenna sensor scanner router server licence backup upgrade website newsletter archive catalogue database password
deposit loan grant pension bonus salary subsidy donation insurance guarantee mortgage fine toll tax voucher coupon ticket badge permit visa passport certificate diploma trophy medal
fence gate roof cellar attic terrace garage driveway lawn hedge pond fountain bench lamp post statue staircase corridor lift escalator tunnel bridge pier dock runway platform depot
truck tractor bus tram bicycle boat barge canoe sled caravan tent camp cabin cottage villa castle chapel museum library theatre cinema pool spa clinic pharmacy
dog show flower bed bird house horse stable bee hive fish tank apple tree rose bush vegetable plot night shift morning shift summer camp winter sale spring fair autumn market
project mission experiment study report minutes budget forecast strategy contest campaign petition strike protest treaty merger inspection delivery shipment cargo luggage mailing
warning alarm fire drill power supply water supply heating ventilation lighting sound system stage set costume script rehearsal plan dress code seating plan guest list waiting list price list""".replace(
    "\n", " "
)
_TWO = ("lamp post", "dog show", "flower bed", "bird house", "horse stable", "bee hive", "fish tank", "apple tree", "rose bush", "vegetable plot", "night shift", "morning shift", "summer camp", "winter sale", "spring fair", "autumn market",
        "fire drill", "power supply", "water supply", "sound system", "stage set", "rehearsal plan", "dress code", "seating plan", "guest list", "waiting list", "price list")  # fmt: skip


def _nouns() -> tuple[str, ...]:
    text = NOUNS
    for pair in _TWO:
        text = text.replace(pair, pair.replace(" ", "_"))
    return tuple(dict.fromkeys(word.replace("_", " ") for word in text.split()))


ALL = _nouns()
UNITS = "people rooms copies tables rounds boxes chairs stops pages members parts lamps songs players questions prizes".split()

# By kind of value; {n} the noun, {p} the party, {v} the value, {u} what is counted.
_VALUED = {
    "money": "the {n} costs {v} | {p} pays {v} for the {n} | {v} is the price of the {n} | for the {n} one pays {v} | the {n} is priced at {v} | {p} asks {v} for the {n} | the bill for the {n} is {v} | the {n}: {v} | {v} are charged for the {n} | the {n} is billed at {v} | {p} spends {v} on the {n} | the {n} is worth {v} | nobody gets the {n} for less or more than {v} | the {n} is yours for {v} | {p} owes {v} for the {n}",
    "duration": "the {n} takes {v} | the {n} lasts {v} | {p} needs {v} for the {n} | {v} are planned for the {n} | the {n} is over after {v} | after {v} the {n} is finished | the length of the {n} is {v} | {p} allows {v} for the {n} | the {n} extends over {v} | the {n} runs for {v} | it is {v} from the start of the {n} to its end | {p} keeps the {n} for {v} | {v} of {n} are enough | the {n} may not go beyond {v}",
    "percent": "{v} of the {n} go to {p} | {p} gets {v} of the {n} | the share of {p} in the {n} is {v} | {p} holds {v} of the {n} | of the {n}, {v} belong to {p} | {p} is entitled to {v} of the {n} | {p} has a claim to {v} of the {n} | {p} bears {v} of the {n} | {p} pays for {v} of the {n}",
    "date": "the {n} is on {v} | the {n} takes place on {v} | on {v} the {n} begins | {p} starts the {n} on {v} | the {n} falls on {v} | {v} is the day of the {n} | the date of the {n} is {v} | {p} plans the {n} for {v} | the {n} is scheduled for {v} | the {n}: {v} | {p} expects the {n} on {v} | come to the {n} on {v} | the {n} was set for {v}",
    "count": "the {n} has {v} {u} | there are {v} {u} in the {n} | {v} {u} belong to the {n} | the number of {u} in the {n} is {v} | {p} provides the {n} with {v} {u} | the {n} needs {v} {u} | {v} {u} are part of the {n} | {p} counts {v} {u} in the {n} | the {n} holds {v} {u} | {p} allows {v} {u} in the {n} | for the {n} {v} {u} are planned",
    "city": "the {n} is held in {v} | {p} holds the {n} in {v} | the {n} takes place in {v} | {v} is the place of the {n} | in {v} {p} arranges the {n} | the {n} can be found in {v} | the {n} is located in {v} | for the {n} one travels to {v} | {p} keeps the {n} in {v} | whoever wants the {n} goes to {v}",
    "country": "the {n} comes from {v} | {p} gets the {n} from {v} | {v} is the origin of the {n} | the {n} is made in {v} | {v} supplies the {n} | the {n} is brought in from {v} | {p} buys the {n} in {v} | the home of the {n} is {v}",
    "language": "the {n} is in {v} | {p} prepares the {n} in {v} | the language of the {n} is {v} | {v} is used for the {n} | everyone speaks {v} at the {n} | for the {n} one needs {v} | {p} offers the {n} in {v}",
    "weekday": "the {n} is on {v}s | {p} has the {n} every {v} | every {v} there is the {n} | the {n} takes place each {v} | {v} is the day of the {n} | the {n} is for {v}s | on {v}s {p} sees to the {n} | {p} puts the {n} on {v}s",
    "clock": "the {n} starts at {v} | at {v} the {n} begins | {p} opens the {n} at {v} | the {n} is set for {v} | {v} is the time of the {n} | be there at {v} for the {n} | the {n} of {p} is at {v} | {p} plans the {n} for {v}",
    "frequency": "the {n} is done {v} | {v} {p} sees to the {n} | {p} does the {n} {v} | the {n} happens {v} | the {n} takes place {v} | {v} there is the {n} | {p} repeats the {n} {v} | one has the {n} {v}",
    "measure": "the {n} measures {v} | the size of the {n} is {v} | {p} limits the {n} to {v} | the {n} comes to {v} | {v} is the size of the {n} | the {n} of {p} has {v} | {p} gives the {n} as {v} | the {n} amounts to {v}",
    "colour": "the {n} is {v} | {p} paints the {n} {v} | the colour of the {n} is {v} | {v} is the colour of the {n} | the {n} gets a coat of {v} | {p} wants the {n} {v} | {p} chose {v} for the {n} | one knows the {n} by its {v} colour",
}  # fmt: skip
_POLAR = """
the {n} is allowed | {p} may have the {n} | nobody objects to the {n} | {p} agrees to the {n} | the {n} is permitted | there is no rule against the {n} | the {n} is welcome | {p} accepts the {n} || the {n} is forbidden | {p} may not have the {n} | the {n} is not permitted | {p} objects to the {n} | there is a rule against the {n} | {p} rejects the {n} | nobody may have the {n} | the {n} is banned | {p} does without the {n}
the {n} is included | {p} adds the {n} at no extra cost | the price covers the {n} | one does not pay extra for the {n} | {p} throws in the {n} | the {n} costs nothing extra || the {n} is not included | the {n} costs extra | {p} charges extra for the {n} | the price leaves out the {n} | one pays for the {n} on top | the {n} comes on top of the price
the {n} is required | {p} cannot do without the {n} | without the {n} nothing goes | the {n} is compulsory | {p} insists on the {n} | the {n} is a must || the {n} is optional | {p} can do without the {n} | it works without the {n} too | nobody needs the {n} | the {n} is voluntary | {p} leaves the {n} to choice
the {n} stays open | {p} keeps the {n} open | anyone can use the {n} | the {n} is open to all | {p} lets everybody use the {n} || the {n} is closed | {p} shuts the {n} | nobody can use the {n} | the {n} is off limits | {p} lets nobody use the {n}
the {n} is secret | {p} tells nobody about the {n} | the {n} must not be made known | not a word about the {n} leaves the house | {p} keeps quiet about the {n} || the {n} is public | {p} tells everybody about the {n} | anyone may know of the {n} | {p} publishes the {n} | {p} makes no secret of the {n}
the {n} can be returned | {p} takes back the {n} | returning the {n} is fine | one may give back the {n} || the {n} cannot be returned | {p} does not take back the {n} | there is no return of the {n} | whoever has the {n} must keep it
the {n} is insured | {p} insures the {n} | cover exists for the {n} | an insurer pays for the {n} || the {n} is not insured | {p} has no cover for the {n} | nobody insures the {n} | no insurer pays for the {n}
the {n} goes ahead | {p} holds the {n} as planned | the {n} will take place | nothing stops the {n} || the {n} is cancelled | {p} calls off the {n} | there will be no {n} | the {n} does not take place | {p} drops the {n}
{p} keeps the {n} | the {n} stays with {p} | {p} does not give up the {n} | {p} holds on to the {n} || {p} gives up the {n} | {p} parts with the {n} | the {n} does not stay with {p} | {p} hands the {n} to others
the {n} is ready | {p} has finished the {n} | all work on the {n} is done | the {n} is complete || the {n} is not ready | {p} has not finished the {n} | work on the {n} goes on | the {n} is incomplete
the {n} can be changed | {p} may change the {n} | changes to the {n} are possible | the {n} is open to changes || the {n} cannot be changed | {p} may not change the {n} | no changes to the {n} are possible | the {n} is final
the {n} works without power | {p} runs the {n} without power | no current is needed for the {n} || the {n} needs power | {p} runs the {n} on mains power | without current the {n} stands still
guests may see the {n} | {p} shows the {n} to guests | guests are shown the {n} || guests may not see the {n} | {p} shows no guest the {n} | the {n} is hidden from guests
"""
_ROLES = "{p} takes care of the {n} | the {n} is the task of {p} | {p} is in charge of the {n} | the {n} lies with {p} | for the {n} one turns to {p} | {p} handles the {n} | {p} runs the {n} | the {n} is the job of {p} | the {n} is in the hands of {p} | it is {p} who does the {n} | {p} and nobody else does the {n} | {p} answers for the {n} | {p} pays for the {n} | the {n} is paid by {p} | the bill for the {n} goes to {p}"


def _frames(text: str) -> list[str]:
    return [f"{frame.strip()}." for frame in text.split(" | ")]


VALUED = {kind: _frames(text) for kind, text in _VALUED.items()}
POLAR = [tuple(_frames(side) for side in row.split(" || ")) for row in _POLAR.strip().splitlines()]
ROLES = _frames(_ROLES)
TASK, PAYS = ROLES[:12], ROLES[12:]  # doing and paying are two aspects
APART = (
    "money",
    "percent",
    "count",
    "measure",
    "colour",
    "language",
    "city",
    "duration",
)  # aspects that never exclude each other


def noun(r: Random) -> str:
    """Something, sometimes under a name that no one has, or with an adjective."""
    u = r.random()
    if u < 0.12:
        return words.invented(r).lower()
    if u < 0.25:
        return f"{r.choice(words.ADJECTIVES)} {r.choice(ALL)}"
    if u < 0.32:
        return words.plain(r.choice(words.THINGS))
    return r.choice(ALL)


def pair(r: Random, parties: tuple[str, str]) -> tuple[str, str, bool, bool]:
    """Two plain clauses, whether they contradict, and whether they say the same."""
    conflict = r.random() < 0.5
    same = not conflict and r.random() < 0.45
    about = noun(r)
    u = r.random()
    if u < 0.4:
        a, b = _valued(r, parties, about, conflict, same)
    elif u < 0.56:
        a, b = _acted(r, parties, about, conflict, same)
    elif u < 0.66:
        a, b = _captioned(r, parties, about, conflict, same)
    elif u < 0.88:
        a, b = _polar(r, parties, about, conflict, same)
    else:
        a, b = _roles(r, parties, about, conflict, same)
    return a, b, conflict, same


def _two(r: Random, frames: list[str], slot: str = "") -> tuple[str, str]:
    """Two wordings, different where there are two; with a ``slot``, both show it."""
    shown = [frame for frame in frames if slot in frame] or frames
    first = r.choice(shown)
    return first, (other(r, shown, first) if len(shown) > 1 and r.random() < 0.85 else first)


def _valued(r: Random, parties: tuple[str, str], about: str, conflict: bool, same: bool) -> tuple[str, str]:
    kind = r.choice(list(VALUED))
    value, unit = words.KINDS[kind](r), r.choice(UNITS)
    second = different(r, kind, value) if conflict or (not same and r.random() < 0.85) else value
    party, topic, frames, slot = parties[0], about, VALUED[kind], ""
    if not conflict and not same:
        u = r.random()
        if u < 0.3 and sum("{p}" in frame for frame in frames) >= 2:
            party, slot = parties[1], "{p}"
            if kind != "percent" and r.random() < 0.5:
                topic = other(r, ALL, about)
        elif u < 0.45 and kind in APART:
            kind = other(r, APART, kind)
            second = words.KINDS[kind](r)
        else:
            topic = other(r, ALL, about)
            party = r.choice(parties)
        if (
            slot
            and topic == about
            and kind not in ("money", "percent", "count", "duration", "frequency", "clock", "weekday")
        ):
            topic = other(r, ALL, about)
    first_frame, second_frame = _two(r, frames, slot)
    if kind and VALUED[kind] is not frames:
        second_frame = r.choice(VALUED[kind])
    a = first_frame.format(n=about, p=parties[0], v=value.text(r, 0.5), u=unit)
    b = second_frame.format(n=topic, p=party, v=second.text(r, 0.5), u=unit)
    return a, b


def _polar(r: Random, parties: tuple[str, str], about: str, conflict: bool, same: bool) -> tuple[str, str]:
    sides = r.choice(POLAR)
    side = r.randrange(2)
    party, topic = parties[0], about
    chosen = 1 - side if conflict or (not same and r.random() < 0.85) else side
    if not conflict and not same:
        topic = other(r, ALL, about)
        party = r.choice(parties)
    first, second = r.choice(sides[side]), r.choice(sides[chosen])
    if chosen == side:
        first, second = _two(r, sides[side])
    return first.format(n=about, p=parties[0]), second.format(n=topic, p=party)


def _roles(r: Random, parties: tuple[str, str], about: str, conflict: bool, same: bool) -> tuple[str, str]:
    frames = r.choice((TASK, PAYS))
    first, second = _two(r, frames)
    topic, party = about, parties[1] if conflict else parties[0]
    if not conflict and not same:
        party = parties[1] if r.random() < 0.85 else parties[0]
        if r.random() < 0.3:
            second = r.choice(PAYS if frames is TASK else TASK)
        else:
            topic = other(r, ALL, about)
    return first.format(n=about, p=parties[0]), second.format(n=topic, p=party)


_ACTED = _frames(
    "{p} {s} the {n} {a} | the {n} is {pp} {a} | {a} the {n} is {pp} | {ing} the {n} takes place {a} | the {n} gets {pp} {a} | {p} has the {n} {pp} {a} | whoever {s} the {n} does so {a} | the {n} will be {pp} by {p} {a} | {a} someone {s} the {n} | {p} wants to {base} the {n} {a} | it is {a} that {p} {s} the {n} | {a} it is time to {base} the {n} | the {n} needs to be {pp} {a} | {p} is known to {base} the {n} {a}"
)
_MAY = (
    _frames("{p} may {base} the {n} | {ing} the {n} is fine | {p} is welcome to {base} the {n} | nobody minds if {p} {s} the {n} | the {n} can be {pp} | {p} likes to {base} the {n} | {p} {s} the {n} | the {n} is there to be {pp}"),
    _frames("{p} may not {base} the {n} | {ing} the {n} is no good | {p} must not {base} the {n} | everybody minds if {p} {s} the {n} | the {n} cannot be {pp} | {p} refuses to {base} the {n} | {p} never {s} the {n} | the {n} is not there to be {pp}"),
)  # fmt: skip
_CAPTIONS = _frames(
    "{x} {y}: {v} | {y}, {x}: {v} | {v} for {x} and {y} | the {x} of the {y} is {v} | {x} and {y} mean {v} | with {x} and {y} comes {v} | where {x} meets {y} one says {v} | no {x} without {y}, and that is {v} | {v} is what {y} brings to {x} | they {x} the {y} with {v} | {p} puts {v} beside {x} and {y} | as to {y} with {x}, {p} takes {v}"
)


def _verb(r: Random) -> tuple[str, str, str, str]:
    """Base, third person, participle and -ing form of a verb, one in three made up."""
    if r.random() < 0.35:
        stem = words.invented(r).lower().rstrip("aeiou") + r.choice(("t", "k", "nd", "rm", "lt"))
        return stem, f"{stem}s", f"{stem}ed", f"{stem}ing"
    base, third, participle, ing, _ = (words.plain(form) for form in r.choice(clause_words.VERBS))
    return base, third, participle, ing


def _acted(r: Random, parties: tuple[str, str], about: str, conflict: bool, same: bool) -> tuple[str, str]:
    """Something is done to the noun: at some time, in some place, for some money, or not at all."""
    verb, topic, party = _verb(r), about, parties[0]
    second_verb = verb
    if not conflict and not same:
        party = r.choice(parties)
        if r.random() < 0.5:
            topic = other(r, ALL, about)
        else:
            second_verb = _verb(r)

    def filled(frame: str, forms: tuple[str, str, str, str], n: str, p: str, adjunct: str = "") -> str:
        return frame.format(base=forms[0], s=forms[1], pp=forms[2], ing=forms[3], n=n, p=p, a=adjunct)

    changed = conflict or (not same and r.random() < 0.85)
    if r.random() < 0.3:
        side = r.randrange(2)
        first, second = r.choice(_MAY[side]), r.choice(_MAY[1 - side if changed else side])
        return filled(first, verb, about, parties[0]), filled(second, second_verb, topic, party)
    kind = r.choice(list(clause_words.ADJUNCTS))
    value = words.KINDS[kind](r)
    value2 = different(r, kind, value) if changed else value
    first, second = _two(r, _ACTED)
    adjuncts = [r.choice(clause_words.ADJUNCTS[kind]).format(v=v.text(r, 0.6)) for v in (value, value2)]
    return filled(first, verb, about, parties[0], adjuncts[0]), filled(second, second_verb, topic, party, adjuncts[1])


def _captioned(r: Random, parties: tuple[str, str], about: str, conflict: bool, same: bool) -> tuple[str, str]:
    """Two words and a value in words that hardly mean anything: only what is shared decides."""
    kind = r.choice(list(words.KINDS))
    value = words.KINDS[kind](r)
    changed = conflict or (not same and r.random() < 0.85)
    value2 = different(r, kind, value) if changed else value
    beside, topic = noun(r), about
    second_beside = beside
    if not conflict and not same:
        topic, second_beside = other(r, ALL, about), noun(r)
    first, second = _two(r, _CAPTIONS)
    a = first.format(x=about, y=beside, v=value.text(r, 0.5), p=parties[0])
    return a, second.format(x=topic, y=second_beside, v=value2.text(r, 0.5), p=parties[0])
