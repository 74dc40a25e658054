"""Fields of records, units, and the grammar of questions about amounts."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

from tools.train_demo import words

FIELDS = {"city": words.CITIES, "language": words.LANGUAGES, "colour": words.COLOURS, "weekday": words.WEEKDAYS, "country": words.COUNTRIES,
          "paid": ["yes", "no"], "month": words.MONTHS, "status": ["open", "closed", "waiting"], "active": ["yes", "no"],
          "size": ["small", "medium", "large"], "role": words.ROLES}  # fmt: skip
NUMBERS = {"age": (18, 90), "members": (2, 99), "amount": (5, 190), "rooms": (1, 30), "stock": (0, 150), "price": (1, 199), "score": (0, 100),
           "visits": (1, 60), "weight": (3, 120)}  # fmt: skip
MORE_NUMBERS = {"height": (2, 199), "width": (2, 199), "length": (5, 199), "floors": (1, 60), "pages": (5, 199), "seats": (4, 199), "total": (3, 199),
                "cost": (1, 199), "balance": (0, 199), "points": (0, 150), "temperature": (0, 60), "speed": (5, 199), "distance": (1, 199), "orders": (0, 120),
                "errors": (0, 40), "distance in km": (2, 150), "duration": (1, 120), "fee": (2, 150), "tax": (1, 50), "level": (1, 20), "count": (0, 199),
                "quantity": (1, 150), "units sold": (0, 199), "children": (0, 9), "volume": (1, 150), "load": (0, 150), "salary": (20, 199)}  # fmt: skip
MORE_FIELDS = {"brand": words.COMPANY_FIRST, "owner": words.PERSON_FIRST, "place": words.PLACES, "item": words.THINGS, "delivery day": words.WEEKDAYS, "nationality": words.COUNTRIES,
               "shipped": ["yes", "no"], "priority": ["low", "normal", "high"], "category": words.THINGS, "branch": words.CITIES}  # fmt: skip
UNITS = ("euros", "dollars", "points", "days", "pieces", "pounds", "tons")

# {n} is the number compared with.
ABOVE = "more than|above|over|greater than|higher than|larger than|bigger than|in excess of|upwards of"
BELOW = "less than|below|under|smaller than|lower than|fewer than|beneath"
AT_LEAST, AT_MOST = "at least|no less than|not below|a minimum of", "at most|no more than|not above|a maximum of"
EXCEED = "exceed|surpass|top|go over|rise above|come to more than|amount to more than|go above|outstrip|reach more than"
FALL = "stay below|stay under|remain under|remain below|keep below|come to less than|amount to less than|reach less than|drop below|be under"
WHETHER = ("Is the {k} {c} {n}?", "Is {k} {c} {n}?", "Is it true that the {k} is {c} {n}?", "Can one say that the {k} is {c} {n}?", "Does the record show a {k} {c} {n}?", "Is the value of {k} {c} {n}?",
           "Is the figure for the {k} {c} {n}?", "Is a {k} {c} {n} given?", "Is the stated {k} {c} {n}?", "Do we see a {k} {c} {n}?", "Was the {k} {c} {n}?", "Is their {k} {c} {n}?", "The {k} is {c} {n}, right?", "Is the number under {k} {c} {n}?")  # fmt: skip
DOES = (
    "Does the {k} {v} {n}?",
    "Does {k} {v} {n}?",
    "Does the value of {k} {v} {n}?",
    "Did the {k} {v} {n}?",
    "Does the figure for the {k} {v} {n}?",
    "Can the {k} be said to {v} {n}?",
    "Is the {k} said to {v} {n}?",
)
EQUALS = ("Is the {k} {n}?", "Does the {k} equal {n}?", "Is {n} the {k}?", "Is the {k} exactly {n}?", "Does the record say that the {k} is {n}?", "Is the {k} given as {n}?", "Does {k} say {n}?", "Is {n} what stands under {k}?",
          "Is {n} entered as {k}?", "Is it true that the {k} is {n}?", "Does the entry for {k} read {n}?", "Is {k} the same as {n}?", "Was {n} entered for the {k}?", "Does it say {n} for the {k}?", "Is the value of {k} {n}?",
          "Do we see {n} under {k}?", "Does the field {k} contain {n}?", "Is {n} the value of {k}?", "Can one say that the {k} is {n}?", "The {k} is {n}, right?", "Does the {k} happen to be {n}?", "Is their {k} {n}?")  # fmt: skip
DIFFERS = (
    "Is the {k} something other than {n}?",
    "Does the {k} differ from {n}?",
    "Is the {k} not {n}?",
    "Is it wrong that the {k} is {n}?",
    "Is {n} not the {k}?",
)

COMPARED = ("{a}: {m} {u}\n{b}: {n} {u}", "{a} costs {m} {u}, {b} costs {n} {u}.", "{a} has {m} {u} and {b} has {n} {u}.", '{{"{a}": {m}, "{b}": {n}}}', "We paid {m} {u} for {a} and {n} {u} for {b}.",
            "{a} = {m}, {b} = {n}", "{a} {m}, {b} {n}", "{a} got {m} {u}. {b} got {n} {u}.", "There are {m} {u} for {a} and {n} {u} for {b}.", "{m} {u} go to {a}, {n} {u} to {b}.", "{a} needs {m} {u}; {b} needs {n} {u}.",
            "{a} | {m}\n{b} | {n}", "In the first year {a} earned {m} {u}. {b} earned {n} {u}.", "{a} sold {m} {u}, but {b} sold {n} {u}.", "{a} offers {m} {u}. The offer of {b} is {n} {u}.", "- {a}: {m}\n- {b}: {n}",
            "Score: {a} {m}, {b} {n}", "{a} weighs {m} {u} and {b} weighs {n} {u}.", "Table:\n{a} {m}\n{b} {n}", "{a} waited {m} {u}, {b} waited {n} {u}.", "{a}, {m} {u}; {b}, {n} {u}", "At {a} one pays {m} {u}, at {b} {n} {u}.")  # fmt: skip
BIGGER = ("Is {p} more than {q}?", "Does {p} have the larger amount?", "Is the amount of {p} greater than that of {q}?", "Is {p} above {q}?", "Does {p} exceed {q}?", "Is {p} ahead of {q}?", "Is {p} larger than {q}?", "Is {p} higher than {q}?",
          "Does {p} have more than {q}?", "Is the number of {p} above that of {q}?", "Is there more for {p} than for {q}?", "Is {p} the larger one?", "Is {p} first?", "Does {p} come out higher than {q}?", "Has {p} more than {q}?", "Is {p} the one with more?",
          "Is the figure of {p} bigger than the figure of {q}?", "Does {p} surpass {q}?", "Is {p} > {q}?", "Is it {p} that has more?", "Does {p} top {q}?", "Is {p} greater than {q}?")  # fmt: skip
SMALLER = ("Is {p} less than {q}?", "Does {p} have the smaller amount?", "Is the amount of {p} lower than that of {q}?", "Is {p} below {q}?", "Is {p} behind {q}?", "Is {p} smaller than {q}?", "Is {p} lower than {q}?",
           "Does {p} have less than {q}?", "Is the number of {p} below that of {q}?", "Is there less for {p} than for {q}?", "Is {p} the smaller one?", "Is {p} last?", "Does {p} come out lower than {q}?", "Has {p} less than {q}?", "Is {p} the one with less?",
           "Is the figure of {p} smaller than the figure of {q}?", "Is {p} < {q}?", "Is it {p} that has less?", "Does {p} stay below {q}?", "Is {p} under {q}?")  # fmt: skip
WHICH_MORE = (
    "Which is more?",
    "Who has more?",
    "Which is larger?",
    "Which is higher?",
    "Who is ahead?",
    "Which is the larger amount?",
    "Who has the most?",
    "Which one is bigger?",
    "Which has the higher number?",
)
WHICH_LESS = (
    "Which is less?",
    "Who has less?",
    "Which is smaller?",
    "Which is lower?",
    "Who is behind?",
    "Which is the smaller amount?",
    "Who has the least?",
    "Which one is lower?",
    "Which has the lower number?",
)
SHORT = (*COMPARED[:1], "{a}: {m}\n{b}: {n}", "{a} = {m}, {b} = {n}", "{a} {m}, {b} {n}")
BOTH_SAID = (
    "Is {p} ({x}) {c} {q} ({y})?",
    "{p} has {x} and {q} has {y}: is {p} {c} {q}?",
    "Is {x} for {p} {c} {y} for {q}?",
    "Is {x} {c} {y}?",
)
ONE_SAID = (
    "Is {p} {c} {y}?",
    "Is the number of {p} {c} {y}?",
    "Does {p} stand at {c} {y}?",
    "Is it {c} {y} for {p}?",
    "Does {p} have {c} {y}?",
)
PLACE_SAID = (
    "Is the first number {c} the second?",
    "Is the number on the left {c} the one on the right?",
    "Is the earlier amount {c} the later one?",
    "Is the first one {c} the other?",
)
