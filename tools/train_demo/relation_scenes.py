"""What two parties do with each other, told from either side, for ``clause_relations``.

Slots: {p} who gives, {q} who gets, {n} the thing, {v} the value, {u} a unit of time. Wordings of one side are separated
by a bar, sides by two bars; the last side of a scene with a value says that there is none.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

# kind of value, whose nouns (one, many, stuff), then wordings with the value || wordings without any.
_VALUED = """
count many: {p} delivers {v} {n} to {q} | {q} receives {v} {n} | {q} gets {v} {n} from {p} | {v} {n} go from {p} to {q} | {q} is sent {v} {n} | {p} provides {q} with {v} {n} | {v} {n} are handed to {q} || {p} delivers no {n} to {q} | {q} receives no {n} | {q} gets none of the {n} | {p} keeps all {n} for itself | no {n} go from {p} to {q}
count many: {p} sells {v} {n} | {q} buys {v} {n} from {p} | {v} {n} are sold to {q} | {q} becomes the owner of {v} {n} | with this sale {v} {n} change hands | {q} orders {v} {n} || {p} sells no {n} | {q} buys no {n} from {p} | {n} are not for sale | {q} orders no {n}
count many: {p} lends {v} {n} to {q} | {q} borrows {v} {n} | {v} {n} are on loan to {q} | {q} has {v} {n} on loan | {p} gives away {v} {n} for a while || {p} lends no {n} | {q} borrows no {n} | {n} are not lent | nothing is on loan to {q}
count many: {p} allows {q} {v} {n} | {q} is entitled to {v} {n} | {q} may have {v} {n} | up to {v} {n} are granted to {q} | {q} can ask {p} for {v} {n} | {v} {n} are included for {q} | {q} may take {v} {n} || {p} allows {q} no {n} | {q} is not entitled to {n} | {q} may not have {n} | no {n} are granted to {q} | {n} are not included for {q}
count many: the house of {p} has room for {v} {n} | {v} {n} fit into the house | {p} can take in {v} {n} | there is space for {v} {n} | {q} may bring {v} {n} | {q} comes with {v} {n} || there is no room for {n} | {p} can take in no {n} | {q} may bring no {n} | {q} comes without {n}
money one: {p} charges {v} for the {n} | {q} pays {v} for the {n} | the {n} costs {q} {v} | {q} is billed {v} for the {n} | {p} earns {v} with the {n} | {p} asks {v} for the {n} | {q} gets the {n} for {v} | {p} receives {v} from {q} for the {n} | the {n} sets {q} back {v} || {q} gets the {n} for free | {p} gives the {n} away | the {n} costs {q} nothing | {p} charges nothing for the {n} | {q} does not pay for the {n} | {p} provides the {n} free of charge | {p} offers the {n} without payment | the {n} is free for {q}
money stuff: {p} charges {v} for {n} | {q} pays {v} for {n} | {n} costs {q} {v} | {q} is billed {v} for {n} | {q} has to pay {v} towards {n} || {n} is free for {q} | {q} has {n} for free | {n} costs {q} nothing | nothing is charged for {n} | {p} does not charge for {n} | {q} pays nothing for {n} | {n} comes without charge
money many: {p} charges {v} for {n} | {q} pays {v} for {n} | {n} cost {q} {v} | the price of {n} is {v} | {p} sells {n} for {v} || {n} are free for {q} | {n} cost nothing | {p} does not charge for {n} | {p} hands out {n} for free | {q} pays nothing for {n}
money one: {p} fines {q} {v} if the {n} is late | {q} pays {v} when the {n} comes late | a late {n} costs {q} {v} | {p} takes off {v} for a late {n} || {p} asks no fine for a late {n} | a late {n} costs {q} nothing | {q} pays nothing when the {n} comes late
percent one: {q} hands over {v} of the {n} | {p} receives {v} of the {n} from {q} | {v} of the {n} go to {p} | {q} passes on {v} of the {n} to {p} | {p} is given {v} of the {n} | {p} and not {q} gets {v} of the {n} || {p} receives nothing of the {n} | {q} keeps the whole {n} | nothing of the {n} goes to {p} | {q} hands over no part of the {n}
percent one: {p} grants {q} a discount of {v} on the {n} | {q} pays {v} less for the {n} | {p} takes {v} off the price of the {n} | {q} saves {v} on the {n} || {p} grants no discount on the {n} | {q} pays the full price for the {n} | nothing is taken off the price of the {n}
duration one: {p} gives {q} {v} for the {n} | {q} has {v} for the {n} | {q} must be done with the {n} after {v} | {p} waits {v} for the {n} | {p} allows {q} {v} for the {n} || {p} sets no limit of time for the {n} | {q} may take as long as it likes for the {n} | there is no deadline for the {n}
duration one: the {n} is guaranteed by {p} for {v} | {p} stands by the {n} for {v} | for {v} {q} can bring a faulty {n} back to {p} | {q} is safe with the {n} for {v} || {p} does not stand by the {n} | nothing is guaranteed for the {n} | {q} cannot bring a faulty {n} back to {p}
duration one: {q} waits {v} for the {n} | the {n} reaches {q} after {v} | {p} sends the {n} after {v} | {v} later {q} receives the {n} | {p} needs {v} to send the {n} || {q} need not wait for the {n} | {q} receives the {n} at once | {p} sends the {n} without any delay | the {n} reaches {q} immediately
duration one: {q} rides on the {n} for {v} | {p} lets {q} try the {n} for {v} | {q} can try the {n} for {v} | {v} are given to {q} to try the {n} || {q} cannot try the {n} | {p} does not let {q} try the {n} | trying the {n} is out
duration one: {q} can leave the {n} with {v} of notice | {p} is told {v} before {q} leaves the {n} | {q} gives {p} notice {v} ahead | whoever leaves the {n} says so {v} before || {q} cannot leave the {n} | {q} is bound to the {n} for ever | there is no way for {q} to leave the {n}
date one: {p} hands the {n} over to {q} on {v} | {q} receives the {n} on {v} | from {v} on {q} has the {n} | {q} takes the {n} from {p} on {v} | the {n} passes to {q} on {v} | on {v} the {n} reaches {q} || {p} never hands over the {n} | {q} never receives the {n} | the {n} does not pass to {q}
date one: {q} leaves the {n} on {v} | {p} gets the {n} back on {v} | {q} has the {n} until {v} | the stay of {q} in the {n} ends on {v} | after {v} {q} no longer has the {n} || {q} keeps the {n} for ever | {p} does not get the {n} back | {q} never leaves the {n}
clock one: {p} brings the {n} to {q} at {v} | {q} expects the {n} at {v} | at {v} {p} is at the door with the {n} | the {n} is with {q} at {v} | {q} gets the {n} from {v} on || {p} does not bring the {n} | {q} has to fetch the {n} | the {n} is not brought to {q}
frequency one: {p} telephones {q} about the {n} {v} | {v} {q} is rung up about the {n} | {q} hears the voice of {p} about the {n} {v} | {v} {p} and {q} talk about the {n} || {p} never telephones about the {n} | {q} is not rung up about the {n} | {p} and {q} do not talk about the {n}
frequency one: {p} sends {q} a bill for the {n} {v} | {q} gets a bill for the {n} {v} | {v} the {n} is billed to {q} | {q} pays for the {n} {v} || {p} sends no bill for the {n} | {q} gets no bill for the {n} | the {n} is never billed
frequency one: {p} renews the {n} {v} | {v} {q} gets a new {n} | the {n} is renewed {v} | a new {n} comes {v} || the {n} is never renewed | {q} gets no new {n} | {p} does not renew the {n}
weekday one: {p} teaches {q} the {n} every {v} | {q} learns the {n} on {v}s | lessons in the {n} are on {v}s | {v} is the day when {q} learns the {n} || {p} does not teach the {n} | {q} gets no lessons in the {n} | there are no lessons in the {n}
weekday many: {p} hands out {n} on {v}s | {q} fetches {n} every {v} | {v} is the day for {n} | every {v} {p} gives {n} to {q} | on {v}s {q} comes for {n} || {p} hands out no {n} | {q} fetches no {n} | there is no day for {n}
weekday one: the {n} is closed on {v}s | no one gets into the {n} on {v}s | {p} shuts the {n} every {v} | on {v}s {q} finds the {n} shut || the {n} is open every day | {p} never shuts the {n} | {q} can use the {n} on all days of the week
measure stuff: {p} supplies {v} of {n} | {q} takes {v} of {n} | {v} of {n} are brought to {q} | {q} needs {v} of {n} | {p} has {v} of {n} for {q} || {p} supplies no {n} | {q} takes no {n} | {q} needs no {n}
language one: {p} explains the {n} to {q} in {v} | {q} hears about the {n} in {v} | {q} gets the {n} in {v} | the {n} for {q} is written in {v} | {p} has the {n} put into {v} || {p} does not explain the {n} | {q} hears nothing about the {n}
country one: {p} sells the {n} in {v} | {v} is the market for the {n} | buyers of the {n} live in {v} | {q} has the {n} from {p} in {v} || {p} does not sell the {n} | the {n} is not on the market | there are no buyers of the {n}
city one: {q} picks up the {n} in {v} | {p} keeps the {n} ready in {v} | the {n} waits for {q} in {v} | to get the {n} {q} goes to {v} || {p} brings the {n} to the door of {q} | {q} need not go anywhere for the {n}
"""
# Rates: {u} hour, day, week, ...; {d} hourly, daily, ...
_RATES = "{q} pays {p} {v} for each {u} of the {n} | the {d} rate of {p} for the {n} is {v} | {p} asks {v} {a} {u} for the {n} | every {u} of the {n} costs {q} {v} | for {one} {u} with the {n} {q} is charged {v} | {p} takes {v} per {u} for the {n} | {v} are due for every {u} of the {n} | the {n} is billed at {v} {a} {u} | {a} {u} of the {n} comes to {v} | {p} earns {v} {a} {u} with the {n} | the {d} fee for the {n} is {v} | {q} spends {v} {d} on the {n} || the {n} costs {q} nothing | {p} takes no fee for the {n} | {q} has the {n} for free | {p} charges nothing for the {n}"
RATE_UNITS = (("hour", "hourly", "an", "one"), ("day", "daily", "a", "one"), ("week", "weekly", "a", "one"), ("month", "monthly", "a", "one"), ("year", "yearly", "a", "one"))  # fmt: skip

# Without a value: one side || the other; {base} {s} {pp} {ing} a verb. After "!" a third party is no way out.
_POLAR = """
{p} allows {q} to {base} {n} | {q} may {base} {n} | {q} has the consent of {p} to {base} {n} | {p} lets {q} {base} {n} | {q} is free to {base} {n} | {ing} {n} is permitted to {q} | {p} has nothing against it if {q} {s} {n} | {n} can be {pp} by {q} || {p} forbids {q} to {base} {n} | {q} may not {base} {n} | {p} does not let {q} {base} {n} | {q} must not {base} {n} | {ing} {n} is forbidden to {q} | {q} has no right to {base} {n} | {n} cannot be {pp} by {q} | {p} objects if {q} {s} {n} | {q} never {s} {n} | {q} {s} no {n}
{p} demands that {q} {base} {n} | {q} must {base} {n} | {q} has to {base} {n} | it is the duty of {q} to {base} {n} | {p} insists that {n} are {pp} by {q} | {q} is bound to {base} {n} | {q} cannot get out of {ing} {n} || {p} does not ask {q} to {base} {n} | {q} need not {base} {n} | {q} does not have to {base} {n} | {ing} {n} is voluntary for {q} | {p} spares {q} from {ing} {n} | {q} is free not to {base} {n} | whether {q} {s} {n} is left to {q} | {q} is not required to {base} {n}
{q} {s} {n} | {n} are {pp} by {q} | {q} always {s} {n} | it is normal for {q} to {base} {n} | {q} also {s} {n} | {q} does {base} {n} || {q} does not {base} {n} | {n} are not {pp} by {q} | {q} never {s} {n} | {q} refuses to {base} {n} | {q} stops {ing} {n} | {n} are never {pp} | nobody {s} {n} | no {n} are {pp}
{q} {s} {n} as it likes | {q} can {base} {n} on its own authority | {p} has no say when {q} {s} {n} | {q} does not have to get leave of {p} to {base} {n} | {ing} {n} is up to {q} alone | {q} decides alone whether to {base} {n} || {q} {s} {n} only if {p} agrees | {q} has to get leave of {p} to {base} {n} | {p} has a say when {q} {s} {n} | a yes of {p} comes first before {n} are {pp} | {p} must agree to {ing} {n} | {q} cannot decide alone whether to {base} {n}
! {p} pays for {n} | {n} are at the expense of {p} | {p} bears the cost of {n} | {q} need not pay for {n} | {q} gets {n} at the expense of {p} | the bill for {n} goes to {p} | {n} are charged to {p} | {n} cost {q} nothing because {p} pays | {q} gets back what {n} cost || {q} pays for {n} | {n} are at the expense of {q} | {q} bears the cost of {n} | {p} does not pay for {n} | {q} has {n} at its own expense | the bill for {n} goes to {q} | {n} are charged to {q} | {p} refunds nothing for {n}
! {n} belong to {p} | {p} owns {n} | {p} is the owner of {n} | {n} stay with {p} | {p} keeps {n} | {q} does not become the owner of {n} | {n} remain the property of {p} || {n} belong to {q} | {q} owns {n} | {q} is the owner of {n} | {n} pass to {q} | {p} gives up {n} to {q} | {q} takes {n} along | {q} gets {n} for good | {n} become the property of {q}
{p} tells {q} about {n} | {q} learns about {n} from {p} | {q} knows all about {n} | {p} informs {q} of {n} | {p} makes no secret of {n} before {q} | news of {n} goes to {q} || {p} tells {q} nothing about {n} | {q} learns nothing about {n} | {p} keeps {n} secret from {q} | {q} is not informed of {n} | {q} must not know about {n} | {q} is kept in the dark about {n}
! only {q} {s} {n} | {q} alone {s} {n} | nobody but {q} {s} {n} | {q} has the sole right to {base} {n} | no one else {s} {n} than {q} | {n} are {pp} by {q} and by nobody else || others {base} {n} too | {q} is not the only one who {s} {n} | {p} {s} {n} as well | {q} shares with others the right to {base} {n} | {n} are also {pp} by {p} | besides {q}, {p} {s} {n}
! {p} decides on {n} | the choice of {n} is left to {p} | {p} has the last word on {n} | {n} are chosen by {p} alone | {q} has no say in {n} | it is for {p} to choose {n} || {q} decides on {n} | the choice of {n} is left to {q} | {q} has the last word on {n} | {n} are chosen by {q} alone | {p} has no say in {n} | it is for {q} to choose {n}
{n} are included in the price | the price includes {n} | {q} does not pay extra for {n} | {p} adds {n} without charge | {n} come with it | {n} are part of the offer of {p} || {n} are not included in the price | the price excludes {n} | {q} pays extra for {n} | {p} charges {n} separately | {n} cost extra | {n} are no part of the offer of {p} | {n} must be bought in addition
{p} answers for the loss of {n} | if {n} are lost, {p} pays | {p} is liable for {n} | the loss of {n} is made good by {p} | {q} is paid for lost {n} by {p} || {p} does not answer for the loss of {n} | if {n} are lost, {p} pays nothing | {p} is not liable for {n} | nobody makes good the loss of {n} | {q} bears the loss of {n}
{p} still has {n} | {n} are there | there are {n} at the place of {p} | {q} finds {n} at the place of {p} | {q} can count on {n} || {p} has no {n} | {n} are missing | there are no {n} at the place of {p} | {q} finds no {n} at the place of {p} | {q} must do without {n} | {p} does without {n}
{p} works with {n} | {n} are used by {p} | {p} makes use of {n} | the work of {p} is done with {n} | {p} may use {n} for the work || {p} works without {n} | {n} are not used by {p} | {p} makes no use of {n} | the work of {p} is done without {n} | {n} are not to be used | {p} may not use {n} | no {n} are used
! {p} and {q} share {n} | {n} are for both | both use {n} | {q} uses {n} together with {p} || {p} has {n} for itself | {n} are for {p} alone | {q} may not use {n} | {p} shares {n} with nobody
{p} tests {n} before {q} gets them | {q} gets {n} only after a test | no {n} leave {p} untested | {n} pass a test first | a second look is taken at {n} || {p} does not test {n} | {q} gets {n} without a test | {n} leave {p} untested | nobody takes a second look at {n} | no test of {n} is made
"""
# Limits: {m} what is measured, {v} the limit; wordings with a limit || wordings that say that there is none.
_LIMITS = """
{ing} {n} is continued till {m} has passed {v} | {ing} {n} ends once {m} is over {v} | with {m} beyond {v} there is no {ing} {n} | {n} are {pp} while {m} is below {v} | if {m} exceeds {v}, {n} are no longer {pp} | {n} are {pp} with {m} up to {v} | when {m} passes {v}, {q} gives up {ing} {n} | {q} {s} {n} as long as {m} stays under {v} || {n} are {pp} whatever {m} | {n} are {pp} no matter how high {m} | {q} never gives up {ing} {n} because of {m} | {m} does not matter for {ing} {n}
{q} lets in {n} up to {v} | {n} over {v} are sent back | {q} may decline {n} of over {v} | {p} can come with {n} of {v} at most | no {n} beyond {v} get in | {n} may reach {v} and no more | the limit for {n} is {v} || {q} lets in {n} of any size | there is no limit for {n} | {n} may be as large as {p} likes | {q} sends back no {n}
{p} sells no less than {v} of {n} at a time | the smallest lot of {n} is {v} | {q} cannot get less than {v} of {n} | whoever wants {n} takes {v} or more | {n} come in lots of {v} or more || {q} can get as little of {n} as it likes | there is no smallest lot of {n} | {p} sells any quantity of {n} | even the smallest quantity of {n} is sold
"""
MEASURED = ("the temperature", "the price", "the water level", "the speed", "the noise", "the load", "the number of guests", "the depth", "the rent", "the risk", "the pressure", "the distance", "the weight", "the heat")  # fmt: skip


def _sides(text: str) -> list[list[str]]:
    return [[f"{frame.strip()}." for frame in side.split(" | ")] for side in text.split(" || ")]


def _valued(line: str) -> tuple[str, str, list[str], list[str]]:
    head, _, rest = line.partition(": ")
    kind, _, nouns = head.partition(" ")
    some, none = _sides(rest)
    return kind, nouns, some, none


def _polar(line: str) -> tuple[bool, list[str], list[str]]:
    one, other = _sides(line.removeprefix("! "))
    return not line.startswith("! "), one, other


VALUED = [_valued(line) for line in _VALUED.strip().splitlines()]
RATES = _sides(_RATES)
# (whether another party makes it another matter, one side, the other side)
POLAR: list[tuple[bool, list[str], list[str]]] = [_polar(line) for line in _POLAR.strip().splitlines()]
LIMITS = [_sides(line) for line in _LIMITS.strip().splitlines()]
