"""Read-only rich text as high as its content. Loads nothing, opens no link without showing where it goes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.theme import Tokens, current_tokens, set_role

INDENT = 22  # pixels per level of a list
FRAME = 1  # pixels; it shows the focus (resources/css/app.qss)


class ProseView(QTextBrowser):
    """One piece of HTML.

    Signals:
        link_clicked(str): the user wants to follow a link; nothing has been opened yet.
        restyled(): the same text was laid out anew, for another theme or font; marks in it are gone.
    """

    link_clicked = Signal(str)
    restyled = Signal()
    _html = ""  # change events arrive before the constructor is through
    _plain = ""
    _restyle_due = False

    def __init__(self, html: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "prose")
        self.setObjectName("message.prose")
        self.setAccessibleName(self.tr("Message text"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(INDENT)
        self.anchorClicked.connect(lambda url: self.link_clicked.emit(url.toString()))
        self.highlighted.connect(self._show_target)
        if html:
            self.set_html(html)

    def set_html(self, html: str) -> None:
        self._html, self._plain = html, ""
        css = _css(current_tokens())
        if css != self.document().defaultStyleSheet():  # reading it takes longer than a short text
            self.document().setDefaultStyleSheet(css)
        self.setHtml(html)
        self._fit()

    def set_plain(self, text: str) -> None:
        """Shows a text exactly as it is."""
        self._html, self._plain = "", text
        self.setPlainText(text)
        self._fit()

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """Refuses everything: no picture, style or file is ever read because a message names it."""
        return None

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != self.document().textWidth():  # when only the height follows nothing is laid out
            super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        restyling = event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange)
        if restyling and not self._restyle_due:  # a change of theme brings several events: one new layout is enough
            self._restyle_due = True
            QTimer.singleShot(0, self, self._restyle)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the transcript scrolls

    def sizeHint(self) -> QSize:
        return QSize(320, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.height())

    def _restyle(self) -> None:
        self._restyle_due = False
        if self._plain:
            self.set_plain(self._plain)
        else:
            self.set_html(self._html)
        self.restyled.emit()

    def _fit(self) -> None:
        document, width = self.document(), self.viewport().width()
        if width != document.textWidth():  # setting it lays out everything, even when it is the same
            document.setTextWidth(width)
        height = round(document.size().height()) + 1 + 2 * FRAME
        if height != self.height():
            self.setFixedHeight(max(height, 1))
        self.verticalScrollBar().setRange(0, 0)

    def _show_target(self, url: QUrl) -> None:
        self.setToolTip(url.toString())


@lru_cache(maxsize=2)
def _css(tokens: Tokens) -> str:
    """Style of the prose; Qt knows a subset of CSS 2.1."""
    return f"""
        a {{ color: {tokens.accent}; }}
        p {{ margin-top: 0; margin-bottom: 8px; line-height: 135%; }}
        ul, ol {{ margin-top: 0; margin-bottom: 8px; }}
        li {{ margin-bottom: 3px; line-height: 130%; }}
        h1 {{ font-size: x-large; margin-top: 10px; margin-bottom: 6px; }}
        h2 {{ font-size: large; margin-top: 10px; margin-bottom: 6px; }}
        h3, h4, h5, h6 {{ font-size: medium; margin-top: 8px; margin-bottom: 4px; }}
        code {{ font-family: monospace; background-color: {tokens.sunken}; }}
        pre {{ font-family: monospace; background-color: {tokens.code}; margin-bottom: 8px; }}
        blockquote {{ color: {tokens.muted}; margin-left: 12px; }}
        table {{ border-color: {tokens.border}; border-style: solid; border-collapse: collapse; margin-bottom: 8px; }}
        th {{ background-color: {tokens.sunken}; text-align: left; }}
    """
