"""What a window does with a run: holds the worker's stdin and reads its lines. ``run_watcher.py ARGUMENTS``."""

from __future__ import annotations

import subprocess
import sys

worker = subprocess.Popen(
    [sys.executable, "-m", "engine.cli", *sys.argv[1:], "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
)
assert worker.stdout is not None
for line in worker.stdout:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(worker.wait())
