"""What belongs to the bundled examples and therefore must never occur in training data.

Written down here by hand and not read from the tables: the generators must not see the examples. A test compares.
"""

# ruff: noqa: SIM905 (dense lists of phrases)

from __future__ import annotations

# First words of the parties in resources/examples/contradictions.
PARTY_WORDS = frozenset(
    """halvorsen stonegate lindqvist okafor mirabel tarn pellworth castellan greenbriar dunmore wexford ansley
    quillfeather ines marchetti ostrava bellamy northfold samir haddad calloway rosenthal skerry vantongeren hartigan
    elmsworth peakline larkhall dovetail helianth farrow polyglossa brandt zephyr abernathy calder sorrel pixelcroft
    garrick tamsin redgrave birchall oduya""".split()
)

# Values that contradict each other in the examples: a pair never meets in a training pair, in either order.
NUMBER_PAIRS = frozenset(
    frozenset(pair)
    for pair in (
        (60, 48), (8400, 9100), (3, 5), (25, 40), (4, 12), (5, 8), (1.35, 1.55), (6, 9), (920, 1080), (14, 22),
        (4, 2), (6, 3), (2, 6), (80, 55), (2600, 3150), (50, 70), (9, 14), (3500, 2000), (12000, 7500), (21, 35),
        (32, 40), (28, 23), (3, 6), (27, 10), (75000, 50000), (7, 3), (1240, 1510), (6, 24), (99.9, 98.5), (30, 180),
        (1500, 650), (10, 4), (39, 52), (4200, 5600), (70, 55), (180, 120), (40, 25), (20, 12), (1.8, 2.4), (9, 16),
        (500, 200), (240000, 310000), (2, 4), (3, 1), (12, 2), (16, 11), (150000, 90000), (870, 940), (2, 5), (8, 5),
    )
)  # fmt: skip
DATE_PAIRS = frozenset(
    frozenset(pair)
    for pair in (
        ("4 March", "18 May"), ("30 September", "15 November"), ("1 February", "20 June"), ("1 July", "1 October"),
        ("31 August", "12 December"), ("2 November", "24 January"), ("14 April", "9 August"),
    )
)  # fmt: skip
WORD_PAIRS = frozenset(
    frozenset(pair)
    for pair in (
        ("Stockholm", "Lagos"), ("Tuesday", "Saturday"), ("Portugal", "Denmark"), ("Iceland", "Canada"),
        ("Korean", "Turkish"), ("Monday", "Friday"), ("5:00", "8:00"), ("6:30", "9:00"), ("19:30", "21:15"),
        ("16:00", "11:30"),
    )
)  # fmt: skip
PAIRS = NUMBER_PAIRS | DATE_PAIRS | WORD_PAIRS

# Questions of the example forms.
INSTRUCTIONS = frozenset(
    {
        "Do clause A and clause B contradict each other?",
        "Does the customer want money back?",
        "Which team should handle the ticket?",
        "How urgent is the ticket?",
    }
)

# Sentences of the example tickets that the ticket generator could put together from its parts by chance.
SENTENCES = (
    "Is there a solution this week?",
    "Please change it in the next few days.",
    "Please call me today.",
    "Please reply today.",
    "Stop it immediately",
)
