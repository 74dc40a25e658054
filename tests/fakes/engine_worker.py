"""A fake worker that speaks the worker protocol, badly on request: ``talk`` (the default), ``vanish``,
``hang`` (deaf to everything), ``busy`` (deaf to its stdin).
"""

from __future__ import annotations

import os
import signal
import sys

from engine.supervise.protocol import Note, RunCancelled, RunPaused, RunResumed, parse_command


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(argv: list[str]) -> int:
    mode = argv[1] if len(argv) > 1 else "talk"
    say(Note(text=f"pid {os.getpid()}").line())
    say("a library prints this")
    say('{"event": "from the future"}')
    if mode == "vanish":
        sys.stderr.write("out of cheese\n")
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode in {"hang", "busy"}:
        signal.pause()
    for line in sys.stdin:
        command = parse_command(line)
        if command == "cancel":
            break
        say((RunPaused(reason="asked") if command == "pause" else RunResumed()).line())
    say(RunCancelled(run="r", done=1, total=2).line())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
