"""Chooses the temperature that ``export`` divides the logits by, on the validation part of the held-out questions.

    python -m tools.train_demo.calibrate FOLDER

prints, for each temperature, the mean negative log-likelihood of the right label's share, the calibration error and
the least mean label mass of a skill. The choice: the lowest likelihood loss among those that keep the label mass.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.train_demo import evaluate, held_out_set

TEMPERATURES = (1.0, 1.25, 1.5, 1.75, 2.0)
LEAST_MASS = 0.97  # a flatter distribution also moves probability from labels to other tokens
CAP = 30.0  # of the logits


def divided(logits: NDArray[np.float32], temperature: float) -> NDArray[np.float64]:
    """What soft-capped logits become when the temperature acts before the cap."""
    inner = np.arctanh(np.clip(logits.astype(np.float64) / CAP, -1 + 1e-7, 1 - 1e-7))
    result: NDArray[np.float64] = CAP * np.tanh(inner / temperature)
    return result


def measure(found: dict[str, tuple[list[evaluate.Item], NDArray[np.float32]]], temperature: float) -> dict[str, float]:
    """Loss, calibration error and least mean label mass of all skills' reads."""
    losses, tops, rights, masses = [], [], [], []
    for items, logits in found.values():
        z = divided(logits, temperature)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        mass = []
        for row, item in zip(p, items, strict=True):
            labels = row[item.labels]
            mass.append(labels.sum())
            shares = labels / labels.sum()
            losses.append(-np.log(shares[item.gold] + 1e-12))
            tops.append(shares.max())
            rights.append(int(shares.argmax() != item.gold))
        masses.append(float(np.mean(mass)))
    pairs = np.stack([np.array(tops), 1 - np.array(tops)], axis=1)
    error = evaluate.calibration_error(np.where(pairs == pairs.max(1, keepdims=True), pairs, 0.0), np.array(rights))
    return {"loss": float(np.mean(losses)), "calibration_error": error, "least_mass": min(masses)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=held_out_set.READS)
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(arguments.folder / "tokenizer.json"))
    size = json.loads((arguments.folder / "config.json").read_text(encoding="utf-8"))["text_config"]["vocab_size"]
    read = evaluate.onnx_first_slot(arguments.folder)
    found = {}
    for skill in held_out_set.SKILLS:
        samples = held_out_set.reads("validation", skill, arguments.count)
        items = [
            item
            for sample in samples
            for item in evaluate.read_items(tokenizer, sample.questions[0], [sample.state], [sample.answers[0]], size)
        ]
        found[skill] = (items, read([item.prompt for item in items], [item.canvas for item in items]))
    results = {temperature: measure(found, temperature) for temperature in TEMPERATURES}
    for temperature, result in results.items():
        print(temperature, json.dumps({name: round(value, 4) for name, value in result.items()}))
    kept = [t for t in TEMPERATURES if results[t]["least_mass"] >= LEAST_MASS]
    print("chosen:", min(kept, key=lambda t: results[t]["loss"]))


if __name__ == "__main__":
    main()
