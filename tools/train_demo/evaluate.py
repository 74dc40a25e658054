"""Measures a demo model on the bundled examples, with the very prompts, canvases and noise of the application.

    python -m tools.train_demo.evaluate resources/demo_model

prints the figures of the shipped ONNX graphs as JSON (onnxruntime; torch is not needed for that).
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from jinja2 import Environment, StrictUndefined
from numpy.typing import NDArray
from tokenizers import Tokenizer

from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.reads.prompt import alone_prompt
from tools.train_demo import held_out_pairs, held_out_set, mixture, tickets
from tools.train_demo.rendering import READ_CANVAS
from tools.train_demo.sample import Read, Sample
from tools.train_demo.tokenizer import EMPTY_THOUGHT, END_OF_TURN, PAD, render

EXAMPLES = Path("resources/examples")
LABELLED = ("contradictions", "tickets")  # the examples with gold answers to every question
Floats = NDArray[np.float64]
# Prompts and canvases to the logits of the first canvas slot, [reads, V].
FirstSlot = Callable[[list[list[int]], list[list[int]]], NDArray[np.float32]]


@dataclass(frozen=True)
class Item:
    """One read: the prompt's ids, the labels' ids, and the index of the gold label."""

    prompt: list[int]
    canvas: list[int]
    labels: list[int]
    gold: int


def parse_question(raw: dict[str, object]) -> Question:
    """A question of a form file."""
    name, kind, text, criteria = str(raw["id"]), raw["type"], str(raw["instructions"]), raw.get("criteria")
    if kind == "noul":
        means = criteria if isinstance(criteria, dict) else {}
        return Noul(name, text, str(means.get("true", "")), str(means.get("false", "")))
    if kind == "choice" and isinstance(criteria, dict):
        return Choice(name, text, tuple(Option(option, str(meaning)) for option, meaning in criteria.items()))
    if kind == "score" and isinstance(criteria, list):
        return Score(name, text, tuple(map(str, criteria)))
    raise ValueError(f"question {name}: unknown type {kind!r} or no criteria")


def gold_index(question: Question, value: str) -> int:
    """Index of the gold answer, given as yes/no, an option's name or a level's number."""
    return question.answers.index(value.strip())


def read_example(folder: Path) -> tuple[dict[str, Question], list[dict[str, str]], list[str], dict[str, str]]:
    """Questions by id, rows, rendered states, and the gold column of each question."""
    form = json.loads((folder / "form.json").read_text(encoding="utf-8"))
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(form["state"])
    questions = {raw["id"]: parse_question(raw) for raw in form["questions"]}
    return (
        questions,
        rows,
        [template.render(row) for row in rows],
        {raw["id"]: raw["gold"] for raw in form["questions"]},
    )


def read_items(
    tokenizer: Tokenizer, question: Question, states: Sequence[str], gold: Sequence[int], size: int
) -> list[Item]:
    """Alone reads with draw 0's noise: a generator seeded by the prompt's ids before the thought block."""
    labels = [tokenizer.encode(label, add_special_tokens=False).ids[0] for label in question.labels]
    items = []
    for state, answer in zip(states, gold, strict=True):
        text = render([("user", alone_prompt(state, question))])
        prompt = tokenizer.encode(text, add_special_tokens=False).ids
        before = tokenizer.encode(text.removesuffix(EMPTY_THOUGHT), add_special_tokens=False).ids
        noise = random.Random(sha256(json.dumps(before).encode()).digest()).randrange(size)
        items.append(Item(prompt, [noise, END_OF_TURN, *[PAD] * (READ_CANVAS - 2)], labels, answer))
    return items


def figures(question: Question, items: Sequence[Item], logits: NDArray[np.float32]) -> dict[str, float]:
    """AUC, accuracy or rank correlation, and how much of the probability lies on labels."""
    z = logits.astype(np.float64)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    labels = items[0].labels
    mass = p[:, labels].sum(axis=1)
    shares = p[:, labels] / mass[:, None]
    readable = (mass >= 0.5) & np.isin(p.argmax(axis=1), labels)
    gold = np.array([item.gold for item in items])
    result = {
        "rows": len(items),
        "readable": float(readable.mean()),
        "accuracy": float((shares.argmax(axis=1) == gold).mean()),
    }
    result["calibration_error"] = calibration_error(shares, gold)
    if isinstance(question, Noul):
        result["auc"] = auc(shares[:, 0], gold == 0)
    elif isinstance(question, Score):
        result["spearman"] = spearman(shares @ np.arange(len(labels)), gold.astype(float))
    else:
        result["largest_class"] = float(np.bincount(gold).max() / len(gold))
    return result


def ranks(values: Floats) -> Floats:
    """1-based ranks, ties get their mean."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: Floats = (last - (counts - 1) / 2).astype(np.float64)
    return means[inverse]


def auc(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: how often a positive ranks above a negative."""
    count = int(positive.sum())
    return float((ranks(scores)[positive].sum() - count * (count + 1) / 2) / (count * (len(scores) - count)))


def spearman(a: Floats, b: Floats) -> float:
    """Rank correlation."""
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def calibration_error(shares: Floats, gold: NDArray[np.int64], bins: int = 10) -> float:
    """Expected calibration error of the most likely answer, in equal-width bins."""
    top, right = shares.max(axis=1), shares.argmax(axis=1) == gold
    places = np.minimum((top * bins).astype(int), bins - 1)
    parts = [abs(top[places == b].mean() - right[places == b].mean()) * (places == b).mean() for b in set(places)]
    return float(sum(parts))


def on_examples(
    tokenizer: Tokenizer, first_slot: FirstSlot, size: int, examples: Path = EXAMPLES
) -> dict[str, dict[str, float]]:
    """Figures of every question of every bundled example, by "example/question"."""
    result = {}
    for folder in (examples / name for name in LABELLED):
        questions, rows, states, columns = read_example(folder)
        for name, question in questions.items():
            gold = [gold_index(question, row[columns[name]]) for row in rows]
            items = read_items(tokenizer, question, states, gold, size)
            logits = first_slot([item.prompt for item in items], [item.canvas for item in items])
            result[f"{folder.name}/{name}"] = figures(question, items, logits)
    return result


FRESH = (
    "contradiction",
    "team",
    "refund",
    "urgency",
    "sentiment",
    "topic",
    "record",
    "compare",
    "mention",
    "values",
    "match",
)


def on_samples(
    tokenizer: Tokenizer, first_slot: FirstSlot, size: int, count: int = 256, seed: int = 99
) -> dict[str, float]:
    """Accuracy on fresh samples of the generators, by skill (no label noise; wordings as in training)."""
    result = {}
    for skill in FRESH:
        r = random.Random(f"{seed} {skill}")
        items = []
        for _ in range(count):
            if skill in ("team", "refund", "urgency"):
                sample: Sample = tickets.triage(r, what=skill)
            else:
                sample = mixture.draw(r, skill=skill, label_noise=0.0)
            if isinstance(sample, Read):
                items += read_items(tokenizer, sample.questions[0], [sample.state], [sample.answers[0]], size)
        logits = first_slot([item.prompt for item in items], [item.canvas for item in items])
        right = [
            item.labels[int(row[item.labels].argmax())] == item.labels[item.gold]
            for item, row in zip(items, logits, strict=True)
        ]
        result[skill] = float(np.mean(right))
    return result


PAIRS = "pairs"  # the name of ``held_out_pairs`` among the skills


def on_validation(tokenizer: Tokenizer, first_slot: FirstSlot, size: int, count: int = 250) -> dict[str, float]:
    """AUC (accuracy for a choice) on the validation part of the held-out questions and on whole pairs, by skill."""
    result = {}
    for skill in (*held_out_set.SKILLS, PAIRS):
        samples = held_out_pairs.reads() if skill == PAIRS else held_out_set.reads("validation", skill, count)
        items = [
            item
            for sample in samples
            for item in read_items(tokenizer, sample.questions[0], [sample.state], [sample.answers[0]], size)
        ]
        logits = first_slot([item.prompt for item in items], [item.canvas for item in items])
        right = [row[item.labels].argmax() == item.gold for item, row in zip(items, logits, strict=True)]
        result[skill] = float(np.mean(right))
        if all(sample.questions[0].type == "noul" for sample in samples):
            margin = np.array(
                [row[item.labels[0]] - row[item.labels[1]] for item, row in zip(items, logits, strict=True)]
            )
            result[skill] = auc(margin, np.array([item.gold == 0 for item in items]))
    return result


def onnx_first_slot(folder: Path, threads: int = 2) -> FirstSlot:
    """Reads through the shipped graphs."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    encode, denoise = (
        InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
        for name in ("encode", "denoise")
    )
    names = [output.name for output in encode.get_outputs()]
    size = json.loads((folder / "config.json").read_text(encoding="utf-8"))["text_config"]["vocab_size"]

    def first_slot(prompts: list[list[int]], canvases: list[list[int]]) -> NDArray[np.float32]:
        out = []
        for prompt, canvas in zip(prompts, canvases, strict=True):
            prefix = dict(zip(names, encode.run(None, {"prompt_ids": np.array([prompt], np.int64)}), strict=True))
            feed = {
                "canvas_ids": np.array([canvas], np.int64),
                "prev_probs": np.zeros((1, len(canvas), size), np.float32),
                "prompt_len": np.array([len(prompt)], np.int64),
                **prefix,
            }
            out.append(np.asarray(denoise.run(None, feed)[0])[0, 0])
        return np.stack(out)

    return first_slot


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    size = json.loads((folder / "config.json").read_text(encoding="utf-8"))["text_config"]["vocab_size"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    print(json.dumps(on_examples(tokenizer, onnx_first_slot(folder), size), indent=2))


if __name__ == "__main__":
    main()
