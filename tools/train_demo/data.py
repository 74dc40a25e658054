"""Batches of equal shape from worker processes, in an order that depends on the seed alone."""

from __future__ import annotations

import multiprocessing
import os
import queue
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.train_demo import mixture
from tools.train_demo.rendering import Example, to_example

PROMPT_WIDTHS = (48, 64, 80, 96, 112, 128, 160, 192, 256, 352, 480)
QUEUED = 6  # batches that a worker prepares ahead


@dataclass(frozen=True)
class Batch:
    """Examples of one shape, padded at the right.

    Attributes:
        prompts: [B, P] int32.
        lengths: [B] int32, prompt tokens without padding.
        canvases: [B, C] int32, the targets.
        labels: [B, C] bool, where labels stand.
        weights: [B, C] float32, in the loss.
    """

    prompts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    canvases: NDArray[np.int32]
    labels: NDArray[np.bool_]
    weights: NDArray[np.float32]


def collate(examples: list[Example], width: int) -> Batch:
    """Puts examples with canvases of one width together; prompts are padded with 0 to ``width``."""
    canvas = len(examples[0].canvas)
    batch = Batch(
        np.zeros((len(examples), width), np.int32),
        np.array([len(e.prompt) for e in examples], np.int32),
        np.array([e.canvas for e in examples], np.int32),
        np.zeros((len(examples), canvas), np.bool_),
        np.array([e.weights for e in examples], np.float32),
    )
    for row, example in enumerate(examples):
        batch.prompts[row, : len(example.prompt)] = example.prompt
        batch.labels[row, list(example.labels)] = True
    return batch


def easiness(done: float) -> float:
    """1 for the first half of the curriculum (``done`` runs from 0 to 1), then falling to 0."""
    return min(1.0, max(0.0, 2.0 - 2.0 * done))


@dataclass(frozen=True)
class Stream:
    """What is streamed.

    Attributes:
        tokenizer_file: tokenizer.json.
        seed: decides every sample.
        size: examples in a batch of short prompts.
        tokens: longer prompts get smaller batches, so that prompt and canvas tokens stay below this.
        easy_samples: after so many samples of the whole training the curriculum has ended (see ``mixture.draw``).
        drawn: samples of the training before this stream (0 unless resumed).
        shares: of the skills, as ``mixture.parse_shares`` takes them.
    """

    tokenizer_file: Path
    seed: int
    size: int
    tokens: int
    easy_samples: int
    drawn: int = 0
    shares: str = ""


def batches(stream: Stream, worker: int = 0, workers: int = 1) -> Iterator[Batch]:
    """An endless stream of batches: one worker's share."""
    tokenizer = Tokenizer.from_file(str(stream.tokenizer_file))
    r = random.Random(stream.seed * 1000 + worker)
    waiting: dict[tuple[int, int], list[Example]] = {}
    drawn = stream.drawn
    shares = mixture.parse_shares(stream.shares)
    while True:
        easy = easiness(drawn / stream.easy_samples) if stream.easy_samples else 0.0
        drawn += workers
        example = to_example(r, tokenizer, mixture.draw(r, easy, shares=shares))
        width = next((w for w in PROMPT_WIDTHS if len(example.prompt) <= w), None)
        if width is None:
            continue
        shape = (width, len(example.canvas))
        group = waiting.setdefault(shape, [])
        group.append(example)
        if len(group) >= min(stream.size, stream.tokens // (shape[0] + 3 * shape[1])):
            yield collate(group, width)
            waiting[shape] = []


def _work(stream: Stream, worker: int, workers: int, out: multiprocessing.Queue[Batch]) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    for batch in batches(stream, worker, workers):
        out.put(batch)


class Workers:
    """Worker processes, read in turn: the order of batches does not depend on which is faster."""

    def __init__(self, stream: Stream, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._queues: list[multiprocessing.Queue[Batch]] = [context.Queue(QUEUED) for _ in range(count)]
        self._processes = [
            context.Process(target=_work, args=(stream, i, count, out), daemon=True)
            for i, out in enumerate(self._queues)
        ]
        for process in self._processes:
            process.start()

    def __iter__(self) -> Iterator[Batch]:
        turn = 0
        while True:
            i = turn % len(self._queues)
            while True:
                try:
                    yield self._queues[i].get(timeout=30)
                    break
                except queue.Empty:
                    if not self._processes[i].is_alive():
                        raise RuntimeError(
                            f"data worker {i} died with exit code {self._processes[i].exitcode}"
                        ) from None
            turn += 1

    def close(self) -> None:
        """Ends the workers."""
        for process in self._processes:
            process.terminate()
