"""Word lists that several generators share: names, things, places, and values with several ways to write them."""

# ruff: noqa: E501, SIM905 (word lists read better as text)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tools.train_demo import held_out
from tools.train_demo.sample import Random

COMPANY_FIRST = """Acme Borex Cedar Delta Ember Falcon Granite Harbor Iris Juniper Kestrel Lumen Maple Nova Orchid Pioneer
Quartz Raven Summit Tidal Alder Beacon Cobalt Drift Eagle Fern Glacier Hazel Indigo Jasper Krona Linden Meridian Nimbus
Oakridge Pacific Quantum Ridge Silver Timber Union Vertex Willow Xenon Yarrow Zenith Amber Bluefin Copper Dune Evergreen
Foxglove Golden Heron Island Jade Kite Lagoon Mistral Nordic Onyx Prairie Quill River Sable Thistle Urban Violet Wolf
Aurora Bright Canyon Dawn Echo Flint Grove Hawk Ivory Keystone Lotus Monarch Nectar Opal Pebble Rose Sierra Topaz Vista
Anders Becker Costa Dietz Ellis Fischer Garcia Hansen Ito Jansen Kovacs Larsen Meyer Novak Olsen Petrov Quinn Rossi Sato
Tanaka Ueda Varga Weber Yilmaz Zimmer Baxter Carver Draper Fletcher Harper Mason Porter Sawyer Turner Walker""".split()
COMPANY_LAST = """Holdings Labs Group Foods Steel Media Energy Systems Partners Motors Logistics Software Textiles Pharma
Consulting Farms Airlines Bank Insurance Construction Furniture Electric Chemicals Publishing Shipping Hotels Clinics
Design Security Services Trading Industries Networks Plastics Paper Dairy Tools Optics Rentals Security Catering
Freight Estates Studios Advisers Rail School Cleaning Cranes Press Glass Imports Bakery Pharmacy Cloud Builders Fitness
Events Solar Legal Couriers Dental Toys Taxis Homes Theatre Museum Garage Nursery Library Brewery Airport Mills""".split()
PERSON_FIRST = """Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Karin Leo Maria Noah Olga Paul Rita Sara Tom Ute
Victor Wanda Yusuf Zoe Alice Bruno Carla Daniel Elif Frank Gina Henry Irina Jack Kira Luis Mona Nils Oscar Petra Ralph
Sofia Theo Uma Vera Will Amina Bilal Chen Dara Ravi Priya Kenji Mei Lena Omar Fatima Ivan Julia Marco""".split()
PERSON_LAST = """Adams Brown Clark Davis Evans Fuchs Gray Hill Ivanov Jones Klein Lopez Moore Nolan Owen Price Reed Scott
Thomas Ullman Vogel White Young Zhang Baker Cole Dixon Ford Grant Hughes Irwin James Kelly Lane Marsh Nash Parker Ross
Stone Tate Wood Khan Patel Singh Kim Park Chen Silva Santos Moreau Laurent Bauer Koch Wolf""".split()
ROLES = """Supplier Buyer Tenant Landlord Licensor Licensee Contractor Client Seller Lessee Lessor Employer Employee
Lender Borrower Agent Carrier Consultant Distributor Franchisee Guarantor Insurer Operator Owner Publisher Author Vendor
Customer Provider Subscriber Sponsor Manufacturer Retailer Hotel Airline Bank Club School University Hospital""".split()
SYLLABLES = """ba be bi bo bra da de do dra fa fi fo ga ge go gra ha he hi ho ja jo ka ke ki ko kra la le li lo lu ma me mi
mo na ne ni no nu pa pe pi po ra re ri ro ru sa se si so sta ta te ti to tra va ve vi vo wa we wi ya yo za zo""".split()
ENDINGS = ["n", "r", "l", "s", "th", "x", "m", "nd", "rk", "st", "", "", ""]

THINGS = """machines chairs lamps engines pumps tablets printers uniforms tyres bottles windows doors pipes cables helmets
bicycles boats tents books magazines posters cameras phones servers batteries filters brushes tiles bricks beams panels
carpets curtains tables desks shelves boxes barrels containers pallets trucks trailers tractors seeds plants trees flowers
apples oranges eggs cheeses fish shoes shirts jackets gloves toys instruments paintings statues screens cards keys locks
sensors meters valves boilers ovens fridges mattresses pillows towels cups plates knives tickets brochures reports samples
goods spare parts medicines vaccines tools drawings manuals""".replace("spare parts", "spare_parts").split()
PLACES = """roof garden kitchen cellar warehouse office garage lobby car_park workshop hall stairway lift fence playground
pool canteen laboratory terrace gate server_room library reception bathroom corridor yard bridge tunnel platform stage
gallery greenhouse barn stable harbour pier heating drains lighting floor ceiling walls windows facade chimney balcony
plumbing wiring alarm network website database archive software app logo catalogue newsletter""".split()
CITIES = """Paris Berlin London Madrid Rome Vienna Oslo Dublin Lisbon Prague Warsaw Athens Helsinki Boston Chicago Denver
Toronto Montreal Tokyo Seoul Delhi Mumbai Sydney Cairo Nairobi Lima Bogota Dubai Geneva Zurich Milan Naples Hamburg Munich
Lyon Ghent Utrecht Bergen Stockholm Lagos Manila Jakarta Hanoi Porto Riga Tallinn""".split()
COUNTRIES = """France Germany Spain Italy Norway Sweden Ireland Japan India Brazil Mexico Chile Kenya Ghana Egypt Turkey
Greece Poland Austria Belgium Finland Switzerland Australia Peru Vietnam Thailand Portugal Denmark Iceland Canada Texas
Ohio Ontario Delaware Quebec England Scotland Singapore Malta Cyprus""".split()
LANGUAGES = """English French German Spanish Italian Dutch Danish Polish Greek Arabic Hindi Japanese Chinese Russian
Portuguese Swedish Czech Finnish Korean Turkish""".split()
ADJECTIVES = """new old large small spare rented broken empty heavy wooden upper lower outer inner main northern southern
electric organic fresh frozen used second common private temporary additional special""".split()
COLOURS = "red blue green yellow black white grey brown orange purple silver".split()
MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen""".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()
CURRENCIES = ["dollars", "euros", "pounds", "francs"]


def plain(word: str) -> str:
    """Underscores stand for spaces in the lists above."""
    return word.replace("_", " ")


def in_words(n: int) -> str:
    """An integer below 100 in English words."""
    if n < 20:
        return ONES[n]
    return TENS[n // 10] + (f"-{ONES[n % 10]}" if n % 10 else "")


def invented(r: Random) -> str:
    """A name that no one has, so that names must be compared and cannot be remembered."""
    while True:
        name = "".join(r.choice(SYLLABLES) for _ in range(r.choice((2, 2, 2, 3)))) + r.choice(ENDINGS)
        if name not in held_out.PARTY_WORDS:
            return name.capitalize()


def company(r: Random) -> str:
    """A company, real words or invented."""
    first = r.choice(COMPANY_FIRST) if r.random() < 0.45 else invented(r)
    u = r.random()
    if u < 0.75:
        return f"{first} {r.choice(COMPANY_LAST)}"
    if u < 0.85:
        return f"{first} & {r.choice(PERSON_LAST)}"
    if u < 0.92:
        return f"{first} {invented(r)} {r.choice(COMPANY_LAST)}"
    return first


def person(r: Random) -> str:
    """A person's name."""
    first = r.choice(PERSON_FIRST) if r.random() < 0.7 else invented(r)
    last = r.choice(PERSON_LAST) if r.random() < 0.6 else invented(r)
    return f"{r.choice(('Ms', 'Mr', 'Dr'))} {last}" if r.random() < 0.2 else f"{first} {last}"


def party(r: Random) -> str:
    """Someone who can have rights and duties."""
    u = r.random()
    if u < 0.58:
        return company(r)
    if u < 0.74:
        return person(r)
    return f"the {r.choice(ROLES)}"


@dataclass(frozen=True)
class Value:
    """A value that clauses can agree or differ on.

    Attributes:
        key: equal keys mean equal values.
        forms: ways to write it; the first is the usual one.
    """

    key: object
    forms: tuple[str, ...]

    def text(self, r: Random, usual: float = 0.7) -> str:
        """One of the forms, the usual one with probability ``usual``."""
        return self.forms[0] if r.random() < usual else r.choice(self.forms)


def _number(r: Random, top: int) -> int:
    """Small numbers and round numbers are commoner, as in life."""
    u = r.random()
    if u < 0.35 or top <= 12:
        return r.randint(2, min(12, top))
    if u < 0.75:
        return max(2, r.randint(1, max(1, top // 5)) * 5)
    return r.randint(2, top)


def duration(r: Random) -> Value:
    """So many hours, days, weeks, months or years."""
    unit, top = r.choice(
        (("hour", 72), ("day", 180), ("day", 90), ("week", 52), ("month", 60), ("month", 36), ("year", 30))
    )
    n = _number(r, top)
    forms = [f"{n} {unit}s"]
    if n < 100:
        forms += [f"{in_words(n)} {unit}s", f"{in_words(n)} ({n}) {unit}s", f"{n} ({in_words(n)}) {unit}s"]
    return Value((n, unit), tuple(forms))


def money(r: Random) -> Value:
    """An amount in some currency."""
    unit = r.choice(CURRENCIES)
    u = r.random()
    if u < 0.15:
        cents = r.randint(101, 999)
        return Value((cents / 100, unit), (f"{cents / 100:.2f} {unit}",))
    n = r.randint(2, 99) if u < 0.35 else r.randint(2, 99) * r.choice((10, 10, 50, 100, 1000, 5000))
    forms = [f"{n:,} {unit}", f"{n} {unit}"]
    if unit == "dollars":
        forms.append(f"${n:,}")
    if n >= 1000 and n % 1000 == 0 and n < 1_000_000:
        forms.append(f"{n // 1000} thousand {unit}")
    return Value((n, unit), tuple(forms))


def percent(r: Random) -> Value:
    """A percentage."""
    if r.random() < 0.15:
        n = r.randint(11, 999) / 10
        return Value(n, (f"{n} percent", f"{n} %"))
    n = _number(r, 95)
    return Value(n, (f"{n} percent", f"{n} %", f"{n}%", f"{in_words(n)} percent"))


def count(r: Random) -> Value:
    """How many of something."""
    if r.random() < 0.25:
        n = r.randint(2, 99) * r.choice((50, 100, 500))
        return Value(n, (f"{n:,}", f"{n}"))
    n = _number(r, 99)
    return Value(n, (str(n), in_words(n)))


MEASURES = {"kilograms": 90, "kilometres": 900, "metres": 90, "litres": 200, "degrees": 40, "gigabytes": 500, "tonnes": 90,
            "pages": 400, "words": 900, "square metres": 900, "watts": 900, "centimetres": 200, "people": 90}  # fmt: skip


def measure(r: Random) -> Value:
    """A number of some unit."""
    unit = r.choice(list(MEASURES))
    n = _number(r, MEASURES[unit]) * r.choice((1, 1, 1, 100))
    forms = (f"{n:,} {unit}", f"{n} {unit}")
    return Value((n, unit), forms if n >= 100 else (*forms, f"{in_words(n)} {unit}"))


def date(r: Random) -> Value:
    """A day, sometimes with its year."""
    day, month = r.randint(1, 28), r.choice(MONTHS)
    if r.random() < 0.3:
        year = r.randint(2024, 2035)
        return Value(f"{day} {month} {year}", (f"{day} {month} {year}", f"{month} {day}, {year}"))
    return Value(f"{day} {month}", (f"{day} {month}", f"{month} {day}"))


def clock(r: Random) -> Value:
    """A time of day."""
    hour, minute = r.randint(1, 23), r.choice(("00", "00", "00", "15", "30", "45"))
    forms = [f"{hour}:{minute}"]
    if minute == "00":
        forms.append(f"{(hour - 1) % 12 + 1} {'am' if hour < 12 else 'pm'}")
    return Value(f"{hour}:{minute}", tuple(forms))


def _of(words: list[str]) -> Callable[[Random], Value]:
    def draw(r: Random) -> Value:
        word = r.choice(words)
        return Value(word, (word,))

    return draw


def frequency(r: Random) -> Value:
    """How often."""
    u = r.random()
    unit = r.choice(("week", "month", "year", "quarter"))
    if u < 0.4:
        n = r.randint(2, 12)
        return Value(
            ("per", n, unit), (f"{in_words(n)} times a {unit}", f"{n} times a {unit}", f"{n} times per {unit}")
        )
    if u < 0.6:
        plural = r.choice(("hour", "day", "week", "month", "year"))
        n = r.randint(2, 12)
        return Value(("every", n, plural), (f"every {n} {plural}s", f"every {in_words(n)} {plural}s"))
    adverb = {"week": "weekly", "month": "monthly", "year": "yearly", "quarter": "quarterly"}[unit]
    return Value(("per", 1, unit), (f"every {unit}", f"once a {unit}", f"each {unit}", adverb))


KINDS: dict[str, Callable[[Random], Value]] = {
    "duration": duration,
    "money": money,
    "percent": percent,
    "count": count,
    "measure": measure,
    "date": date,
    "clock": clock,
    "frequency": frequency,
    "city": _of(CITIES),
    "country": _of(COUNTRIES),
    "language": _of(LANGUAGES),
    "weekday": _of(WEEKDAYS),
    "colour": _of(COLOURS),
}


def different(r: Random, kind: str, value: Value) -> Value:
    """Another value of the kind, mostly of the same unit, never a pair of the bundled examples."""
    while True:
        candidate = KINDS[kind](r)
        if candidate.key == value.key or frozenset((_bare(candidate), _bare(value))) in held_out.PAIRS:
            continue
        same_unit = _unit(candidate) == _unit(value)
        if same_unit or r.random() < 0.1:
            return candidate


def _bare(value: Value) -> object:
    key = value.key
    if isinstance(key, tuple):
        return key[1] if key[0] in ("per", "every") else key[0]
    return key


def _unit(value: Value) -> object:
    key = value.key
    return key[-1] if isinstance(key, tuple) else None
