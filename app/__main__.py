"""``diffusion-desk``: without arguments, or with files alone, the window; with any other argument the command line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

NO_DISPLAY = 2

_HEADLESS_PLATFORMS = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")  # Qt plugins that need no X or Wayland
_NO_DISPLAY_TEXT = """\
error: there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set)
  without a window: `diffusion-desk chat TEXT`, `diffusion-desk decide FORM TABLE --out OUT`; --help lists the rest
"""


def main() -> int:
    """Runs the window or one command; the exit status."""
    if len(sys.argv) > 1 and not are_files(sys.argv[1:]):
        from engine.cli.main import run

        return run(sys.argv[1:])
    if not has_display():
        sys.stderr.write(_NO_DISPLAY_TEXT)
        return NO_DISPLAY
    # Until the loop runs and handles it there is nothing to lose, and a traceback tells nobody anything.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from app import bootstrap  # Qt: only where a window opens

    return bootstrap.main()


def are_files(arguments: Sequence[str]) -> bool:
    """Whether a file manager asks for files to be opened. A command has neither a folder nor an ending in its name."""
    looks_like_one = all(os.path.dirname(each) or os.path.splitext(each)[1] for each in arguments)
    return looks_like_one and all(os.path.isfile(each) for each in arguments)


def has_display() -> bool:
    """Whether Qt can be expected to open a window: it aborts the process where it cannot."""
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(_HEADLESS_PLATFORMS):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main())
