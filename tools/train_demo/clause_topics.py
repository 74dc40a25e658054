"""More topics of clauses, each with many wordings; some name the party, some do not.

One line per topic: the kind of its value, then its wordings. Slots: {p} the party, {x} a thing, {v} the value.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

_VALUED = """
money: {p} pays {v} a month for {x} | the rent for {x} is {v} a month | {x} is let to {p} for {v} monthly | each month {v} fall due for {x} | the monthly rent of {x} comes to {v} | {p} owes rent of {v} per month | {p} rents {x} and pays {v} for it each month | the tenant of {x} is charged {v} monthly
money: a fine of {v} is payable for each breach | each breach costs {p} {v} | whoever breaks the rules pays {v} | {p} is fined {v} for every breach | the contractual fine amounts to {v} per breach | for a breach {p} has to pay {v}
money: {p} insures {x} for at least {v} | the policy for {x} covers {v} | {x} carries insurance of {v} | the sum for which {x} is insured is {v} | cover of {v} is taken out for {x} by {p}
money: travel costs are refunded up to {v} | {p} gets back travel costs of no more than {v} | expenses for trips are limited to {v} | up to {v} are reimbursed for travel | the ceiling for travel expenses is {v}
money: {p} invests {v} in {x} | the investment in {x} totals {v} | {v} flow into {x} from {p} | {p} spends {v} on {x} | {x} is financed by {p} with {v}
money: the flat fee covers work worth {v} | {p} works for a flat fee of {v} | a lump sum of {v} is paid for all work | all work is done for {v} in total | {p} receives {v} as a lump sum
money: orders below {v} carry a surcharge | the surcharge applies to orders under {v} | only orders of {v} or more are free of the surcharge | an order must reach {v} to avoid the surcharge
money: the loan to {p} amounts to {v} | {p} borrows {v} | the lender advances {v} to {p} | a credit of {v} is granted to {p} | {p} takes up a loan of {v} | the sum lent to {p} is {v}
money: each instalment is {v} | {p} repays the loan in instalments of {v} | the loan is paid off with {v} at a time | instalments of {v} are due from {p} | {p} pays off {v} with every instalment
money: {p} sponsors the club with {v} a year | the yearly sponsorship is {v} | the club gets {v} a year from {p} | {v} per season come from the sponsor | {p} supports the club with {v} annually
money: a lost key costs {v} | {p} pays {v} for a lost key | whoever loses a key owes {v} | the charge for a lost key is {v} | replacing a key is billed at {v}
money: the annual membership is {v} | {p} pays {v} a year for the membership | members owe {v} every year | a year of membership costs {v} | the yearly dues of {p} are {v}
money: {p} is paid {v} for each article | an article earns {p} {v} | the fee per article is {v} | for every article {v} go to {p} | the author receives {v} an article
money: {p} may spend up to {v} without approval | spending over {v} needs approval | purchases by {p} beyond {v} must be approved | the limit for purchases without approval is {v} | approval is needed once {p} spends more than {v}
money: the starting bid for {x} is {v} | bids for {x} begin at {v} | nobody can bid less than {v} for {x} | {x} is offered from {v} upwards
money: the owner sells {x} for {v} | {x} changes hands for {v} | the buyer acquires {x} at a price of {v} | {p} gives {v} in return for {x} | {v} is the price of {x}
duration: the agreement lasts {v} | this contract is made for {v} | the term of this contract is {v} | the contract ends after {v} | {p} is bound by the contract for {v} | the parties bind themselves for {v} | after {v} the agreement expires | the contract runs over {v}
duration: {p} must give back {x} within {v} | {x} has to be handed back in {v} | {p} returns {x} no later than {v} after the end | {v} remain to return {x} | {p} has {v} to bring back {x}
duration: complaints must be made within {v} | {p} has {v} to complain about defects | after {v} no complaint is accepted | defects are to be reported inside {v} | {p} can object to defects for {v} | a complaint comes too late after {v}
duration: {p} repairs a fault within {v} | faults are removed in {v} | a fault is fixed by {p} after {v} at the latest | the time to repair is {v} | {p} needs no more than {v} to mend a fault
duration: the offer of {p} is valid for {v} | {p} is bound by its offer for {v} | the offer can be accepted during {v} | after {v} the offer lapses | {p} keeps its offer open for {v}
duration: the trial phase lasts {v} | {p} may test the product for {v} | a free trial of {v} is granted | testing without charge is possible for {v} | the product can be tried out for {v}
duration: {p} stores {x} free of charge for {v} | storage of {x} costs nothing for {v} | {x} can stay with {p} for {v} without a fee | free storage of {x} ends after {v} | the first {v} of storage are free for {x}
duration: after the end {p} may not compete for {v} | the ban on competition lasts {v} | {p} stays away from the market for {v} | competition by {p} is barred during {v} | for {v} {p} must not work for a rival
duration: the course takes {v} | {p} teaches the course over {v} | the training lasts {v} | the lessons extend over {v} | participants learn for {v}
duration: {p} is granted {v} of parental leave | parental leave is {v} | {p} can stay at home for {v} after a birth | the leave after a birth lasts {v}
duration: staff of {p} arrive {v} before the start | {p} appears on site {v} ahead of the event | {v} before the start the crew must be there | the crew comes {v} early
duration: the goods keep for {v} | {p} guarantees a shelf life of {v} | the goods stay fresh for {v} | the shelf life is {v} | {v} is how long the goods can be kept
duration: the option of {p} can be used for {v} | {p} may exercise its option within {v} | the option expires after {v} | {v} are left to make use of the option
duration: a session lasts {v} | {p} offers sessions of {v} | each session takes {v} | the length of a session is {v} | one session with {p} goes on for {v}
duration: {p} announces a price change {v} ahead | price changes are announced {v} in advance | prices can be changed with {v} of warning | {p} warns of new prices {v} beforehand
duration: {p} may be absent for {v} before a doctor's note is needed | a doctor's note is due after {v} of illness | illness of more than {v} requires a note | up to {v} of illness need no note
duration: construction takes {v} | {p} builds {x} in {v} | {x} is built within {v} | the time to build {x} is {v} | {v} after the start {x} must stand
percent: {p} gives {v} off the list price | the list price is reduced by {v} | {p} buys {v} below the list price | a rebate of {v} is deducted | customers of {p} save {v}
percent: {v} of the profit go to {p} | {p} takes {v} of the profit | the profit share of {p} is {v} | {p} has a claim to {v} of the profit | of all profit {v} belong to {p}
percent: {p} may delegate {v} of the work | at most {v} of the work can be given to others | no more than {v} of the work is passed on by {p} | subcontractors may do {v} of the work
percent: {v} of the seats are reserved for {p} | {p} gets {v} of the seats | a quota of {v} of the seats is held for {p} | for {p}, {v} of all seats are kept free
percent: the bank charges {v} a year on the loan | interest on the loan is {v} per year | {p} pays {v} interest on the loan | the loan bears interest at {v} | a yearly rate of {v} applies to the loan
percent: a deviation of {v} is tolerated | {p} accepts quantities that differ by {v} | the delivered quantity may vary by {v} | the tolerance for quantities is {v}
percent: recycled material makes up {v} | {p} uses {v} recycled material | the product consists of {v} recycled material | the share of recycled material is {v}
percent: {p} votes with {v} of the votes | {v} of the votes lie with {p} | the voting power of {p} is {v} | {p} controls {v} of the votes
percent: a majority of {v} is required | decisions need {v} of the votes | only with {v} of the votes is a decision made | resolutions pass with {v}
percent: {p} keeps back {v} of the payment until the end | {v} of the payment is withheld until acceptance | a retention of {v} is agreed | until acceptance {p} holds back {v}
percent: overtime is paid with a bonus of {v} | {p} gets {v} extra for overtime | work on Sundays earns a supplement of {v} | the supplement amounts to {v}
date: the agreement takes effect on {v} | this contract is valid from {v} | from {v} on the agreement applies | {p} and the other side are bound from {v} | the contract comes into force on {v}
date: {p} takes up residence on {v} | {x} is handed over to {p} on {v} | on {v} {p} takes over {x} | the handover of {x} is on {v} | {p} can use {x} from {v}
date: the application must arrive by {v} | {p} accepts applications until {v} | the last day to apply is {v} | after {v} nobody can apply | applications close on {v}
date: the fair opens on {v} | {p} holds the fair on {v} | visitors are admitted from {v} | the first day of the fair is {v} | the fair of {p} begins on {v}
date: {p} pays the second instalment on {v} | the second instalment falls due on {v} | on {v} the second payment of {p} is due | the second payment must arrive by {v}
date: the old price applies until {v} | {p} raises prices after {v} | new prices are charged from {v} on | prices stay the same up to {v}
date: the season ends on {v} | {p} closes for the winter on {v} | the last day of the season is {v} | after {v} {p} is shut for the season
date: the audit takes place on {v} | {p} is audited on {v} | on {v} the auditors visit {p} | the auditors come on {v}
date: {p} vacates {x} on {v} | by {v} {x} must be empty | {p} clears {x} no later than {v} | {x} is to be vacated on {v} | the last day of {p} in {x} is {v}
date: samples are shown on {v} | {p} presents samples on {v} | on {v} {p} shows the samples | the samples have to be ready by {v}
count: the lift carries {v} people | no more than {v} people may use the lift | the lift is made for {v} people | {v} people fit into the lift
count: {p} makes {v} corrections without charge | {v} rounds of corrections are included | the price includes {v} corrections | up to {v} corrections by {p} are free
count: the board has {v} members | {v} people sit on the board | the board consists of {v} persons | {p} appoints a board of {v} members
count: {p} prints {v} copies | the first edition has {v} copies | an edition of {v} copies is printed | {v} copies come from the press | the print run is {v} copies
count: the flat has {v} rooms | {p} rents a flat with {v} rooms | {v} rooms belong to the flat | the number of rooms is {v}
count: {p} sends {v} guards | {v} guards protect {x} | {x} is watched by {v} guards | the team for {x} has {v} guards
count: the bus makes {v} trips a day | {p} drives {v} times a day | {v} trips a day are run by {p} | the timetable has {v} daily trips
count: a class has at most {v} pupils | {p} takes {v} pupils into a class | no class exceeds {v} pupils | {v} pupils are the limit of a class
count: {p} plants {v} trees | {v} trees are planted by {p} | the number of new trees is {v} | the garden gets {v} trees
count: {p} installs {v} cameras in {x} | {x} is equipped with {v} cameras | {v} cameras are mounted in {x} | the number of cameras in {x} is {v}
count: the ticket is good for {v} rides | {p} may ride {v} times with a ticket | one ticket allows {v} rides | after {v} rides the ticket is used up
count: {p} may make {v} backups | {v} copies for safety are allowed | the number of permitted backups is {v} | not more than {v} backups may be made
country: the law of {v} governs this contract | this contract is subject to the law of {v} | for all questions the law of {v} decides | {v} law applies to the agreement | the parties choose the law of {v}
country: {x} is made in {v} | {p} produces {x} in {v} | production of {x} takes place in {v} | {x} comes from a factory in {v} | the origin of {x} is {v}
country: {p} works for customers in {v} | the region of {p} is {v} | {p} looks after the market of {v} | customers in {v} are served by {p} | in {v} {p} represents the brand
country: the backup centre is located in {v} | {p} runs the backup centre in {v} | backups are kept in {v} | the second data centre stands in {v}
city: all disputes are heard in {v} | the court of {v} has jurisdiction | lawsuits are brought before the court of {v} | for lawsuits {v} is the venue | only the judges of {v} decide a dispute
city: {p} works at the office in {v} | the place of work is {v} | {p} is employed in {v} | the job of {p} is located in {v} | daily work happens in {v}
city: the conference is held in {v} | {p} stages the conference in {v} | guests of the conference travel to {v} | {v} hosts the conference
city: {x} is picked up in {v} | {p} collects {x} in {v} | the pick-up point for {x} is {v} | {x} waits for {p} in {v}
city: the head office of {p} is in {v} | {p} has its seat in {v} | {p} is based in {v} | {v} is home to the head office of {p}
language: notices must be written in {v} | {p} sends all notices in {v} | only notices in {v} are valid | the parties write to each other in {v} | letters are composed in {v}
language: the binding version is the {v} one | if versions differ, the {v} text prevails | the {v} version takes precedence | only the {v} wording is binding
language: lessons are given in {v} | {p} teaches in {v} | the teaching language is {v} | pupils of {p} are taught in {v}
language: support speaks {v} | callers are helped in {v} | {p} offers its hotline in {v} | the hotline is staffed with speakers of {v}
weekday: {p} delivers on {v}s | deliveries arrive every {v} | the day for deliveries is {v} | each {v} the truck of {p} comes | goods are brought on {v}
weekday: the office is shut on {v}s | on {v}s nobody works in the office | {p} keeps its office closed every {v} | {v} is a day off in the office
weekday: training is held on {v}s | {p} trains each {v} | the team meets for training every {v} | {v} is training day
weekday: wages are paid on {v}s | {p} pays its workers every {v} | payday is {v} | workers get their money each {v}
clock: quiet hours begin at {v} | after {v} no noise is allowed | from {v} on everybody has to be quiet | {p} must end all noise at {v}
clock: the gate is locked at {v} | {p} locks the gate at {v} | nobody gets in after {v} | the gate stays open until {v}
clock: the shift starts at {v} | {p} comes to work at {v} | work of the shift begins at {v} | at {v} the shift takes over | employees begin at {v}
clock: the kitchen serves until {v} | hot meals end at {v} | {p} takes the last order at {v} | after {v} the kitchen is closed
clock: guests check out by {v} | the room must be left at {v} | {p} expects guests to leave by {v} | check-out time is {v}
clock: the last ferry leaves at {v} | {p} runs the last ferry at {v} | no ferry departs after {v} | the final departure is at {v}
frequency: {p} reports to the board {v} | a report goes to the board {v} | {v} the board gets a report from {p} | the board is informed {v}
frequency: the meter is read {v} | {p} reads the meter {v} | {v} {p} takes the meter reading | meter readings happen {v}
frequency: {x} is serviced {v} | {p} has {x} serviced {v} | {v} {x} undergoes maintenance | maintenance of {x} takes place {v}
frequency: interest is credited {v} | {p} credits interest {v} | {v} the account receives interest | interest is added {v}
frequency: prices are reviewed {v} | {v} {p} reviews its prices | a price review is held {v} | {p} may look at prices again {v}
frequency: the newsletter appears {v} | {p} publishes the newsletter {v} | {v} a newsletter is sent out | readers get the newsletter {v}
measure: {x} has an area of {v} | the area let to {p} is {v} | {p} uses {v} of space | {x} measures {v} | the space of {x} comes to {v}
measure: hand luggage may weigh {v} | {p} accepts hand luggage of up to {v} | luggage over {v} is refused | the limit for hand luggage is {v}
measure: {p} may drive at {v} | the car of {p} is limited to {v} a year | more than {v} per year are charged | {v} a year are included in the lease of the car
measure: the room is kept at {v} | {p} keeps {x} at {v} | the temperature in {x} is {v} | {x} must be cooled to {v} | {v} is the temperature for {x}
measure: the manuscript has {v} | {p} submits {v} | the length is set at {v} | the text must comprise {v} | {p} hands in a manuscript of {v}
measure: the fence is {v} high | {p} builds a fence of {v} | the height of the fence is {v} | a fence with a height of {v} is put up
measure: the tank holds {v} | {p} supplies a tank of {v} | the volume of the tank is {v} | {v} fit into the tank
measure: the plan includes {v} | {p} gets {v} with its plan | the data plan of {p} holds {v} | up to {v} can be used with the plan
measure: trucks above {v} may not enter | the bridge carries {v} | {p} opens the road for trucks up to {v} | the weight limit of the road is {v}
colour: {p} supplies {x} in {v} | {x} comes in {v} | the finish of {x} is {v} | {x} is to be {v} | {p} paints {x} {v}
colour: the uniforms are {v} | staff of {p} wear {v} | {p} dresses its staff in {v} | {v} is the colour of the uniforms
colour: the logo is printed in {v} | {p} uses {v} for its logo | the logo must appear in {v} | {v} is the colour of the logo
"""

VALUED: list[tuple[str, list[str]]] = []
for _line in _VALUED.strip().splitlines():
    _kind, _, _rest = _line.partition(": ")
    VALUED.append((_kind, [f"{frame.strip()}." for frame in _rest.split(" | ")]))

# Sentence tails that change nothing, and short inserts after the party.
TAILS = [
    " in writing",
    " at any time",
    " as agreed",
    " by bank transfer",
    " without delay",
    " on request",
    " where possible",
    " in any case",
    " until further notice",
    " for as long as this contract runs",
    " under normal conditions",
    ", even during holidays",
    ", also at weekends",
    ", as is usual in the trade",
    ", and the other side accepts this",
    ", which both sides have signed",
    ", and this cannot be changed",
    ", provided that nothing else was arranged",
    ", no matter what happens",
    ", even if the law would allow otherwise",
    " (see the plan)",
    " with immediate effect",
    ", as discussed at the meeting",
    ", for reasons of safety",
    ", at least for now",
    ", just like in earlier years",
    " after a written reminder",
    ", whatever the season",
    ", counted from the signature",
    ", including taxes",
]
LEADS = [
    "according to the contract, ",
    "both sides agree: ",
    "it was decided that ",
    "as stated before, ",
    "in this matter, ",
    "it is clear that ",
    "please note that ",
    "in principle, ",
    "by way of exception, ",
    "for this project, ",
    "as of today, ",
    "in any event, ",
    "to be clear, ",
    "in the first phase, ",
    "with this signature the parties confirm that ",
    "everyone knows that ",
    "at present, ",
    "in short, ",
]
JOINERS = [", and ", "; ", ", while ", "; moreover, ", ". In addition, ", ", and further ", ". Also, "]
