"""What the program and the engine's process say to each other: names of variables, and the frames of the canvas.

The one module of this room that the rest of the program imports; it needs the standard library only.

A frame is one JSON datagram to the Unix socket that ``DG_LIVE_SOCK`` names, for a request whose ``vllm_xargs`` hold
``dg_live: "<id>"``: ``{"v", "id", "n", "step", "converged", "argmax": [ids], "accepted": [0 or 1], "entropy":
[nats]}``. Token ids only: the reader has the vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

VERSION: Final = 1
"""Of the frames; a reader of another version takes none."""

PARTS_VARIABLE = "DESK_VLLM_PARTS"
SOCKET_VARIABLE = "DG_LIVE_SOCK"
ASKED_BY = "dg_live"
MODEL_CLASS = "engine.vllm_plugin.model:DeskDiffusionGemma"
ARCHITECTURE = "DiffusionGemmaForBlockDiffusion"

PART_MODULES: Mapping[str, str] = {
    "tiles": "engine.vllm_plugin.tiles",
    "reads": "engine.vllm_plugin.reads",
    "live": "engine.vllm_plugin.live",
}
"""Every part and its module, in the order of installing: the last sees what the others have done."""

MAX_ID = 64  # characters
DECIMALS = 4  # of an entropy; whoever has an array rounds it at once, which is far cheaper than here


def live_id(extra_args: Mapping[str, Any] | None) -> str | None:
    """The name under which a request wants its frames; None when it wants none, or asks with what is no name."""
    asked = (extra_args or {}).get(ASKED_BY)
    if isinstance(asked, int | float) and not isinstance(asked, bool):
        asked = str(asked)
    return asked if isinstance(asked, str) and 0 < len(asked) <= MAX_ID else None


def frame(
    request: str,
    number: int,
    step: int,
    converged: bool,
    argmax: Sequence[int],
    accepted: Sequence[bool],
    entropy: Sequence[float],
) -> bytes:
    """One denoise step as a datagram; the three sequences have an entry for every slot of the canvas.

    Args:
        entropy: nats, rounded to ``DECIMALS``.
    """
    return json.dumps(
        {
            "v": VERSION,
            "id": request,
            "n": number,
            "step": step,
            "converged": converged,
            "argmax": list(argmax),
            "accepted": [int(kept) for kept in accepted],
            "entropy": list(entropy),
        },
        separators=(",", ":"),
    ).encode()
