"""What is set for a conversation: system prompt with saved ones, thinking, length of an answer; and the Enter key."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.theme import set_role
from app.widgets.fields import NumberField
from app.widgets.icons import IconButton, ThemedButton
from engine.domain.conversation import ChatOptions, SavedPrompt

SYSTEM_PROMPT_HEIGHT = 72  # pixels
LONGEST = 1_000_000  # tokens
STEP = 256  # one canvas


class OptionsPanel(QFrame):
    """Signals: changed(ChatOptions); enter_chosen(bool): whether Enter sends; prompt_saved(str, str): name and text;
    prompt_deleted(str)."""

    changed = Signal(object)
    enter_chosen = Signal(bool)
    prompt_saved = Signal(str, str)
    prompt_deleted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chat.options")
        self._prompts: list[SavedPrompt] = []
        self._showing = False
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 0, 24, 10)
        column.setSpacing(6)
        column.addLayout(self._prompt_row())
        column.addWidget(self._system_field())
        column.addLayout(self._answer_row())
        self.hide()

    @property
    def options(self) -> ChatOptions:
        return ChatOptions(self.system.toPlainText(), self.thinking.isChecked(), self.length.value() or None)

    def set_options(self, options: ChatOptions) -> None:
        """Shows what is set; nothing is emitted."""
        self._showing = True
        if self.system.toPlainText() != options.system:
            self.system.setPlainText(options.system)
        self.thinking.setChecked(options.thinking)
        self.length.setValue(options.max_tokens or 0)
        self._showing = False
        self._match()

    def set_prompts(self, prompts: Sequence[SavedPrompt]) -> None:
        """The saved system prompts."""
        self._prompts = list(prompts)
        self.saved.blockSignals(True)
        self.saved.clear()
        self.saved.addItem(self.tr("Saved prompts"))
        for prompt in self._prompts:
            self.saved.addItem(prompt.name)
        self.saved.blockSignals(False)
        self._match()

    def set_enter_sends(self, enter: bool) -> None:
        self.enter.blockSignals(True)
        self.enter.setChecked(enter)
        self.enter.blockSignals(False)

    def _prompt_row(self) -> QHBoxLayout:
        label = QLabel(self.tr("System prompt"))
        set_role(label, "strong")
        self.saved = QComboBox()
        self.saved.setObjectName("chat.prompts")
        self.saved.setAccessibleName(self.tr("Saved prompts"))
        self.saved.setMinimumContentsLength(14)
        self.saved.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.saved.activated.connect(self._use)
        self._save = ThemedButton(self.tr("Save as …"), "chat.prompt.save", role="quiet")
        self._save.clicked.connect(self._ask_name)
        self._remove = IconButton("trash", self.tr("Delete the saved prompt"), "chat.prompt.delete", size=16)
        self._remove.clicked.connect(lambda: self.prompt_deleted.emit(self.saved.currentText()))
        row = QHBoxLayout()
        row.addWidget(label)
        row.addStretch(1)
        for widget in (self.saved, self._save, self._remove):
            row.addWidget(widget)
        return row

    def _system_field(self) -> QWidget:
        self.system = QPlainTextEdit()
        self.system.setObjectName("chat.system")
        self.system.setAccessibleName(self.tr("System prompt"))
        self.system.setPlaceholderText(
            self.tr("For instance: answer in one short sentence. Counts from the next message on.")
        )
        self.system.setFixedHeight(SYSTEM_PROMPT_HEIGHT)
        self.system.setTabChangesFocus(True)
        self.system.textChanged.connect(self._on_changed)
        return self.system

    def _answer_row(self) -> QHBoxLayout:
        self.thinking = QCheckBox(self.tr("Think first"))
        self.thinking.setObjectName("chat.thinking")
        self.thinking.setToolTip(self.tr("The thought is folded away and never exported; answers take longer"))
        self.thinking.toggled.connect(self._on_changed)
        label = QLabel(self.tr("Longest answer"))
        self.length = NumberField(0, LONGEST, self.tr(" tokens"))
        self.length.setObjectName("chat.length")
        self.length.setAccessibleName(self.tr("Longest answer, in tokens"))
        self.length.setSpecialValueText(self.tr("as the window allows"))
        self.length.setSingleStep(STEP)
        self.length.valueChanged.connect(self._on_changed)
        label.setBuddy(self.length)
        self.enter = QCheckBox(self.tr("Enter sends"))
        self.enter.setObjectName("chat.enter")
        self.enter.setChecked(True)
        self.enter.setToolTip(self.tr("Off: Enter begins a new line and Ctrl+Enter sends"))
        self.enter.toggled.connect(self.enter_chosen)
        row = QHBoxLayout()
        row.setSpacing(10)
        for widget in (self.thinking, label, self.length):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.enter)
        return row

    def _on_changed(self) -> None:
        if not self._showing:
            self._match()
            self.changed.emit(self.options)

    def _match(self) -> None:
        """Shows the name of the saved prompt that the text is, if it is one."""
        text = self.system.toPlainText()
        place = next((place for place, prompt in enumerate(self._prompts, 1) if prompt.text == text), 0)
        self.saved.setCurrentIndex(place)
        self._remove.setEnabled(place > 0)
        self._save.setEnabled(bool(text.strip()) and place == 0)

    def _use(self, place: int) -> None:
        if place > 0:
            self.system.setPlainText(self._prompts[place - 1].text)
        else:
            self._match()

    def _ask_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setObjectName("chat.prompt.name")
        dialog.setWindowTitle(self.tr("Save the system prompt"))
        dialog.setLabelText(self.tr("Name"))
        text = self.system.toPlainText()
        dialog.textValueSelected.connect(
            lambda name: self.prompt_saved.emit(name.strip(), text) if name.strip() else None
        )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
