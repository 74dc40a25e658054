"""Words and phrases that say the same, to multiply wordings: a sentence keeps its meaning when one replaces another."""

from __future__ import annotations

import re

from tools.train_demo.sample import Random

_SETS = """
within|inside of|in the space of|in no more than
no later than|not later than|at the latest by|by the end of
shall not|must not|may not|is not to|is not allowed to
is allowed to|is permitted to|may|is free to|has permission to|is authorised to|can
is not allowed to|is not permitted to|is barred from being able to|cannot|has no permission to
must|has to|is required to|is obliged to|is bound to|needs to
need not|does not have to|is not required to|is under no obligation to|has no duty to
undertakes to|commits to|promises to|agrees to|pledges to
forbidden|prohibited|not allowed|banned|ruled out
allowed|permitted|possible|acceptable
is responsible for|is in charge of|takes care of|sees to|looks after
belongs to|is owned by|is the property of
at most|no more than|up to|a maximum of|not over
at least|no less than|a minimum of|not below
agreement|contract|deal|arrangement
begins|starts|commences
begin|start|commence
ends|expires|finishes|stops|runs out
terminate|cancel|quit
fee|charge|payment
price|cost
pays|transfers|hands over|remits
receives|gets|obtains|is given
gives|grants|provides|offers
customer|client
company|firm|business
staff|employees|workers|personnel
goods|products|merchandise
building|house|property
room|hall|space
car|vehicle
shop|store
repair|fix|mend
repairs|fixes|mends
buys|purchases|acquires
sells|markets
delivers|supplies|ships|brings
deliver|supply|ship|bring
delivered|supplied|shipped|brought
keeps|retains|holds on to
tells|informs|notifies
tell|inform|notify
every month|each month|monthly|per month|a month
every year|each year|yearly|annually|per year|a year
every day|each day|daily|per day|a day
free of charge|without charge|at no cost|for free|for nothing
in writing|by letter|on paper
consent|approval|permission|agreement
without asking|without the consent of anyone|without approval
defects|faults|flaws
late|overdue|delayed
early|ahead of time|before time
excludes|leaves out|does not cover|does not include
includes|covers|contains|comprises
is excluded|is left out|is not covered|is not included
is included|is covered|is contained
takes place|happens|is carried out|is held
before|ahead of|prior to
after|following
immediately|at once|straight away|without delay
secret|confidential|private
public|open to all|known to everyone
share|portion|part
amounts to|comes to|equals|totals
limit|cap|ceiling|upper limit
additional|extra|further
nobody|no one|no person
everybody|everyone|all people
buyer|purchaser
damage|harm
lessee|tenant
lessor|landlord
rent|lease payment
invoice|bill
invoices|bills
works|is employed
use|make use of
uses|makes use of
change|alter|modify
inspect|check|examine
site|premises|grounds
is due|falls due|is payable
deadline|final date|last date
is governed by|is subject to|follows
dispute|conflict|quarrel
disputes|conflicts|quarrels
decides|rules on|settles
annual|yearly
the other side|the counterparty|the partner
journey|trip
gate|entrance|door
""".strip()

_GROUPS = [tuple(line.split("|")) for line in _SETS.splitlines()]
_PLACES: dict[str, list[tuple[str, ...]]] = {}
for _group in _GROUPS:
    for _phrase in _group:
        _PLACES.setdefault(_phrase, []).append(_group)
_PATTERN = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(_PLACES, key=len, reverse=True))) + r")\b")


def vary(r: Random, text: str, share: float) -> str:
    """Replaces each known phrase of ``text`` with probability ``share`` by another one of its set."""

    def replace(match: re.Match[str]) -> str:
        if r.random() >= share:
            return match.group()
        return r.choice(r.choice(_PLACES[match.group()]))

    return _PATTERN.sub(replace, text)
