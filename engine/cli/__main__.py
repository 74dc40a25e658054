"""``python3 -m engine.cli``: needs no Qt, and numpy and onnxruntime only where the embedded engine runs."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        from engine.cli.main import run
    except KeyboardInterrupt:  # while modules are loaded
        sys.exit(130)
    sys.exit(run())
