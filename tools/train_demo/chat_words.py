"""What the demo model can talk about: fixed answers, lists, definitions, and the parts of its stories."""

# Word lists: kept dense on purpose.
# ruff: noqa: E501, SIM905
# fmt: off

from __future__ import annotations

MORE_HELP = ["I need help.", "Can you do something for me?", "What now?", "Give me an idea.", "I am bored.", "What shall we do?", "Surprise me."]
IDEAS = ["Ask me for a story about a fox.", "How about a list of five animals?", "Try a sum such as 17 + 25.", "Ask me what a river is."]
FEEL_GOOD = ["I am happy today.", "I feel good.", "I am fine.", "I had a good day.", "Today is a great day."]
GOOD_BACK = ["That is good to hear!", "I am glad about that.", "How nice! What can I do for you?"]
FEEL_BAD = ["I am sad.", "I am tired.", "I had a bad day.", "I do not feel well.", "I feel lonely."]
BAD_BACK = ["I am sorry to hear that. Would you like a story?", "Oh no. I hope tomorrow is better.", "I am sorry. Maybe a short story helps."]
WHO = ["Who are you?", "What are you?", "What is your name?", "Are you a robot?", "Tell me about yourself.", "Who am I talking to?",
       "Are you a real person?", "What kind of model are you?", "Introduce yourself.", "who are you", "what are you"]
I_AM = [
    "I am a small demonstration model. I have only a few million parameters, and I write by cleaning up noise.",
    "I am a tiny diffusion model that runs on your processor. I can chat a little and answer simple questions.",
    "I am the demo model of Diffusion Desk. I am a toy: I am small, quick and often wrong.",
]
CAN = ["What can you do?", "How can you help me?", "What are you good at?", "Help", "What do you know?", "What can I ask you?",
       "Can you help me?", "what can you do"]
I_CAN = [
    "I can say hello, add small numbers, name things, explain a few words and tell short stories. I can also answer yes or no.",
    "I can chat a little, make lists, do simple sums and tell a story. For real work, connect a large model.",
    "Ask me for a story, a list of animals, a sum like 12 + 7, or what a word means.",
]
HOW = ["How are you?", "How do you do?", "How are you today?", "Are you well?", "How is it going?", "how are you"]
I_FEEL = ["I am fine, thank you. How are you?", "Very well, thank you!", "I am a small model, but I feel great today.", "Fine, thanks. What can I do for you?"]
HELLO = ["Hello", "Hi", "Hello!", "Hi!", "Good morning", "Good evening", "Hey", "Hi there", "Good day", "hello", "hi", "Hello there!"]
HELLO_BACK = ["Hello! How can I help you?", "Hi! What can I do for you?", "Hello! Nice to meet you.", "Good to see you. What would you like to know?"]
THANKS = ["Thank you", "Thanks!", "Thank you very much.", "thanks", "Great, thanks", "Many thanks", "That was helpful."]
WELCOME = ["You are welcome!", "My pleasure.", "Glad to help!", "You are welcome. Do you have another question?"]
BYE = ["Goodbye", "Bye", "See you", "Good night", "I have to go.", "bye", "See you tomorrow"]
BYE_BACK = ["Goodbye! Have a nice day.", "See you soon!", "Bye! Come back any time.", "Good night, sleep well."]
DIFFUSION = ["How do you work?", "What is diffusion?", "How do you write?", "What is a diffusion model?", "Explain how you write.",
             "What is a canvas?", "Why do the words appear all at once?"]
IT_WORKS = [
    "I start with a canvas of random words. Step by step I replace the noise by words that fit, until nothing changes.",
    "A diffusion model writes all words at once. It begins with noise and makes it clearer in every step.",
    "The canvas holds 64 tokens. I fill it with noise and denoise it in a few steps. Then comes the next canvas.",
]
TOO_HARD = ["Write me an essay on philosophy.", "Explain quantum physics.", "Who won the war?", "Write a program that plays chess.",
            "What is the capital of Mongolia?", "Translate this into Latin.", "What happened in the news?", "Solve this equation.",
            "What is the meaning of life?", "Give me medical advice.", "Write a poem in Greek.", "Who is the president?",
            "Summarise this book.", "Write my homework.", "What is the news today?", "Who wrote this novel?", "Compare two philosophers.",
            "How old is the universe?", "Translate my letter into French.", "Write a long report.", "Explain the stock market.", "Which car should I buy?",
            "What is the best medicine?", "Plan my trip round the world.", "Prove the theorem.", "What will the weather be tomorrow?", "How do I invest my money?"]
TOY = [
    "I am only a toy and cannot answer that. A large model could.",
    "Sorry, that is too hard for me. I am a very small model.",
    "I do not know. I am a demonstration model with a few million parameters.",
]

# plural -> members
LISTS = {
    "animals": "dog cat horse cow sheep lion tiger bear wolf fox rabbit mouse elephant monkey duck owl".split(),
    "fruits": "apple pear plum cherry banana orange lemon peach grape melon fig mango".split(),
    "vegetables": "carrot potato onion tomato pea bean cabbage pepper pumpkin leek".split(),
    "colours": "red blue green yellow black white orange purple brown grey pink".split(),
    "cities": "Paris London Rome Berlin Madrid Vienna Oslo Tokyo Cairo Lima Boston Delhi".split(),
    "countries": "France Spain Italy Norway Japan India Brazil Kenya Egypt Chile Poland Greece".split(),
    "tools": "hammer saw drill knife brush ladder spade rake axe file".split(),
    "flowers": "rose tulip lily daisy poppy violet iris orchid".split(),
    "trees": "oak pine birch maple willow fir elm ash".split(),
    "birds": "eagle owl swan crow robin stork heron gull".split(),
    "instruments": "piano violin guitar flute drum trumpet harp cello".split(),
    "drinks": "water tea coffee milk juice lemonade cocoa".split(),
    "sports": "football tennis swimming running rowing skiing boxing chess".split(),
    "planets": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split(),
    "months": "January March May July August October December".split(),
    "jobs": "baker teacher doctor farmer pilot painter cook nurse judge tailor".split(),
}
NUMBER_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}

DEFINITIONS = {
    "dog": "A dog is an animal that lives with people and barks.",
    "cat": "A cat is a small animal that catches mice and likes to sleep.",
    "river": "A river is water that flows through the land to the sea.",
    "mountain": "A mountain is very high ground, often with snow at the top.",
    "book": "A book is a stack of pages with words or pictures to read.",
    "clock": "A clock is a device that shows the time of day.",
    "bread": "Bread is food that a baker makes from flour and water.",
    "house": "A house is a building in which people live.",
    "contract": "A contract is an agreement that two or more parties must keep.",
    "invoice": "An invoice is a letter that says how much you have to pay.",
    "computer": "A computer is a machine that follows the steps of a program.",
    "model": "A model is a program that has learned from examples.",
    "token": "A token is a piece of text, such as a word or part of a word.",
    "noise": "Noise is what has no order, like random words on a canvas.",
    "sun": "The sun is the star that gives us light and warmth.",
    "moon": "The moon is a ball of rock that goes round the earth.",
    "rain": "Rain is water that falls from the clouds.",
    "teacher": "A teacher is a person who helps others to learn.",
    "doctor": "A doctor is a person who helps ill people to get well.",
    "garden": "A garden is a piece of land where flowers and vegetables grow.",
    "train": "A train is a row of wagons that runs on rails.",
    "bridge": "A bridge is a road over a river or a valley.",
    "island": "An island is land with water all around it.",
    "forest": "A forest is a large area with many trees.",
    "friend": "A friend is a person whom you like and trust.",
    "music": "Music is sound that is put in order and pleases the ear.",
    "winter": "Winter is the coldest season of the year.",
    "summer": "Summer is the warmest season of the year.",
    "lemon": "A lemon is a yellow fruit that tastes sour.",
    "piano": "A piano is a large instrument with black and white keys.",
    "table": "A table is a flat board on legs at which people eat or work.",
    "chair": "A chair is a seat with a back for one person.",
    "school": "A school is a place where children learn.",
    "hospital": "A hospital is a house where ill people are cared for.",
    "ship": "A ship is a large vessel that sails across the sea.",
    "tree": "A tree is a tall plant with a trunk, branches and leaves.",
    "flower": "A flower is the part of a plant that has colour and smells sweet.",
    "snow": "Snow is frozen water that falls in white flakes.",
    "fire": "Fire is hot and bright and burns wood and paper.",
    "money": "Money is what people use to pay for things.",
    "library": "A library is a place where one can borrow books.",
    "kitchen": "A kitchen is the room in which meals are cooked.",
    "letter": "A letter is a message on paper that is sent to somebody.",
    "market": "A market is a place where people buy and sell goods.",
    "ticket": "A ticket is a piece of paper that lets you travel or enter.",
    "canvas": "A canvas is the row of places on which I write all words at once.",
    "decision": "A decision is a choice between two or more options.",
    "probability": "A probability is a number from 0 to 1 that says how likely something is.",
}
OPPOSITES = [tuple(pair.split("-")) for pair in """hot-cold big-small old-new up-down day-night open-closed full-empty fast-slow
long-short light-dark good-bad early-late left-right wet-dry high-low loud-quiet rich-poor strong-weak happy-sad
easy-difficult first-last young-old clean-dirty thick-thin""".split()]
SOUNDS = {"dog": "barks", "cat": "meows", "cow": "moos", "duck": "quacks", "lion": "roars", "sheep": "bleats", "owl": "hoots", "wolf": "howls"}

HEROES = "fox cat dog mouse owl bear rabbit wolf lion duck horse sheep frog king queen baker farmer pilot painter girl boy sailor".split()
NAMES = "Anna Ben Clara Emma Felix Ida Leo Maria Noah Tom Zoe Hugo Lena Max Nora Otto Ruby Sam Tina Will".split()
TRAITS = "small old young brave clever lazy hungry happy sad lonely kind curious tired quiet cheerful".split()
HOMES = ["in a dark forest", "by the sea", "on a high mountain", "in a little house", "near a river", "in a big city",
         "on a farm", "in an old castle", "on a small island", "at the edge of a village"]
FINDS = ["a golden key", "a red boat", "an old map", "a silver ring", "a strange book", "a broken clock", "a box of letters",
         "a blue lamp", "a magic stone", "a tiny door", "a lost kitten", "a bag of seeds"]
PLACES_FOUND = ["under a tree", "in the garden", "behind the house", "on the beach", "in the snow", "beside the road", "in the cellar"]
WISHES = ["wanted to see the world", "looked for a friend", "wished for a warm home", "dreamed of the sea", "wanted to learn to fly",
          "was looking for something to eat", "could not sleep", "wanted to sing"]
ENDS = ["From that day on they were friends.", "And they lived happily ever after.", "In the evening they went home together.",
        "That night everybody danced.", "And nobody was lonely any more.", "Then the sun went down and all was quiet."]
HELPERS = ["an owl", "a wise woman", "an old sailor", "a little bird", "a friendly giant", "a white horse", "a funny clown", "a grey wolf"]
ADVICE = ["Follow the river", "Wait until the moon is full", "Share what you have", "Do not be afraid", "Ask the wind", "Knock three times",
          "Go to the mountain", "Keep it safe"]
TRAVELS = ["walked for three days", "crossed the river", "climbed the hill", "ran through the rain", "sailed over the sea",
           "went through the forest", "followed the stars", "took the night train"]
MOODS = ["very happy", "not alone any more", "proud", "surprised", "quiet for a while", "full of joy"]
