"""Clause topics that training never sees: half of them to choose the temperature with, half to measure with.

The form is that of ``clause_topics`` and ``clause_polar``; topics and wordings are others, and so are the parties.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905

from __future__ import annotations

from tools.train_demo import clause_lines

PARTIES = """Thornbury Kilns|Vasquez & Daughters|Moorgate Aquarium|the Beekeeper|Polder Wind|Ms Achterberg|Ferndale Choir|Ulverston Pottery|Mr Szymanski
|Brookhaven Velo|the Puppeteer|Castlebar Looms|Juno Observatory|Wren Saddlery|Tolliver Bros|the Ferryman|Gantry Nine|Marrow Films|Dr Iwasaki|Coldwater Ski""".replace(
    "\n", ""
).split("|")
THINGS = "the kiln|the aquarium|the windmill|the orchard|the carousel|the marina|the darkroom|the observatory dome|the ice rink|the cable car|the sound booth|the vineyard".split(
    "|"
)

_VALUED = """
money: {p} leases the plough for {v} a season | a season with the plough sets {p} back {v} | for one season of ploughing {v} change hands | the plough is available to {p} at {v} a season
money: should a glass break, {v} will be deducted | broken glass costs {p} {v} apiece | {p} loses {v} for any glass that breaks | {v} are taken off for a broken glass
money: the jury awards {v} to the winner | whoever wins takes home {v} | the winner of the contest is rewarded with {v} | first prize: {v}
money: {p} caps its spending on flowers at {v} | flowers may set {p} back {v}, no more | for flowers there is a budget of {v} | the florist gets {v} and not a cent beyond it
duration: {p} leaves paint to dry for {v} | paint dries for {v} before anyone touches {x} | before {x} is touched, {v} have to pass | drying takes {v}
duration: rehearsals with {p} go on for {v} | {p} rehearses for {v} before the premiere | the choir is given {v} to rehearse | {v} of rehearsal precede the premiere
duration: seedlings stay under glass for {v} | {p} moves seedlings outside after {v} | only after {v} do seedlings leave the greenhouse | {v} under glass is what seedlings get
duration: {p} holds a table for {v} | a reserved table is given away after {v} | latecomers lose their table once {v} have gone by | tables wait {v} for their guests
percent: the middleman pockets {v} | {p} skims {v} off as middleman | {v} end up with the middleman | the middleman's cut stands at {v}
percent: scrap must stay under {v} | {p} wastes {v} of the cloth at worst | the tolerated scrap rate is {v} | cloth lost as scrap: {v}
percent: {p} discounts last season's skis by {v} | skis of last season are marked down {v} | old skis go {v} cheaper | a markdown of {v} is put on skis of last season
date: the exhibition of {p} is unveiled on {v} | {p} unveils its show on {v} | on {v} the curtain lifts for the show of {p} | visitors first see the show on {v}
date: the well is dug by {v} | {p} finishes digging on {v} | digging is over on {v} | water should flow by {v}
date: {p} submits drafts until {v} | drafts arriving past {v} are ignored | {v} is the cut-off for drafts | nobody may send drafts later than {v}
count: the ferry takes {v} cyclists aboard | {p} lets {v} cyclists on the ferry | {v} bikes with riders go on one crossing | a crossing is limited to {v} cyclists
count: the puzzle comes with {v} pieces | {p} cuts the puzzle into {v} pieces | {v} pieces make up the puzzle | one counts {v} pieces in the puzzle
count: {p} waters the ficus {v} times in spring | in spring the ficus gets water {v} times | the ficus is watered on {v} occasions in spring | {v} waterings in spring are planned
city: the regatta starts off {v} | {p} lets the regatta start in {v} | sailors gather in {v} for the regatta | {v} is where the regatta sets out
city: {p} prints its posters in {v} | a printer in {v} makes the posters | posters are run off in {v} | the poster printer sits in {v}
country: wool arrives from {v} | {p} has its wool sent over from {v} | sheep in {v} give the wool | the wool of {p} was shorn in {v}
country: {p} registers the patent in {v} | the patent is protected in {v} | {v} is where the patent is filed | patent protection extends to {v}
language: subtitles appear in {v} | {p} subtitles the film in {v} | viewers read {v} subtitles | the film carries subtitles in {v}
language: {p} prays in {v} | services are sung in {v} | hymns are heard in {v} | the liturgy is in {v}
weekday: the choir sings on {v}s | {p} invites singers every {v} | singing is reserved for {v}s | come {v}, the choir sings
weekday: bread is baked on {v}s | {p} fires up the oven each {v} | the oven is hot on {v}s | fresh loaves come out every {v}
clock: telescopes are pointed at {v} | {p} opens its dome at {v} | stargazing gets going at {v} | from {v} on the dome stands open
clock: milk is fetched at {v} | {p} fetches the milk at {v} | the milk churns are gone by {v} | at {v} someone comes for the milk
frequency: {p} tunes the organ {v} | the organ is tuned {v} | {v} a tuner sees to the organ | tuning of the organ is scheduled {v}
frequency: ropes are swapped {v} | {p} puts in new ropes {v} | {v} old ropes are thrown out for new ones | rope changes occur {v}
measure: the slope drops {v} | {p} marks out a slope of {v} | skiers descend {v} | the run covers {v}
measure: the cask has room for {v} | {p} fills the cask with {v} | {v} go into the cask | inside the cask are {v}
colour: {p} upholsters the seats in {v} | seats are covered with {v} fabric | the fabric on the seats is {v} | one sits on {v} seats
colour: sails shine in {v} | {p} hoists {v} sails | the boat carries {v} sails | {v} was picked for the sails
"""
_POLAR = """
dancers rehearse barefoot | {p} wants bare feet on stage | shoes stay off while dancing || dancers rehearse in shoes | {p} wants no bare feet on stage | dancing without shoes is out of the question
honey may be heated | {p} warms its honey | heating honey is all right || honey stays raw | {p} never warms its honey | heating honey is taboo
the dome opens in fog | fog is no reason for {p} to shut the dome | even in fog the dome is opened || the dome stays shut in fog | {p} shuts the dome as soon as fog comes up | no opening of the dome in fog
the saddle can be swapped | {p} swaps a saddle that does not fit | customers may trade the saddle for another || the saddle cannot be swapped | {p} swaps no saddle | trading the saddle for another is impossible
apprentices sell at the fair | {p} lets apprentices sell at the fair | selling is something apprentices may do || apprentices sell nothing at the fair | {p} keeps apprentices away from selling | selling is off limits for apprentices
the mooring costs nothing | {p} moors boats for nothing | boats lie in {x} without paying || the mooring costs money | {p} takes money for mooring boats | boats lie in {x} against payment
film crews are tolerated | {p} opens {x} to film crews | shooting a film in {x} is all right || film crews are turned away | {p} bars {x} to film crews | shooting a film in {x} is out of the question
leftovers go to charity | {p} donates what is left over | charity receives the leftovers || leftovers are thrown away | {p} bins what is left over | charity sees nothing of the leftovers
the puppets travel by air | {p} flies its puppets to the show | puppets go by plane || the puppets never travel by air | {p} sends its puppets by road | no plane carries the puppets
spectators may stand | {p} sells standing tickets | standing is fine for spectators || spectators have to sit | {p} sells seats only | standing is out for spectators
"""
_ROLES = """
{p} mends the nets | torn nets are a matter for {p} | with torn nets one goes to {p} | {p} sews up the nets
{p} keeps the trophy | the trophy stands on the shelf of {p} | the trophy ends up with {p} | custody of the trophy rests with {p}
{p} tastes the wine first | the first glass is for {p} | before anyone else {p} tries the wine | the wine is first tried by {p}
{p} carries the instruments | instruments are lugged by {p} | the load of instruments falls on {p} | moving the instruments is left to {p}
{p} draws the maps | maps are drawn up by {p} | map making rests with {p} | the maps stem from {p}
{p} picks the songs | the songs are picked by {p} | song choice is up to {p} | which songs are sung is for {p} to say
"""

VALUED, POLAR, ROLES = clause_lines.valued(_VALUED), clause_lines.polar(_POLAR), clause_lines.roles(_ROLES)
