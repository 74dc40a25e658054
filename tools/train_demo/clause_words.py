"""The vocabulary of clauses: verbs, attributes, permitted acts and hand-written contract topics.

Slots of templates: {p} a party, {x} a thing or place, {v} a value (already worded).
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from tools.train_demo.clause_verbs import VERBS as VERBS

# Adjuncts: how an event is tied to a value of a kind. The first word may open the sentence.
ADJUNCTS = {
    "duration": ["within {v}", "within {v}", "no later than {v} after the order", "in {v} at the latest",
                 "not later than {v} after signature", "within {v} of the request", "within a period of {v}",
                 "within {v} after being asked", "at the latest after {v}", "in less than {v}"],
    "date": ["on {v}", "by {v}", "not later than {v}", "on {v} at the latest", "no later than {v}", "before {v}"],
    "clock": ["at {v}", "before {v}", "no later than {v}", "by {v}", "at {v} each day", "every day at {v}"],
    "weekday": ["every {v}", "each {v}", "on {v}s", "on every {v}", "always on a {v}"],
    "frequency": ["{v}", "{v}", "at least {v}", "exactly {v}"],
    "city": ["in {v}", "at its branch in {v}", "at the site in {v}"],
    "country": ["in {v}", "in {v} only", "nowhere but in {v}"],
    "money": ["for {v}", "at a price of {v}", "for a fee of {v}", "at a cost of {v}", "for a total of {v}"],
}

# Attributes of a thing or a party by kind of value; synonyms stand together.
ATTRIBUTES = {
    "money": ["price|cost|charge", "lease payment|monthly rent|rental charge", "deposit|security deposit|security", "fee|charge",
              "premium|insurance premium", "salary|pay|wage", "budget|funds|financing", "penalty|contractual penalty|fine",
              "liability limit|liability cap|limit of liability", "bonus|reward", "minimum order|smallest order",
              "purchase price|selling price", "daily rate|rate per day", "hourly rate|rate per hour", "loan|credit"],
    "duration": ["term|duration|period", "notice period|period of notice|notice", "warranty|guarantee|warranty period",
                 "probation|trial period|probation period", "retention period|storage time", "delivery time|lead time",
                 "response time|reaction time|time to respond", "payment term|time for payment|payment period",
                 "working time|hours of work", "paid leave|annual leave|holiday", "pause|break", "insurance period"],
    "percent": ["discount|rebate|price reduction", "share|part", "commission|sales commission", "royalty|author's share",
                "interest rate|rate of interest|interest", "down payment|advance payment", "tax|tax rate",
                "availability|uptime", "quota|minimum quota", "late fee|default interest"],
    "count": ["capacity|number of places", "number of users|user limit", "number of copies|print run", "number of seats",
              "number of visits|visits", "number of guests|guest limit", "number of employees|headcount|staff",
              "number of rounds|rounds of changes", "number of vehicles|fleet size", "number of licences"],
    "date": ["start date|first day|beginning", "end date|last day|expiry date", "deadline|due date|latest date",
             "opening date|day of opening", "handover date|day of handover", "effective date|date of effect"],
    "clock": ["opening time|start of business", "closing time|end of business", "start|starting time", "deadline|cut-off time"],
    "country": ["governing law|applicable law", "country of origin|origin", "sales region|territory", "storage location"],
    "city": ["place of jurisdiction|court|venue", "place of delivery|delivery address", "seat|registered office", "venue"],
    "language": ["contract language|language of the contract", "language of the manual|manual language", "working language"],
    "colour": ["colour|shade", "colour of the paint|paint colour"],
    "weekday": ["delivery day|day of delivery", "collection day|pick-up day", "day of rest|closing day", "meeting day"],
}

ATTRIBUTE_FRAMES = [
    "the {a} of {x} is {v}.", "the {a} of {x} is {v}.", "the {a} for {x} is {v}.", "for {x} the {a} is {v}.",
    "{x} has a {a} of {v}.", "a {a} of {v} applies to {x}.", "{v} is the {a} of {x}.", "the {a} agreed for {x} is {v}.",
    "the parties agree on a {a} of {v} for {x}.", "the {a} of {x} shall be {v}.", "in the case of {x}, the {a} is {v}.",
    "as {a} of {x} the parties set {v}.", "the {a} of {x} is fixed at {v}.", "{x} is subject to a {a} of {v}.",
    "{x}: {a} {v}.", "the {a} which applies to {x} is {v}.",
]
MEASURED_FRAMES = [  # for amounts, durations, shares and counts
    "the {a} of {x} amounts to {v}.", "the {a} of {x} is limited to {v}.", "the {a} of {x} comes to {v}.",
    "the {a} of {x} shall not exceed {v}.", "the {a} of {x} is at most {v}.", "at {x} the {a} stands at {v}.",
    "the {a} of {x} stays at {v}.", "the maximum {a} of {x} is {v}.",
]

# base, -ing, past participle, object
ACTS = [tuple(line.split("|")) for line in """
assign|assigning|assigned|this agreement
transfer|transferring|transferred|the contract
sublet|subletting|sublet|the premises
disclose|disclosing|disclosed|the data
publish|publishing|published|the results
copy|copying|copied|the software
sell|selling|sold|the goods
modify|modifying|modified|the plans
use|using|used|the logo
terminate|terminating|terminated|the agreement early
inspect|inspecting|inspected|the books
enter|entering|entered|the site
record|recording|recorded|the meetings
hire|hiring|hired|subcontractors
change|changing|changed|the prices
store|storing|stored|dangerous goods
keep|keeping|kept|animals
park|parking|parked|vehicles in the yard
export|exporting|exported|the products
share|sharing|shared|the customer list
translate|translating|translated|the manual
cancel|cancelling|cancelled|the booking
postpone|postponing|postponed|the delivery
reject|rejecting|rejected|late deliveries
refuse|refusing|refused|damaged goods
use|using|used|flash photography
paint|painting|painted|the walls
open|opening|opened|the windows
lend|lending|lent|the tools to others
delete|deleting|deleted|the files
read|reading|read|the messages
pledge|pledging|pledged|the shares
withhold|withholding|withheld|payments
deduct|deducting|deducted|costs from the rent
advertise|advertising|advertised|the product
resell|reselling|resold|the tickets
rent out|renting out|rented out|the rooms
drill|drilling|drilled|holes in the floor
play|playing|played|music after ten
smoke|smoking|smoked|cigars in the building
swim|swimming|used|in the lake
bring|bringing|brought|food into the hall
extend|extending|extended|the term
audit|auditing|audited|the accounts
shorten|shortening|shortened|the text
replace|replacing|replaced|the staff
visit|visiting|visited|the factory
use|using|used|artificial intelligence
backup|backing up|backed up|the database
work|working|worked|on public holidays
cut|cutting|cut|the trees
ship|shipping|shipped|partial orders
compete|competing|competed|with the other party
""".strip().splitlines()]

PERMIT = ["{p} may {base} {o}.", "{p} may {base} {o}.", "{p} is permitted to {base} {o}.", "{p} is allowed to {base} {o}.",
          "{p} is free to {base} {o}.", "{p} has the right to {base} {o}.", "{p} can {base} {o}.",
          "{p} is entitled to {base} {o}.", "{ing} {o} is allowed to {p}.", "{ing} {o} is permitted to {p}.",
          "{p} may {base} {o} without asking anyone.", "no consent is needed for {p} to {base} {o}.",
          "nothing prevents {p} from {ing} {o}.", "{p} is at liberty to {base} {o} at any time.",
          "{o} can be {pp} by {p}.", "{o} may be {pp} by {p}.", "{ing} {o} is open to {p}.", "{ing} {o} is welcome."]
FORBID = ["{p} may not {base} {o}.", "{p} may not {base} {o}.", "{p} must not {base} {o}.", "{p} shall not {base} {o}.",
          "{p} is not permitted to {base} {o}.", "{p} is not allowed to {base} {o}.", "{p} cannot {base} {o}.",
          "{p} is prohibited from {ing} {o}.", "{p} is forbidden to {base} {o}.", "{p} has no right to {base} {o}.",
          "{ing} {o} is forbidden to {p}.", "{ing} {o} is prohibited.", "{ing} {o} is forbidden.",
          "{ing} {o} is not allowed.", "nobody may {base} {o}.", "{o} may not be {pp} by {p}.",
          "{o} cannot be {pp} by {p}.", "under no circumstances may {p} {base} {o}.", "{p} never {base}s {o}.",
          "{p} refrains from {ing} {o}.", "{p} is not entitled to {base} {o}."]
OBLIGE = ["{p} must {base} {x}.", "{p} shall {base} {x}.", "{p} is required to {base} {x}.", "{p} has to {base} {x}.",
          "{p} is obliged to {base} {x}.", "{p} undertakes to {base} {x}.", "{x} must be {pp} by {p}.",
          "it is the duty of {p} to {base} {x}.", "{p} always {s} {x}.", "{x} shall be {pp} by {p}.",
          "{p} {s} {x}.", "{x} is {pp} by {p}."]
EXEMPT = ["{p} need not {base} {x}.", "{p} is not required to {base} {x}.", "{p} does not have to {base} {x}.",
          "{p} is not obliged to {base} {x}.", "{p} has no duty to {base} {x}.", "{p} is free not to {base} {x}.",
          "{x} need not be {pp} by {p}.", "it is not the duty of {p} to {base} {x}.", "{ing} {x} is voluntary for {p}.",
          "{p} never has to {base} {x}.", "{p} does not {base} {x}.", "{x} is not {pp} by {p}.",
          "nobody has to {base} {x}."]

DOER = ["{p} {s} {x}.", "{x} is {pp} by {p}.", "{p} is responsible for {ing} {x}.", "{p} must {base} {x}.",
        "{ing} {x} is the task of {p}.", "{ing} {x} is up to {p}.", "{p} pays for {ing} {x}.",
        "{p} {s} {x} at its own expense.", "the {noun} of {x} is at the expense of {p}.",
        "the cost of {ing} {x} is borne by {p}.", "it is {p} who {s} {x}.", "the {noun} of {x} is paid for by {p}.",
        "{p} bears the cost of {ing} {x}.", "{p} takes care of {ing} {x}.", "the {noun} of {x} is done by {p}.",
        "{p} alone {s} {x}.", "responsible for {ing} {x} is {p}."]
OWNER = ["{x} belongs to {p}.", "{p} owns {x}.", "{x} is the property of {p}.", "{p} is the owner of {x}.",
         "the rights to {x} stay with {p}.", "{p} keeps the rights to {x}.", "all rights to {x} pass to {p}.",
         "{p} holds the rights to {x}.", "{x} remains with {p}."]

COUNT_FRAMES = ["{p} {s} {v} {x}.", "{p} {s} {v} {x}.", "{v} {x} are {pp} by {p}.", "{p} must {base} {v} {x}.",
                "{p} will {base} {v} {x}.", "{p} undertakes to {base} {v} {x}.", "the {noun} by {p} covers {v} {x}.",
                "the number of {x} {pp} by {p} is {v}.", "{p} {s} at least {v} {x}.", "{p} {s} a total of {v} {x}.",
                "{p} has to {base} {v} {x} in all.", "in total {v} {x} are {pp} by {p}."]

# States with a yes side and a no side.
STATES = [
    (["the licence of {x} is exclusive.", "{p} holds the only licence of {x}.", "no one but {p} gets a licence of {x}.",
      "the licence of {x} is granted to {p} alone."],
     ["the licence of {x} is non-exclusive.", "others may get a licence of {x} as well.",
      "the licence of {x} is not exclusive.", "{p} shares the licence of {x} with others."]),
    (["the contract on {x} renews automatically.", "the contract on {x} is extended without further notice.",
      "if nobody objects, the contract on {x} renews itself.", "the contract on {x} goes on for another year by itself."],
     ["the contract on {x} does not renew automatically.", "the contract on {x} ends without further notice.",
      "there is no automatic renewal of the contract on {x}.", "the contract on {x} must be renewed in writing."]),
    (["{x} is included in the price.", "the price includes {x}.", "{x} comes at no extra cost.", "{x} is free of charge.",
      "{p} pays nothing for {x}.", "there is no charge for {x}.", "{x} costs {p} nothing.", "the price covers {x}."],
     ["{x} is not included in the price.", "the price does not include {x}.", "{x} is charged separately.",
      "{x} is billed to {p}.", "{p} pays extra for {x}.", "there is an extra charge for {x}.", "the price excludes {x}.",
      "{x} must be paid for in addition."]),
    (["damage to {x} is covered.", "the insurance covers damage to {x}.", "damage to {x} is included in the cover.",
      "{p} is insured against damage to {x}."],
     ["damage to {x} is not covered.", "the insurance does not cover damage to {x}.",
      "damage to {x} is excluded from the cover.", "{p} is not insured against damage to {x}."]),
    (["the deposit for {x} is refundable.", "{p} gets the deposit for {x} back.", "the deposit for {x} is paid back."],
     ["the deposit for {x} is not refundable.", "{p} does not get the deposit for {x} back.",
      "the deposit for {x} is kept in any case."]),
    (["{x} is confidential.", "{p} keeps {x} secret.", "{p} treats {x} as confidential.", "{x} stays secret.",
      "{p} shows {x} to nobody."],
     ["{x} is public.", "{x} is not confidential.", "{p} may show {x} to anyone.", "{x} may be made public by {p}."]),
    (["{x} needs the consent of {p}.", "{p} must agree before {x} is changed.", "without the consent of {p} {x} stays as it is."],
     ["{x} needs no consent of {p}.", "{p} need not be asked before {x} is changed.",
      "{x} can be changed without the consent of {p}."]),
    (["{x} is new.", "{p} receives {x} in new condition.", "only unused goods are delivered as {x}."],
     ["{x} is used.", "{p} receives {x} in used condition.", "{x} is second-hand."]),
    (["{x} is open to the public.", "anyone may use {x}.", "the public has access to {x}."],
     ["{x} is closed to the public.", "only members may use {x}.", "the public has no access to {x}."]),
    (["{p} is liable for {x}.", "{p} answers for {x}.", "{p} accepts liability for {x}."],
     ["{p} is not liable for {x}.", "{p} does not answer for {x}.", "liability of {p} for {x} is excluded."]),
]

# Hand-written topics: kind of value and paraphrases.
TOPICS = [
    ("duration", ["{p} shall pay each invoice within {v}.", "invoices are payable by {p} in {v}.",
                  "payment by {p} is due {v} after the invoice.", "{p} settles its bills no later than {v} after receipt.",
                  "{p} has {v} to pay an invoice.", "the payment term of {p} is {v}."]),
    ("duration", ["{p} may terminate the agreement on {v} notice.", "termination by {p} requires {v} of notice.",
                  "{p} shall give {v} notice before ending the agreement.", "{p} can end the contract with notice of {v}.",
                  "the notice period of {p} is {v}.", "if {p} wants to leave, it must say so {v} ahead."]),
    ("duration", ["the lease of {p} runs for {v}.", "{p} holds the lease for a term of {v}.", "{p} rents the space for {v}.",
                  "the lease term for {p} is {v}.", "after {v} the lease of {p} ends.", "the tenancy of {p} goes on for {v}."]),
    ("duration", ["{p} keeps the secret for {v} after the end.", "the duty of secrecy binds {p} for {v}.",
                  "{p} is bound to silence during {v}.", "confidentiality applies to {p} for {v}."]),
    ("duration", ["{p} grants a warranty of {v}.", "the warranty of {p} lasts {v}.", "{p} repairs defects free for {v}.",
                  "defects are covered by {p} during {v}.", "{p} guarantees the product for {v}."]),
    ("duration", ["{p} answers support requests within {v}.", "the response time of {p} is {v}.",
                  "a support request is answered by {p} after {v} at most.", "{p} reacts to reports in {v}."]),
    ("duration", ["{p} reports an accident within {v}.", "an accident must be reported by {p} within {v}.",
                  "{p} has {v} to report an accident.", "accidents are notified by {p} not later than {v} afterwards."]),
    ("duration", ["{p} works {v} in a week.", "the working time of {p} in a week is {v}.", "a week of {p} has {v} of work.",
                  "{p} is employed for {v} per week."]),
    ("duration", ["{p} has {v} of paid leave in a year.", "each year {p} gets {v} of paid leave.",
                  "the annual leave of {p} is {v}.", "{p} may take {v} of holiday a year."]),
    ("money", ["the liability of {p} is capped at {v}.", "{p} is liable for at most {v}.", "{p} limits its liability to {v}.",
               "liability of {p} shall not exceed {v}.", "{p} pays damages up to {v}."]),
    ("money", ["{p} pays a monthly fee of {v}.", "the monthly fee of {p} is {v}.", "each month {p} owes {v}.",
               "{v} a month are due from {p}.", "{p} is charged {v} every month.", "a month costs {p} {v}."]),
    ("money", ["for each day of delay {p} pays {v}.", "a late day costs {p} {v}.", "{p} owes {v} per day of delay.",
               "the penalty of {p} for a late day is {v}."]),
    ("money", ["{p} leaves a deposit of {v}.", "the deposit of {p} is {v}.", "{p} provides security of {v}.",
               "a deposit of {v} is paid by {p}."]),
    ("money", ["the purchase price paid by {p} is {v}.", "{p} buys the property for {v}.", "{p} pays {v} for the property.",
               "the property is sold to {p} for {v}."]),
    ("money", ["{p} earns {v} a month.", "the monthly salary of {p} is {v}.", "{p} receives a salary of {v}.",
               "{v} are paid to {p} each month."]),
    ("percent", ["{p} grants a discount of {v}.", "the discount of {p} is {v}.", "{p} lowers its prices by {v}.",
                 "prices of {p} are reduced by {v}."]),
    ("percent", ["{p} receives a commission of {v}.", "the commission of {p} is {v}.", "{v} of each sale goes to {p}.",
                 "of each sale {p} gets {v}.", "{p} earns {v} of every sale."]),
    ("percent", ["late payments of {p} bear interest of {v}.", "{p} pays {v} interest when it is late.",
                 "the default interest for {p} is {v}.", "in case of delay {p} owes interest of {v}."]),
    ("percent", ["{p} holds {v} of the shares.", "the share of {p} in the company is {v}.", "{v} of the company belong to {p}.",
                 "{p} owns {v} of the company."]),
    ("percent", ["the platform of {p} is available {v} of the time.", "{p} promises an uptime of {v}.",
                 "the availability of the service of {p} is {v}.", "{p} guarantees that the service runs {v} of the time."]),
    ("date", ["{p} shall start work on {v}.", "work by {p} begins on {v}.", "the start date for {p} is {v}.",
              "on {v} the work of {p} starts.", "{p} takes up its work on {v}."]),
    ("date", ["the contract of {p} ends on {v}.", "{p} leaves on {v}.", "on {v} the contract with {p} expires.",
              "the last day of the contract with {p} is {v}."]),
    ("date", ["{p} takes the keys on {v}.", "on {v} the keys are given to {p}.", "{p} gets the keys on {v}.",
              "the handover to {p} takes place on {v}."]),
    ("date", ["{p} delivers the final report by {v}.", "the final report of {p} is due on {v}.",
              "{p} hands in the final report not later than {v}.", "the final report arrives from {p} on {v} at the latest."]),
    ("country", ["the contract with {p} is governed by the law of {v}.", "the law of {v} applies to the contract with {p}.",
                 "for the contract with {p} the law of {v} holds.", "the agreement of {p} follows the law of {v}."]),
    ("country", ["{p} sells the goods in {v}.", "the sales territory of {p} is {v}.", "the market of {p} is {v}.",
                 "{p} distributes the goods in {v} only."]),
    ("country", ["{p} keeps all data in {v}.", "the data of {p} are stored in {v}.", "the servers of {p} stand in {v}.",
                 "storage of the data by {p} takes place in {v}."]),
    ("city", ["disputes with {p} are decided by the courts of {v}.", "the courts of {v} decide all disputes with {p}.",
              "the place of jurisdiction for {p} is {v}.", "{p} can only be sued in {v}."]),
    ("city", ["{p} delivers to {v}.", "the goods of {p} arrive in {v}.", "the place of delivery for {p} is {v}.",
              "{p} brings the goods to {v}."]),
    ("language", ["{p} writes its reports in {v}.", "reports of {p} are in {v}.", "the language of the reports of {p} is {v}.",
                  "{p} uses {v} for its reports."]),
    ("measure", ["bags of {p} may weigh up to {v}.", "the weight limit of {p} is {v}.", "{p} takes no load above {v}.",
                 "{p} accepts a weight of {v} at most.", "heavier loads than {v} are refused by {p}."]),
    ("measure", ["{p} may drive {v} a year.", "the yearly distance of {p} is limited to {v}.", "{p} has {v} a year free of charge.",
                 "a year of {p} includes {v}."]),
    ("measure", ["{p} rents an area of {v}.", "the area of {p} measures {v}.", "the space of {p} is {v}.", "{v} are rented to {p}."]),
    ("measure", ["{p} keeps the room at {v}.", "the temperature at {p} is {v}.", "in the room of {p} it has to be {v}.",
                 "{p} heats or cools to {v}."]),
    ("measure", ["the article of {p} has {v}.", "{p} writes {v}.", "the length of the text of {p} is {v}.", "{p} submits a text of {v}."]),
    ("measure", ["{p} gets a data volume of {v}.", "the storage of {p} is {v}.", "{p} can store {v}.", "{v} of storage belong to {p}."]),
    ("measure", ["the machine of {p} can lift {v}.", "{p} supplies a machine for loads of {v}.", "with the machine of {p} one lifts {v}.",
                 "the lifting power at {p} is {v}."]),
    ("money", ["{p} pays a cleaning fee of {v}.", "the cleaning fee of {p} is {v}.", "cleaning costs {p} {v}.",
               "for cleaning, {p} is charged {v}."]),
    ("money", ["overtime of {p} is paid with {v} an hour.", "{p} earns {v} for an hour of overtime.",
               "an extra hour brings {p} {v}.", "for each hour of overtime {p} receives {v}."]),
    ("money", ["the excess of {p} is {v}.", "{p} bears {v} of each damage itself.", "of each damage {p} pays the first {v}.",
               "the own share of {p} in a damage is {v}."]),
    ("money", ["{p} gives the project {v}.", "the project receives {v} from {p}.", "{v} for the project come from {p}.",
               "the funding of the project by {p} is {v}."]),
    ("money", ["a ticket of {p} costs {v}.", "{p} sells its tickets at {v}.", "the ticket price of {p} is {v}.",
               "for a ticket one pays {p} {v}."]),
    ("money", ["damage at {p} is insured up to {v}.", "the sum insured of {p} is {v}.", "the insurance of {p} pays up to {v}.",
               "{p} is covered for {v}."]),
    ("percent", ["{p} keeps {v} of the income.", "{v} of the income stay with {p}.", "of the income {p} gets {v}.",
                 "the part of {p} in the income is {v}."]),
    ("percent", ["{p} pays {v} in advance.", "the advance payment of {p} is {v} of the price.", "{v} of the price are due from {p} at once.",
                 "at the signing {p} owes {v} of the price."]),
    ("percent", ["the rent of {p} rises by {v} a year.", "each year {p} pays {v} more rent.", "the yearly rent increase for {p} is {v}.",
                 "{p} accepts a rent increase of {v} each year."]),
    ("duration", ["{p} can cancel up to {v} before the event.", "cancellation by {p} is free until {v} before the event.",
                  "up to {v} ahead {p} may cancel.", "the cancellation window of {p} is {v}."]),
    ("duration", ["{p} deletes the data after {v}.", "the data are kept by {p} for {v}.", "after {v} the data at {p} are erased.",
                  "{p} stores the data for {v}."]),
    ("duration", ["the lunch break of {p} lasts {v}.", "{p} has a break of {v}.", "a break of {v} is granted to {p}."]),
    ("duration", ["{p} may pause the membership for {v}.", "a pause of {v} is possible for {p}.", "the membership of {p} can rest for {v}.",
                  "{p} can suspend the membership during {v}."]),
    ("duration", ["the guarantee of {p} ends after {v}.", "{p} stands by its work for {v}.", "for {v} {p} mends faults without charge.",
                  "{p} gives a guarantee of {v}."]),
    ("count", ["{p} trains {v} people.", "{v} people are trained by {p}.", "the training of {p} is for {v} people."]),
    ("count", ["{p} has {v} parking spaces.", "{v} parking spaces belong to {p}.", "{p} may use {v} parking spaces."]),
    ("count", ["{p} receives {v} keys.", "{v} keys are given to {p}.", "the number of keys of {p} is {v}."]),
    ("count", ["{p} may bring {v} guests.", "up to {v} guests of {p} are admitted.", "{v} guests can come with {p}."]),
    ("count", ["the minimum order of {p} is {v} pieces.", "{p} orders at least {v} pieces.", "{p} takes {v} pieces or more.",
               "fewer than {v} pieces cannot be ordered by {p}."]),
    ("date", ["the shop of {p} opens on {v}.", "{p} opens its shop on {v}.", "on {v} the shop of {p} goes into business.",
              "the opening of the shop of {p} is on {v}."]),
    ("date", ["insurance of {p} begins on {v}.", "{p} is insured from {v}.", "from {v} on {p} is covered.", "the cover of {p} starts on {v}."]),
    ("date", ["{p} completes the building by {v}.", "the building of {p} is ready on {v}.", "{p} finishes the building not later than {v}.",
              "on {v} at the latest the building is completed by {p}."]),
    ("weekday", ["{p} is closed on {v}s.", "on {v}s {p} does not open.", "the closing day of {p} is {v}."]),
    ("weekday", ["{p} meets the client every {v}.", "meetings with {p} are on {v}s.", "each {v} there is a meeting with {p}."]),
    ("frequency", ["{p} inspects the site {v}.", "{v} the site is inspected by {p}.", "inspections by {p} take place {v}."]),
    ("frequency", ["{p} cleans the windows {v}.", "the windows are cleaned {v} by {p}.", "{v} {p} cleans the windows."]),
    ("language", ["{p} translates the text into {v}.", "the text is translated into {v} by {p}.",
                  "the translation of {p} is in {v}.", "{p} puts the text into {v}."]),
    ("weekday", ["{p} collects the waste on {v}s.", "the waste is collected by {p} every {v}.", "on {v}s {p} takes the waste away.",
                 "waste collection by {p} is each {v}."]),
    ("clock", ["{p} opens at {v}.", "the doors of {p} open at {v}.", "business at {p} starts at {v}.",
               "the opening time of {p} is {v}."]),
    ("clock", ["{p} closes at {v}.", "the doors of {p} close at {v}.", "business at {p} ends at {v}.",
               "the closing time of {p} is {v}."]),
    ("clock", ["the concert of {p} begins at {v}.", "at {v} the concert of {p} starts.", "{p} starts its concert at {v}."]),
    ("frequency", ["{p} backs up its data {v}.", "a backup is made by {p} {v}.", "{v} {p} makes a backup.",
                   "{p} saves the data {v}."]),
    ("frequency", ["{p} sends an invoice {v}.", "invoices of {p} are sent {v}.", "{v} an invoice comes from {p}.",
                   "{p} bills {v}."]),
    ("frequency", ["{p} may visit the site {v}.", "visits by {p} take place {v}.", "{p} visits the site {v}."]),
    ("colour", ["{p} paints the front {v}.", "the front is painted {v} by {p}.", "{p} chooses {v} as the colour of the front.",
                "the colour of the front of {p} is {v}."]),
    ("count", ["{p} gets {v} user accounts.", "{v} users of {p} may log in.", "up to {v} people at {p} can use the program.",
               "the licence of {p} is for {v} users."]),
    ("count", ["the hall of {p} has {v} seats.", "{p} sets up {v} seats.", "there are {v} seats at {p}.",
               "{v} seats are provided by {p}."]),
    ("count", ["{p} employs {v} people on the project.", "the team of {p} has {v} people.", "{v} people of {p} work on the project.",
               "{p} sends {v} people."]),
    ("count", ["the flat of {p} is on floor {v}.", "{p} lives on floor {v}.", "{p} has its office on floor {v}."]),
]

OPENERS = ["under this agreement, ", "for the avoidance of doubt, ", "the parties agree that ",
           "unless agreed otherwise, ", "it is agreed that ", "as a rule, ", "from now on, ", "in addition, ", "for its part, ",
           "notwithstanding other provisions, ", "during the term, ", "it is understood that ", "as before, "]
CLOSERS = [", as set out in Annex {n}", " (see section {n})", " according to schedule {n}",
           ", unless the law demands otherwise", " during the whole term", " as listed in appendix {n}",
           ", without exception", " in accordance with clause {n}"]
