"""More clause topics: offices, law, money, computers, buildings, farms, stages, sea and air, clubs, care.

The form is that of ``clause_topics`` and ``clause_polar``: one topic per line.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

from tools.train_demo import clause_lines

_VALUED = """
money: the witness is paid {v} for the day | {p} pays a witness {v} a day | a day in court brings the witness {v} | witnesses receive {v} for each day
money: a page of typing is {v} | {p} types a page for {v} | for every typed page {v} are billed | typing costs {v} a page
money: the tow truck charges {v} | towing a car costs {v} | {p} pays {v} to have the car towed | whoever is towed pays {v}
money: damage below {v} is not repaired | {p} repairs damage from {v} on | repairs begin with damage of {v} | smaller damage than {v} is left as it is
money: the cheapest ticket is {v} | tickets of {p} start at {v} | one gets in for {v} or more | nobody gets in for less than {v}
money: the donor gives {v} to the school | the school receives {v} as a gift | a gift of {v} goes to the school | {p} gives the school {v}
money: the wage rises by {v} | {p} earns {v} more from now on | a rise of {v} is agreed | the workers get {v} on top of the old wage
money: the prize money is {v} | the best runner earns {v} | {p} offers the runners {v} | {v} wait for the fastest runner
duration: the jury thinks for {v} | {p} gives the judges {v} to decide | judges have {v} for the verdict | the verdict comes after {v}
duration: the ward is visited for {v} | visitors stay {v} on the ward | {p} lets visitors stay {v} | a visit to the ward ends after {v}
duration: the concrete hardens for {v} | {p} waits {v} until the concrete is hard | after {v} the concrete is hard | nobody walks on the concrete for {v}
duration: the crossing takes {v} | {p} is at sea for {v} | after {v} the ship is on the other side | passengers spend {v} on board
duration: cows graze outdoors for {v} | {p} leaves the cows on the meadow for {v} | the cows are on the meadow for {v} | after {v} the cows return to the barn
duration: the battery lasts {v} | {p} uses the battery for {v} | after {v} the battery is flat | one charge is enough for {v}
duration: the interval is {v} | between the acts {v} go by | {p} stops the show for {v} | the second act begins {v} after the first
duration: the tenant is given {v} to object | an objection must come within {v} | after {v} an objection is too late | {p} accepts objections for {v}
percent: the train is {v} full | {v} of the seats on the train are taken | {p} sells {v} of the seats on the train | of the seats on the train, {v} have passengers
percent: {v} of the members must be present | the meeting is valid with {v} of the members | {p} holds the meeting only with {v} of the members | unless {v} come, the meeting is void
percent: alcohol makes up {v} of the drink | the drink has {v} alcohol | {p} sells a drink of {v} alcohol | the label says {v} alcohol
percent: the tip is {v} | {p} gives a tip of {v} | waiters get {v} on top of the bill | guests add {v} to the bill
date: the hearing is on {v} | {p} appears in court on {v} | the court hears the case on {v} | the case comes up on {v}
date: the bridge opens to cars on {v} | cars cross the bridge from {v} on | {p} lets the first car over the bridge on {v} | traffic uses the bridge from {v}
date: hunting begins on {v} | {p} hunts from {v} on | before {v} nobody may hunt | the hunting season starts on {v}
date: the statue is set up on {v} | {p} puts up the statue on {v} | the statue stands from {v} on | on {v} the statue finds its place
count: the jury has {v} judges | {v} judges form the jury | {p} names {v} judges | the verdict is given by {v} judges
count: the ward has {v} nurses | {v} nurses work on the ward | {p} employs {v} nurses on the ward | patients are looked after by {v} nurses
count: the ship has {v} lifeboats | {v} lifeboats hang on the ship | {p} equips the ship with {v} lifeboats | in danger there are {v} lifeboats
count: the orchestra plays {v} encores | {v} encores are played | {p} adds {v} encores | the evening ends with {v} encores
count: the warehouse employs {v} packers | {v} packers work in the warehouse | {p} has {v} packers | packing is done by {v} people
count: a driver may carry {v} passengers | {v} passengers may ride with the driver | {p} takes {v} passengers | there is room for {v} passengers
city: the ship calls at {v} | {p} goes ashore in {v} | the ship puts in at {v} | passengers see {v} on the way
city: the case is tried in {v} | the trial is in {v} | {p} is tried in {v} | judges in {v} hear the case
country: the tea is grown in {v} | {p} imports the tea from {v} | planters in {v} grow the tea | the tea reaches {p} from {v}
country: the ship sails under the flag of {v} | {p} flies the flag of {v} | the flag of {v} is on the ship | the ship is registered in {v}
language: the play is performed in {v} | actors of {p} speak {v} | the audience hears {v} on stage | {p} puts on the play in {v}
language: error messages are in {v} | the program answers in {v} | {p} shows its messages in {v} | users read messages in {v}
weekday: the market is held on {v}s | farmers sell at the market every {v} | {p} goes to market each {v} | {v} is market day
weekday: the judge hears cases on {v}s | cases come up every {v} | {p} sits in court on {v}s | {v} is the day of the judge
clock: lights go out at {v} | {p} turns off all lights at {v} | after {v} it is dark in the house | at {v} everybody must be in bed
clock: the flight lands at {v} | {p} arrives by plane at {v} | passengers leave the plane at {v} | the plane touches down at {v}
frequency: the chimney is swept {v} | {p} sweeps the chimney {v} | {v} the sweep comes | soot is removed {v}
frequency: the committee meets {v} | {p} calls the committee together {v} | {v} there is a sitting of the committee | sittings of the committee take place {v}
measure: the truck carries {v} | {p} loads the truck with {v} | no more than {v} go on the truck | the load of the truck is {v}
measure: the sign is read from {v} away | {p} can read the sign at {v} | the sign is legible from {v} | at {v} one still reads the sign
colour: the tickets are {v} | {p} prints the tickets on {v} paper | one shows a {v} ticket | the paper of the tickets is {v}
colour: the walls of the ward are {v} | {p} paints the ward {v} | patients look at {v} walls | the ward gets {v} walls
"""
_POLAR = """
the witness must swear an oath | {p} makes the witness swear | without an oath the witness is not heard || the witness need not swear an oath | {p} hears the witness without an oath | no oath is asked of the witness
the hearing is public | {p} lets the public into the hearing | everyone can sit in on the hearing || the hearing is held behind closed doors | {p} keeps the public out of the hearing | nobody else can sit in on the hearing
the verdict can be appealed | {p} may appeal against the verdict | a higher court can look at the verdict || the verdict is final | {p} may not appeal against the verdict | no higher court looks at the verdict
a lawyer is required | {p} must bring a lawyer | nobody may come without a lawyer || no lawyer is required | {p} can do without a lawyer | one may come without a lawyer
the clerk works part-time | {p} employs the clerk for half the day | the clerk goes home at noon || the clerk works full-time | {p} employs the clerk for the whole day | the clerk stays until the evening
desks are shared | {p} gives nobody a desk of their own | whoever comes first picks a desk || everybody has a desk | {p} gives each employee a desk | no desk is used by two people
minutes are taken | {p} writes down what is said | the meeting has minutes || no minutes are taken | {p} writes down nothing of what is said | the meeting goes without minutes
holidays can be carried over | {p} may take the rest of the holidays next year | unused days off are not lost || holidays cannot be carried over | {p} loses the rest of the holidays at the end of the year | unused days off are lost
the loan can be repaid early | {p} may pay back the loan before its time | nothing is charged for paying back early || the loan cannot be repaid early | {p} must not pay back the loan before its time | paying back early is out of the question
the rate of interest is fixed | {p} pays the same interest all the time | interest never changes || the rate of interest moves | {p} pays interest that goes up and down | interest follows the market
the account is free | {p} pays nothing for the account | the bank takes no fee for the account || the account costs a fee | {p} pays for the account | the bank takes a fee for the account
two people must sign | {p} cannot sign alone | one signature is not enough || one person may sign | {p} can sign alone | one signature is enough
the goods belong to the seller until they are paid for | {p} owns the goods only after paying | unpaid goods stay with the seller || the goods belong to the buyer at once | {p} owns the goods before paying | unpaid goods pass to the buyer
the code is open | anyone can read the code | {p} publishes its code || the code is closed | nobody outside can read the code | {p} hides its code
the server restarts by itself | {p} need not restart the server | after a crash the server comes back alone || the server must be restarted by hand | {p} has to restart the server | after a crash the server stays down
cookies are stored | {p} stores cookies | the site leaves cookies behind || no cookies are stored | {p} stores no cookies | the site leaves nothing behind
the old version is still supported | {p} still answers questions about the old version | users may stay with the old version || the old version is dropped | {p} no longer answers questions about the old version | users must leave the old version
passwords are shown while typing | {p} lets users see what they type | one can read the password || passwords are hidden while typing | {p} shows dots instead of the password | one cannot read the password
emails are answered at weekends | {p} writes back on Saturdays and Sundays | at weekends someone reads the mail || emails wait until the week begins | {p} does not write back on Saturdays and Sundays | at weekends nobody reads the mail
the lift is in service | {p} can take the lift | the lift goes up and down || the lift is out of service | {p} has to take the stairs | the lift stands still
the garden doors may be left open | {p} leaves the garden doors open | open garden doors are fine || the garden doors must be shut | {p} keeps the garden doors shut | open garden doors are forbidden
builders work on Saturdays | {p} builds on Saturdays too | Saturday is a working day on the site || builders rest on Saturdays | {p} does not build on Saturdays | Saturday is free on the site
the old walls are pulled down | {p} removes the old walls | nothing is left of the old walls || the old walls stay | {p} leaves the old walls standing | the old walls are kept
the cellar may be flooded | {p} lets water into the cellar | water can stand in the cellar || the cellar must stay dry | {p} keeps water out of the cellar | no water may stand in the cellar
the bull grazes with the herd | {p} puts the bull among the cows | bull and cows share a meadow || the bull grazes alone | {p} keeps the bull from the cows | bull and cows are apart
milk is sold at the farm | {p} sells milk to whoever comes | one can buy milk from the farmer || milk goes to the dairy only | {p} sells no milk to those who come | one cannot buy milk from the farmer
seeds are treated | {p} treats the seeds with chemicals | the seeds come with a coating || seeds are left untreated | {p} does nothing to the seeds | the seeds come as they are
the actors know their lines | {p} plays without a script in hand | nobody reads the lines || the actors read their lines | {p} plays with a script in hand | the lines are read from paper
the audience may clap between the acts | {p} welcomes clapping between the acts | one can clap before the end || the audience claps at the end only | {p} wants no clapping between the acts | one must not clap before the end
the singer is amplified | {p} sings with a microphone | a loudspeaker carries the voice || the singer is not amplified | {p} sings without a microphone | no loudspeaker carries the voice
the pilot may turn back | {p} is free to turn back in bad weather | turning back is up to the pilot || the pilot must fly on | {p} has to fly on in bad weather | turning back is not allowed
the cabin crew serves a meal | {p} serves a meal on board | passengers eat on the plane || no meal is served on board | {p} serves nothing to eat | passengers bring their own food
the boat is anchored at night | {p} drops anchor in the evening | at night the boat does not move || the boat sails through the night | {p} sails on after sunset | at night the boat goes on
divers go down in pairs | {p} lets nobody dive alone | each diver has a partner || divers go down alone | {p} dives without a partner | no partner is needed for a dive
life jackets are worn | {p} wears a life jacket on board | without a life jacket nobody comes on board || life jackets stay in the locker | {p} wears no life jacket on board | one may come on board without a life jacket
the club owns its house | {p} meets in a house of its own | the house is the club's || the club rents its house | {p} meets in a rented house | the house is somebody else's
meetings start with a song | {p} sings before each meeting | a song opens the meeting || meetings start without a song | {p} does not sing before a meeting | no song opens the meeting
the coach picks the team | {p} leaves the team to the coach | who plays is for the coach to say || the players pick the team | {p} lets the players choose | who plays is voted on
draws are decided by penalties | {p} ends a draw with penalties | there is always a winner || draws stand | {p} leaves a draw as it is | a match can end without a winner
substitutes may come back | {p} lets a player return | who was taken off can play again || substitutes stay off | {p} lets no player return | who was taken off is out for the match
the carer lives in | {p} sleeps at the house of the patient | at night the carer is there || the carer comes by day | {p} sleeps at home | at night no carer is there
grandparents look after the baby | {p} brings the baby to the grandparents | during the day the baby is with its grandparents || the baby goes to a nursery | {p} brings the baby to a nursery | during the day strangers look after the baby
the medicine is taken with food | {p} takes the medicine at meals | one must eat with the medicine || the medicine is taken on an empty stomach | {p} takes the medicine before eating | one must not eat with the medicine
the wound is stitched | {p} closes the wound with thread | the wound gets stitches || the wound is left to heal by itself | {p} does not close the wound | no stitches are needed
the patient knows the truth | {p} tells the patient everything | nothing is hidden from the patient || the patient is spared the truth | {p} does not tell the patient everything | some things are hidden from the patient
the tap water can be drunk | {p} drinks from the tap | water from the tap is clean || the tap water must not be drunk | {p} boils water from the tap | water from the tap makes one ill
rubbish is sorted | {p} sorts paper, glass and the rest | there are bins for each kind of rubbish || rubbish goes into one bin | {p} sorts no rubbish | paper, glass and the rest are thrown together
the street is one-way | {p} may drive in one direction only | cars do not meet in the street || the street is open in both directions | {p} may drive either way | cars meet in the street
trees may be felled | {p} fells trees | nobody protects the trees || trees are protected | {p} must leave the trees standing | felling is against the rules
dogs run free | {p} lets the dog run without a leash | no leash is needed || dogs are kept on a leash | {p} leads the dog on a leash | without a leash no dog is allowed
the path is lit | lamps stand along the path | {p} lights the path || the path is dark | no lamps stand along the path | {p} puts no lamps along the path
the ballot is by post | {p} votes by letter | one can vote from home || the ballot is at the town hall | {p} has to come to the town hall to vote | one cannot vote from home
the will names one heir | {p} inherits everything | nobody shares the inheritance || the will names several heirs | {p} shares the inheritance | the inheritance is divided
the ring is made to order | {p} makes the ring for one customer | no second ring looks like it || the ring comes from stock | {p} makes many rings alike | others have the same ring
"""
_ROLES = """
{p} guards the gate | the gate is guarded by {p} | at the gate stands {p} | nobody passes the gate but by leave of {p}
{p} writes the minutes | the minutes are written by {p} | the minutes come from the pen of {p} | taking minutes is up to {p}
{p} milks the cows | the cows are milked by {p} | milking is done by {p} | {p} sits down to the cows
{p} steers the ship | the ship is steered by {p} | at the helm stands {p} | the helm is in the hands of {p}
{p} signs the cheques | the cheques are signed by {p} | {p} puts the name under the cheques | no cheque is valid without {p}
{p} designs the costumes | the costumes are designed by {p} | the look of the costumes is owed to {p} | {p} draws the costumes
{p} answers the telephone | calls are taken by {p} | whoever calls speaks to {p} | {p} picks up the telephone
{p} restarts the server | the server is restarted by {p} | {p} gets the server going again | when the server is down, {p} sees to it
{p} buys the food | food is bought by {p} | the shopping is done by {p} | {p} goes to the shop for food
{p} judges the race | the race is judged by {p} | {p} says who won the race | the winner of the race is named by {p}
"""

VALUED, POLAR, ROLES = clause_lines.valued(_VALUED), clause_lines.polar(_POLAR), clause_lines.roles(_ROLES)
