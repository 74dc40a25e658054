"""Files and pictures may be dropped anywhere on a page: they go where they would have gone in the composer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from app.widgets.composer import ComposerText

_KINDS = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


class DropAnywhere(QObject):
    """Watches a page; lives as long as it. A dropped text is left to what it was dropped on."""

    def __init__(self, page: QWidget, text: ComposerText) -> None:
        super().__init__(page)
        self._text = text
        page.setAcceptDrops(True)
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in _KINDS or not isinstance(event, QDropEvent):
            return False
        if not self._text.takes(event.mimeData()):
            event.ignore()
            return True
        event.acceptProposedAction()
        if event.type() == QEvent.Type.Drop:
            self._text.insertFromMimeData(event.mimeData())
            self._text.setFocus()
        return True
