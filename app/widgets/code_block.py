"""A fenced block: its text exactly as written, coloured once it is finished, with a copy button."""

from __future__ import annotations

import logging
from concurrent.futures import Future

from PySide6.QtCore import QEvent, QSize, Qt, QThreadPool, QTimer
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Tokens, current_tokens, set_role
from app.widgets.icons import IconButton

log = logging.getLogger(__name__)

MAX_COLOURED_LINES = 2000  # Pygments needs about 150 ms for the first 200 lines
COPIED_MS = 1500
COLOUR_MS = 15  # until it is looked whether Pygments is through
TAB_WIDTH = 4
FRAME = 1  # pixels; it shows the focus (resources/css/app.qss)

Span = tuple[int, int, str]  # start and length in a line, kind of token


def spans(text: str, language: str) -> list[list[Span]]:
    """Per line, the parts to colour. Empty for an unknown language or a very long text."""
    if not language or text.count("\n") > MAX_COLOURED_LINES:
        return []
    from pygments.lexers import get_lexer_by_name  # heavy, and most conversations hold no code
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    lines: list[list[Span]] = [[]]
    column = 0
    for kind, value in lexer.get_tokens(text):
        name = str(kind).removeprefix("Token.").split(".")[0]
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            if part:
                lines[-1].append((column, _utf16_length(part), name))
                column += _utf16_length(part)
    return lines


def _utf16_length(text: str) -> int:
    """Qt counts UTF-16 units, Python code points."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2  # half a pair is a unit too


def _answer(search: Future[list[list[Span]]], text: str, language: str) -> None:
    try:
        search.set_result(spans(text, language))
    except Exception as error:  # noqa: BLE001 - handed over with the future
        search.set_exception(error)


class CodeHighlighter(QSyntaxHighlighter):
    """Paints the spans that Pygments found."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._spans: list[list[Span]] = []
        self._formats: dict[str, QTextCharFormat] = {}

    def set_spans(self, found: list[list[Span]], tokens: Tokens) -> None:
        self._spans = found
        colors = {
            "Keyword": tokens.accent,
            "Name": tokens.text,
            "Literal": tokens.success,
            "Comment": tokens.muted,
            "Operator": tokens.warning,
        }
        self._formats = {kind: _colored(color) for kind, color in colors.items()}
        self._formats["Comment"].setFontItalic(True)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        if number >= len(self._spans):
            return
        for start, length, kind in self._spans[number]:
            if kind in self._formats:
                self.setFormat(start, length, self._formats[kind])


class CodeText(QPlainTextEdit):
    """Read-only code as high as its lines; long lines scroll sideways."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "code-text")
        self.setObjectName("code.text")
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Code"))
        self.setTabChangesFocus(True)

    def fit(self) -> None:
        self.ensurePolished()  # the style sheet brings the font
        metrics = QFontMetricsF(self.font())
        self.setTabStopDistance(TAB_WIDTH * metrics.horizontalAdvance(" "))
        wide = max((metrics.horizontalAdvance(line) for line in self.toPlainText().split("\n")), default=0.0)
        height = metrics.lineSpacing() * self.blockCount() + 2 * self.document().documentMargin() + 2 + 2 * FRAME
        if wide > self.viewport().width():
            height += self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(round(height))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:  # fitted when the style sheet has been applied as a whole
            QTimer.singleShot(0, self, self.fit)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.angleDelta().x():
            super().wheelEvent(event)
        else:
            event.ignore()

    def sizeHint(self) -> QSize:
        return QSize(320, self.height())


class CodeBlock(QFrame):
    """Language, copy button, code."""

    _spans: list[list[Span]] | None = None  # what Pygments found, once the code is finished
    _search: Future[list[list[Span]]] | None = None  # Pygments at work, on a thread

    def __init__(self, text: str = "", language: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "code")
        self.setObjectName("code")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._text = ""
        self._language = ""
        self._label = QLabel(self.tr("code"), self)  # a parent from the beginning: style is resolved once
        set_role(self._label, "caption")
        self._copy = IconButton("copy", self.tr("Copy code"), "code.copy", parent=self, size=15)
        self._copy.clicked.connect(self.copy)
        self.view = CodeText(self)
        self._highlighter = CodeHighlighter(self.view.document())
        layout = QGridLayout(self)  # one layout: a block must cost little, they come while an answer streams
        layout.setContentsMargins(10, 4, 10, 8)
        layout.setSpacing(0)
        layout.addWidget(self._label, 0, 0)
        layout.addWidget(self._copy, 0, 1)
        layout.addWidget(self.view, 1, 0, 1, 2)
        layout.setColumnStretch(0, 1)
        if text or language:
            self.set_code(text, language)

    @property
    def text(self) -> str:
        """The source, exactly."""
        return self._text

    def set_code(self, text: str, language: str) -> None:
        """Shows text that may still grow; colours come with ``finish``."""
        if (text, language) == (self._text, self._language) and self.view.toPlainText():
            return
        self._text, self._language = text, language
        self._spans = self._search = None
        self._label.setText(language or self.tr("code"))
        self.view.setPlainText(text)
        self.view.fit()

    def finish(self) -> None:
        """Colours the code in a moment; call when it does not grow any more.

        The first block of a language costs 200 ms, which a conversation must not wait for. No Qt object goes to the
        thread: one could be destroyed there.
        """
        if self._spans is not None or self._search is not None or not self._language:
            return
        search = self._search = Future()
        text, language = self._text, self._language
        QThreadPool.globalInstance().start(lambda: _answer(search, text, language))
        QTimer.singleShot(COLOUR_MS, self, lambda: self._colour(search))

    def _colour(self, search: Future[list[list[Span]]]) -> None:
        if search is not self._search:
            return  # the text has changed since
        if not search.done():
            QTimer.singleShot(COLOUR_MS, self, lambda: self._colour(search))
            return
        self._search = None
        error = search.exception()
        if error is not None:  # a lexer that stumbles over a text: it stays as it is
            log.warning("code was not coloured: %s", error)
        self._spans = [] if error is not None else search.result()
        self._paint_spans()

    def _paint_spans(self) -> None:
        if self._spans:
            self._highlighter.set_spans(self._spans, current_tokens())

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._copy.set_icon_name("check")
        QTimer.singleShot(COPIED_MS, self, lambda: self._copy.set_icon_name("copy"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._paint_spans()


def _colored(color: str) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setForeground(QColor(color))
    return style
