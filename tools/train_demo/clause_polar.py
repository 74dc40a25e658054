"""Topics of clauses with a yes side and a no side.

One topic per line: wordings of the yes side, two bars, wordings of the no side. Slots: {p} the party, {x} a thing.
"""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

_POLAR = """
{p} may sublet {x} | subletting {x} is allowed | {p} can rent {x} out to others | others may rent {x} from {p} | {x} may be passed on to a subtenant || {p} may not sublet {x} | subletting {x} is forbidden | {x} must not be rented out to others | {p} has to use {x} alone | no subtenant is permitted in {x}
pets are welcome in {x} | {p} may keep a dog in {x} | animals are allowed in {x} | nobody minds pets in {x} || pets are forbidden in {x} | {p} may not keep a dog in {x} | animals must stay out of {x} | no pets are allowed in {x}
smoking is allowed in {x} | {p} may smoke in {x} | smokers are welcome in {x} || smoking is prohibited in {x} | {p} must not smoke in {x} | {x} is a non-smoking area | nobody may smoke in {x}
{p} pays for repairs of {x} | repairs of {x} are at the expense of {p} | {p} bears the cost of repairs of {x} | the bill for repairs of {x} goes to {p} || {p} does not pay for repairs of {x} | repairs of {x} cost {p} nothing | {p} is spared the cost of repairs of {x} | others pay for the repairs of {x}
the contract may be ended early | {p} can leave the contract early | early termination is possible | either side may quit before the end || the contract cannot be ended early | {p} must stay until the end | early termination is excluded | nobody may quit before the end
{p} must work on Sundays | work on Sundays is part of the job | {p} is on duty on Sundays | Sundays are working days for {p} || {p} need not come in on Sundays | Sundays are free for {p} | there is no work for {p} on Sundays | {p} has every Sunday off
{p} may work from home | home office is allowed for {p} | {p} can do the work at home | working remotely is fine || {p} must work in the office | home office is not allowed for {p} | {p} has to be present in the office | working remotely is ruled out
the price includes tax | tax is part of the price | prices are given with tax | nothing is added for tax || the price excludes tax | tax is added to the price | prices are given without tax | tax comes on top
breakfast is included | guests of {p} get breakfast for free | {p} serves breakfast without charge | breakfast is part of the rate || breakfast is not included | guests of {p} pay extra for breakfast | {p} charges breakfast separately | breakfast costs extra
delivery is free | {p} delivers free of charge | no delivery costs are charged | {p} pays the freight || delivery is charged | {p} charges for delivery | delivery costs are added | the customer pays the freight
{p} may change the price | prices can be raised by {p} | {p} reserves the right to change the price | the price may still change || {p} may not change the price | prices are fixed | the price stays the same until the end | {p} cannot raise the price
children have free entry | {p} admits children without a ticket | no ticket is needed for children | children pay nothing || children need a ticket | {p} charges for children | children pay for entry | entry is not free for children
the results will be published | {p} publishes the results | everybody can read the results | the results become public || the results stay secret | {p} does not publish the results | the results are kept under lock | nobody outside may read the results
{p} is the only supplier | {x} is bought from {p} alone | no other firm supplies {x} | {p} supplies {x} exclusively || {p} is one of several suppliers | {x} is bought from other firms too | other firms also supply {x} | {p} has no exclusive right to supply {x}
the warranty covers wear | worn parts are replaced for free | {p} also replaces parts that wear out | wear falls under the warranty || the warranty does not cover wear | worn parts must be paid for | wear is excluded from the warranty | {p} does not replace parts that wear out
{p} uses subcontractors | {p} may hire other firms for {x} | parts of {x} can be given to other firms | other firms are allowed to help {p} with {x} || {p} does everything itself | {p} may not hire other firms for {x} | no part of {x} can be given to other firms | other firms must not work on {x}
{p} may use the photos in advertising | the photos can appear in advertisements | advertising with the photos is fine | {p} is free to advertise with the photos || {p} may not use the photos in advertising | the photos must not appear in advertisements | advertising with the photos is ruled out | the photos are not for advertising
the seller installs {x} | installation of {x} is included | {x} comes with installation | {p} gets {x} installed || the buyer installs {x} | installation of {x} is not included | {x} comes without installation | {p} has to install {x}
electricity is paid by the tenant | the tenant pays for power | {p} has to pay for electricity as a tenant | power costs are borne by the tenant || electricity is paid by the landlord | the landlord pays for power | the tenant pays nothing for electricity | power is included in the rent
a written notice is required | {p} must give notice in writing | notice is valid only on paper | an oral notice is void || an oral notice is enough | {p} can give notice by telephone | notice may be given in any form | no written notice is needed
the deposit earns interest | interest is paid on the deposit | {p} gets interest for the deposit | the deposit bears interest || the deposit earns no interest | no interest is paid on the deposit | {p} gets the deposit back without interest | interest on the deposit is excluded
the tour takes place in the rain | rain does not stop the tour | {p} holds the tour in any weather | the tour goes ahead even if it rains || the tour is cancelled in the rain | if it rains there is no tour | {p} calls off the tour when it rains | rain stops the tour
the source code is handed over | {p} gets the source code | the source code goes to the client | delivery includes the source code || the source code is not handed over | {p} keeps the source code | the client does not get the source code | delivery does not include the source code
{p} must wear a helmet | a helmet is mandatory | nobody may enter without a helmet | helmets have to be worn || {p} need not wear a helmet | a helmet is optional | one may enter without a helmet | helmets are not required
{p} has to attend the meeting | attendance of {p} is required | {p} must be present at the meeting | the meeting is compulsory for {p} || {p} need not attend the meeting | attendance of {p} is voluntary | {p} may stay away from the meeting | the meeting is optional for {p}
visitors may park in {x} | parking in {x} is permitted for visitors | {x} is open to the cars of visitors | {p} lets visitors park in {x} || visitors may not park in {x} | parking in {x} is only for staff | {x} is closed to the cars of visitors | {p} does not let visitors park in {x}
the data may leave the country | data can be sent abroad | {p} is allowed to store data abroad | transfer of data to other countries is fine || the data must stay in the country | data cannot be sent abroad | {p} has to store all data at home | transfer of data to other countries is banned
tips belong to the staff | the staff keep the tips | {p} leaves the tips to the staff | waiters may keep what guests give || tips belong to the house | the staff hand in the tips | {p} keeps the tips for itself | waiters must give up what guests give
returns are accepted | {p} takes goods back | customers can send goods back | unwanted goods may be returned || returns are excluded | {p} takes no goods back | customers cannot send goods back | all sales are final
the lessee may paint {x} | painting {x} is up to the lessee | {p} can give {x} a new colour | {x} may be repainted || the lessee must leave {x} unpainted | nobody may paint {x} | {p} cannot give {x} a new colour | {x} keeps its colour
{p} is covered by the group insurance | the group insurance protects {p} | {p} is insured through the group | insurance of {p} is part of the group policy || {p} is not covered by the group insurance | the group insurance leaves out {p} | {p} needs its own insurance | {p} must insure itself
overtime is paid | {p} gets money for overtime | extra hours are paid | each hour of overtime is rewarded with pay || overtime is not paid | {p} gets no money for overtime | extra hours are unpaid | overtime is covered by the salary
the guest may bring food | own food is allowed in {x} | one can eat own food in {x} | {p} permits guests to bring food || the guest may not bring food | own food is forbidden in {x} | only food from the house may be eaten in {x} | {p} does not permit guests to bring food
the contract is renewed by itself | without notice the contract goes on | {p} stays in the contract unless it gives notice | an extension comes automatically || the contract ends by itself | without a new agreement the contract is over | {p} leaves the contract when the term is over | there is no automatic extension
{p} has a right to inspect {x} | {p} may look at {x} whenever it likes | inspection of {x} by {p} must be tolerated | {x} is open for inspection by {p} || {p} has no right to inspect {x} | {p} may not look at {x} | inspection of {x} by {p} can be refused | {x} is not open for inspection by {p}
the machine may run at night | night work is allowed in {x} | {p} can use the machines at night | at night the machines may go on || the machine must rest at night | night work is banned in {x} | {p} has to stop the machines at night | at night the machines stand still
partial deliveries are accepted | {p} may deliver in parts | goods can arrive in several lots | delivery in parts is fine || partial deliveries are refused | {p} must deliver everything at once | goods have to arrive in one lot | delivery in parts is ruled out
credit cards are accepted | one can pay {p} by card | {p} takes cards | payment by card is possible || credit cards are not accepted | one must pay {p} in cash | {p} takes no cards | payment is possible in cash only
{x} is accessible with a wheelchair | wheelchairs can enter {x} | there is a ramp to {x} | {x} has no steps || {x} is not accessible with a wheelchair | wheelchairs cannot enter {x} | there is no ramp to {x} | {x} can only be reached by steps
copies of the key may be made | {p} can have the key copied | copying the key is allowed | further keys may be ordered by {p} || no copies of the key may be made | {p} cannot have the key copied | copying the key is forbidden | further keys must not be made
the trainer is licensed | {p} employs a licensed trainer | the trainer holds a licence | a trainer with a licence is in charge || the trainer has no licence | {p} employs a trainer without a licence | the trainer is not licensed | no licence is held by the trainer
swimming in the lake is permitted | guests of {p} can swim in the lake | the lake is open for swimming | bathing in the lake is allowed || swimming in the lake is forbidden | guests of {p} cannot swim in the lake | the lake is closed for swimming | bathing in the lake is banned
the agency works for rivals too | {p} may serve competitors | work for competitors is allowed | {p} is free to take on rival clients || the agency works for no rival | {p} may not serve competitors | work for competitors is forbidden | {p} must turn down rival clients
the rent covers heating | heating is part of the rent | no extra is paid for heating | {p} heats without paying more || the rent does not cover heating | heating is billed separately | an extra is paid for heating | {p} pays for heating on top
the author approves the cover | the cover needs the author's consent | without the author's yes there is no cover | {p} must ask the author about the cover || the publisher alone decides on the cover | the cover needs no consent of the author | the author has no say in the cover | {p} need not ask the author about the cover
drones may fly over {x} | {p} can use drones above {x} | flying drones is allowed at {x} | there is no ban on drones at {x} || drones must not fly over {x} | {p} cannot use drones above {x} | flying drones is forbidden at {x} | a ban on drones applies at {x}
the buyer pays the notary | notary costs fall on the buyer | the bill of the notary goes to the buyer | costs of the notary are borne by the buyer || the seller pays the notary | notary costs fall on the seller | the bill of the notary goes to the seller | costs of the notary are borne by the seller
the landlord clears the snow | clearing snow is the landlord's job | in winter the landlord keeps the path free | snow is removed by the landlord || the tenant clears the snow | clearing snow is the tenant's job | in winter the tenant keeps the path free | snow is removed by the tenant
the rights end with the contract | {p} loses its rights when the contract ends | after the end no rights remain with {p} | the rights expire together with the contract || the rights outlive the contract | {p} keeps its rights after the contract ends | after the end the rights remain with {p} | the rights continue without the contract
the agreement is secret | {p} must not talk about the agreement | nobody may learn of the agreement | its content is confidential || the agreement is public | {p} may talk about the agreement | anyone may learn of the agreement | its content is not confidential
"""

POLAR: list[tuple[list[str], list[str]]] = []
for _line in _POLAR.strip().splitlines():
    _yes, _, _no = _line.partition(" || ")
    POLAR.append(([f"{s.strip()}." for s in _yes.split(" | ")], [f"{s.strip()}." for s in _no.split(" | ")]))

# Two people of whom one does, pays or owns something; the other one does not: {p} does it.
_ROLES = """
{p} pays the electricity | electricity is paid by {p} | the power bill goes to {p} | {p} bears the cost of electricity | for electricity {p} has to pay
{p} clears the snow | snow is cleared by {p} | it is up to {p} to remove snow | {p} sees to the snow in winter | removing snow is a duty of {p}
{p} insures {x} | {x} is insured by {p} | insurance for {x} is taken out by {p} | {p} takes care of the insurance of {x} | {p} provides cover for {x}
{p} obtains the permits for {x} | the permits for {x} are obtained by {p} | {p} has to get the permits for {x} | getting permits for {x} is the task of {p}
{p} trains the staff | the staff are trained by {p} | training of the staff lies with {p} | it falls to {p} to train the staff
{p} pays the notary | the notary is paid by {p} | the costs of the notary fall on {p} | {p} bears the notary costs
{p} chooses the colour of {x} | the colour of {x} is chosen by {p} | {p} has the final say on the colour of {x} | which colour {x} gets is decided by {p}
{p} keeps the rights to {x} | the rights to {x} remain with {p} | {x} belongs to {p} | {p} is the owner of {x} | ownership of {x} lies with {p} | {x} is owned by {p}
{p} disposes of the waste | the waste is disposed of by {p} | {p} has to take away the waste | getting rid of the waste is up to {p}
{p} carries the risk during transport | the risk of transport lies with {p} | if goods are lost on the way {p} bears the loss | during transport {p} is responsible
{p} provides the tools | the tools come from {p} | tools are supplied by {p} | it is {p} who brings the tools
{p} appoints the manager | the manager is appointed by {p} | {p} decides who becomes manager | naming a manager is the right of {p}
{p} looks after {x} | {x} is looked after by {p} | care of {x} lies with {p} | {p} takes charge of {x} | responsibility for {x} is with {p}
{p} maintains {x} at its own cost | {x} is maintained at the expense of {p} | {p} pays for the upkeep of {x} | the upkeep of {x} is a matter for {p}
{p} answers questions of customers | customers turn to {p} with questions | questions of customers are answered by {p} | {p} is the contact for customers
{p} does the bookkeeping | the books are kept by {p} | bookkeeping is done by {p} | {p} is in charge of the books
{p} sends the invoices | invoices are sent by {p} | writing invoices is left to {p} | {p} issues all invoices
{p} checks the quality of {x} | quality control of {x} is done by {p} | the quality of {x} is checked by {p} | {p} makes sure that {x} is of good quality
{p} closes {x} in the evening | {x} is locked up by {p} at night | in the evening {p} shuts {x} | locking {x} in the evening is up to {p}
{p} hires the musicians | the musicians are hired by {p} | {p} has to find the musicians | finding musicians is the job of {p}
"""
ROLES: list[list[str]] = [[f"{s.strip()}." for s in line.split(" | ")] for line in _ROLES.strip().splitlines()]
