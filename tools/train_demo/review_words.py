"""Words and sentences of reviews: what carries the tone, and what stands around it."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905

from __future__ import annotations

GOOD = """great wonderful excellent lovely perfect brilliant fantastic superb delightful amazing pleasant friendly tasty
reliable comfortable beautiful fast charming impressive fresh outstanding terrific marvellous splendid helpful polite warm
clean bright smooth exciting funny clever elegant solid generous first-class magnificent enjoyable cosy flawless""".split()
BAD = """terrible awful poor bad horrible disappointing dirty slow rude broken useless boring cold noisy ugly unfriendly
stale uncomfortable cheap dreadful miserable faulty unreliable lousy mediocre overpriced nasty dull tasteless careless
messy crowded unpleasant shabby annoying weak pathetic disgusting unacceptable worthless""".split()
SUBJECTS = """food service room bed view staff pool breakfast coffee soup pizza story acting music ending sound picture screen
battery case handle seat colour fabric price location waiter driver tour guide book film concert hotel restaurant museum
phone camera chair lamp jacket bike app course lunch dinner cake bread wine garden beach bathroom lobby ticket ride show
game song singer teacher lesson doctor nurse shop market train flight boat taxi house flat kitchen table shoes dress""".split()
LIKE = ["I loved it.", "We will come again.", "I recommend it to everyone.", "Worth every cent.", "Five stars.", "I am thrilled.",
        "Could not be better.", "It made my day.", "Best choice of the year.", "My family was delighted.", "I would buy it again.",
        "We had a great time.", "I am very happy with it.", "Simply the best.", "I enjoyed every minute.", "A real pleasure.",
        "It is exactly what I wanted.", "You cannot go wrong with it.", "I will tell all my friends.", "We did not want to leave.",
        "It works like a charm.", "I cannot praise it enough.", "Money well spent.", "What a joy!", "No complaints at all.",
        "Nothing to complain about.", "It never lets me down.", "I would give six stars if I could.", "Keep it up!"]  # fmt: skip
DISLIKE = ["I hated it.", "Never again.", "I want to forget it.", "A waste of money.", "One star.", "I am disappointed.",
           "Do not buy it.", "We left early.", "It ruined our evening.", "I threw it away.", "I would not go there again.",
           "We had a bad time.", "I am very unhappy with it.", "Simply the worst.", "I regret every minute.", "A real pain.",
           "It is not what I wanted.", "Stay away from it.", "I will warn all my friends.", "We could not wait to leave.",
           "It does not work at all.", "I cannot recommend it.", "Money thrown away.", "What a mess!", "Nothing but trouble.",
           "Nothing was right.", "It always lets me down.", "I would give no star if I could.", "Shame on them!"]  # fmt: skip
NEUTRAL = ["It was okay.", "It is neither good nor bad.", "Nothing special.", "It does what it should.", "Average.",
           "I have seen better and worse.", "It is fine.", "So so.", "It was all right.", "Some good, some bad.", "I have no strong opinion.",
           "Half of it was good.", "It is what you expect.", "Not great, not terrible.", "It has two sides.", "Mixed feelings.",
           "I am not sure what to think."]  # fmt: skip
DEGREES = ["", "", "very ", "really ", "quite ", "so ", "extremely ", "rather ", "truly ", "absolutely "]
REMARKS = ["The {s} was {d}{w}.", "I found the {s} {d}{w}.", "{W} {s}!", "The {s} is {d}{w}.", "What a {w} {s}!", "Such a {w} {s}.",
           "We had a {d}{w} {s}.", "The {s} seemed {d}{w} to me.", "My wife called the {s} {w}.", "We thought the {s} was {w}.",
           "The {s} turned out to be {d}{w}.", "A {d}{w} {s}.", "Our {s} was {d}{w} and that is the truth.", "I must say the {s} was {w}.",
           "The {s}: {d}{w}.", "Everybody said the {s} was {w}.", "It has a {w} {s}.", "The {s} felt {w}.", "As for the {s}, {d}{w}."]  # fmt: skip
DENIALS = ["The {s} was not {w}.", "I did not find the {s} {w}.", "The {s} was not {w} at all.", "The {s} is anything but {w}.",
           "Nobody could call the {s} {w}.", "The {s} was never {w}.", "You cannot say that the {s} is {w}.", "The {s} was far from {w}.",
           "I would not call it a {w} {s}.", "The {s} is by no means {w}.", "There was nothing {w} about the {s}."]  # fmt: skip

MORE_GOOD = """nice good fine grand heavenly stunning gorgeous adorable faultless spotless punctual thoughtful attentive generous
remarkable stylish delicious yummy juicy crisp inspiring moving gripping brilliant ideal dreamy relaxing soothing trusty sturdy
handy practical speedy efficient professional honest welcoming cheerful sweet graceful radiant refined top-notch unbeatable
commendable praiseworthy satisfying rewarding worthwhile memorable unforgettable sensational peerless exquisite likeable""".split()
MORE_BAD = """grim foul sloppy grubby smelly sticky greasy bland soggy rotten burnt bitter clumsy flimsy shaky leaky rusty creaky
hostile arrogant moody impolite ignorant dishonest inept incompetent slapdash late chaotic confusing irritating tedious
tiresome monotonous feeble gloomy dingy depressing frightful ghastly hideous atrocious appalling lamentable deplorable
substandard inferior second-rate shoddy damaged defective torn stained cramped stuffy deafening pointless abysmal""".split()
ALL_GOOD, ALL_BAD = (*GOOD, *MORE_GOOD), (*BAD, *MORE_BAD)

# Who speaks, for frames; {w} the word, {d} a degree, {s} the subject.
LEADS = """In my opinion,|I think|We feel that|As far as I can tell,|Frankly,|To be honest,|Truth be told,|On the whole,|All in all,|In short,|In the end,
|As expected,|To our surprise,|Once again|This time|On Monday|Yesterday|In the morning|At night|After an hour|On the second day|Two years ago
|In spring|At Easter|Here|Downstairs|At the weekend|When we arrived,|After lunch|For a start,|Besides,|What is more,|Oddly enough,|I admit that
|Let me say it:|Believe me,|My sister says|Our guide said that|Everyone agreed that|My husband finds that|People told us that|The whole family thinks|One can say that|It is true that
|I noticed that|We soon saw that|It turned out that|No doubt,|For what it is worth,|From day one|Time and again|Even so,|Well,|Hm,|Wow,|Listen:"""
TAILS = """|||||| in every way| from start to finish| as usual| again| this time| for once| I think| if you ask me| to me| for us| in my eyes| most of the time
| on both days| and nothing else| to say the least| without a doubt| when we were there| throughout| even at noon| for a change| at that price| by any standard"""
VERBS = """was|was|was|is|is|seemed|felt|looked|appeared|proved|turned out|remained|stayed|has been|had been|was simply|is just|was still|was once more|seemed to be
|turned out to be|proved to be|was found to be|was considered|must be called|can be called|appeared to be|was called|was said to be|was rather"""
NOT_VERBS = """was not|is not|wasn't|isn't|was never|is never|never was|did not seem|did not feel|does not look|was not even|has not been|was hardly ever|was in no way|is in no way|was not exactly
|cannot be called|could not be called|was not what I call|did not prove|did not turn out to be|was neither clean nor|was not really|does not seem|was not once|was anything but|is far from being|was the opposite of"""
NOUN_FRAMES = """{I} had a {d}{w} {s}{t}.|What a {d}{w} {s}!|It is a {d}{w} {s}.|That was one {w} {s}.|There is a {d}{w} {s} waiting for you.|{I} got a {d}{w} {s}{t}.|{I} found a {w} {s} there.
|A {d}{w} {s}, and a {w2} one too.|Our {s}? {W}.|{W}, this {s}.|{W} and {w2}: the {s}.|The {s} gets one word from me: {w}.|{I} remember a {w} {s}.|{I} would speak of a {w} {s}.|It comes with a {d}{w} {s}.
|The {s} is one of the {w} kind.|Nothing but {w}, that {s}.|You get a {w} {s}.|You will meet a {w} {s}.|Expect a {w} {s}.|Be ready for a {w} {s}.|So {w} a {s}!|How {w} the {s} was!|This {s}: {w}, {w2}, {w}.
|{I} call that a {w} {s}.|{I} call this {s} {w}.|{I} consider the {s} {w}.|{I} rate the {s} as {w}.|{I} describe the {s} as {d}{w}.|The {s} left a {w} impression.|The {s} made a {d}{w} impression on {me}.|They gave {me} a {d}{w} {s}.|{s2}: {w}. {S}: {w2}.
|The {s} strikes {me} as {w}.|The {s} was, in a word, {w}.|The {s} was both {w} and {w2}.|The {s}, {d}{w}, was the talk of the day."""
NOT_FRAMES = """{I} never had a {w} {s}.|There is no {w} {s} to be had.|{I} cannot speak of a {w} {s}.|It is not a {w} {s}.|That was no {w} {s}.|Do not count on a {w} {s}.|Never hope for a {w} {s} here.|Do not think the {s} is {w}.|Not for a moment was the {s} {w}.
|Under no circumstances is the {s} {w}.|Nobody would describe the {s} as {w}.|Hardly anyone finds the {s} {w}.|{I} refuse to call the {s} {w}.|{I} do not consider the {s} {w}.|{I} doubt that anybody calls the {s} {w}.
|What they call a {w} {s} is not {w}.|Who says the {s} is {w} is wrong.|It is wrong to call the {s} {w}.|It is not true that the {s} is {w}.|The {s} lacks everything that makes it {w}.|Far from {w}, this {s}.|Not {w} at all, this {s}.|{W}? Not the {s}.|{W} is not the word for the {s}.|Neither the {s} nor the {s2} was {w}.
|No, the {s} was not {w}.|Not a {w} {s}.|Nowhere was the {s} {w}.|Without a {w} {s}{t}.|We were told of a {w} {s}; it was not."""
WHO = (
    "I|We|My wife and I|My parents|The children|My friends|Our group|Everybody|All of us|My boss|The guests|My brother"
)
# A wish or deed that shows the tone: verb phrases after "I would" or "I would not".
DEEDS = """come back|come again|go there again|buy another one|order it once more|book it again|stay longer|eat there every day|recommend it|recommend the {s}|praise the {s}|choose it every time|pay for it again|visit them any time
|take it home|give it to a friend|show it to my friends|see it twice|keep it for ever|miss it for anything|trust them again|call them again|hire them again|ride with them again|wear it every day|use it daily|return next year|spend a week there"""
EXTREMES = ("The {e} {s} I have ever {had}.", "It is the {e} {s} in town.", "They have the {e} {s} of all.", "{I} never saw a {c} {s}.", "One of the {e} {s} around.", "There is no {c} {s} anywhere.",
            "By far the {e} {s} of the year.", "This may be the {e} {s} in the country.", "You will not get a {c} {s}.", "{I} had the {e} day in years.", "The {e} hour of our trip.")  # fmt: skip
BEST, WORST = (
    ("best", "finest", "nicest", "loveliest", "greatest"),
    ("worst", "dullest", "poorest", "ugliest", "saddest"),
)
BETTER, WORSE = ("better", "finer", "nicer", "lovelier"), ("worse", "duller", "poorer", "uglier")
HAD = "had|seen|known|tried|met|paid for|used|come across"
SPANS = "{W} from start to finish.|{W} from beginning to end.|{W} from top to bottom.|{W} all the way.|{W} through and through.|{W} from morning till night.|{W} all day long.|{W} in every respect.|Simply {w}.|Just {w}.|{W}, {w2} and {w}.|Everything was {w}.|All of it was {w}.|Every single day was {w}.|{W}!|Really {w}.|So {w}!|How {w}!|{W} as can be."
NOT_SPANS = "Nothing was {w}.|Not a single day was {w}.|Not {w} at all.|None of it was {w}.|Hardly anything was {w}.|No part of it was {w}.|There was nothing {w} about it.|Not one bit {w}.|Never {w}.|Little was {w}."
# (positive, negative) sentences beside LIKE and DISLIKE.
FEELINGS = """{I} smiled all day / {I} cried all day|{I} laughed with joy / {I} shook with anger|{I} left with a smile / {I} left in tears|{I} thanked the staff / {I} shouted at the staff|{I} clapped / {I} booed|{I} am a fan now / {I} am done with them
|{I} gave a big tip / {I} asked for a refund|{I} told everyone to go / {I} told everyone to stay away|{I} stayed for another night / {I} checked out early|{I} ate it all / {I} left it on the plate|{I} slept like a baby / {I} did not sleep at all
|They kept every promise / They broke every promise|They did everything right / They did everything wrong|They listened to {me} / They ignored {me}|They made {me} happy / They made {me} angry|They treated {me} like a king / They treated {me} like dirt
|They helped at once / They never helped|They know their job / They do not know their job|They deserve success / They deserve to fail|They earn full marks / They earn no marks|Thumbs up / Thumbs down|Ten out of ten / Zero out of ten|Top marks / No marks|A must / A no-go
|Pure joy / Pure misery|A dream / A nightmare|A triumph / A failure|A treat / A torment|A gem / A dump|Heaven / Hell|A hit / A flop|Well done / Badly done|Bravo / Boo|Thank you / Shame|Go there / Avoid it|Buy it / Leave it|Try it / Skip it
|It is worth the price / It is not worth the price|It was worth waiting for / It was not worth waiting for|It met all our hopes / It met none of our hopes|It beat our hopes / It dashed our hopes|It does what it promises / It does not do what it promises
|It saved our holiday / It spoiled our holiday|It works / It does not work|It lasted for years / It broke after a day|It tasted like more / It tasted like cardboard|It was love at first sight / It was a mistake from the first day|The time flew by / The time would not pass
|{I} can only advise it / {I} can only advise against it|{I} have nothing but praise / {I} have nothing but complaints|{I} have no regrets / {I} have many regrets|{I} feel lucky / {I} feel cheated|{I} was in good hands / {I} was in bad hands|{I} felt at home / {I} felt unwelcome
|{I} was pleased / {I} was annoyed|{I} was charmed / {I} was bored|{I} was impressed / {I} was shocked|{I} adore it / {I} despise it|{I} like the {s} / {I} dislike the {s}|{I} loved the {s} / {I} hated the {s}|{I} enjoyed the {s} / {I} suffered through the {s}|{I} praise the {s} / {I} curse the {s}
|Many thanks for the {s} / No thanks for the {s}|Thanks to the {s} all went well / Because of the {s} nothing went well|The {s} won {me} over / The {s} put {me} off|The {s} made the day / The {s} ruined the day|The {s} does its job / The {s} fails at its job
|{I} say yes / {I} say no|{I} said thank you / {I} said goodbye for ever|{I} was glad / {I} was sorry|{I} give it a plus / {I} give it a minus|{I} give it an A / {I} give it an F|Full of care / Full of faults|Made with love / Made without care|A lucky find / A bad buy
|A bargain / A rip-off|Good value / Bad value|A good choice / A bad choice|The right choice / The wrong choice|A success / A disaster|A blessing / A curse|A relief / A burden|Great fun / No fun|A feast / A famine|Warmly recommended / Not recommended
|Better than hoped / Worse than feared|Better than the last one / Worse than the last one|Better than any other / Worse than any other|More than {I} paid for / Less than {I} paid for|It gets better every day / It gets worse every day|Things went from good to great / Things went from bad to worse
|{I} praise everyone there / {I} blame everyone there|{I} trust them / {I} do not trust them|{I} miss it already / {I} do not miss it|{I} look forward to the next time / {I} dread the next time|{I} could stay for ever / {I} could not stay a minute longer|{I} want another / {I} want my money back
|{I} felt safe / {I} felt unsafe|{I} felt welcome / {I} felt ill|{I} was lucky to find it / {I} was unlucky to find it|{I} was spoiled with good things / {I} was left with nothing|{I} made friends there / {I} made no friends there|{I} cannot find a fault / {I} cannot find a virtue
|There was nothing to criticise / There was nothing to praise|There is nothing to improve / There is everything to improve|No problem at all / Problems everywhere|Not one complaint / Not one good word|Not a bad thing to say / Not a good thing to say|No one left unhappy / No one left happy|Nobody was disappointed / Nobody was pleased
|Everybody was content / Everybody was cross|Everything fitted / Nothing fitted|All was well / All was wrong|Everything worked / Nothing worked|Each detail was right / Each detail was wrong|They thought of everything / They thought of nothing|They care / They do not care|They answered with a smile / They answered with a frown
|Clean as can be / Dirty as can be|Fresh every day / Stale every day|Quick as a flash / Slow as a snail|Strong and sound / Weak and broken|It held / It fell apart|It fits / It does not fit|It shines / It stinks|It runs and runs / It stops and stops|It pays off / It does not pay off|It is a pleasure to use / It is a pain to use
|Happy days / Sad days|Good times / Bad times|Congratulations / Condolences|Respect / Disgrace|Yes, please / No, thanks|Well worth a trip / Not worth a trip|Sign me up / Count me out|Hats off / Hands off|Keep going / Give up|More of that / No more of that"""

TEXTS = "review|text|comment|opinion|message|post|note|statement|feedback|rating|entry|letter|report|passage"
WRITERS = "writer|author|customer|guest|reviewer|person who wrote this|visitor|client|buyer|user"
KIND = "positive|favourable|good|friendly|approving|full of praise|enthusiastic|kind|warm|flattering|cheerful in tone|nice|appreciative"
UNKIND = "negative|unfavourable|bad|unfriendly|critical|full of complaints|scathing|hostile|cold|unflattering|angry in tone|nasty|disapproving"
HAPPY = "happy|pleased|satisfied|content|delighted|glad|thrilled|impressed|in a good mood"
UNHAPPY = "unhappy|displeased|dissatisfied|discontent|disappointed|angry|annoyed|upset|in a bad mood"
LIKES = "like it|love it|enjoy it|praise it|approve of it|think well of it|recommend it|speak in favour of it|have a good time|have a good opinion|want more of it|admire it|feel pleased|sound happy"
DISLIKES = "dislike it|hate it|regret it|criticise it|disapprove of it|think badly of it|advise against it|speak against it|have a bad time|have a bad opinion|want no more of it|reject it|feel let down|sound unhappy|complain"
# Negations put together: who does not think so, when it was never so, what cannot be said, what not to hope for.
NOBODY = "nobody|no one|not one of us|none of us|hardly anyone|few of us|not many people|no guest|no sane person|neither my wife nor I|not a soul|no visitor|scarcely anybody|not even my mother|no customer|none of the guests"
THOUGHT = "found the {s} {w}|called the {s} {w}|considered the {s} {w}|considers the {s} to be {w}|saw a {w} {s}|described the {s} as {w}|remembers a {w} {s}|got a {w} {s}|would call the {s} {w}|would speak of a {w} {s}|believes that the {s} is {w}|said that the {s} was {w}|says the {s} is {w}|had a {w} {s}|noticed a {w} {s}|would agree that the {s} is {w}|was shown a {w} {s}|has ever called the {s} {w}|regards the {s} as {w}|would use the word {w} for the {s}|hoped in earnest for a {w} {s}|can claim that the {s} is {w}"
NEVER = "Never|Not once|Nowhere|In no way|By no means|On no day|Under no circumstances|In no respect|Not for a second|Hardly ever|Seldom|Rarely|Not on a single day|Neither then nor later|On no account|Not in the least|Scarcely ever|Not at any time|Not even once|In no room|In no sense"
MODALS = "could|can|may|would|should|might|will"
ADVERBS = "scarcely|barely|never|not|in no way|not really|not in earnest|not honestly|by no means|not even"
CALLED = "be called|be described as|be considered|be said to be|be termed|be seen as|pass for|be named|count as|be thought of as|be taken for"
HOPE = "count on|hope for|dream of|look for|wait for|ask for|believe in|go there for|trust in|bank on|rely on|wish for|plan with|pray for"
DO_NOT = "Do not|Don't|Never|Please do not|One should not|You should not|You need not|It is better not to|We no longer|I can no longer"
WITHOUT = "The {s} was without anything {w}.|The {s} had nothing {w} about it.|The {s} has little that is {w}.|There is little that is {w} in the {s}.|It takes a lot of fantasy to call the {s} {w}.|I miss a {w} {s}.|They promised a {w} {s} and did not deliver.|They denied us a {w} {s}.|The {s} stopped being {w}.|The {s} is no longer {w}.|The {s} ceased to be {w}.|The {s} was too odd to be {w}.|The {s} refuses to be {w}.|The {s} does not deserve the word {w}.|The {s} is said to be {w}, which is wrong.|The {s} should be {w} but is not.|The {s} could have been {w} but was not.|{W} is what the {s} is not.|{W} is the last word for the {s}.|Anything but {w}: the {s}.|The {s} was the reverse of {w}.|Instead of a {w} {s} we got the opposite.|A {w} {s} is something else.|If only the {s} had been {w}!|I wish the {s} had been {w}.|We longed for a {w} {s}, for nothing.|It is a lie that the {s} is {w}.|I deny that the {s} is {w}.|I doubt that the {s} is {w}.|The {s} missed the chance to be {w}."
