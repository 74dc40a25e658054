"""The order in which Tab visits the widgets of a window: as they are laid out.

Qt keeps widgets in the order in which they were made. It therefore visits rows that came later at the very end, and for
a page with a focus proxy only what stands behind the proxy.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QMainWindow, QScrollArea, QSplitter, QTabWidget, QWidget

from app.widgets.reveal import reveal as reveal  # the window's tab order takes it from here


def step(window: QWidget, current: QWidget | None, *, forward: bool) -> QWidget | None:
    """The widget that Tab (or Shift+Tab) goes to from ``current``, around the end; None where nothing takes it."""
    widgets = list(_walk(window, current))
    if not forward:
        widgets.reverse()
    start = widgets.index(current) + 1 if current in widgets else 0
    return next((widget for widget in widgets[start:] + widgets[:start] if is_stop(widget)), None)


def is_stop(widget: QWidget) -> bool:
    """Whether Tab stops here: it can be used, and it does not hand the focus on."""
    wants = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return wants and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


def _walk(widget: QWidget, current: QWidget | None) -> Iterator[QWidget]:
    """The widgets below ``widget`` that can be seen, as they are laid out, and ``current`` even when it is leaving."""
    for child in _children(widget):
        leaving = current is not None and (child is current or child.isAncestorOf(current))
        if not child.isWindow() and (child.isVisible() or leaving):
            yield child
            yield from _walk(child, current)


def _children(widget: QWidget) -> list[QWidget]:
    """The direct children: first those that the layout places, in its order."""
    placed: list[QWidget | None]
    match widget:
        case QMainWindow():
            placed = [widget.centralWidget()]
        case QTabWidget():
            placed = [widget.tabBar(), widget.currentWidget()]
        case QSplitter():
            placed = [widget.widget(place) for place in range(widget.count())]
        case QScrollArea():
            placed = [widget.widget()]
        case _:
            placed = list(_laid_out(widget.layout()))
    found = [child for child in placed if child is not None]
    if isinstance(widget, QTabWidget | QScrollArea):
        return found  # the rest is what Qt made them of
    return found + [child for child in widget.children() if isinstance(child, QWidget) and child not in found]


def _laid_out(layout: QLayout | None) -> Iterator[QWidget]:
    if layout is None:
        return
    for place in range(layout.count()):
        item = layout.itemAt(place)
        if item is None:
            continue
        found = item.widget()
        if found is not None:
            yield found
        else:
            yield from _laid_out(item.layout())
