"""Paints the rows of the conversations' list: a title with what stands below it, found words strong."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.chat_list import ITEM_ROLE
from app.theme import current_tokens
from app.widgets.icons import pixmap
from engine.domain.conversation import MARK_OFF, MARK_ON, ConversationInfo, SearchHit

PAD_X, PAD_Y = 10, 6  # pixels
PIN = 13
SMALL = 0.88  # of the font's size
WEEK_S = 6 * 24 * 3600


class ConversationDelegate(QStyledItemDelegate):
    """Rows of ``ConversationModel`` and ``HitModel``."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        item = index.data(ITEM_ROLE)
        tokens = current_tokens()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(4, 1, -4, -1)
        state = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(tokens.accent_soft if selected else tokens.sunken))
            focused = selected and bool(state & QStyle.StateFlag.State_HasFocus)
            painter.setPen(QColor(tokens.accent) if focused else QColor(0, 0, 0, 0))
            painter.drawRoundedRect(area, 6, 6)
        inner = area.adjusted(PAD_X - 4, PAD_Y - 1, 4 - PAD_X, 1 - PAD_Y)
        title = QFont(option.font)
        small = _small(option.font)
        if isinstance(item, ConversationInfo):
            right = 0
            if item.pinned:
                painter.drawPixmap(inner.right() - PIN, inner.top() + 2, pixmap("pin", tokens.muted, PIN))
                right = PIN + 4
            _line(painter, inner, 0, item.title or self.tr("Untitled"), title, tokens.text, right)
            below = f"{when(item.updated)}  ·  " + self.tr("{n} messages").format(n=item.messages)
            _line(painter, inner, QFontMetrics(title).lineSpacing(), below, small, tokens.muted)
        elif isinstance(item, SearchHit):
            _line(painter, inner, 0, item.title or self.tr("Untitled"), title, tokens.text)
            self._snippet(painter, inner, QFontMetrics(title).lineSpacing(), item.snippet, small)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        lines = QFontMetrics(option.font).lineSpacing() + QFontMetrics(_small(option.font)).lineSpacing()
        return QSize(120, lines + 2 * PAD_Y)

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("chats.rename")
        editor.setAccessibleName(self.tr("Title of the conversation"))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        height = editor.sizeHint().height()
        editor.setGeometry(option.rect.adjusted(4, 2, -4, 0).adjusted(0, 0, 0, height - option.rect.height()))

    def _snippet(self, painter: QPainter, area: QRect, top: int, snippet: str, font: QFont) -> None:
        """One line in which the found words are strong; it begins shortly before the first of them."""
        tokens = current_tokens()
        strong = QFont(font)
        strong.setBold(True)
        text = " ".join(snippet.split())
        x, baseline = area.left(), area.top() + top + QFontMetrics(font).ascent()
        for place, part in enumerate(text.replace(MARK_OFF, MARK_ON).split(MARK_ON)):
            chosen = strong if place % 2 else font
            metrics = QFontMetrics(chosen)
            room = area.right() - x
            if room <= 0:
                return
            shown = metrics.elidedText(part, Qt.TextElideMode.ElideRight, room)
            if place == 0 and text.find(MARK_ON) > 0:
                shown = metrics.elidedText(part, Qt.TextElideMode.ElideLeft, max(area.width() // 3, 30))
            painter.setFont(chosen)
            painter.setPen(QColor(tokens.text if place % 2 else tokens.muted))
            painter.drawText(QPoint(x, baseline), shown)
            x += metrics.horizontalAdvance(shown)


def when(moment: float, now: datetime | None = None) -> str:
    """A time of the past as short as it is clear: today's hour, a weekday, or a date."""
    then = datetime.fromtimestamp(moment).astimezone()
    today = (now or datetime.now()).astimezone()
    if then.date() == today.date():
        return then.strftime("%H:%M")
    if 0 <= (today - then).total_seconds() < WEEK_S:
        return then.strftime("%a %H:%M")
    return then.strftime("%Y-%m-%d")


def _line(painter: QPainter, area: QRect, top: int, text: str, font: QFont, color: str, right: int = 0) -> None:
    metrics = QFontMetrics(font)
    painter.setFont(font)
    painter.setPen(QColor(color))
    line = area.adjusted(0, top, -right, 0)
    line.setHeight(metrics.lineSpacing())
    shown = metrics.elidedText(" ".join(text.split()), Qt.TextElideMode.ElideRight, line.width())
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * SMALL)
    return small
