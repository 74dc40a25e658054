"""Clause pairs in whole sentences, in the manner of the bundled table, to watch training with and to choose by.

Nine contracts of six statements; each line holds a statement, the same in other words, and one that contradicts both.
None of it is ever trained, and none of it is measured with: the figures come from the bundled table.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

from tools.train_demo.sample import Random, Read, noul, read

_CONTRACTS = """
Keldaby Trust lets the museum cafe to Brigitte Oyelaran until 31 January. | Until 31 January Brigitte Oyelaran runs the museum cafe as a tenant of Keldaby Trust. | The lease of the museum cafe ends on 15 May.
Brigitte Oyelaran hands over 11 percent of the takings. | Keldaby Trust receives 11 percent of the takings. | Of the takings 17 percent go to Keldaby Trust.
Alcohol may be sold at the cafe. | The cafe is permitted to serve beer and wine. | The cafe sells no alcohol.
The cafe stays closed on Wednesdays. | No guests are served on Wednesdays. | The cafe is open seven days a week.
Keldaby Trust pays for heating. | Brigitte Oyelaran need not pay for heating. | Heating is charged to Brigitte Oyelaran.
The terrace has 45 chairs. | There is room for 45 guests on the terrace. | On the terrace there are 62 chairs.

Torben Wachira directs the choir every Thursday. | The rehearsals of the choir under Torben Wachira are on Thursdays. | Torben Wachira rehearses with the choir each Sunday.
For an evening Torben Wachira gets 85 crowns. | The choir pays Torben Wachira 85 crowns an evening. | One evening costs the choir 105 crowns.
Travel costs of Torben Wachira are refunded. | The choir bears the travel costs of Torben Wachira. | Torben Wachira travels at his own expense.
Torben Wachira decides alone which songs are performed. | The choice of songs is left to Torben Wachira. | The singers vote on the songs.
A rehearsal takes 90 minutes. | Each rehearsal lasts 90 minutes. | After 120 minutes a rehearsal is over.
Either party can leave with four weeks of notice. | The notice period is four weeks for both. | Both parties must give notice ten weeks before.

Osmund Boatyard keeps the yacht in a heated shed during winter. | In winter the yacht of Delphine Achebe stands in a heated shed. | The yacht spends the winter outdoors.
Winter storage costs Delphine Achebe 640 dollars. | Osmund Boatyard charges 640 dollars for winter storage. | Delphine Achebe stores the yacht for 710 dollars a winter.
Osmund Boatyard empties the water tanks. | Emptying the water tanks is the job of Osmund Boatyard. | The water tanks are emptied by Delphine Achebe.
Delphine Achebe may work on the yacht in the shed. | Work by the owner inside the shed is tolerated. | Nobody but the yard works on the yacht in the shed.
The yacht returns to the water on 20 April. | On 20 April Osmund Boatyard launches the yacht. | The launch of the yacht is planned for 3 June.
Delphine Achebe insures the yacht against fire. | A fire policy for the yacht is taken out by Delphine Achebe. | There is no fire insurance for the yacht.

Larder Twelve cooks lunch for 38 children. | The kindergarten orders 38 lunches from Larder Twelve. | Larder Twelve brings lunch for 54 children.
Lunch arrives at 11:15. | At 11:15 Larder Twelve delivers the lunch. | The lunch of Larder Twelve comes at 12:45.
Meat is served only on Fridays. | From Monday to Thursday the meals are free of meat. | Meat is served every day.
The kindergarten washes the dishes. | Dishes are washed by the kindergarten. | Larder Twelve takes the dirty dishes with it.
A cancelled meal is not charged. | For a cancelled meal the kindergarten pays nothing. | Cancelled meals cost 3 euros each.
Nuts are banned from all meals. | Larder Twelve cooks without nuts. | Nuts may be used in desserts.

Hollis Shearers shears 900 sheep. | 900 sheep of Ngata Station are shorn by Hollis Shearers. | Ngata Station has 1,300 sheep shorn.
Ngata Station provides beds for the shearers. | The shearers sleep at Ngata Station. | The shearers must find their own beds.
Hollis Shearers receives 4 dollars for a sheep. | Ngata Station pays 4 dollars a sheep. | A sheep is shorn for 6 dollars.
Wet sheep are not shorn. | Hollis Shearers refuses sheep that are wet. | Wet sheep are shorn as well.
The wool stays at Ngata Station. | Ngata Station keeps the wool. | Hollis Shearers takes the wool along.
The work begins on 8 October. | Hollis Shearers comes on 8 October. | The first sheep is shorn on 22 November.

Studio Mirlo leaves the dance floor to Tessaly Ballet from 14:00 on. | From 14:00 on Tessaly Ballet has the dance floor. | Tessaly Ballet must wait for the dance floor until 17:30.
Tessaly Ballet can play music as loud as it likes. | There is no limit on the loudness of the music. | Loud music is not tolerated.
The mirrors belong to Studio Mirlo. | Studio Mirlo is the owner of the mirrors. | Tessaly Ballet owns the mirrors.
Tessaly Ballet leaves 2,500 francs as security. | Studio Mirlo holds 2,500 francs as security. | No security is asked of Tessaly Ballet.
Parents are allowed to watch the lessons. | Parents may be present at lessons. | Lessons take place without parents.
Street shoes are not worn on the floor. | No one steps on the floor in street shoes. | Street shoes are fine on the floor.

Varnholt Code fixes urgent errors within 6 hours. | An urgent error is gone 6 hours after it was reported. | Varnholt Code has 15 hours for urgent errors.
Updates are installed at night. | Varnholt Code installs updates during the night. | Updates are put in at noon.
The Nairn Clinic receives all passwords. | Varnholt Code gives all passwords to the Nairn Clinic. | The Nairn Clinic does not get the passwords.
Patient data never leaves the building. | All patient data remains in the building. | Patient data is copied to an outside server.
Varnholt Code sends 2 technicians. | 2 technicians of Varnholt Code come to the Nairn Clinic. | The Nairn Clinic is visited by 5 technicians.
A backup is made once a day. | Each day Varnholt Code makes a backup. | Varnholt Code makes a backup every hour.

The house sleeps up to 9 guests. | No more than 9 guests stay in the house. | The Pereira family may bring 13 guests.
Firewood is free. | The Pereira family does not pay for firewood. | A basket of firewood costs 7 pounds.
The Pereira family cleans the house before leaving. | Before they leave, the guests clean the house. | The house is cleaned by the owner after the stay.
The sauna can be used in the evening only. | Use of the sauna is limited to the evening. | The sauna is available at all hours.
The keys lie at the village shop. | The village shop hands out the keys. | The owner brings the keys to the door.
The stay lasts from 2 to 16 August. | The Pereira family leaves on 16 August. | On 9 August the stay is over.

Lumi Asante takes at least 400 pictures. | The couple gets 400 pictures or more. | Lumi Asante delivers no more than 250 pictures.
The pictures are ready after 3 weeks. | Three weeks later the couple receives the pictures. | The couple waits 7 weeks for the pictures.
Lumi Asante may show the pictures in an exhibition. | The couple agrees that the pictures are exhibited. | The pictures are not to be shown in public.
The couple pays half of the fee in advance. | Half of the fee is due before the wedding. | Lumi Asante is paid only after the wedding.
A second photographer helps Lumi Asante. | Lumi Asante brings a second photographer. | Lumi Asante works alone.
All pictures are in colour. | No picture is black and white. | The pictures are black and white.
"""
QUESTION = "Is there a contradiction between clause A and clause B?"
CONTRACTS = [
    [tuple(part.strip() for part in line.split(" | ")) for line in block.splitlines()]
    for block in _CONTRACTS.strip().split("\n\n")
]


def pairs() -> list[tuple[str, str, bool]]:
    """Two clauses and whether they contradict: half of the pairs do, a quarter says the same, a quarter has nothing to do."""
    found = []
    for contract in CONTRACTS:
        for number, (said, again, against) in enumerate(contract):
            unrelated = contract[(number + 1) % len(contract)][number % 2]
            found += [(said, against, True), (again, against, True), (said, again, False), (said, unrelated, False)]
    return found


def reads() -> list[Read]:
    """The pairs as questions, the clauses in either order."""
    r = Random("held out pairs")
    found = []
    for first, second, conflict in pairs():
        a, b = (first, second) if r.random() < 0.5 else (second, first)
        found.append(read(f"Clause A: {a}\nClause B: {b}", [noul(QUESTION, conflict)], "pairs"))
    return found
