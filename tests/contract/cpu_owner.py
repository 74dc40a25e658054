"""A stand-in for the window: starts vLLM's CPU build at TP=2 and waits to be killed.

    python cpu_owner.py FOLDER PHASE

Prints the pids of the engine's processes as JSON when PHASE of the start begins (``ready``: when it is ready).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from cpu_server import cpu_engine

from engine.supervise.vllm import StartProgress


async def main(folder: Path, phase: str) -> None:
    engine = cpu_engine(2, folder)

    def tell() -> None:
        assert engine.group is not None
        sys.stdout.write(json.dumps([member.pid for member in engine.group.members()]) + "\n")
        sys.stdout.flush()

    def progress(seen: StartProgress) -> None:
        if seen.phase == phase:
            tell()

    engine.on_progress = progress
    await engine.start(timeout_s=600.0)
    if phase == "ready":
        tell()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
