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
    "sports": """rower|fencer|gymnast|archer|hockey team|rugby side|wrestler|pitcher|fullback|relay team|surfer|fans|champion|skater|defender|squad
|goalkeeper|referee|trainer|captain|tennis player|cyclist|boxer|football club|skier|league|sprinter|basketball team|jockey|athlete
/saved a penalty|was sent off the pitch|leads the table|missed the final|trains for the cup|scored in the last minute|lost the semifinal|jumped two metres
|ran the marathon|won the tournament|celebrates the title|is injured before the match|wants to win the league|beat the champion
|wins the derby|scored a hat-trick|lost on penalties|beat the record by a second|plays in the first division|was booed by the fans|reached the quarterfinal|throws the javelin|is out with a broken leg|warms up before kick-off|took third place|lifted the cup|finished last|led at half-time|practises the serve|hit the crossbar""",
    "weather": """fog|sleet|rainbow|monsoon|blizzard|sunshine|humidity|low pressure|high pressure|frosty night|gale|downpour|thaw|dry spell|cloud cover|lightning
|thunderstorm|cold front|hurricane|frost|drizzle|warm wind|cloud|shower|hail storm|heat wave|ice storm|tornado|breeze|mist
/moves to the north|brings rain|is expected at night|will pass by noon|makes the morning grey|cools the air|ends the drought|comes with lightning
|leaves the sky clear|stays over the mountains|lowers the temperature|dries the fields|brings snow to the hills|will be gone by evening
|clears up in the afternoon|soaks the ground|freezes the lakes|keeps the sky dark|brings hail|makes the air damp|turns to snow above 800 metres|fades at dawn|blows at gale force|drops the mercury|melts the ice|lets the sun through|floods the cellars|chills the evening|hangs over the hills|warms the coast""",
    "politics": """senate|congress|foreign minister|lobbyist|ruling party|voter|delegate|monarch|diplomat|campaign|referendum|lawmaker|premier|opposition leader|assembly|cabinet member
|senator|prime minister|governor|mayor|party leader|government|deputy|ambassador|chancellor|committee|coalition|minister|candidate|cabinet
/signed the treaty|lost the vote|promised lower taxes|wants a new law|spoke in parliament|won the election|rejects the reform|calls for a vote
|meets the king|changed the constitution|leaves the party|defends the budget|campaigns for peace|answers the opposition
|passed the bill|wants to abolish the tax|denies the scandal|was sworn in|debates the pension law|loses its majority|forms a new coalition|vetoed the law|visits the embassy|is up for election|counts the ballots|rules by decree|asks for a referendum|steps down|signs the agreement with the neighbours|lowers the voting age""",
    "business": """broker|startup|auditor|wholesaler|brewery group|steel maker|chip maker|landlord group|bookseller|hedge fund|exporter|dealer|treasurer|start-up founder|brand|marketplace
|manufacturer|investor|retailer|stock exchange|airline group|carmaker|supermarket chain|trader|chief executive|insurer|factory owner|shareholder|bank|supplier
/reports a loss|sold its shares|expects more sales|went bankrupt|raises prices|opens ten new shops|pays a dividend|invests two million
|cuts costs|merges with a competitor|hires more workers|earned less than last year|borrows money|plans a new factory
|doubles its turnover|issues new bonds|closes three branches|beats the forecast|is listed on the exchange|takes over a rival|writes off millions|cuts its dividend|signs a big order|lays off staff|raises capital|warns of falling sales|lowers its prices|opens a plant|pays back its debt|earns more than expected""",
    "science": """zoologist|chemist's team|particle accelerator|rover|neuroscientist|archaeologist|meteorite|genome|student team|observatory|quantum computer|paleontologist|rocket|marine biologist|statistician|mission
|astronomer|physicist|biologist|chemist|satellite|space probe|microscope|geologist|professor|laboratory|mathematician|robot|research ship|botanist
/discovered a new species|measured gravity|found traces of water|counted the stars|studies the brain of mice|proved a theorem|landed on the moon
|examined old bones|decoded the genes|observes a comet|explored the deep sea|tested a new theory|published the data|grew crystals
|reveals a new particle|maps the galaxy|finds a fossil of a bird|solves an old equation|orbits the planet|confirms a hypothesis|analyses samples from the moon|discovers a new element|explains dark matter|measures the age of the rock|records brain waves|models the climate|detects a signal from space|names a new species|tests the theory in the laboratory|studies how ants learn""",
    "culture": """soprano|cellist|playwright|film festival|museum director|dancer|illustrator|jazz band|photographer|stage designer|novelist|conductor|circus|art dealer|biographer|songwriter
|poet|actress|gallery|choir|opera|violinist|sculptor|director|library|ballet|pianist|writer|band|comedian
/reads from a new book|plays the main role|shows old paintings|sang in the church|received the film prize|recorded an album|dances on the stage
|performs a play|published a novel|painted a portrait|opens the festival|goes on tour|plays a symphony|tells jokes on stage
|gets an award|is shown at the museum|sells out the hall|reads poems aloud|premieres tonight|sings an aria|appears in paperback|exhibits photographs|fills the theatre|shoots a documentary|translates the poems|plays the lead in the musical|restores a fresco|draws a comic|tours with the orchestra|wrote the score""",
    "health": """paediatrician|cardiologist|blood test|epidemic|antibiotic|hospital|patient|optician|vitamin|health insurer|pain killer|psychologist|blood bank|operation|intensive care unit|cold
|surgeon|dentist|pharmacy|midwife|therapist|virus|medicine|diet|vaccine|ambulance|physician|infection|allergy|ward
/helps against pain|heals wounds|makes many people ill|saved a patient|is good for the heart|causes fever|prevents the flu|lowers the risk of disease
|treats broken bones|needs more nurses|cures a cough|strengthens the lungs|spreads in hospitals|is tested on patients
|needs a transplant|lowers cholesterol|is healed after weeks|looks for donors|has side effects|examines the eyes|infects hundreds|strengthens the immune system|advises to drink more water|opens a new surgery|removes a tumour|reduces stress|vaccinates children|spreads by coughing|recovers in the ward|prescribes rest""",
    "traffic": """cyclist|taxi|roundabout|ring road|rush hour|airline|night train|car park|cargo ship|signal box|toll road|ferry|pedestrian bridge|coach|speed limit|pavement
|motorway|tram|underground|truck|lorry|cyclist lane|pilot|railway|traffic light|ship|subway line|highway|crossing|bus
/is blocked by a crash|waits in a queue|runs late|was closed for a week|stops at every station|carries commuters|is out of service|drives through the tunnel
|hit a tree beside the road|gets a second lane|is detoured|broke down on the bridge|arrives at platform two|slows down the cars
|causes a long queue|skids on the ice|is rerouted through the suburb|misses the connection|lands an hour late|blocks both lanes|is repaired at night|takes the wrong exit|collides with a van|is widened to six lanes|runs every ten minutes|derails near the station|stops because of a signal fault|fills up before eight|overtakes on the right|waits at the red light""",
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
