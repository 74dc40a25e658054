"""Everyday nouns, verbs, and groups of ways that exclude each other, for ``clause_relations``.

Written from general knowledge of English, by field of life, so that words of unseen clauses are known from elsewhere.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905

from __future__ import annotations

# Singular things that one can have, make, use, visit; one line per field of life.
SINGULAR = """
kitchen stove toaster oven dishwasher blender frying_pan saucepan teapot bread_knife chopping_board tablecloth napkin recipe cookbook pantry jar spoon fork bowl
bed pillow blanket wardrobe mirror armchair carpet rug curtain bookcase drawer cupboard bathtub shower sink tap toilet towel broom mop bucket vacuum_cleaner washing_machine
coat sweater hat glove shoe boot sock belt dress skirt blouse suit tie raincoat helmet apron uniform button zip pocket umbrella
school classroom blackboard textbook pencil ruler essay homework timetable diploma playground school_trip exam thesis seminar_room dictionary spelling_test report_card
hospital ward nurse_station waiting_room operation injection vaccine tablet bandage plaster prescription thermometer blood_test wheelchair stretcher ambulance diet treatment check-up tooth
ball racket bat goal net swimming_pool track tournament league trophy whistle jersey skateboard surfboard ski sledge bicycle tandem marathon relay
airport terminal boarding_pass suitcase rucksack passport guest_house map guidebook ferry sleeping_car railcard platform ticket_office detour border
laptop folder file spreadsheet browser plug-in software_update bug_report help_desk test_server data_centre firewall interface button_bar menu_entry release password_reset user_manual
office desk envelope letterhead meeting_room payroll contract invoice memo agenda diary calendar reception lift canteen coffee_machine photocopier filing_cabinet whiteboard
garden shed greenhouse compost_heap wheelbarrow spade rake hose lawnmower hedge flower_pot tree_house bird_bath vegetable_bed fence path pond swing barbecue
farm barn field meadow tractor plough harvest hay seed calf lamb hen duck goose goat pony donkey beehive mill orchard_wall
piano violin flute drum trumpet guitar choir orchestra rehearsal score overture stage curtain_call microphone loudspeaker recording music_stand dance_class ballroom
novel poem magazine newspaper article column headline photo_album sketch drawing exhibition gallery sculpture catalogue film documentary screenplay interview
shop counter till shopping_bag trolley receipt discount_card price_tag window_display delivery_van warehouse shelf order_form gift_card sample showroom market_stall butcher florist
bank account cheque credit_card savings_book loan pension tax_return will inheritance budget salary allowance fee penalty refund donation subsidy receipt_book ledger
house flat roof chimney attic basement staircase doorbell lock key window_frame gutter boiler radiator fuse_box burglar_alarm letterbox garage_door drainpipe
bus tram lorry motorbike van car_wash petrol_station toll_bridge roundabout tunnel lighthouse harbour dock canal lock_gate rowing_boat sailing_boat
wall ceiling floorboard tile brick beam plank nail screw hammer drill saw ladder scaffold crane cement_mixer paintbrush tool_box wheel pulley
salad pancake stew pizza pudding biscuit apple_pie birthday_cake lemonade coffee tea soup cheese_plate breakfast lunch dinner snack picnic_basket
dog parrot rabbit hamster goldfish tortoise aviary leash dog_food cat_flap kennel horsebox saddle_bag riding_lesson vet_visit puppy kitten foal flock
"""
PLURAL = """
apples pears cherries carrots potatoes onions peas beans eggs mushrooms sausages rolls noodles nuts grapes lemons plums melons herbs spices
cups plates glasses_of_juice spoons candles vases baskets bags sacks barrels tins bottles packets parcels pallets boxes drums hoses ropes chains
chairs stools benches desks shelves lockers hooks lamps bulbs switches plugs batteries fuses pipes valves bolts screws hinges nails tiles
books comics stamps postcards leaflets posters tickets badges labels forms letters cards maps charts notes slides photographs negatives prints
shirts trousers jeans gloves boots slippers caps jackets socks pyjamas swimsuits costumes masks wigs beads ribbons buttons zips laces belts
pupils teachers coaches referees players runners swimmers cyclists climbers tourists visitors passengers pilots drivers sailors guards porters waiters cooks
nurses surgeons patients volunteers trainees apprentices clerks cashiers cleaners gardeners plumbers electricians carpenters masons roofers painters welders mechanics engineers
cows sheep pigs goats hens ducks geese rabbits ponies bees trout seedlings tulips roses ferns bushes saplings hedges weeds logs
lessons talks workshops trips tours flights crossings rides matches races rounds laps heats trials tests checks visits calls shifts breaks
servers laptops tablets screens cables sensors cameras microphones accounts licences passwords reports updates patches backups downloads queries uploads
bicycles buses vans boats canoes tents sleeping_bags rucksacks stoves_for_camping sails life_jackets skis sledges skates goals rackets balls
coins cheques vouchers prizes medals shares bonds loans grants pensions fines fees taxes deposits refunds rebates bills receipts invoices contracts
"""
MASS = """
bread butter milk cream honey sugar salt flour rice pasta juice beer wine coffee tea water oil vinegar jam chocolate
wood steel iron glass paper plastic rubber leather wool cotton silk paint glue ink cement sand gravel coal gas petrol
swimming running cycling sailing climbing fishing hunting camping hiking dancing singing cooking baking sewing knitting gardening painting drawing reading driving
furniture luggage clothing equipment software data music traffic rubbish homework housework jewellery cutlery bedding firewood livestock fruit poultry fuel advice research
"""
# Regular verbs; a star doubles the last letter.
REGULAR = """
accept admit* answer arrange assemble attach bake borrow carry celebrate clean climb close collect comb control* cook copy count cover cross cure decorate delay describe design develop
discuss download dress dry edit empty enlarge enter export fetch fill finance finish fix fold frame furnish grill guard handle heat host import improve invite iron label* launch
lock mail manage mark mend mix move mow name notice offer open order pack park pass paste peel pick plan* plant play post practise prepare press print propose protect
pull publish push record refuse rehearse reject remove rename rent repair replace reserve restore return roast sample save scrub* search serve share sharpen shift ship shorten sign
sort stack stamp stop* store supply support switch taste test tidy touch tow trade train transport treat trim* tune turn unload unpack update upload use visit warm wash
watch water weigh welcome wrap* cancel* climb compare correct crush dust explain greet hire inspect judge kick list mount nominate observe operate photograph pour praise
quote rate rescue revise rinse scan* sketch sponsor stain stir* study sweeten tile trace translate trim* type varnish verify whiten wipe adopt ban* check drop* employ
""".split()
IRREGULAR = """build builds built building|buy buys bought buying|choose chooses chosen choosing|cut cuts cut cutting|dig digs dug digging|draw draws drawn drawing|drive drives driven driving|eat eats eaten eating
|feed feeds fed feeding|find finds found finding|fly flies flown flying|freeze freezes frozen freezing|grow grows grown growing|hang hangs hung hanging|hide hides hidden hiding|hold holds held holding|keep keeps kept keeping
|lead leads led leading|lend lends lent lending|make makes made making|read reads read reading|ride rides ridden riding|ring rings rung ringing|run runs run running|sell sells sold selling|send sends sent sending|sew sews sewn sewing
|show shows shown showing|shut shuts shut shutting|sing sings sung singing|spread spreads spread spreading|sweep sweeps swept sweeping|take takes taken taking|teach teaches taught teaching|throw throws thrown throwing|wear wears worn wearing
|win wins won winning|write writes written writing|bring brings brought bringing|sink sinks sunk sinking|split splits split splitting|steer steers steered steering|bind binds bound binding|speak_about speaks_about spoken_about speaking_about
|look_after looks_after looked_after looking_after|pay_for pays_for paid_for paying_for|pick_up picks_up picked_up picking_up|switch_off switches_off switched_off switching_off|throw_away throws_away thrown_away throwing_away|hand_in hands_in handed_in handing_in
|set_up sets_up set_up setting_up|take_down takes_down taken_down taking_down|put_away puts_away put_away putting_away|fill_in fills_in filled_in filling_in|turn_down turns_down turned_down turning_down|try_out tries_out tried_out trying_out""".replace("\n", "").split("|")  # fmt: skip

# Ways to do something: groups of classes that exclude each other, classes of phrases that mean the same.
WAYS = """
indoors|inside|under a roof|within four walls || outdoors|in the open air|in the open|outside
alone|without help|single-handed|without anybody's help || together with others|with helpers|in a team|with the help of others
in advance|beforehand|ahead of time || afterwards|only later|when all is over
during the day|by day|in daylight|before dark || at night|after dark|in the dark|during the night
at once|immediately|straight away|without delay|the same day || only after some weeks|much later|with long delay|not before next month
never|at no time|not once || always|every time|each time|without exception
in writing|by letter|on paper || by word of mouth|orally|in conversation
in person|personally|face to face || through an agent|by way of a deputy|through somebody else
by road|by truck|on the road || by air|by plane|in an aeroplane || by sea|by ship|across the water || by rail|by train|on the railway
on foot|walking || by bicycle|on a bike || by car|in a car || on horseback|riding a horse
by hand|manually|with bare hands || by machine|with a machine|automatically
for free|free of charge|for nothing|without payment || for money|against payment|for a fee|at a price
in cash|with notes and coins || by card|with a credit card || by bank transfer|from account to account
in public|openly|before everybody's eyes || in secret|behind closed doors|secretly|where nobody sees it
upstairs|on the upper floor || downstairs|on the lower floor
in the morning|before noon || in the afternoon|after lunch || in the evening|after supper || at midnight|in the middle of the night
in spring|when spring comes || in summer|in the summer months || in autumn|when leaves fall || in winter|in the cold season
at weekends|on Saturdays and Sundays || on working days|from Monday to Friday
slowly|at low speed|without haste || quickly|at high speed|fast|in a hurry
carefully|with care || carelessly|without care
quietly|without noise|silently || loudly|with much noise|noisily
from the left|on the left-hand side || from the right|on the right-hand side
in the north|up north || in the south|down south
in the front|at the front || at the back|in the rear
at the beginning|at the start|first of all || at the end|last of all|as the last thing
in one go|all at once|in one piece || bit by bit|in several parts|piece by piece|in stages
of its own free will|voluntarily|by choice || under compulsion|because it must|by order
with gloves|wearing gloves || without gloves|with bare hands
with a permit|holding a permit || without a permit|lacking a permit
with light|with the lamps on || in darkness|with the lamps off
in January|in the first month of the year || in March || in May || in July || in September || in November
on the first day|on day one || on the second day|on day two || on the third day|on day three || on the last day
online|over the internet|on the web || at the counter|on the spot || by telephone|over the phone || by post|in the mail
for children only|only for the young || for adults only|only for grown-ups
with music|to music || without music|in silence
from home|at home || in the office|at the workplace
once|a single time|one time only || twice|two times || three times|thrice || again and again|over and over
""".strip()
# What something is: the same, said with "is".
STATES = """
open|not shut|unlocked || closed|shut|locked|not open
hot|heated|warm || cold|unheated|chilled|cool
wet|damp|moist || dry|free of water|not wet
full|filled|without room for more || empty|with nothing in it|not filled
new|brand-new|unused || old|used|second-hand|worn
large|big|of great size || small|little|of small size
long|of great length || short|of small length
heavy|of great weight || light|of little weight
safe|free of danger|harmless || dangerous|unsafe|risky|harmful
cheap|inexpensive|low in price || expensive|costly|dear|high in price
clean|spotless|free of dirt || dirty|soiled|covered with dirt
complete|finished|done|ready || incomplete|unfinished|not ready|still in the making
public|open to everyone|for everybody || private|closed to the public|not for everyone
free|without charge|available for nothing || subject to a charge|not free|to be paid for
legal|lawful|allowed by law || illegal|unlawful|against the law
available|in stock|on hand || sold out|out of stock|unavailable|no longer to be had
broken|out of order|not working|defective || in working order|intact|working|not broken
male || female
digital|in electronic form || printed|on paper
compulsory|mandatory|obligatory|a must || optional|voluntary|left to choice|not required
temporary|for the time being|not for ever || permanent|for ever|lasting
reversible|possible to undo || final|impossible to undo|irreversible
visible|in plain sight|easy to see || hidden|out of sight|invisible
fresh|not frozen || frozen|deep-frozen || dried
raw|uncooked || cooked|boiled
sweet|full of sugar || sour|acid || salty|full of salt
round|like a circle || square|with four equal sides || triangular|with three corners
wooden|made of wood || metal|made of metal || plastic|made of plastic || made of glass|of glass || made of stone|of stone
on the ground floor || in the cellar|below ground || under the roof|in the attic
full-time|for the whole working week || part-time|for a part of the working week
early|before the time|ahead of time || late|after the time|overdue || on time|punctual
insured|covered by insurance || uninsured|without insurance|not covered by insurance
vegetarian|free of meat|meatless || made with meat|not meatless
national|within the country || international|across borders
signed|with a signature || unsigned|without a signature
occupied|taken|in use || vacant|not taken|unused at present
transparent|possible to see through || opaque|impossible to see through
deep || shallow|not deep
quiet|without noise|silent || noisy|loud
shared|for common use|used by all || for one person alone|not shared|for sole use
tax-free|not taxed || taxed|subject to tax
""".strip()
PEOPLE = """the guest|the member|the student|the pupil|the driver|the patient|the teacher|the visitor|the owner|the manager|the director|the architect|the gardener|the caretaker|the neighbour|the captain|the coach|the chef
|the farmer|the artist|the musician|the singer|the baker|the plumber|the doctor|the nurse|the trainee|the apprentice|the volunteer|the treasurer|the chairwoman|the mayor|the council|the committee|the crew|the family|the shop
|the office|the association|the museum|the theatre|the orchestra|the airline|the ministry|the court|the bank|the city|the village|the company|the user|the administrator|the developer|the reader|the editor|the translator""".replace("\n", "").split("|")  # fmt: skip


def _forms(base: str) -> tuple[str, str, str, str]:
    double, base = base.endswith("*"), base.rstrip("*")
    stem = base + base[-1] if double else base
    if base.endswith("e"):
        return base, f"{base}s", f"{base}d", f"{base[:-1]}ing"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base, f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base}ing"
    third = f"{base}es" if base.endswith(("s", "x", "ch", "sh")) else f"{base}s"
    return base, third, f"{stem}ed", f"{stem}ing"


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.replace("_", " ") for word in text.split()))


def _groups(text: str) -> list[list[list[str]]]:
    return [[side.strip().split("|") for side in line.split(" || ")] for line in text.splitlines()]


THINGS, MANY, STUFF = _words(SINGULAR), _words(PLURAL), _words(MASS)
VERBS: list[tuple[str, ...]] = [
    *dict.fromkeys(_forms(base) for base in REGULAR),
    *(tuple(form.replace("_", " ") for form in line.split()) for line in IRREGULAR),
]
WAY_GROUPS, STATE_GROUPS = _groups(WAYS), _groups(STATES)
