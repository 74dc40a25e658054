"""Before a link is opened, the user sees where it goes. Only http, https and mailto are offered at all."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import set_role
from app.widgets.icons import ThemedButton
from app.widgets.urls import safe_url


class LinkDialog(QDialog):
    """Shows a target; ``follow`` is called when the user says so."""

    def __init__(self, url: str, follow: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("link.dialog")
        self.setWindowTitle(self.tr("Open a link?"))
        safe = safe_url(url)
        words = (
            self.tr("This opens in your browser or mail program:") if safe else self.tr("This address is not opened:")
        )
        head = QLabel(words)
        set_role(head, "strong")
        target = QLabel(url)
        target.setObjectName("link.target")
        target.setTextFormat(Qt.TextFormat.PlainText)
        target.setWordWrap(True)
        target.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.open_button = ThemedButton(self.tr("Open"), "link.open", icon_name="link", role="primary")
        self.open_button.setVisible(safe)
        self.open_button.clicked.connect(self.accept)
        copy = ThemedButton(self.tr("Copy address"), "link.copy", icon_name="copy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(url))
        cancel = ThemedButton(self.tr("Cancel"), "link.cancel")
        cancel.clicked.connect(self.reject)
        self.accepted.connect(follow)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in (copy, cancel, self.open_button):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(head)
        layout.addWidget(target)
        layout.addLayout(buttons)
        self.setMinimumWidth(460)
