"""Where the noise in a label slot comes from.

Draw 0 follows vLLM 0.33.0's own rule for ``/v1/systemone``: a Mersenne twister that is seeded with the SHA-256 of the
prompt's token ids as JSON, one ``randrange(vocab_size)`` per slot in order. So draw 0 of a read through token ids is
the read that the native endpoint makes for the same prompt. Later draws are seeded from the run, row, question and
draw, so that a repeated run reads the same canvases.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from random import Random


def prompt_noise(prompt_ids: Sequence[int], slots: int, vocab_size: int) -> tuple[int, ...]:
    """The noise of draw 0.

    Args:
        prompt_ids: the rendered prompt up to and with the generation prompt, without the empty thought block.
        slots: how many label slots the canvas has.
        vocab_size: of the model's configuration, not of its tokenizer.
    """
    return _tokens(hashlib.sha256(json.dumps(list(prompt_ids)).encode()).digest(), slots, vocab_size)


def draw_noise(
    seed: int, row_key: str, question_ids: Sequence[str], draw: int, slots: int, vocab_size: int
) -> tuple[int, ...]:
    """The noise of draw 1, 2, ...: a function of the run seed, the row, the questions on the canvas and the draw."""
    key = json.dumps([seed, row_key, list(question_ids), draw])
    return _tokens(hashlib.sha256(key.encode()).digest(), slots, vocab_size)


def _tokens(digest: bytes, slots: int, vocab_size: int) -> tuple[int, ...]:
    source = Random(digest)
    return tuple(source.randrange(vocab_size) for _ in range(slots))
