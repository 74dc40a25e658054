"""Sentences of support tickets by topic, and the phrases that carry urgency, refunds and mood.

Slots: {x} a product, {n} a small number, {m} an amount of money, {d} a date or weekday, {w} a duration.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905
# fmt: off

from __future__ import annotations

PRODUCTS = """laptop phone tablet printer camera headset monitor keyboard router speaker watch kettle toaster blender lamp
chair desk bicycle helmet backpack jacket coat dress shoes boots tent mattress sofa fridge oven heater fan drill saw mower
vacuum mixer piano guitar violin book game console charger battery cable scooter suitcase mirror carpet curtain blanket
television radio projector scanner microphone webcam dishwasher freezer stove shower lock alarm thermostat stroller
coffee_machine washing_machine smart_bulb hard_disk memory_card fitness_band garden_hose""".split()

# topic -> (names an option may have, descriptions, sentences)
TOPICS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "billing": (
        ["billing", "invoices", "payments", "accounting", "finance", "accounts payable", "billing team"],
        ["invoices and payments", "questions about bills", "charges, invoices, payments", "money, bills and receipts",
         "wrong charges and invoices", "fees, invoices and cards", "bills, charges and taxes"],
        ["I was charged twice for the {x}.", "The invoice shows a wrong amount.", "My card was billed {m} by mistake.",
         "There is an error on my bill.", "I need a receipt for the payment of {d}.", "The tax on the invoice is wrong.",
         "Why did the monthly fee go up to {m}?", "I paid the bill but you sent a reminder.", "The payment by card fails.",
         "You took {m} from my bank account without asking.", "The direct debit was booked {n} times.",
         "Please send the invoice to our accountant.", "My invoice number is missing.", "I cannot find the bill for {d}.",
         "The discount is missing on my invoice.", "The charge of {m} on my statement is unknown to me.",
         "I would like to pay by invoice.", "Our company name on the bill is wrong.", "The bank says the payment was refused.",
         "My subscription was billed although I cancelled it.", "I was overcharged by {m}.", "How can I pay in instalments?",
         "The bill says {m} but we agreed on less.", "A fee of {m} appeared on my credit card.", "The credit note is still missing.",
         "Can I get the invoices as a list for my taxes?", "Please change the billing address.", "My payment has not been booked.",
         "The VAT number has to be on the invoice.", "The annual fee was withdrawn too early.", "Which payment methods do you take?",
         "I received a bill for something I never ordered.", "Two bills came for the same month.", "The exchange rate on my bill is wrong.",
         "The order number is missing on our invoice.", "I was billed for {n} seats instead of fewer.", "We have a new bank card.",
         "Your dunning letter threatens a late fee.", "Money was taken from my card again.", "What do I still owe you?",
         "The renewal was charged without notice.", "Our bookkeeping needs the receipts for {d}.", "I see wrong payments on my account statement."]),
    "delivery": (
        ["delivery", "shipping", "parcels", "logistics", "transport", "shipment", "deliveries"],
        ["where is the parcel", "shipping and delivery", "late or lost parcels", "transport of orders", "the courier and the post",
         "packages on their way", "delivery times and addresses", "parcels, packages, drivers"],
        ["My parcel has not arrived.", "The package with the {x} is late.", "The courier did not ring the bell.",
         "The tracking number does not work.", "The tracking has not changed for {w}.", "My order was sent to the wrong address.",
         "The driver left the box in the rain.", "The shipment is incomplete.", "The parcel was damaged on the way.",
         "When will the {x} be delivered?", "I want to change the delivery address.", "The delivery was planned for {d}.",
         "The package is lost.", "The post says the parcel went back.", "Nobody delivered the {x} on {d}.",
         "The box arrived open and empty.", "Can the delivery come in the evening?", "Please leave the parcel with the neighbour.",
         "The carrier cannot find our house.", "The truck did not come.", "My package was given to a stranger.",
         "I waited all day for the courier.", "Only {n} of the boxes came.", "The goods are stuck at customs.",
         "How long does shipping to the mountains take?", "The parcel is said to be delivered but it is not here.",
         "Please hold the shipment until {d}.", "The express parcel needed {w}.", "Our pallet has not been unloaded.",
         "I moved and the parcel goes to my old address.", "The driver broke our fence.", "The freight was picked up but never came.",
         "Could I pick up the package at the station?", "The packaging was torn.", "Which courier brings the {x}?",
         "The shipment left the depot {w} ago.", "You sent the box to another town.", "The flowers arrived dry and dead.",
         "The pizza came cold.", "The lorry with our goods is missing.", "I was not at home when the parcel came.",
         "What does shipping abroad cost?", "The delivery slot does not suit me.", "Is the {x} on its way?"]),
    "technical": (
        ["technical", "technical support", "faults", "tech", "engineering", "repairs", "IT support"],
        ["errors and faults", "something does not work", "broken devices and software", "crashes, errors, defects",
         "bugs and technical problems", "devices that fail", "help with software and hardware"],
        ["The {x} does not start.", "The app crashes when I open it.", "I see error {n} on the screen.", "The {x} is broken.",
         "The program freezes.", "The {x} makes a strange noise.", "The battery of the {x} is empty after an hour.",
         "The update failed.", "The website is down.", "The server does not respond.", "The screen stays black.",
         "The {x} does not connect to the network.", "The sound is gone.", "The {x} gets too hot.", "The button does not react.",
         "The software shows a blank page.", "The export produces an empty file.", "The {x} stopped working after {w}.",
         "The camera picture is blurred.", "There is a bug in the calendar.", "The {x} switches itself off.",
         "Printing is not possible.", "The sync between my devices fails.", "The installation stops halfway.",
         "The search finds nothing.", "The {x} leaks.", "The device shows a red light.", "The connection breaks every few minutes.",
         "The sensor reports wrong values.", "Since the last version nothing works.", "The {x} came with a defect.",
         "The picture on the screen flickers.", "The file cannot be opened.", "The motor of the {x} smells burnt.",
         "My {x} fell silent.", "The database has crashed.", "The page loads very slowly.", "How do I reset the {x}?",
         "The touch screen has cracks.", "The system reports a failure.", "The charger does not load the {x}.",
         "The wireless signal is weak.", "The backup did not run.", "The menu is displayed wrongly.", "The {x} is out of order.",
         "A key of the keyboard is stuck.", "The lens is scratched from inside.", "The heating does not get warm."]),
    "account": (
        ["account", "login", "profile", "user accounts", "access", "registration", "my account"],
        ["login and password", "profile and settings", "access to the account", "users, passwords and rights",
         "sign-in problems", "registration and user data", "names, passwords, e-mail addresses"],
        ["I forgot my password.", "I cannot log in.", "My account is locked.", "Please delete my account.",
         "How do I change my e-mail address?", "The login code does not arrive.", "Please change my user name.",
         "My profile shows a wrong name.", "I want to close my account.", "Someone else uses my account.",
         "My account was hacked.", "The reset link has expired.", "Please add a new user to our team.", "I have two accounts.",
         "I want to change the language in my settings.", "My registration was not confirmed.", "The password is not accepted.",
         "Please remove a colleague from our account.", "I am locked out after {n} wrong passwords.", "How can I switch off the newsletter?",
         "The sign-up page rejects my address.", "The confirmation mail for my login is missing.", "I lost the phone with my login codes.",
         "Please give my colleague access.", "My user was blocked.", "I want to merge my profiles.", "My profile picture is gone.",
         "Who can see my profile?", "I need administrator rights.", "Please unlock my user.", "The account was suspended.",
         "I would like to log in with a new phone number.", "My membership profile has the wrong birthday.",
         "Please set a new password for me.", "I did not sign up for this account.", "The two-factor login does not work.",
         "Where can I edit my personal data?", "My old user name should be removed.", "I registered with the wrong e-mail.",
         "The account of our trainee needs more rights.", "Please change the owner of the account.", "I never get the login mail."]),
    "sales": (
        ["sales", "offers", "purchase advice", "new orders", "sales team", "quotes", "buying"],
        ["questions before buying", "offers and prices", "advice on products", "quotes and new customers", "people who want to buy",
         "product questions, stock and discounts", "which product to choose"],
        ["How much does the {x} cost?", "Is the {x} in stock?", "I would like an offer for {n} units.", "Do you have the {x} in blue?",
         "Which {x} would you recommend?", "Do you give a discount for large orders?", "I want to buy {n} pieces.",
         "What is the difference between the two models?", "Can I test the {x} before buying?", "Please send me a quote.",
         "When does the new {x} come out?", "Is there a cheaper model?", "Are there gift cards?", "We are thinking about buying the {x}.",
         "Please send a catalogue.", "Could someone show us the product?", "I am interested in the professional edition.",
         "Does the {x} fit a small flat?", "Which edition is right for a school?", "Where is your showroom?",
         "We need a price for {n} licences.", "Is there a student price?", "Can I reserve the {x}?", "I want to order the {x}.",
         "Do you offer a demo?", "We compare three suppliers.", "Will the {x} be cheaper next month?", "How many can you sell us?",
         "Can you make a special price?", "Does the offer include a maintenance plan?", "Please put the {x} aside for me.",
         "Do you sell the {x} to companies?", "We want to become a customer.", "Is the {x} good for beginners?",
         "What would {n} of them cost with a logo?", "Our tender asks for your best price.", "I am looking for a present.",
         "Which size should I buy?", "What colours can one choose?", "Please call me about a larger order.",
         "We plan to equip an office.", "I would like a consultation before I decide."]),
    "returns": (
        ["returns", "exchange", "sending back", "returns desk"],
        ["sending goods back", "exchange of goods", "returns and labels", "how to return an order"],
        ["I want to send the {x} back.", "How do I return the {x}?", "Please send me a return label.", "The {x} is too small.",
         "I would like to exchange the {x} for a larger one.", "The colour is not what I ordered.", "I ordered the wrong size.",
         "Where do I send the return?", "The return label cannot be printed.", "I returned the {x} {w} ago.",
         "Can I swap the {x} for another one?", "I do not like the {x} and want to return it."]),
    "appointments": (
        ["appointments", "bookings", "reservations", "scheduling"],
        ["booking and moving dates", "times and reservations", "making an appointment", "calendar and bookings"],
        ["I need an appointment on {d}.", "Please move my booking to {d}.", "Can I book a table for {n}?", "I must cancel my appointment.",
         "When is the next free date?", "The technician was booked for {d}.", "Please confirm the reservation.",
         "I would like to come on {d}.", "Is there a free room on {d}?", "My booking shows the wrong time."]),
    "privacy": (
        ["privacy", "data protection", "legal", "compliance"],
        ["personal data and the law", "data protection requests", "legal questions", "contracts and privacy"],
        ["Which data do you store about me?", "Please erase all my personal data.", "I object to the use of my data.",
         "Your terms break the law.", "Our lawyer asks for the contract.", "I want a copy of my data.", "Who has access to my data?",
         "Please sign the data agreement.", "You shared my address with a third party.", "I withdraw my consent."]),
    "careers": (
        ["careers", "jobs", "human resources", "applications"],
        ["jobs and applications", "people who want to work here", "hiring and interviews", "staff and vacancies"],
        ["I would like to apply for a job.", "Do you have an open position?", "Here is my application.", "When is the interview?",
         "Do you offer internships?", "I want to work for you.", "Is the vacancy still open?", "Did you receive my CV?",
         "What salary do you pay for this position?", "I am looking for an apprenticeship."]),
    "feedback": (
        ["feedback", "praise and ideas", "suggestions", "product ideas"],
        ["wishes and ideas", "praise, ideas and suggestions", "opinions about the product", "comments and wishes"],
        ["I have an idea for the next version.", "It would be nice to have a dark mode.", "I just want to say thank you.",
         "Your staff was very kind.", "You should add more colours.", "I suggest a larger button.", "I love your new design.",
         "A small wish for the future: more languages.", "Great work, I only want to leave a comment.", "My suggestion is a simpler menu."]),
    "training": (
        ["training", "courses", "learning", "workshops"],
        ["courses and lessons", "how to learn the product", "workshops and teachers", "seminars for users"],
        ["Do you offer a course for beginners?", "When does the next workshop start?", "I would like to learn the program.",
         "Can a trainer come to our office?", "Is there a video lesson?", "How many people can join the seminar?",
         "Please sign me up for the course on {d}.", "I missed the lesson on {d}.", "The teacher did not show up."]),
    "security": (
        ["security", "safety", "fraud", "emergency desk"],
        ["attacks, fraud and danger", "safety problems", "fraud and theft", "dangerous situations"],
        ["I received a fake mail in your name.", "Someone tries to steal my identity.", "A thief has my card.",
         "Our network is under attack.", "I found a hole in your firewall.", "A stranger knows my address.", "We were robbed on {d}.",
         "There is a virus on the computer.", "A scammer called me and asked for a code.", "The alarm does not protect us."]),
}

REFUND = [
    "Please refund me.", "I want my money back.", "Give me my money back.", "I would like a refund.", "Please return the money.",
    "I expect a refund of {m}.", "Please pay back the {m}.", "I demand my money back.", "Kindly refund the amount.",
    "Transfer the amount back to my account.", "I would like to have my {m} back.", "Please reimburse me.",
    "Credit the {m} back to my card.", "I ask for a full refund.", "Refund the {x}, please.", "Please give back what I paid.",
    "I do not want a new one, I want the money.", "I insist on getting the price back.", "Send the {m} back to my bank.",
    "Please return what I paid for the {x}.", "You owe me {m}, pay it back.", "I want the fee back.", "Can I have my money back?",
    "Will you refund the {m}?", "How do I get my money back?", "Please credit me the difference.", "I want to be reimbursed.",
    "Take the {x} back and refund me.", "Cancel the order and return my payment.", "I want a refund instead of a repair.",
    "Please pay the {m} out to me.", "Give the deposit back.", "I would like the price of the {x} back.", "Return my {m}.",
    "I expect the amount back on my account.", "Cancel it and give me the money back.", "Please refund the shipping fee.",
    "Pay me back every cent.", "Please wire the {m} back.", "I shall only accept a refund.", "A refund of the postage would be fair.",
    "The rest of the fee should be paid back.", "Please book the {m} back.", "I want half of the price back.",
]
NO_REFUND = [
    "Please send a new one.", "Please fix it.", "Please help me.", "What should I do?", "Please call me.", "Please check this.",
    "I do not want a refund, just a new one.", "Please send a technician.", "Could you look into this?", "Please correct it.",
    "I need a replacement.", "Please let me know.", "Can you tell me more?", "Please write to me.", "Is there a solution?",
    "Please repair it.", "I look forward to your answer.", "Please confirm.", "No refund is needed.", "Please take care of it.",
    "Can somebody explain this to me?", "I would be glad about an answer.", "Please send me a new part.", "Please change it.",
    "Thanks for the refund of last month.", "Keep the money, I only want to know why.", "I only need some information.",
    "Please give me a hand.", "Can you arrange that?", "Please stop it.", "Please find out what happened.", "Tell me what to do.",
    "I am happy to pay for it.", "Please deal with this.", "Please exchange it.", "Could you fix that?", "Please reply.",
]

# Four tiers: can wait, normal, soon, at once.
URGENCY = [
    ["There is no hurry.", "No rush.", "This can wait.", "Please take all the time you need.", "Whenever you have time.", "It is not urgent at all.",
     "Any time will do.", "This is not important.", "Answer whenever it suits you.", "I am not in a hurry.", "We have no deadline.",
     "I am asking out of interest.", "Just curious.", "It is only an idea.", "Some day would be nice.", "This has time.",
     "Next month is early enough.", "I was just wondering.", "Not pressing.", "When you get around to it.", "It is a minor thing.",
     "A small matter for later.", "Do it some time.", "Only a suggestion.", "You need not reply soon.", "At some point, please.",
     "It does not matter when.", "I ask for later.", "If you think of it.", "This is low priority.", "I am merely looking around."],
    ["Please answer this week.", "An answer in the next few days is fine.", "By the end of the week, please.",
     "Please reply within a few days.", "I need it by next week.", "Within the week would be good.", "Please do it this week.",
     "An answer by Friday would be nice.", "In the coming days, please.", "I hope to hear from you this week.",
     "It should be done by the weekend.", "In the course of the week is fine.", "Please do this in the next days.",
     "We decide next week.", "Some time this week, please.", "It would help to know by Thursday.", "Over the next days, please.",
     "A reply in two or three days is good enough.", "Please settle this within five days.", "Soon, but not today.",
     "We need it before next Monday.", "I can wait a few days."],
    ["I need an answer today.", "Kindly reply today.", "It must be done by tomorrow.", "The deadline is tomorrow.",
     "I need it tonight.", "Please ring me today.", "We open tomorrow morning.", "My trip starts tomorrow.", "I have to know by tonight.",
     "It is due this afternoon.", "Today, please, it is urgent.", "Please solve this before tomorrow.", "The meeting is tomorrow.",
     "My exam is tomorrow.", "I need it before midnight.", "The offer ends today.", "Please fix it today.", "Guests come tomorrow.",
     "We must finish this evening.", "Within 24 hours, please.", "It has to be settled by noon.", "The auditor comes tomorrow.",
     "I expect it back by tomorrow.", "This is urgent, please answer today.", "The party is tonight.", "Tomorrow is too late for this."],
    ["This is an emergency!", "Help immediately!", "Act right now!", "We need help this minute!", "Every minute counts!",
     "Stop it at once!", "Phone me now!", "There is a fire!", "People are in danger!", "Production stands still!", "Do something now!",
     "Someone may get hurt!", "Everything is down and we lose money every minute!", "I need an engineer right now!", "It is dangerous!",
     "The hospital depends on it!", "Water is everywhere, come at once!", "It cannot wait a second!", "Immediately, please!",
     "Smoke comes out of it!", "This instant!", "We are losing customers every second!", "Block it right away!", "Lives are at risk!",
     "All our machines have stopped!", "It happens at this very moment!", "Send someone at once!", "The building is being evacuated!"],
]
URGENT_WORDS = [["whenever you like", "some day", "when you find the time", "at your leisure", "later on"],
                ["this week", "in the next few days", "by the end of the week", "within the week", "by Friday"],
                ["today", "by tomorrow", "tonight", "before tomorrow", "this afternoon"],
                ["immediately", "right now", "at once", "this minute", "right away", "this second"]]
TIERS = [
    ["can wait", "no hurry", "not urgent", "low", "no hurry at all", "some day", "whenever there is time", "it can wait",
     "no deadline", "relaxed", "the lowest urgency", "someday"],
    ["normal", "this week", "within a few days", "medium", "in the next days", "some days", "ordinary", "soon but not today",
     "within a week", "a few days"],
    ["high", "today", "by tomorrow", "urgent", "within a day", "today or by tomorrow", "needs an answer today", "within 24 hours"],
    ["emergency", "at once", "immediately", "critical", "right now", "drop everything", "an emergency, act now", "this minute",
     "danger or standstill", "the highest urgency"],
]
GREETINGS = ["", "", "", "Hello, ", "Hi, ", "Dear team, ", "Good morning. ", "Hi there, ", "Dear support, ", "Good day, "]
GOODBYES = ["", "", "", "", " Thank you.", " Thanks.", " Best regards", " Kind regards, {name}", " Cheers, {name}"]
MOODS = {
    "angry": ["This is unacceptable!", "I am very angry.", "What a terrible service!", "I am really annoyed.", "Shame on you!",
              "I have had enough.", "You are useless!", "I am furious.", "This is the worst company ever.", "I am fed up."],
    "pleased": ["I am a happy customer.", "I love your shop.", "Your service is great.", "Keep up the good work.",
                "So far I was very pleased.", "You are wonderful.", "I really like the product.", "Great team!"],
}
