"""The row text and the document behind it: templates over the table's columns, and what they make of one row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPalette, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import (
    QApplication,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTabBar,
    QToolButton,
    QWidget,
)

from app.theme import set_role, tokens_of
from app.widgets.decisions.flow import FlowLayout, WrappingPane
from app.widgets.decisions.parts import (
    ElidedLabel,
    FieldMessage,
    FixedText,
    bare_splitter,
    button,
    clear_layout,
    form_field,
    hbox,
    label,
    named,
    number_box,
    vbox,
)
from app.widgets.decisions.picture_strip import PictureStrip

LEAST_LINES = 13  # of text, as high as the editor is at least
CHIPS = 12  # more columns are in the menu only
DOCUMENT = 1  # tab
PLACE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


class TemplateHighlighter(QSyntaxHighlighter):
    """Marks what the template fills in."""

    def __init__(self, document: QTextDocument, palette: QPalette) -> None:
        super().__init__(document)
        self.set_palette(palette)

    def set_palette(self, palette: QPalette) -> None:
        """Take the colours of the theme that is on now."""
        tokens = tokens_of(palette)
        self._format = QTextCharFormat()
        self._format.setForeground(QColor(tokens.accent))
        self._format.setBackground(QColor(tokens.accent_soft))
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        for match in PLACE.finditer(text):
            self.setFormat(match.start(), match.end() - match.start(), self._format)


class ColumnChip(QToolButton):
    """A column that is put into a template: pressed at the cursor, or dragged to where it is let go.

    The drag is our own: Qt's (``QDrag``) spins a loop inside the loop.

    Signals:
        chosen(str): it was pressed; the text to insert.
        dragged(QPoint): the mouse carries it over this place of the screen.
        dropped(str, QPoint): it was let go there; the text to insert.
    """

    chosen = Signal(str)
    dragged = Signal(QPoint)
    dropped = Signal(str, QPoint)

    def __init__(self, name: str, text: str) -> None:
        super().__init__()
        named(self, f"insert.{name}", self.tr("Insert column {name}").format(name=name))
        self.setText(name if len(name) <= 28 else f"{name[:27]}…")
        self.setToolTip(self.tr("Press to insert it at the cursor, or drag it into the text"))
        set_role(self, "chip")
        self._text = text
        self._pressed: QPoint | None = None
        self._carried = False
        self.clicked.connect(lambda _checked=False: self.chosen.emit(text))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed = event.position().toPoint() if event.button() == Qt.MouseButton.LeftButton else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        here = event.position().toPoint()
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        if not self._carried and (here - self._pressed).manhattanLength() >= QApplication.startDragDistance():
            self._carried = True
            self.setDown(False)  # letting go is no press any more
            self.setCursor(Qt.CursorShape.DragCopyCursor)
        if self._carried:
            self.dragged.emit(self.mapToGlobal(here))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        carried, self._carried, self._pressed = self._carried, False, None
        super().mouseReleaseEvent(event)
        if carried:
            self.unsetCursor()
            self.dropped.emit(self._text, self.mapToGlobal(event.position().toPoint()))


class StateEditor(QWidget):
    """One place for both templates of a form: the row text, and the whole document that it comes from.

    Signals:
        edited(str): the template of the row text.
        document_edited(str): the template of the document; empty for none.
        row_wanted(int): show this row (0-based) instead.
        which_changed(): the other template is shown; read ``of_document``.
    """

    edited = Signal(str)
    document_edited = Signal(str)
    row_wanted = Signal(int)
    which_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state_editor")
        self.template = form_field(FixedText("state_template", self.tr("Row text: a template over the columns")))
        self.template.textChanged.connect(self._on_edited)
        self.which = named(QTabBar(), "state_which", self.tr("Which text is edited"))
        self._templates = ["", ""]
        self.highlighter = TemplateHighlighter(self.template.document(), self.palette())
        self.message = FieldMessage("state_message")
        self.rendered = named(QPlainTextEdit(), "state_rendered", self.tr("What the model reads about this row"))
        self.rendered.setReadOnly(True)
        self.rendered.setTabChangesFocus(True)
        set_role(self.rendered, "sunken")
        self.pictures = PictureStrip("state_pictures")
        self.row = self._make_row_box()
        self._of = label("", "muted")
        self._chips = FlowLayout()
        self._menu_button = QPushButton(self.tr("Insert column"))
        self._build()

    def minimumSizeHint(self) -> QSize:
        """Some lines of the text below two rows of columns, whatever the size of the text."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), max(hint.height(), LEAST_LINES * self.fontMetrics().lineSpacing()))

    @property
    def of_document(self) -> bool:
        """Whether the template of the document is shown."""
        return self.which.currentIndex() == DOCUMENT

    def show_templates(self, state: str, document: str) -> None:
        """Show the form's templates without moving the cursor of somebody who types one."""
        self._templates = [state, document]
        self._show_template()

    def _show_template(self) -> None:
        source, shown = self._templates[self.which.currentIndex()], self.template.toPlainText()
        if shown != source and (source or shown.strip()):  # blanks with which somebody begins stay
            self.template.blockSignals(True)
            self.template.setPlainText(source)
            self.template.blockSignals(False)

    def _on_edited(self) -> None:
        text = self.template.toPlainText()
        self._templates[self.which.currentIndex()] = text
        (self.document_edited if self.of_document else self.edited).emit(text)

    def _on_which(self) -> None:
        document = self.of_document
        self.template.setAccessibleName(
            self.tr("Document: a template over the columns")
            if document
            else self.tr("Row text: a template over the columns")
        )
        self.template.setPlaceholderText(
            self.tr("Optional: the contract, thread or record that the row comes from: {{ contract }}")
            if document
            else self.tr("Insert columns, and words around them: Subject: {{ subject }}")
        )
        self._purpose.setVisible(document)
        self._title.setText(self.tr("The document of this row") if document else self.tr("What the model reads"))
        self._show_template()
        self.which_changed.emit()

    def set_columns(self, columns: Sequence[tuple[str, str]]) -> None:
        """Offer (column, text to insert for it)."""
        clear_layout(self._chips)
        menu = QMenu(self._menu_button)
        for place, (name, text) in enumerate(columns):
            action = menu.addAction(name)
            action.triggered.connect(lambda _checked=False, text=text: self._insert(text))
            if place < CHIPS:
                self._chips.addWidget(self._chip(name, text))
        self._menu_button.setMenu(menu)
        self._menu_button.setVisible(len(columns) > CHIPS)
        self._hint.setVisible(bool(columns))

    def set_row(self, index: int, count: int, *, whole: bool = True) -> None:
        """Which row is shown, 0-based, of how many; ``whole``: whether these are all rows of the table."""
        self.row.blockSignals(True)
        self.row.setRange(1 if count else 0, count)
        self.row.setValue(index + 1 if count else 0)
        self.row.blockSignals(False)
        text = self.tr("of {n}") if whole else self.tr("of the first {n}")
        self._of.setText(text.format(n=f"{count:,}"))

    def show_rendered(self, text: str, error: str) -> None:
        """The row's text, or why there is none."""
        self.message.say(error)
        self.rendered.setPlainText("" if error else text)
        empty = not error and self.row.value() > 0 and not self.of_document
        self.rendered.setPlaceholderText(
            self.tr("Nothing: an empty text is skipped, not asked about.") if empty else ""
        )

    def _chip(self, name: str, text: str) -> ColumnChip:
        chip = ColumnChip(name, text)
        chip.chosen.connect(self._insert)
        chip.dragged.connect(self._over)
        chip.dropped.connect(self._drop)
        return chip

    def _over(self, place: QPoint) -> bool:
        """Show with the cursor where a column would go; whether that is in the text."""
        field = self.template.viewport()
        inside = field.mapFromGlobal(place)
        if not field.rect().contains(inside):
            return False
        self.template.setTextCursor(self.template.cursorForPosition(inside))
        self.template.setFocus()
        return True

    def _drop(self, text: str, place: QPoint) -> None:
        if self._over(place):
            self._insert(text)

    def _insert(self, text: str) -> None:
        self.template.insertPlainText(text)
        self.template.setFocus()

    def _make_row_box(self) -> QSpinBox:
        box = number_box("state_row", self.tr("Row to preview"), 0, 0)
        box.valueChanged.connect(lambda value: self.row_wanted.emit(value - 1))
        return box

    def _build(self) -> None:
        named(self._menu_button, "state_insert", tip=self.tr("Insert a column at the cursor"))
        self._hint = ElidedLabel("muted")
        self._hint.setText(self.tr("Press a column to insert it at the cursor, or drag it there"))
        self._hint.setToolTip(self._hint.text())
        for text in (self.tr("Row text"), self.tr("Document")):
            self.which.addTab(text)
        self.which.setDrawBase(False)
        self.which.setExpanding(False)
        self.which.currentChanged.connect(lambda _index: self._on_which())
        self._purpose = label(
            self.tr("“Which method?” can put it before the row text, to find out whether the surroundings help."),
            "muted",
            wrap=True,
        )
        left = WrappingPane(
            vbox(
                hbox(self.which, 1, self._menu_button),
                self._purpose,
                self._hint,
                self._chips,
                self.template,
                self.message,
                margin=0,
            )
        )
        before = button(self.tr("Previous"), "row_previous", lambda: self.row.stepBy(-1), role="quiet")
        after = button(self.tr("Next"), "row_next", lambda: self.row.stepBy(1), role="quiet")
        self._title = ElidedLabel("heading")
        right = QWidget()
        chosen = QWidget()
        chosen.setLayout(hbox(before, after, label(self.tr("row"), "muted"), self.row, self._of))
        head = FlowLayout(spacing=16)
        for part in (self._title, chosen):
            head.addWidget(part)
        right.setLayout(vbox(head, self.pictures, self.rendered))
        splitter = bare_splitter("state_splitter", left, right, sizes=(430, 570))
        self.setLayout(vbox(splitter))
        self._on_which()
