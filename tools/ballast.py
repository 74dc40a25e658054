"""Makes a large card as small as another one: holds all but so much of its memory until its standard input ends.

    ENGINE_PYTHON tools/ballast.py --leave 23.56 [CARD ...]

A plan's arithmetic of a 24 GB card can so be tried on a card of 80 or 140 GB: what is planned beside the utilisation
is all that there is. Needs torch and nothing of this program, so that the engine's interpreter runs it.
"""

from __future__ import annotations

import argparse
import sys

GIB = 1 << 30
READY = "ballast is held"


def hold(torch: object, card: int, leave: int) -> tuple[list[object], int]:
    """Memory of a card, so that ``leave`` bytes stay free; and what is free now.

    Args:
        torch: the module.
        card: index among those that torch sees.
    """
    held = []
    for _ in range(2):  # the first one makes the context, which takes memory too
        free = torch.cuda.mem_get_info(card)[0]  # type: ignore[attr-defined]
        if free > leave:
            held.append(torch.empty(free - leave, dtype=torch.uint8, device=f"cuda:{card}"))  # type: ignore[attr-defined]
    return held, torch.cuda.mem_get_info(card)[0]  # type: ignore[attr-defined]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cards", nargs="*", type=int, help="by index; all unless given")
    parser.add_argument("--leave", type=float, required=True, help="GiB that stay free on each")
    given = parser.parse_args()
    import torch

    cards = given.cards or range(torch.cuda.device_count())
    held = [hold(torch, card, round(given.leave * GIB)) for card in cards]
    print(f"{READY}; free: {', '.join(f'{free / GIB:.2f}' for _, free in held)} GiB", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
