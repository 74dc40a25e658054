"""Counts how many chat answers of the shipped model are what its grammar could have said.

    python -m tools.train_demo.chat_check resources/demo_model --count 15

runs the embedded engine's own sampler (in the application's environment) on fresh questions of each kind.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from engine.embedded.generate import Counters, Generation, GenerationRequest
from engine.embedded.model import DemoModel
from engine.embedded.tokenizer import DemoTokenizer
from tools.train_demo import chat
from tools.train_demo import chat_words as v
from tools.train_demo.sample import Random, sentence
from tools.train_demo.tokenizer import render

FIXED = {  # kind -> (questions, answers) groups
    "small talk": ((v.HELLO, v.HELLO_BACK), (v.HOW, v.I_FEEL), (v.THANKS, v.WELCOME), (v.BYE, v.BYE_BACK)),
    "identity": ((v.WHO, v.I_AM), (v.CAN, v.I_CAN), (v.DIFFUSION, v.IT_WORKS)),
    "too hard": ((v.TOO_HARD, v.TOY),),
}
STORY_WORDS = frozenset(word for _ in range(400) for word in re.findall(r"[A-Za-z]+", chat.story(Random(_))))


@dataclass(frozen=True)
class Figures:
    """Of one kind of question: shares of well-formed answers, denoise steps a canvas, seconds an answer."""

    well_formed: float
    steps: float
    seconds: float


def check_fixed(kind: str) -> Callable[[str, str, str], bool]:
    """The answer is one of those that the question has."""

    def check(question: str, answer: str, _: str) -> bool:
        return any(question in questions and answer in answers for questions, answers in FIXED[kind])

    return check


def check_list(question: str, answer: str, expected: str) -> bool:
    """So many different members of the right list as asked for, in one of the two forms."""
    plural = next(p for p in v.LISTS if re.search(rf"\b{p}\b", question))
    members = {sentence(m) for m in v.LISTS[plural]}
    if re.match(r"1\. ", answer):
        found = [line.split(". ", 1)[-1] for line in answer.split("\n")]
    else:
        tail = answer.rstrip(".").partition(" are ")[2]
        found = [sentence(word) for word in re.split(r", | and ", tail)]
    return set(found) <= members and len(set(found)) == len(found) == _asked(question)


def _asked(question: str) -> int:
    words = {word: n for n, word in v.NUMBER_WORDS.items()}
    return next(
        words.get(w, int(w) if w.isdigit() else 0) for w in re.findall(r"\w+", question) if w in words or w.isdigit()
    )


def check_story(question: str, answer: str, expected: str) -> bool:
    """Only words of the stories, a known first sentence and a known last one."""
    words = re.findall(r"[A-Za-z]+", answer)
    starts = answer.startswith(("Once upon a time there was a", "There was once a"))
    return starts and answer.endswith(tuple(v.ENDS)) and set(words) <= STORY_WORDS


def check_equal(question: str, answer: str, expected: str) -> bool:
    """The one right answer."""
    return answer == expected


def check_sum(question: str, answer: str, expected: str) -> bool:
    """The right number at the end."""
    return answer.rstrip(".").split()[-1:] == expected.rstrip(".").split()[-1:]


def check_name(question: str, answer: str, expected: str) -> bool:
    """The name that was given."""
    return question.rstrip(".").split()[-1] in answer and len(answer) < 60


CHECKS: dict[str, Callable[[str, str, str], bool]] = {
    **{kind: check_fixed(kind) for kind in FIXED},
    "list": check_list,
    "story": check_story,
    "sum": check_sum,
    "name": check_name,
    **dict.fromkeys(("definition", "opposite", "sound", "repeat", "code"), check_equal),
}


def answer_of(model: DemoModel, tokens: DemoTokenizer, question: str, seed: int) -> tuple[str, float]:
    """The model's answer and its denoise steps per canvas."""
    counters = Counters()
    ids = tuple(tokens.encode(render([("user", question)])))
    request = GenerationRequest(ids, 256, 64, random_seed=seed)
    generation = Generation(model, tokens, request, counters=counters)
    parts = []
    while True:
        committed = generation.advance()
        if committed is not None:
            parts.append(committed.text)
            if committed.finish_reason:
                break
    canvases = counters.committed_tokens / 64
    return "".join(parts).strip(), (counters.denoise_steps - canvases) / canvases


def measure(model: DemoModel, tokens: DemoTokenizer, kind: str, count: int, show: int) -> Figures:
    """Asks ``count`` questions of one kind."""
    r = Random(f"check {kind}")
    good, steps, seconds = [], [], []
    for i in range(count):
        question, expected = chat._TURNS[kind](r)
        start = time.monotonic()
        answer, used = answer_of(model, tokens, question, i)
        seconds.append(time.monotonic() - start)
        good.append(CHECKS[kind](question, answer, expected))
        steps.append(used)
        if i < show:
            print(f"  [{'ok' if good[-1] else 'NO'}] {question!r} -> {answer!r}")
    return Figures(mean(good), mean(steps), mean(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=15)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--bound", type=float, default=0.0)
    parser.add_argument("--t-max", type=float, default=0.0)
    parser.add_argument("--t-min", type=float, default=0.0)
    parser.add_argument("--kinds", default=",".join(CHECKS))
    a = parser.parse_args()
    model, tokens = DemoModel(a.folder), DemoTokenizer(a.folder)
    sampler = model.config.sampler
    sampler = replace(
        sampler,
        max_steps=a.steps or sampler.max_steps,
        entropy_bound=a.bound or sampler.entropy_bound,
        t_max=a.t_max or sampler.t_max,
        t_min=a.t_min or sampler.t_min,
    )
    model.config = replace(model.config, sampler=sampler)
    result = {}
    for kind in a.kinds.split(","):
        found = measure(model, tokens, kind, a.count, a.show)
        result[kind] = {
            "well_formed": round(found.well_formed, 3),
            "steps": round(found.steps, 1),
            "seconds": round(found.seconds, 2),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
