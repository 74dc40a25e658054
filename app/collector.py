"""Garbage collection on the GUI's thread only.

Python collects cycles on whatever thread allocates next. A collected cycle may hold QObjects, and Qt objects must not
be destroyed on another thread (timers and sockets complain, widgets crash). So the automatic collector is switched off
and its work is done from a timer, with the interpreter's own thresholds.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 1000


class GuiCollector(QObject):
    """Collects while it lives; ``stop`` gives the automatic collector back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._automatic = gc.isenabled()
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.collect_due)
        gc.disable()
        self._timer.start()

    def collect_due(self) -> int | None:
        """Collects the oldest generation whose threshold is passed; which one, or None when none is."""
        for generation in (2, 1, 0):
            count, threshold = gc.get_count()[generation], gc.get_threshold()[generation]
            if threshold and count > threshold:
                gc.collect(generation)
                return generation
        return None

    def settle(self) -> None:
        """The program has come up: what is there stays, so no later collection need look at it (80 ms a time)."""
        gc.collect()
        gc.freeze()

    def stop(self) -> None:
        self._timer.stop()
        gc.unfreeze()
        if self._automatic:
            gc.enable()
