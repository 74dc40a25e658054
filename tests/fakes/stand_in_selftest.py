"""Plays ``engine/launch/selftest.py`` without a card: imported at the start of the stand-in engine's interpreter.

It takes over when that script is to be run, and says the script's own events for its own cases. What it plays stands in
the environment, ``STAND_IN_SELFTEST``: ``wrong`` (every padded shape is wrong; 1), ``none`` (2), ``die`` (killed in the
middle), ``quiet`` (says nothing more), ``hold=FILE`` (on the second card waits for FILE), ``gone`` (3, a last line on
stderr); else all is right. ``STAND_IN_SELFTEST_LOG`` names a file that gets a line a run: the number of the card.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path


def main() -> None:
    from engine.launch import selftest

    parsed = selftest.parse(sys.orig_argv[sys.orig_argv.index("-I") + 2 :])
    mode = os.environ.get("STAND_IN_SELFTEST", "")
    log = os.environ.get("STAND_IN_SELFTEST_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{parsed.device}\n")
    if mode == "none":
        end(selftest.NOT_RUN, {"event": "error", "message": "torch sees no CUDA card"})
    if mode == "gone":
        sys.stderr.write("ImportError: libcuda.so.1: cannot open shared object file\n")
        sys.stderr.flush()
        os._exit(3)
    failed = compared = 0
    for case in selftest.cases(parsed.tensor_parallel, parsed.rows):
        if compared == 10 and mode in ("die", "quiet"):
            os.kill(os.getpid(), signal.SIGKILL if mode == "die" else signal.SIGSTOP)
        while compared == 10 and mode.startswith("hold=") and parsed.device == 1:
            if Path(mode.removeprefix("hold=")).exists():
                break
            time.sleep(0.05)
        ok = not (mode == "wrong" and case.k % 64)
        say(
            {
                "event": "shape",
                **{name: getattr(case, name) for name in ("kind", "name", "tensor_parallel", "n", "k", "rows")},
                "error": 0.002 if ok else 0.71,
                "limit": 0.01,
                "ok": ok,
            },
            before="Capturing:  50%" if compared == 3 else "",
        )
        compared, failed = compared + 1, failed + (not ok)
    end(bool(failed), {"event": "done", "compared": compared, "failed": failed, "ok": not failed})


def say(event: dict[str, object], before: str = "") -> None:
    sys.stdout.write(before + json.dumps(event) + "\n")
    sys.stdout.flush()


def end(code: int, event: dict[str, object]) -> None:
    say(event)
    os._exit(code)


if any(word.endswith("selftest.py") for word in sys.orig_argv):
    main()
