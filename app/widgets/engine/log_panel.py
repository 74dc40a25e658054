"""The engine's log: filtered by level and text, followed, searched, copied without what names a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QShortcut, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QCheckBox, QLineEdit, QTextEdit, QWidget

from app.models.engine_log import KEPT, Least, LogFilter, LogLines, LogNews, StartChoice, as_text
from app.theme import current_tokens
from app.widgets.decisions.parts import hbox, icon_button, label, named, vbox
from app.widgets.fields import ChoiceField, clearable
from app.widgets.icons import ThemedButton
from app.widgets.log_view import LogView

MARKED = 500  # matches that are marked at once
HEIGHT = 220  # pixels, at least


class LogPanel(QWidget):
    """Takes the news of a log. Ctrl+F searches, F3 and Shift+F3 go on, Escape leaves the search.

    Signals:
        start_wanted(): the log of another start; see :attr:`chosen`.

    Args:
        redact: takes secrets out of whatever is copied.
    """

    start_wanted = Signal()

    def __init__(self, name: str, redact: Callable[[], Callable[[str], str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._redact = redact
        self._lines = LogLines()
        self._chosen = LogFilter()
        self._starts: tuple[StartChoice, ...] = ()
        self.view = _View(name, lambda text: redact()(text))
        self.view.setMinimumHeight(HEIGHT)
        self.view.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._build(name)
        self._keys()

    @property
    def chosen(self) -> int:
        """The start whose log is wanted, as :class:`StartChoice` has it."""
        return int(self.start.currentData() or 0)

    def show_starts(self, starts: Sequence[StartChoice]) -> None:
        """What can be chosen, the newest first; with one start there is nothing to choose. The choice stays."""
        if starts != self._starts:
            self._starts, chosen = tuple(starts), self.chosen
            with QSignalBlocker(self.start):
                self.start.clear()
                for place, start in enumerate(starts):
                    self.start.addItem(start.text, start.log)
                    self.start.setItemData(place, start.detail, Qt.ItemDataRole.ToolTipRole)
                self.start.setCurrentIndex(max(self.start.findData(chosen), 0))
        self.start.setVisible(len(starts) > 1)

    def take(self, news: LogNews) -> None:
        """What the log has grown by. The reader's place stays, unless the end is followed."""
        self._lines.take(news)
        if news.anew:
            self.view.clear()
        if news.skipped:
            self.view.put(self.tr("… {n} bytes passed over …").format(n=f"{news.skipped:,}"), "")
        for line in news.lines:
            if self._chosen.wants(line):
                self.view.put(as_text(line), line.level)
        if news.lines or news.anew:
            self._after_change()

    def shown_text(self) -> str:
        return self.view.toPlainText()

    def copy(self) -> None:
        """The selection, or every line that is shown, without secrets, onto the clipboard."""
        if self.view.textCursor().hasSelection():
            self.view.copy()
        else:
            cursor = self.view.textCursor()
            self.view.selectAll()
            self.view.copy()
            self.view.setTextCursor(cursor)
        self._count.setText(self.tr("copied, without keys and names"))

    def go_on(self, *, backward: bool = False) -> None:
        """To the next place of the text that is searched, around the end."""
        text = self.search.text()
        if not text:
            return
        self.follow.setChecked(False)
        flags = QTextDocument.FindFlag.FindBackward if backward else QTextDocument.FindFlag(0)
        if not self.view.find(text, flags):
            cursor = self.view.textCursor()
            end = QTextCursor.MoveOperation.End if backward else QTextCursor.MoveOperation.Start
            cursor.movePosition(end)
            self.view.setTextCursor(cursor)
            self.view.find(text, flags)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "search"):
            self._show_again()

    def _build(self, name: str) -> None:
        self.level = named(
            ChoiceField(
                (
                    ("all", self.tr("Everything")),
                    ("warnings", self.tr("Warnings and errors")),
                    ("errors", self.tr("Errors")),
                )
            ),
            f"{name}.level",
            self.tr("Level of the lines that are shown"),
        )
        spoken = self.tr("Start whose log is shown")
        self.start = named(ChoiceField(), f"{name}.start", spoken)
        self.start.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.start.currentIndexChanged.connect(lambda: self.start_wanted.emit())
        self.start.hide()
        self.filter = named(QLineEdit(), f"{name}.filter", self.tr("Show only lines with this text"))
        self.filter.setPlaceholderText(self.tr("Only lines with …"))
        clearable(self.filter, self.tr("Show all lines"))
        self.search = named(QLineEdit(), f"{name}.search", self.tr("Search in the log"), self.tr("Ctrl+F"))
        self.search.setPlaceholderText(self.tr("Search (Ctrl+F)"))
        clearable(self.search, self.tr("Clear the search"))
        before = icon_button("up", f"{name}.before", self.tr("Previous match (Shift+F3)"), self._find_before)
        after = icon_button("down", f"{name}.after", self.tr("Next match (F3)"), self.go_on)
        self.follow = named(QCheckBox(self.tr("Follow")), f"{name}.follow", self.tr("Stay at the end of the log"))
        self.follow.setChecked(True)
        copy = ThemedButton(self.tr("Copy"), f"{name}.copy", icon_name="copy")
        copy.setToolTip(self.tr("The selection, or all lines that are shown; keys and names are taken out"))
        copy.clicked.connect(lambda: self.copy())
        self._count = named(label("", "caption"), f"{name}.count")
        self.level.currentIndexChanged.connect(lambda: self._choose())
        self.filter.textChanged.connect(lambda: self._choose())
        self.search.textChanged.connect(lambda: self._mark())
        self.search.returnPressed.connect(self.go_on)
        self.follow.toggled.connect(self._on_follow)
        first = hbox(self.level, self.filter, copy)
        first.setStretchFactor(self.filter, 1)
        second = hbox(self.search, before, after, self.follow, self._count)
        second.setStretchFactor(self.search, 1)
        column = vbox(self.start, first, second, self.view, spacing=6)
        column.setStretchFactor(self.view, 1)
        self.setLayout(column)

    def _keys(self) -> None:
        within = Qt.ShortcutContext.WidgetWithChildrenShortcut
        pairs: tuple[tuple[QKeySequence | QKeySequence.StandardKey, Callable[[], None]], ...] = (
            (QKeySequence.StandardKey.Find, self._begin_search),
            (QKeySequence("F3"), self.go_on),
            (QKeySequence("Shift+F3"), self._find_before),
            (QKeySequence("Escape"), self._end_search),
        )
        for keys, slot in pairs:
            made = QShortcut(keys, self)
            made.setContext(within)
            made.activated.connect(slot)

    def _find_before(self) -> None:
        self.go_on(backward=True)

    def _begin_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _end_search(self) -> None:
        self.search.clear()
        self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _choose(self) -> None:
        least: Least = self.level.currentData()
        self._chosen = LogFilter(least, self.filter.text().strip())
        self._show_again()

    def _show_again(self) -> None:
        place = self.view.verticalScrollBar().value()
        self.view.clear()
        for line in self._lines.shown(self._chosen):
            self.view.put(as_text(line), line.level)
        self.view.verticalScrollBar().setValue(place)
        self._after_change()

    def _after_change(self) -> None:
        self._mark()
        if self.follow.isChecked():
            self.view.to_end()

    def _mark(self) -> None:
        text = self.search.text()
        found = self.view.mark(text)
        if not text:
            self._count.setText("")
        elif found < MARKED:
            self._count.setText(self.tr("{n} found").format(n=found))
        else:
            self._count.setText(self.tr("{n} and more found").format(n=MARKED))

    def _on_follow(self, on: bool) -> None:
        if on:
            self.view.to_end()

    def _on_scrolled(self, value: int) -> None:
        """Scrolling up stops the following; scrolling to the end takes it up again."""
        if self.view.moving:
            return
        at_end = value >= self.view.verticalScrollBar().maximum() - 1
        if at_end != self.follow.isChecked():
            self.follow.setChecked(at_end)


class _View(LogView):
    """Coloured lines, the oldest of which go; whatever leaves it by clipboard or mouse is redacted."""

    def __init__(self, name: str, redact: Callable[[str], str]) -> None:
        super().__init__(name)
        self._redact = redact
        self.moving = False
        self.setMaximumBlockCount(KEPT)

    def put(self, text: str, level: str) -> None:
        """A line at the end."""
        self.moving = True
        tokens = current_tokens()
        colors = {"ERROR": tokens.danger, "CRITICAL": tokens.danger, "WARNING": tokens.warning}
        form = QTextCharFormat()
        form.setForeground(QColor(colors.get(level, tokens.text)))
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.document().isEmpty():
            cursor.insertBlock()
        cursor.insertText(text, form)
        self.moving = False

    def to_end(self) -> None:
        self.moving = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self.moving = False

    def mark(self, text: str) -> int:
        """Mark every place of a text; how many, up to :data:`MARKED`."""
        marks: list[QTextEdit.ExtraSelection] = []
        cursor = QTextCursor(self.document())
        while text and len(marks) < MARKED:
            cursor = self.document().find(text, cursor)
            if cursor.isNull():
                break
            selection = QTextEdit.ExtraSelection()
            selection.cursor = cursor
            selection.format.setBackground(QColor(current_tokens().warning_soft))
            marks.append(selection)
        self.setExtraSelections(marks)
        return len(marks)

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self._redact(self.textCursor().selection().toPlainText()))
        return data
