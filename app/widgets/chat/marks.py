"""Marks where words stand in the text of a message."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app.theme import current_tokens

TextView = QTextEdit | QPlainTextEdit
MOST = 500  # marks of one block; nobody looks at more at once


def hits_in(view: TextView, words: str) -> list[QTextCursor]:
    """Where the words stand, in order, each selected; upper and lower case alike."""
    found: list[QTextCursor] = []
    cursor = QTextCursor(view.document())
    while words and len(found) < MOST:
        cursor = view.document().find(words, cursor)
        if cursor.isNull():
            break
        found.append(QTextCursor(cursor))
    return found


def mark(view: TextView, hits: list[QTextCursor], current: QTextCursor | None) -> None:
    """Marks the hits, one of them more strongly; none takes the marks away."""
    tokens = current_tokens()
    selections = []
    for hit in hits:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = hit
        shape = QTextCharFormat()
        is_current = hit is current
        shape.setBackground(QColor(tokens.accent if is_current else tokens.warning_soft))
        shape.setForeground(QColor(tokens.on_accent if is_current else tokens.text))
        selection.format = shape
        selections.append(selection)
    view.setExtraSelections(selections)


def mark_all(views: list[TextView], words: str, current: int | None) -> tuple[TextView, QRect] | None:
    """Marks the words in the blocks of a message.

    Args:
        current: 0-based number of the hit that is looked at; the last one where there are fewer; None for none.

    Returns:
        Where that hit stands, in the coordinates of its block's viewport.
    """
    hits = [hits_in(view, words) for view in views]
    total = sum(map(len, hits))
    wanted = None if current is None or not total else min(current, total - 1)
    place = None
    for view, found in zip(views, hits, strict=True):
        chosen = found[wanted] if wanted is not None and 0 <= wanted < len(found) else None
        mark(view, found, chosen)
        if chosen is not None:
            place = view, view.cursorRect(chosen)
        if wanted is not None:
            wanted -= len(found)
    return place
