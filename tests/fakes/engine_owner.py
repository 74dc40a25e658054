"""A stand-in for the window: starts an engine group, prints the group's pids, and waits to be killed.

python engine_owner.py HOME [MODE ...]      modes of engine_misbehaving.py; ``hold-nothing``: a harmless death signal
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from engine.supervise.group import EngineGroup
from engine.supervise.ports import bind_port

FAKE = Path(__file__).with_name("engine_misbehaving.py")


def main(argv: list[str]) -> int:
    home, modes = Path(argv[1]), argv[2:]
    harmless = signal.SIGCHLD if "hold-nothing" in modes else signal.SIGKILL
    with bind_port() as listener:
        group = EngineGroup.launch(
            [sys.executable, str(FAKE), str(listener.fileno()), *modes],
            log_path=home / "engine.log",
            pid_dir=home,
            pass_fds=[listener.fileno()],
            port=listener.getsockname()[1],
            death_signal=harmless,
        )
        sys.stdout.write(
            json.dumps({"pid": group.pid, "guardian": group.guardian_pid, "port": group.record.port}) + "\n"
        )
        sys.stdout.flush()
    signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
