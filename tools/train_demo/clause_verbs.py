"""Verbs of clauses."""

# fmt: off

from __future__ import annotations

# base, third person, past participle, -ing, noun
VERBS = [tuple(line.split()) for line in """
deliver delivers delivered delivering delivery
ship ships shipped shipping shipment
inspect inspects inspected inspecting inspection
repair repairs repaired repairing repair
clean cleans cleaned cleaning cleaning
replace replaces replaced replacing replacement
collect collects collected collecting collection
install installs installed installing installation
test tests tested testing testing
return returns returned returning return
check checks checked checking checking
wash washes washed washing washing
paint paints painted painting painting
insure insures insured insuring insurance
supply supplies supplied supplying supply
maintain maintains maintained maintaining maintenance
service services serviced servicing servicing
remove removes removed removing removal
store stores stored storing storage
update updates updated updating update
order orders ordered ordering order
print prints printed printing printing
produce produces produced producing production
approve approves approved approving approval
review reviews reviewed reviewing review
provide provides provided providing provision
finish finishes finished finishing completion
open opens opened opening opening
close closes closed closing closing
translate translates translated translating translation
publish publishes published publishing publication
send sends sent sending sending
bring brings brought bringing delivery
present presents presented presenting presentation
exchange exchanges exchanged exchanging exchange
count counts counted counting count
train trains trained training training
hand_over hands_over handed_over handing_over handover
demolish demolishes demolished demolishing demolition
measure measures measured measuring measurement
pack packs packed packing packing
water waters watered watering watering
lock locks locked locking locking
heat heats heated heating heating
load loads loaded loading loading
polish polishes polished polishing polishing
decorate decorates decorated decorating decoration
guard guards guarded guarding guarding
film films filmed filming filming
scan scans scanned scanning scanning
weigh weighs weighed weighing weighing
label labels labelled labelling labelling
burn burns burned burning burning
plant plants planted planting planting
feed feeds fed feeding feeding
harvest harvests harvested harvesting harvest
trim trims trimmed trimming trimming
seal seals sealed sealing sealing
drain drains drained draining draining
lift lifts lifted lifting lifting
lower lowers lowered lowering lowering
adjust adjusts adjusted adjusting adjustment
register registers registered registering registration
examine examines examined examining examination
photograph photographs photographed photographing photography
recycle recycles recycled recycling recycling
destroy destroys destroyed destroying destruction
hide hides hidden hiding hiding
move moves moved moving removal
sketch sketches sketched sketching sketching
launch launches launched launching launch
rebuild rebuilds rebuilt rebuilding rebuilding
dust dusts dusted dusting dusting
monitor monitors monitored monitoring monitoring
calibrate calibrates calibrated calibrating calibration
wrap wraps wrapped wrapping wrapping
sort sorts sorted sorting sorting
fold folds folded folding folding
""".strip().splitlines()]
