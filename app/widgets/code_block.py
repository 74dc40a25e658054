"""A fenced block: its text exactly as written, coloured once it is finished, with a copy button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
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
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.theme import Tokens, current_tokens, set_role
from app.widgets.icons import IconButton

MAX_COLOURED_LINES = 2000  # Pygments needs about 150 ms for the first 200 lines
COPIED_MS = 1500
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
    return len(text.encode("utf-16-le")) // 2


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

    def __init__(self, text: str = "", language: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "code")
        self.setObjectName("code")
        self._text = ""
        self._language = ""
        self._label = QLabel()
        set_role(self._label, "caption")
        self._copy = IconButton("copy", self.tr("Copy code"), "code.copy", size=15)
        self._copy.clicked.connect(self.copy)
        self.view = CodeText()
        self._highlighter = CodeHighlighter(self.view.document())
        head = QHBoxLayout()
        head.setContentsMargins(12, 4, 6, 0)
        head.addWidget(self._label, 1)
        head.addWidget(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 8)
        layout.setSpacing(0)
        layout.addLayout(head)
        body = QHBoxLayout()
        body.setContentsMargins(10, 0, 10, 0)
        body.addWidget(self.view)
        layout.addLayout(body)
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
        self._spans = None
        self._label.setText(language or self.tr("code"))
        self.view.setPlainText(text)
        self.view.fit()

    def finish(self) -> None:
        """Colours the code; call when it does not grow any more."""
        if self._spans is None:
            self._spans = spans(self._text, self._language)
        self._highlighter.set_spans(self._spans, current_tokens())

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._copy.set_icon_name("check")
        QTimer.singleShot(COPIED_MS, self, lambda: self._copy.set_icon_name("copy"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._spans is not None:
            self.finish()


def _colored(color: str) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setForeground(QColor(color))
    return style
