"""The question at closing, while something is going that would be ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QMessageBox, QWidget

Choice = Literal["quit", "tray"]


class CloseDialog(QMessageBox):
    """Quit, go on in the tray (where there is one), or stay.

    Signals:
        chosen(str, bool): ``quit`` or ``tray``, and whether it is to be done from now on without asking.
    """

    chosen = Signal(str, bool)

    def __init__(self, going: Sequence[str], *, has_tray: bool, parent: QWidget) -> None:
        """``going``: what would be ended, a sentence each."""
        super().__init__(parent)
        self.setObjectName("closing")
        self.setWindowTitle(self.tr("Quit Diffusion Desk?"))
        self.setIcon(QMessageBox.Icon.Question)
        self.setText("\n".join(going))
        quitting = self.tr("Quitting ends the engine. Runs and downloads are kept and can be resumed.")
        self.setInformativeText(
            quitting + "\n" + self.tr("In the tray everything goes on without a window.") if has_tray else quitting
        )
        self.remember = QCheckBox(self.tr("Do not ask again"))
        self.remember.setObjectName("closing.remember")
        self.setCheckBox(self.remember)
        self._add("quit", self.tr("Quit"), QMessageBox.ButtonRole.DestructiveRole)
        if has_tray:
            self._add("tray", self.tr("Go on in the tray"), QMessageBox.ButtonRole.AcceptRole)
        stay = self.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        stay.setObjectName("closing.cancel")
        self.setEscapeButton(stay)
        self.setDefaultButton(stay)

    def _add(self, choice: Choice, text: str, role: QMessageBox.ButtonRole) -> None:
        button = self.addButton(text, role)
        button.setObjectName(f"closing.{choice}")
        button.clicked.connect(lambda _checked=False: self.chosen.emit(choice, self.remember.isChecked()))
