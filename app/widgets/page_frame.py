"""A page: its head stands, what is below it scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.page_header import PageHeader


def frame_page(page: QWidget, header: PageHeader, body: QLayout, name: str) -> QScrollArea:
    """Lays out ``page``.

    Args:
        body: what scrolls.
        name: of the page; the scroll area is ``NAME.scroll`` and is spoken as the head's title.
    """
    inner = QWidget()
    set_role(inner, "page")
    inner.setLayout(body)
    scroll = QScrollArea()
    scroll.setObjectName(f"{name}.scroll")
    scroll.setAccessibleName(header.title.text())
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setWidget(inner)
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(header)
    layout.addWidget(scroll, 1)
    return scroll
