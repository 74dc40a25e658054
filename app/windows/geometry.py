"""Where the window comes up: as it was left, on a screen that still exists, no larger than that screen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize

GRIP = (120, 30)  # pixels of the window's top edge that must lie on a screen, to be dragged by


def placed(kept: QRect, screens: Sequence[QRect], minimum: QSize) -> QRect:
    """The rectangle to show the window in.

    A kept place counts where its top edge can still be gripped; else the window is centred on the first screen. Its
    size is cut to the screen. Where not even the smallest window fits, the size is left to the window manager.

    Args:
        kept: of an earlier window, without its frame; a null position when only the size is known.
        screens: the available area of each, the primary first.
        minimum: of the window.
    """
    if not screens:
        return kept
    home = next((screen for screen in screens if not kept.topLeft().isNull() and _gripped(kept, screen)), None)
    screen = home or screens[0]
    size = kept.size()
    if screen.width() >= minimum.width() and screen.height() >= minimum.height():
        size = size.boundedTo(screen.size())
    if home is None:
        corner = screen.center() - QPoint(size.width() // 2, size.height() // 2)
        return QRect(QPoint(max(corner.x(), screen.left()), max(corner.y(), screen.top())), size)
    return QRect(kept.topLeft(), size)


def _gripped(kept: QRect, screen: QRect) -> bool:
    shared = QRect(kept.left(), kept.top(), kept.width(), GRIP[1]).intersected(screen)
    return shared.width() >= min(GRIP[0], kept.width()) and shared.height() >= GRIP[1] // 2
