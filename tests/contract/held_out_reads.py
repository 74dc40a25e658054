"""Reads that the demo model never saw, with everything that is sent worked out here, before any engine is asked."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.domain.question import Question
from engine.embedded.model import DemoModel
from engine.embedded.tokenizer import DemoTokenizer
from engine.reads.labels import find_specials
from engine.reads.noise import prompt_noise
from engine.reads.sheet import Sheet, alone_sheets, joint_sheets
from tools.train_demo import mixture
from tools.train_demo.sample import Read

sys.path.insert(0, str(Path(__file__).parents[1] / "parity"))
from reference_process import DEMO, run_reference  # the folder is no package

PARITY = Path(__file__).parents[1] / "parity"
READS = 200  # questions alone, and as many jointly
ALONE_WIDTH = 16
DRAWS = 100_000  # of the generators, until there are enough


@dataclass(frozen=True)
class HeldOut:
    """One canvas to be read.

    Attributes:
        message: the user's message.
        prompt_ids: as rendered, without the thought block.
        input_ids: with it.
        noise: one token per label slot.
        logprobs: [slots, label ids] of transformers.
    """

    sheet: Sheet
    message: str
    prompt_ids: tuple[int, ...]
    input_ids: tuple[int, ...]
    noise: tuple[int, ...]
    logprobs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


def samples(*, joint: bool) -> list[Read]:
    """``READS`` questions of every skill that is trained, each sample with one question, or with several."""
    r = random.Random(f"held-out reads {joint}")
    found: list[Read] = []
    for _ in range(DRAWS):
        sample = mixture.draw(r)
        if isinstance(sample, Read) and (len(sample.questions) > 1) == joint:
            found.append(sample)
        if sum(len(read.questions) for read in found) >= READS:
            return found
    raise AssertionError("the generators bring too few reads")


async def held_out(model: DemoModel, tokenizer: DemoTokenizer, folder: Path, *, joint: bool) -> list[HeldOut]:
    """The reads and what transformers says to them.

    Args:
        folder: for the files that go to transformers and come back.
    """

    async def tokenize(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(text))

    specials = await find_specials(tokenize)
    reads: list[HeldOut] = []
    for sample in samples(joint=joint):
        questions: list[Question] = [replace(question, id=f"q{n}") for n, question in enumerate(sample.questions)]
        if joint:
            sheets = await joint_sheets(tokenize, questions, specials, model.config.canvas_length)
        else:
            sheets = await alone_sheets(tokenize, questions, specials, ALONE_WIDTH)
        for sheet in sheets:
            message = sheet.prompt(sample.state)
            ids = tuple(tokenizer.prompt_ids([{"role": "user", "content": message}]))
            noise = prompt_noise(ids, len(sheet.canvas.slots), model.config.vocab_size)
            reads.append(HeldOut(sheet, message, ids, ids + specials.thought, noise))
    return by_transformers(reads, folder)


def by_transformers(reads: list[HeldOut], folder: Path) -> list[HeldOut]:
    arrays: dict[str, NDArray[np.int64]] = {}
    for i, read in enumerate(reads):
        case = {
            "prompt": read.input_ids,
            "canvas": read.sheet.canvas.seeded(read.noise),
            "slots": read.sheet.canvas.slots,
            "labels": read.sheet.label_ids,
        }
        arrays |= {f"{name}_{i}": np.array(value, np.int64) for name, value in case.items()}
    np.savez(folder / "cases.npz", **arrays)
    run_reference(PARITY / "reference_reads.py", DEMO, folder / "cases.npz", folder / "out.npz")
    with np.load(folder / "out.npz") as answers:
        return [replace(read, logprobs=answers[f"logprobs_{i}"]) for i, read in enumerate(reads)]
