"""A server elsewhere, or the embedded engine: what to use when vLLM does not run here."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.theme import set_role
from app.widgets.decisions.parts import FieldMessage, hbox, label, named, vbox
from app.widgets.icons import ThemedButton


class ElsewhereCard(QFrame):
    """Signals:
    test_wanted(str, str), use_wanted(str, str): address and key.
    embedded_wanted().
    """

    test_wanted = Signal(str, str)
    use_wanted = Signal(str, str)
    embedded_wanted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.address = named(QLineEdit(), f"{name}.address", self.tr("Address of a server"))
        self.address.setPlaceholderText("http://192.168.1.20:8000")
        self.key = named(QLineEdit(), f"{name}.key", self.tr("API key, if the server wants one"))
        self.key.setPlaceholderText(self.tr("API key (optional)"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.test = ThemedButton(self.tr("Test"), f"{name}.test", icon_name="link")
        self.use = ThemedButton(self.tr("Use it"), f"{name}.use")
        embedded = self._embedded = ThemedButton(self.tr("Use the embedded toy"), f"{name}.embedded")
        self.message = FieldMessage(f"{name}.message")
        for made in (self.test, self.use):
            made.setEnabled(False)
        self.address.textChanged.connect(self._on_text)
        self.test.clicked.connect(lambda: self.test_wanted.emit(*self._given()))
        self.use.clicked.connect(lambda: self.use_wanted.emit(*self._given()))
        embedded.clicked.connect(lambda: self.embedded_wanted.emit())
        row = hbox(self.key, self.test, self.use)
        row.setStretchFactor(self.key, 1)
        words = label(
            self.tr(
                "A vLLM server on another machine, a router or a cluster behind one address; "
                "or the toy that runs everywhere."
            ),
            "muted",
            wrap=True,
        )
        column = vbox(
            *(label(self.tr("Another engine instead"), "strong"), words, self.address, row, self.message),
            hbox(embedded, 1),
            spacing=8,
        )
        column.setContentsMargins(16, 12, 16, 14)
        self.setLayout(column)

    def show_toy(self, *, in_use: bool) -> None:
        """Whether the embedded toy is the engine already."""
        text = self.tr("The embedded toy is in use") if in_use else self.tr("Use the embedded toy")
        self._embedded.setText(text)
        self._embedded.setAccessibleName(text)
        self._embedded.setEnabled(not in_use)

    def show_test(self, text: str, *, good: bool) -> None:
        self.message.say(text, "success" if good else "danger")

    def _given(self) -> tuple[str, str]:
        return self.address.text().strip(), self.key.text().strip()

    def _on_text(self, text: str) -> None:
        self.message.say("")
        for made in (self.test, self.use):
            made.setEnabled(bool(text.strip()))
