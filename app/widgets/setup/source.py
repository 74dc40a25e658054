"""Where a checkpoint comes from and where it goes: a mirror of the hub, a folder on another disk."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QLineEdit, QWidget

from app.theme import set_role
from app.widgets.decisions.parts import FieldMessage, hbox, label, named, vbox
from app.widgets.icons import ThemedButton


class SourceCard(QFrame):
    """Signals: given(str, str): mirror and folder, when the user has ended with a field; empty for the usual ones."""

    given = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.endpoint = named(QLineEdit(), "setup.source.endpoint", self.tr("Address of the hub or of a mirror"))
        self.folder = named(QLineEdit(), "setup.source.folder", self.tr("Folder for the checkpoint"))
        self.messages = (FieldMessage("setup.source.endpoint.message"), FieldMessage("setup.source.folder.message"))
        choose = ThemedButton(self.tr("Choose…"), "setup.source.choose", icon_name="folder")
        choose.clicked.connect(self._choose)
        for field in (self.endpoint, self.folder):
            field.editingFinished.connect(self._on_edited)
        to = hbox(self.folder, choose)
        to.setStretchFactor(self.folder, 1)
        column = vbox(
            label(self.tr("Where from, where to"), "strong"),
            label(self.tr("Hub, or a mirror of it"), "muted"),
            self.endpoint,
            self.messages[0],
            label(self.tr("Folder to fill; the disk needs the room"), "muted"),
            to,
            self.messages[1],
            spacing=6,
        )
        column.setContentsMargins(16, 12, 16, 14)
        self.setLayout(column)
        self._last = ("", "")

    def show_source(self, named: tuple[str, str], usual: tuple[str, str], problems: tuple[str, str]) -> None:
        """``usual``: shown in an empty field; ``problems``: of what was given last."""
        for field, value, hint, wrong in zip((self.endpoint, self.folder), named, usual, problems, strict=True):
            field.setPlaceholderText(hint)
            if not wrong and not field.hasFocus():
                field.setText(value)
        for message, wrong in zip(self.messages, problems, strict=True):
            message.say(wrong)
        if not any(problems):
            self._last = named

    def _on_edited(self) -> None:
        now = (self.endpoint.text().strip(), self.folder.text().strip())
        if now != self._last:
            self._last = now
            self.given.emit(*now)

    def _choose(self) -> None:
        dialog = QFileDialog(self, self.folder.accessibleName())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._on_chosen)
        dialog.open()

    def _on_chosen(self, folder: str) -> None:
        self.folder.setText(folder)
        self._on_edited()
