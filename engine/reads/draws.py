"""How many looks a question gets, and how one answer of the engine becomes a draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.client.wire import GenerateResponse, SlotLogprobs
from engine.domain.reading import Draw, Method
from engine.errors import EngineRefused, InputError

MIN_DRAWS, MAX_DRAWS = 1, 32
MORE_WHEN_UNSURE = 3

Groups = Sequence[Sequence[int]]


def check_draws(method: Method) -> None:
    """Raises InputError for a number of draws that no run may have."""
    if method.draws != "auto" and not MIN_DRAWS <= method.draws <= MAX_DRAWS:
        raise InputError(
            "reads.draws_out_of_range",
            'draws must be "auto" or {low} to {high}, not {draws}',
            low=MIN_DRAWS,
            high=MAX_DRAWS,
            draws=method.draws,
        )


def first_draws(method: Method) -> int:
    """Draws to make at once: one for ``auto``."""
    return 1 if method.draws == "auto" else method.draws


def more_draws(method: Method, firsts: Sequence[Draw]) -> int:
    """Draws to add after the first: three when ``auto`` finds any question of the canvas unsure.

    Args:
        firsts: draw 0 of every question on the canvas.
    """
    unsure = any(draw.entropy > method.unsure_entropy for draw in firsts)
    return MORE_WHEN_UNSURE if method.draws == "auto" and unsure else 0


def slot_draw(response: GenerateResponse, position: int, groups: Groups) -> Draw:
    """What the engine saw at one position of the canvas.

    A label may have two tokens, with and without a leading space (on joint canvases, as in vLLM 0.33.0): the shares
    follow the likelier one, the label mass counts both. ``masses`` are scaled so that both hold.

    Args:
        position: of the label slot in the canvas.
        groups: the token ids of each label.

    Raises:
        EngineRefused: the answer lacks the position or a label's logprob.
    """
    content = _content(response)
    if position >= len(content):
        raise _incomplete(f"{len(content)} canvas positions instead of {position + 1}")
    slot = content[position]
    found = {entry.token_id: entry.logprob for entry in slot.top_logprobs}
    try:
        masses = [[math.exp(found[token]) for token in group] for group in groups]
    except KeyError as missing:
        raise _incomplete(f"no logprob for token {missing.args[0]}") from None
    argmax_is_label = any(slot.token_id in group for group in groups)
    best = [max(group) for group in masses]
    total, likelier = math.fsum(mass for group in masses for mass in group), math.fsum(best)
    scale = total / likelier if likelier > 0.0 else 0.0
    return Draw(tuple(mass * scale for mass in best) if scale != 1.0 else tuple(best), argmax_is_label)


def _content(response: GenerateResponse) -> tuple[SlotLogprobs, ...]:
    logprobs = response.choices[0].logprobs if response.choices else None
    if logprobs is None or logprobs.content is None:
        raise _incomplete("no logprobs")
    return logprobs.content


def _incomplete(reason: str) -> EngineRefused:
    return EngineRefused(
        "engine.incomplete_read", "the engine's answer to a read has {reason}", status=200, reason=reason
    )
