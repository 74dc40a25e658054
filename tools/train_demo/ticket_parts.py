"""What tickets are about, as noun phrases, and sentences around them; also sentences that name a second topic in passing."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

_NOUNS = {
    "billing": """my last invoice|the bill of {d}|the direct debit|the payment of {m}|the VAT on the bill|my credit card statement|the reminder fee|the charge of {m}
|the receipt for my purchase|our monthly bill|the instalments|the bank transfer|the billing address|a double charge|the amount on the invoice|the credit note|the late fee
|the due date of the bill|the payment method|the subscription fee|an unknown charge|the tax number on the invoice|our accounts|the cost of {m} on my card|the annual fee
|a wrong booking on my card|the paid bill|the dunning letter|the price on the bill|the payment slip|an open balance|the discount missing on the bill|my bank details for payment""",
    "delivery": """my parcel|the package|the courier|the shipment of the {x}|the delivery date|the tracking number|the driver|the pallet|the delivery address|a damaged parcel
|the box that came open|my lost package|the late delivery|the shipping time|the express shipment|the letter box delivery|the freight|the transport of the {x}|the depot|the post office
|goods that never arrived|the van that did not come|the missing boxes|the customs papers of my parcel|the delivery slot|the wrong parcel at my door|the return label
|the neighbour who took my parcel|the pick-up station|the carrier|an order still on its way|the packaging""",
    "technical": """an error message|the crash of the app|my broken {x}|the {x} that does not start|a bug in the software|the update|the screen of my {x}|a defect of the {x}
|the noise of the {x}|the network connection|the black display|the battery of the {x}|the installation|a blank page|the server failure|the {x} that switches itself off
|the slow website|a fault in the {x}|the printer driver|the frozen program|the sensor|the missing sound|the overheated {x}|the leaking {x}|the software version
|the cable that does not fit|a loose screw in the {x}|the malfunction|the remote control|the backup that fails|the sync error|the motor of the {x}""",
    "account": """my password|the login|my user name|my profile|the locked account|the access rights of a colleague|the registration|the confirmation mail|my e-mail address
|the security code|two-factor login|my personal data|a second user|the deletion of my account|the sign-in page|the administrator role|my membership account|the account settings
|the name in my profile|the language of my profile|the password reset|the reset link|the invitation of a user|my customer login|the account of my late husband|the user list
|the verification code|my old account|an account I cannot open|the sign-up form|the permissions|the change of my surname""",
    "sales": """an offer|a quote for {n} pieces|the price of the {x}|a discount for schools|the range of products|a sample|the difference between two models|a test version
|your price list|the catalogue|a demonstration of the {x}|the features of the {x}|whether the {x} is in stock|a larger plan|volume prices|an upgrade to the bigger model
|advice before I buy|the new {x}|licences for {n} people|the colour choices of the {x}|a special price|a gift for a friend|buying {n} of the {x}|the size of the {x} before I order
|a product for beginners|the guarantee before I order|a non-binding offer|the cheapest plan|which model suits us|a call with a sales person|terms for resellers|a trial""",
}
NOUNS = {topic: [noun.strip() for noun in text.replace("\n", "").split("|")] for topic, text in _NOUNS.items()}
ABOUT = ["I have a question about {a}.", "I am writing because of {a}.", "It is about {a}.", "I need help with {a}.", "Who can tell me something about {a}?",
         "My request concerns {a}.", "I would like to talk about {a}.", "Can you help me with {a}?", "This message is about {a}.", "Regarding {a}:",
         "We have to talk about {a}.", "I wonder about {a}.", "Please have a look at {a}.", "Information about {a} would be welcome.", "My problem is {a}.",
         "I call because of {a}.", "Could somebody explain {a}?", "I am having trouble with {a}.", "Something is wrong with {a}.", "I cannot make sense of {a}."]  # fmt: skip
SALES_ABOUT = ["I have a question about {a}.", "I am interested in {a}.", "Can you tell me more about {a}?", "I would like to know more about {a}.",
               "Before I decide, tell me about {a}.", "We are thinking of {a}.", "Please send me details on {a}.", "I am looking for {a}.", "We would like to have {a}.",
               "I would like information on {a}.", "Could you advise me on {a}?", "Please make it clear what you can say about {a}."]  # fmt: skip
# The first noun is of another topic and settled; the second one is what the ticket is about.
NOT_THIS = ["This is not about {b} but about {a}.", "With {b} everything is fine, but I have a problem with {a}.", "Thank you for solving the matter of {b}. Now it is about {a}.",
            "Forget {b}; what I need is help with {a}.", "I have no question about {b}, only about {a}.", "{B} is settled. What remains is {a}.",
            "I do not care about {b}, I write because of {a}.", "Last time we spoke about {b}, today I ask about {a}."]  # fmt: skip
MORE = {
    "billing": ["You have billed me for the same order again.", "Why am I paying more than my neighbour?", "The money left my bank account on {d}, but I cancelled before.",
                "I never agreed to pay {m}.", "Our accountant cannot match your bill to any order.", "The total does not add up.", "You booked {m} instead of less.",
                "The bill shows {n} items, we bought fewer.", "I paid in cash and still get reminders.", "My payment bounced.", "The currency on the invoice is wrong.",
                "Please split the bill in two.", "I want to pay by bank transfer from now on.", "You keep charging my old card.", "The invoice has the wrong company on it.",
                "We have paid this already.", "Please send a copy of the bill.", "I am charged for a service that I cancelled.", "There are two debits on my statement."],
    "delivery": ["I have been waiting for my order for {w}.", "The courier threw the parcel over the fence.", "Your driver rang at the wrong house.", "The {x} has still not come.",
                 "Only half of what I ordered was in the box.", "The parcel has been at the same place for {w}.", "Somebody else signed for my package.", "It was meant to arrive on {d}.",
                 "Where has my package got to?", "Nobody was there when I opened the door.", "The parcel lay in front of the door in the rain.", "The goods were unloaded at the wrong gate.",
                 "The truck blocked our yard.", "Can you send it to my work instead?", "I would rather pick it up myself.", "Your van drove past our house.", "Two of my parcels were mixed up.",
                 "The glass was in pieces when the box arrived.", "I get messages about a delivery that never happens."],
    "technical": ["My {x} has stopped.", "Nothing happens when I press the button.", "It keeps restarting.", "After the update the {x} is dead.", "The {x} gives off smoke.",
                  "The picture freezes all the time.", "Your page shows an error.", "I cannot print since {d}.", "The {x} is stuck.", "The app closes by itself.", "The lights of the {x} blink red.",
                  "The data do not load.", "It says that something went wrong.", "The {x} does not turn on any more.", "The handle of the {x} broke off.", "There is a crack in the {x}.",
                  "The system has been down since {d}.", "The {x} beeps all night.", "Every click takes a minute.", "The {x} does nothing at all."],
    "account": ["The system does not know my password.", "I do not get into my profile.", "How can I change the name I log in with?", "Please remove me from your system.",
                "My colleague needs access too.", "Someone changed my password.", "The page says that my user does not exist.", "I married and have a new name.", "I lost the phone with my login codes.",
                "Please merge my two accounts.", "Where do I enter my new address?", "I am locked out.", "My registration is not confirmed.", "I never got the mail to confirm my account.",
                "How do I add a user?", "Please reset my access.", "After {n} wrong tries I am blocked.", "I want to close my account.", "My login belongs to a former employee."],
    "sales": ["What would {n} of the {x} cost?", "Do you sell the {x} in other colours?", "Which {x} do you recommend?", "We want to buy {n} pieces.", "Is there a cheaper model?",
              "Can I try the {x} before I buy it?", "Do you have the {x} in stock?", "When will the new {x} be on sale?", "Please make us an offer.", "How long is the guarantee on the {x}?",
              "Does the {x} fit a small room?", "Do students get a discount?", "I want to compare your plans.", "What is included in the large plan?", "Can one rent the {x} instead of buying it?",
              "We are looking for a new supplier.", "Could you show us the product?", "Is the {x} suited for children?", "I would order if the price were lower.", "Do you sell vouchers?"],
}  # fmt: skip
