"""``python3 -m engine.cli``: needs no Qt, and numpy and onnxruntime only where the embedded engine runs."""

from __future__ import annotations

import sys

from engine.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
