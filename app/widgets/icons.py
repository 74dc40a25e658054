"""Icons from ``resources/icons``, drawn in a colour of the palette and redrawn when the theme changes."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget

from app.theme import current_tokens, icon_source, set_role

_RATIO = 2  # icons are drawn at twice their size, so that they stay sharp on high-density screens


@lru_cache(maxsize=256)
def pixmap(name: str, color: str, size: int = 18) -> QPixmap:
    """An icon of the resources folder as a pixmap.

    Args:
        color: ``#rrggbb``, replaces ``currentColor``.
        size: edge in device-independent pixels.
    """
    source = icon_source(name).replace("currentColor", color)
    renderer = QSvgRenderer(QByteArray(source.encode()))
    image = QPixmap(size * _RATIO, size * _RATIO)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    image.setDevicePixelRatio(_RATIO)
    return image


def icon(name: str, color: str, size: int = 18) -> QIcon:
    return QIcon(pixmap(name, color, size))


def app_icon() -> QIcon:
    return icon("app", "#ffffff", 64)


class ThemedButton(QPushButton):
    """A push button with text and an optional icon that follows the theme.

    Args:
        name: becomes the objectName.
        role: a role of the style sheet (primary, danger, quiet, nav, suggestion) or empty.
    """

    _icon_name = ""  # change events arrive before the constructor is through

    def __init__(
        self, text: str, name: str, *, icon_name: str = "", role: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self._icon_name = icon_name
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if role:
            set_role(self, role)
        self._draw()

    def set_icon_name(self, icon_name: str) -> None:
        self._icon_name = icon_name
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self._draw()

    def _draw(self) -> None:
        if not self._icon_name:
            return
        tokens = current_tokens()
        color = {"primary": tokens.on_accent, "danger": tokens.danger}.get(str(self.property("role")), tokens.text)
        if not self.isEnabled():
            color = tokens.muted
        self.setIcon(icon(self._icon_name, color))
        self.setIconSize(QSize(18, 18))


class ThemedIcon(QLabel):
    """A picture beside words, in a colour of the tokens (``accent``, ``danger``, ...) that follows the theme."""

    _icon_name = ""

    def __init__(self, icon_name: str, color: str, size: int = 18, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._color = color
        self._size = size
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._icon_name:
            self._draw()

    def _draw(self) -> None:
        self.setPixmap(pixmap(self._icon_name, str(getattr(current_tokens(), self._color)), self._size))


class IconButton(QToolButton):
    """A button that is only an icon; the tooltip is its accessible name."""

    _icon_name = "close"
    _size = 18

    def __init__(self, icon_name: str, tip: str, name: str, *, parent: QWidget | None = None, size: int = 18) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._size = size
        self.setObjectName(name)
        self.set_tip(tip)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._draw()

    def set_tip(self, tip: str) -> None:
        self.setToolTip(tip)
        self.setAccessibleName(tip)

    def set_icon_name(self, icon_name: str) -> None:
        self._icon_name = icon_name
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self._draw()

    def _draw(self) -> None:
        tokens = current_tokens()
        self.setIcon(icon(self._icon_name, tokens.text if self.isEnabled() else tokens.muted, self._size))
        self.setIconSize(QSize(self._size, self._size))
