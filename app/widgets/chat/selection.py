"""One selection over all blocks of a message: with the mouse, with Ctrl+A, and what is copied of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QTextBrowser, QTextEdit, QWidget

TextView = QTextEdit | QPlainTextEdit


class MessageSelection(QObject):
    """Watches the blocks of one message.

    Args:
        views: gives the blocks, from top to bottom.
        source: gives the message as it was written.
    """

    def __init__(self, views: Callable[[], Sequence[TextView]], source: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._views, self._source = views, source
        self._anchor: tuple[TextView, int] | None = None

    def watch(self, view: TextView) -> None:
        view.installEventFilter(self)
        view.viewport().installEventFilter(self)

    def select_all(self) -> None:
        for view in self._views():
            view.selectAll()

    def clear(self) -> None:
        for view in self._views():
            _select(view, 0, 0)

    def copy(self) -> None:
        """What is selected as text; the whole message also as Markdown."""
        views = self._views()
        parts = [view.textCursor().selection().toPlainText() for view in views if view.textCursor().hasSelection()]
        if not parts:
            return
        data = QMimeData()
        data.setText("\n\n".join(parts))
        if all(_is_whole(view) for view in views):
            data.setData("text/markdown", self._source().encode(errors="replace"))
        QGuiApplication.clipboard().setMimeData(data)

    def copy_source(self) -> None:
        """The whole message as Markdown."""
        QGuiApplication.clipboard().setText(self._source())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        view = watched if isinstance(watched, TextView) else watched.parent()
        if not isinstance(view, TextView):
            return super().eventFilter(watched, event)
        match event:
            case QKeyEvent() if event.type() == QEvent.Type.KeyPress:
                return self._on_key(event)
            case QMouseEvent() if watched is not view:
                return self._on_mouse(view, event)
            case QContextMenuEvent() if watched is not view:
                self._menu(view, event)
                return True
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            return False
        return True

    def _on_mouse(self, view: TextView, event: QMouseEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            for other in self._views():
                if other is not view:
                    _select(other, 0, 0)
            self._anchor = view, view.cursorForPosition(event.position().toPoint()).position()
        elif event.type() == QEvent.Type.MouseMove and event.buttons() & Qt.MouseButton.LeftButton and self._anchor:
            return self._drag(event.globalPosition().toPoint())
        return False

    def _drag(self, point: QPoint) -> bool:
        """Selects from the anchor to the point; False while both are in one block, which does it itself."""
        assert self._anchor is not None
        views = list(self._views())
        start, position = self._anchor
        goal = next((view for view in views if view.mapFromGlobal(point).y() < view.height()), views[-1])
        if start not in views:
            return False
        here, there = views.index(start), views.index(goal)
        for place, view in enumerate(views):
            if not min(here, there) <= place <= max(here, there):
                _select(view, 0, 0)
            elif here != there:
                first, last = 0, _length(view)
                reached = view.cursorForPosition(view.viewport().mapFromGlobal(point)).position()
                if place == here:
                    first, last = (position, last) if there > here else (position, first)
                elif place == there:
                    first, last = (first, reached) if there > here else (last, reached)
                _select(view, first, last)
        return here != there

    def _menu(self, view: TextView, event: QContextMenuEvent) -> None:
        menu = QMenu(view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(self.tr("Copy"), self.copy)
        copy.setEnabled(any(each.textCursor().hasSelection() for each in self._views()))
        menu.addAction(self.tr("Copy the message as Markdown"), self.copy_source)
        link = view.anchorAt(event.pos()) if isinstance(view, QTextBrowser) else ""
        if link:
            menu.addAction(self.tr("Copy the link"), lambda: QGuiApplication.clipboard().setText(link))
        menu.addAction(self.tr("Select the whole message"), self.select_all)
        menu.popup(event.globalPos())


def _length(view: TextView) -> int:
    return view.document().characterCount() - 1


def _is_whole(view: TextView) -> bool:
    cursor = view.textCursor()
    return cursor.selectionEnd() - cursor.selectionStart() == _length(view)


def _select(view: TextView, first: int, last: int) -> None:
    cursor = QTextCursor(view.document())
    cursor.setPosition(first)
    cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
