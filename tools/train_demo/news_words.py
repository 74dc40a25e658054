"""Sentences of short news by topic: whole lines, and subjects and predicates that make more."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501

from __future__ import annotations

_LINES = {
    "sports": """team won the match|striker scored two goals|runner broke the record|coach praised the players|final ended in a draw
|swimmer took the gold medal|club signed a new goalkeeper|race was stopped by rain|champion lost in three sets""",
    "weather": """storm reached the coast|rain will fall all day|temperatures drop below zero|sun returns at the weekend
|heavy snow closed the roads|wind blows from the west|fog covers the valley|heat continues until Friday""",
    "politics": """parliament passed the law|minister resigned|voters elected a new mayor|parties could not agree on a budget
|president visited the neighbours|opposition demands an inquiry|council voted against the plan|election was postponed""",
    "business": """company raised its profit|shares fell by three percent|bank lowered its interest rate|factory cut two hundred jobs
|firm bought its rival|exports grew in spring|start-up found new investors|prices of oil went up""",
    "science": """researchers found a new planet|telescope sent its first pictures|study explains how bees learn
|laboratory tested a vaccine|scientists measured the ice|fossil is older than expected|experiment confirmed the theory""",
    "culture": """museum opened a new exhibition|singer gave a concert|novel won a prize|film was shown for the first time
|orchestra played in the park|theatre celebrates its birthday|painter showed her pictures|festival begins on Friday""",
    "health": """doctors advise more sleep|clinic opened a new ward|flu spreads in the schools|nurses ask for more staff
|patients wait for a bed|new drug lowers blood pressure|walking is good for the heart|hospital trains more doctors""",
    "traffic": """train was two hours late|road is closed for repairs|accident blocked the tunnel|airport cancelled flights
|new bridge opened|bus drivers are on strike|city builds bicycle lanes|ferry hit the pier""",
}
LINES = {topic: [line.strip() for line in text.split("|")] for topic, text in _LINES.items()}

_PARTS = {
    "sports": """goalkeeper|referee|trainer|captain|tennis player|cyclist|boxer|football club|skier|league|sprinter|basketball team|jockey|athlete
/saved a penalty|was sent off the pitch|leads the table|missed the final|trains for the cup|scored in the last minute|lost the semifinal|jumped two metres
|ran the marathon|won the tournament|celebrates the title|is injured before the match|wants to win the league|beat the champion""",
    "weather": """thunderstorm|cold front|hurricane|frost|drizzle|warm wind|cloud|shower|hail storm|heat wave|ice storm|tornado|breeze|mist
/moves to the north|brings rain|is expected at night|will pass by noon|makes the morning grey|cools the air|ends the drought|comes with lightning
|leaves the sky clear|stays over the mountains|lowers the temperature|dries the fields|brings snow to the hills|will be gone by evening""",
    "politics": """senator|prime minister|governor|mayor|party leader|government|deputy|ambassador|chancellor|committee|coalition|minister|candidate|cabinet
/signed the treaty|lost the vote|promised lower taxes|wants a new law|spoke in parliament|won the election|rejects the reform|calls for a vote
|meets the king|changed the constitution|leaves the party|defends the budget|campaigns for peace|answers the opposition""",
    "business": """manufacturer|investor|retailer|stock exchange|airline group|carmaker|supermarket chain|trader|chief executive|insurer|factory owner|shareholder|bank|supplier
/reports a loss|sold its shares|expects more sales|went bankrupt|raises prices|opens ten new shops|pays a dividend|invests two million
|cuts costs|merges with a competitor|hires more workers|earned less than last year|borrows money|plans a new factory""",
    "science": """astronomer|physicist|biologist|chemist|satellite|space probe|microscope|geologist|professor|laboratory|mathematician|robot|research ship|botanist
/discovered a new species|measured gravity|found traces of water|counted the stars|studies the brain of mice|proved a theorem|landed on the moon
|examined old bones|decoded the genes|observes a comet|explored the deep sea|tested a new theory|published the data|grew crystals""",
    "culture": """poet|actress|gallery|choir|opera|violinist|sculptor|director|library|ballet|pianist|writer|band|comedian
/reads from a new book|plays the main role|shows old paintings|sang in the church|received the film prize|recorded an album|dances on the stage
|performs a play|published a novel|painted a portrait|opens the festival|goes on tour|plays a symphony|tells jokes on stage""",
    "health": """surgeon|dentist|pharmacy|midwife|therapist|virus|medicine|diet|vaccine|ambulance|physician|infection|allergy|ward
/helps against pain|heals wounds|makes many people ill|saved a patient|is good for the heart|causes fever|prevents the flu|lowers the risk of disease
|treats broken bones|needs more nurses|cures a cough|strengthens the lungs|spreads in hospitals|is tested on patients""",
    "traffic": """motorway|tram|underground|truck|lorry|cyclist lane|pilot|railway|traffic light|ship|subway line|highway|crossing|bus
/is blocked by a crash|waits in a queue|runs late|was closed for a week|stops at every station|carries commuters|is out of service|drives through the tunnel
|hit a tree beside the road|gets a second lane|is detoured|broke down on the bridge|arrives at platform two|slows down the cars""",
}
PARTS = {
    topic: (
        [part.strip() for part in text.split("/")[0].split("|")],
        [part.strip() for part in text.split("/")[1].split("|")],
    )
    for topic, text in _PARTS.items()
}
DESCRIBED = {
    "sports": "games, players and results", "weather": "rain, sun and temperature", "politics": "government and elections",
    "business": "companies, money and markets", "science": "research and discovery", "culture": "music, film and art",
    "health": "doctors, illness and medicine", "traffic": "roads, trains and planes",
}  # fmt: skip
QUESTIONS = (
    "What is the topic?", "What is the text about?", "Which section does it belong to?", "Choose the topic.", "Which subject does the report have?",
    "Where would a newspaper print this?", "Pick the category.", "What kind of news is it?", "What is it about?", "Which topic fits?", "Which section is right?",
    "Choose the section.", "Name the topic.", "To which area does the report belong?", "Which subject is treated?", "Which of these is the theme?", "What does this report treat?",
    "Which page should print it?", "Sort this into a section.", "Which category describes the text best?", "What are they writing about?",
)  # fmt: skip
WHETHER = (
    "Is the text about {x}?", "Is the report about {x}?", "Is it about {x}?", "Is the topic {x}?", "Does the report belong to {x}?", "Is this {x} news?", "Would you print this under {x}?",
    "Does the text treat {x}?", "Is {x} the subject?", "Is {x} the right section?",
)  # fmt: skip
