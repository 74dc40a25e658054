"""Clause topics of daily life: household, work, school, health, travel, sport, software, clubs, shops, neighbours.

The form is that of ``clause_topics`` and ``clause_polar``: one topic per line. Those of ``clause_fields`` are added.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

from tools.train_demo import clause_fields, clause_lines

_VALUED = """
money: the babysitter gets {v} an hour | an hour of babysitting costs {v} | {p} pays the babysitter {v} an hour | for an hour with the children {v} are due
money: a school lunch is {v} | {p} charges {v} for a school lunch | pupils pay {v} for lunch at school | lunch at school costs {v}
money: the vet bills {v} for a visit | a visit to the vet costs {v} | {p} pays the vet {v} a visit | for each visit the vet takes {v}
money: excess luggage costs {v} | {p} charges {v} for a second suitcase | whoever brings a second suitcase pays {v} | for one more suitcase {v} are added
money: pocket money is {v} a week | {p} gives {v} pocket money every week | each week the child gets {v} | the child has {v} a week to spend
money: parking costs {v} a day | a day in the car park is {v} | {p} asks {v} a day for parking | whoever parks all day pays {v}
money: the scholarship is worth {v} | {p} awards a scholarship of {v} | the student receives a scholarship of {v} | {v} are paid as a scholarship
money: the licence for the program costs {v} a seat | each seat of the program is {v} | {p} buys the program at {v} a seat | {v} are charged for every seat
money: the lowest wage is {v} an hour | nobody at {p} earns less than {v} an hour | hourly pay starts at {v} | {p} pays at least {v} an hour
money: a haircut is {v} | {p} cuts hair for {v} | one pays {v} for a haircut | having one's hair cut costs {v}
duration: tablets are taken for {v} | {p} takes the tablets for {v} | the treatment with tablets lasts {v} | after {v} no more tablets are needed
duration: the plaster stays on for {v} | after {v} the plaster comes off | {p} wears the plaster for {v} | for {v} the arm is in plaster
duration: the visa is valid for {v} | {p} may stay in the country for {v} | after {v} the visa runs out | with this visa one stays {v}
duration: books can be borrowed for {v} | {p} lends books for {v} | a book is due back after {v} | readers may keep a book for {v}
duration: the dough rests for {v} | {p} lets the dough rest for {v} | after {v} the dough is kneaded again | the dough needs {v} of rest
duration: log files are kept for {v} | {p} deletes log files after {v} | after {v} log files are gone | the system keeps logs for {v}
duration: a match lasts {v} | {p} plays for {v} | after {v} the match is over | the whistle ends the match after {v}
duration: the baby sleeps {v} | {p} lets the baby sleep for {v} | the nap of the baby takes {v} | the baby wakes up after {v}
duration: a user is logged out after {v} | {p} ends a session after {v} without a click | sessions without a click end after {v} | whoever does nothing for {v} is logged out
duration: the siren can be heard for {v} | {p} sounds the siren for {v} | the siren goes on for {v} | after {v} the siren falls silent
percent: {v} of the places go to girls | girls get {v} of the places | {p} keeps {v} of the places for girls | the share of girls is {v}
percent: the juice contains {v} fruit | {p} makes juice with {v} fruit | {v} of the juice is fruit | the fruit content of the juice is {v}
percent: {v} of the homework counts for the mark | homework makes up {v} of the mark | {p} weighs homework with {v} | the mark depends on homework for {v}
percent: the disk may be filled to {v} | {p} warns when the disk is {v} full | a warning comes at {v} of the disk | from {v} of the disk on there is a warning
date: term begins on {v} | {p} goes back to school on {v} | lessons start again on {v} | the holidays are over on {v}
date: the tax return is due on {v} | {p} files the tax return by {v} | by {v} the tax return must be in | the office wants the tax return by {v}
date: the program is released on {v} | {p} releases the program on {v} | users get the program on {v} | the release of the program is on {v}
date: the roadworks end on {v} | from {v} the road is free again | {p} finishes the roadworks on {v} | roadworks go on until {v}
date: the plane to the island flies on {v} | {p} flies to the island on {v} | the flight to the island is on {v} | on {v} the plane takes off for the island
date: the baby is expected on {v} | {p} expects the baby on {v} | the birth is expected on {v} | the baby should come on {v}
count: the pill is taken {v} times a day | {p} takes {v} pills a day | {v} pills a day are prescribed | the doctor prescribes {v} pills a day
count: the hotel has {v} beds | {v} guests can sleep at the hotel | {p} has beds for {v} guests | the hotel sleeps {v}
count: a team has {v} players | {v} players are in a team | {p} lines up {v} players | each side plays with {v}
count: the password has at least {v} characters | passwords under {v} characters are refused | {p} asks for passwords of {v} characters | one types {v} characters or more as a password
count: the recipe is for {v} people | {p} cooks for {v} people | {v} eaters get enough from the recipe | the recipe feeds {v}
count: the class visits {v} museums | {p} takes the class to {v} museums | {v} museums are on the list of the class | the class sees {v} museums
count: the farm keeps {v} cows | {p} milks {v} cows | {v} cows stand in the shed | the herd counts {v} cows
city: the plane stops over in {v} | {p} changes planes in {v} | passengers wait for the next plane in {v} | the stopover is in {v}
city: {p} studies in {v} | the university of {p} is in {v} | {p} goes to university in {v} | {v} is where {p} studies
country: {p} spends the holidays in {v} | the holiday of {p} is in {v} | {p} travels to {v} for the holidays | {v} is where {p} goes on holiday
language: the signs are in {v} | {p} puts up signs in {v} | one reads {v} on the signs | the signs greet visitors in {v}
weekday: the bins are emptied on {v}s | {p} puts out the bins every {v} | {v} is the day of the bins | bins are collected each {v}
weekday: the doctor sees children on {v}s | {p} sees children every {v} | children come to the doctor on {v}s | {v} is for children at the doctor's
clock: the school bus leaves at {v} | at {v} the school bus drives off | {p} catches the school bus at {v} | the school bus goes at {v}
clock: supper is at {v} | {p} eats supper at {v} | at {v} supper is on the table | the family sits down to supper at {v}
clock: the night train departs at {v} | {p} takes the night train at {v} | at {v} the night train pulls out | departure of the night train is at {v}
frequency: the dog is walked {v} | {p} takes the dog out {v} | {v} the dog goes for a walk | walks with the dog take place {v}
frequency: passwords are changed {v} | {p} changes the password {v} | {v} a new password is set | a new password is needed {v}
frequency: the team trains {v} | {p} has training {v} | {v} there is training for the team | the players meet for training {v}
measure: the pool is {v} long | {p} swims in a pool of {v} | the length of the pool is {v} | from end to end the pool measures {v}
measure: the file may have {v} | {p} accepts files of up to {v} | files above {v} are refused | uploads are limited to {v}
colour: the front door is {v} | {p} has a {v} front door | the front door is painted {v} | {v} is the colour of the front door
colour: the team plays in {v} | {p} wears {v} shirts at matches | the shirts of the team are {v} | at matches one sees the team in {v}
"""
_POLAR = """
the dog sleeps in the house | {p} lets the dog sleep inside | at night the dog comes in | the dog spends the night indoors || the dog sleeps in the yard | {p} keeps the dog outside at night | at night the dog stays out | the dog spends the night outdoors
dinner is cooked at home | {p} cooks dinner at home | the family eats at home in the evening || {p} orders dinner from a restaurant | nobody cooks dinner at home | the family eats out in the evening
children watch television after supper | {p} lets the children watch television after supper | after supper the television is on for the children || children watch no television after supper | {p} switches off the television after supper | after supper there is no television for the children
shoes are taken off at the door | {p} walks about the house in socks | nobody wears shoes in the house || shoes stay on in the house | {p} walks about the house in shoes | one need not take off one's shoes at the door
phones are allowed in class | {p} lets pupils use phones in class | pupils may look at their phones in class | during lessons a phone is no problem || phones are banned from class | {p} takes away phones in class | pupils must not use phones in class | during lessons phones stay in the bag
calculators may be used in the exam | {p} lets candidates use a calculator | candidates can work with a calculator || no calculators in the exam | {p} allows candidates no calculator | candidates must do sums in their heads
homework is marked | {p} marks the homework | pupils get marks for homework || homework is not marked | {p} gives no marks for homework | there are no marks for homework
the test can be taken again | {p} may repeat the test | a second try at the test is possible | whoever fails the test tries again || the test cannot be taken again | {p} may not repeat the test | there is only one try at the test | whoever fails the test is out
attendance at classes is checked | {p} keeps a list of who attends classes | one must sign in at classes || nobody checks attendance at classes | {p} keeps no list at classes | one need not sign in at classes
the patient may eat before the operation | {p} allows food before the operation | breakfast before the operation is fine || the patient must fast before the operation | {p} allows no food before the operation | nothing is eaten before the operation
the medicine needs a prescription | {p} sells the medicine only on prescription | without a prescription nobody gets the medicine || the medicine is sold freely | {p} sells the medicine without a prescription | no prescription is needed for the medicine
the clinic takes patients without an appointment | patients can walk in at {p} | no appointment is needed to see a doctor || the clinic sees patients by appointment only | {p} turns away patients without an appointment | whoever wants a doctor must make an appointment
relatives may stay overnight | {p} lets relatives sleep at the hospital | a bed is made up for relatives || relatives must leave in the evening | {p} sends relatives home at night | there is no bed for relatives
the vaccine is given twice | {p} gets two injections of the vaccine | a second injection of the vaccine follows || the vaccine is given only once | {p} gets one injection of the vaccine | there is no second injection of the vaccine
the train stops at every station | the train of {p} halts at all stations | passengers can get off at any station || the train runs without a stop | the train of {p} skips the stations | passengers cannot get off on the way
seats must be reserved | {p} takes only passengers with a reservation | without a reservation there is no seat || seats cannot be reserved | {p} takes no reservations | whoever comes first gets the seat
the hotel has a swimming pool | guests of {p} can swim at the hotel | there is a pool at the hotel || the hotel has no swimming pool | guests of {p} cannot swim at the hotel | there is no pool at the hotel
the ticket can be refunded | {p} pays back the ticket | whoever cancels gets the money back | travellers recover the price of the ticket || the ticket cannot be refunded | {p} does not pay back the ticket | whoever cancels loses the money | travellers do not recover the price of the ticket
liquids may be taken on board | {p} allows bottles in hand luggage | bottles can stay in the bag || liquids must not be taken on board | {p} allows no bottles in hand luggage | bottles have to be left behind
tourists need a guide | {p} lets nobody in without a guide | one may enter only with a guide || tourists can walk about alone | {p} lets visitors in without a guide | one may enter without a guide
the match is shown on television | {p} broadcasts the match live | one can watch the match at home || the match is not shown on television | {p} does not broadcast the match | one can watch the match only at the ground
players wear helmets | {p} makes helmets compulsory for players | without a helmet nobody plays || players go bareheaded | {p} does not ask players to wear helmets | one may play without a helmet
women and men play together | {p} runs mixed teams | a team has both women and men || women and men play apart | {p} runs no mixed teams | a team has either women or men
beginners are welcome | {p} takes beginners | one can join without experience | no experience is needed || beginners are turned away | {p} takes only the experienced | one cannot join without experience | experience is required
the game goes on in the rain | {p} plays in any weather | rain is no reason to stop the game || the game stops in the rain | {p} plays in dry weather only | in the rain nobody plays
the program runs without the internet | {p} can work offline | no connection is needed || the program needs the internet | {p} cannot work offline | without a connection nothing works
updates are installed by themselves | {p} updates the program automatically | the user need not do anything for an update || updates are installed by the user | {p} never updates the program by itself | the user has to start each update
data is encrypted | {p} stores data in encrypted form | nobody can read the stored data without a key || data is stored in plain text | {p} does not encrypt data | anyone can read the stored data
deleted files can be restored | {p} can bring back deleted files | a deleted file stays in the bin for a while || deleted files are gone for good | {p} cannot bring back deleted files | a deleted file is lost at once
an account is needed | {p} serves only users with an account | without signing up nobody gets in || no account is needed | {p} serves anyone without signing up | one can use it without an account
the app shows advertisements | {p} puts advertisements into the app | users see advertising || the app is free of advertisements | {p} keeps advertising out of the app | users see no advertising
the developer works on one project at a time | {p} gives the developer a single project | there is one project for the developer || the developer works on several projects at once | {p} gives the developer many projects | the developer has more than one project
employees wear a uniform | {p} dresses its people in uniforms | at work one wears the uniform || employees wear what they like | {p} has no uniforms | at work one wears one's own clothes
the break is paid | {p} pays for breaks | breaks count as working time || the break is unpaid | {p} does not pay for breaks | breaks do not count as working time
interns are paid | {p} pays its interns | an intern earns money || interns work for nothing | {p} does not pay its interns | an intern earns no money
the meeting is recorded | {p} records the meeting | a recording of the meeting is made || the meeting is not recorded | {p} makes no recording of the meeting | there is no recording of the meeting
strangers can join the club | {p} admits anyone to the club | the club is open to all || strangers cannot join the club | {p} admits only friends to the club | the club takes no new people
votes are cast in secret | {p} votes by secret ballot | nobody knows how another one votes || votes are cast by show of hands | {p} votes openly | everybody sees how the others vote
the shop is open on holidays | {p} sells on holidays too | one can buy there on a holiday || the shop is closed on holidays | {p} does not sell on holidays | on a holiday one finds the shop shut
bags are given out free | {p} gives shoppers a bag for nothing | one does not pay for a bag || bags have to be bought | {p} takes money for a bag | one pays for a bag
prices can be haggled over | {p} lets buyers haggle | the price is a matter of talk || prices are not open to talk | {p} does not haggle | nobody can beat down the price
the neighbour's hedge is cut | {p} cuts the hedge of the neighbour | the hedge next door is kept short || the neighbour's hedge grows freely | {p} leaves the hedge of the neighbour alone | the hedge next door is never cut
parties may go on after midnight | {p} lets parties last past midnight | one may celebrate after midnight || parties must end before midnight | {p} stops parties at midnight | after midnight nobody may celebrate
the laundry room is shared | all tenants use one laundry room | {p} washes in the common laundry room || each tenant has a laundry room | {p} has a laundry room of its own | no laundry room is shared
water for the garden comes from the rain | {p} waters the garden with rain | no tap water is used in the garden || water for the garden comes from the tap | {p} waters the garden with tap water | no rain water is used in the garden
eggs come from free hens | the hens of {p} run about freely | hens are not kept in cages || eggs come from caged hens | the hens of {p} live in cages | hens are kept in cages
the field is sprayed | {p} uses poison against weeds | weeds are killed with chemicals || the field is not sprayed | {p} pulls out weeds by hand | no chemicals are used against weeds
the soup contains meat | {p} cooks the soup with meat | there is meat in the soup || the soup is vegetarian | {p} cooks the soup without meat | there is no meat in the soup
the wedding is in church | {p} marries in church | the couple says yes at the altar || the wedding is at the town hall | {p} does not marry in church | the couple says yes before an official
gifts are unwrapped at the party | {p} opens gifts in front of the guests | guests see what was given || gifts are unwrapped later | {p} opens gifts when the guests are gone | guests do not see what was given
the letter is written by hand | {p} writes the letter with a pen | the letter comes in handwriting || the letter is typed | {p} writes the letter on a computer | the letter is not in handwriting
the lamp burns all night | {p} leaves the lamp on at night | at night there is light || the lamp is put out at night | {p} switches off the lamp at night | at night there is no light
the window stays open | {p} leaves the window open | nobody shuts the window || the window stays shut | {p} keeps the window closed | nobody opens the window
the car runs on petrol | {p} fills the car with petrol | petrol is what the car needs || the car runs on electricity | {p} charges the car from a socket | no petrol goes into the car
the bank asks for a guarantor | {p} needs a guarantor for the loan | without a guarantor there is no loan || the bank asks for no guarantor | {p} gets the loan without a guarantor | a guarantor is not necessary
the heir may sell the house | {p} is free to sell the inherited house | nothing stops the heir from selling || the heir must keep the house | {p} may not sell the inherited house | the heir cannot sell
"""
_ROLES = """
{p} walks the dog | the dog is taken out by {p} | it is {p} who goes out with the dog | walking the dog is left to {p}
{p} cooks supper | supper is made by {p} | {p} stands at the stove in the evening | making supper is the task of {p}
{p} takes the children to school | the children go to school with {p} | {p} brings the children to school | the way to school is looked after by {p}
{p} writes the code | the program is written by {p} | {p} does the programming | programming is in the hands of {p}
{p} runs the tests | testing is done by {p} | {p} sees to the tests | the tests are a matter for {p}
{p} drives the bus | the bus is driven by {p} | at the wheel of the bus sits {p} | {p} is the driver of the bus
{p} chairs the meeting | the meeting is chaired by {p} | {p} leads the meeting | in the chair sits {p}
{p} marks the exams | the exams are marked by {p} | {p} gives the marks | marking lies with {p}
{p} gives the injections | injections are given by {p} | for injections one goes to {p} | {p} holds the needle
{p} mows the lawn | the lawn is mown by {p} | the lawn is cut by {p} | mowing is the job of {p}
{p} books the flights | flights are booked by {p} | {p} buys the plane tickets | booking flights is up to {p}
{p} keeps the score | the score is kept by {p} | {p} writes down the points | points are counted by {p}
{p} opens the shop | the shop is opened by {p} | in the morning {p} unlocks the shop | {p} has the key of the shop
{p} feeds the cat | the cat is fed by {p} | the cat gets its food from {p} | {p} fills the bowl of the cat
{p} speaks for the group | the group speaks through {p} | {p} is the voice of the group | questions to the group are answered by {p}
"""

VALUED = clause_lines.valued(_VALUED) + clause_fields.VALUED
POLAR = clause_lines.polar(_POLAR) + clause_fields.POLAR
ROLES = clause_lines.roles(_ROLES) + clause_fields.ROLES
