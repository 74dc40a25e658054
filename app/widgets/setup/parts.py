"""What the steps of the setup share: the bar of steps, how a step stands, work and its progress, lists of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QFrame,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.models.notice import as_sentence
from app.models.setup import STEPS, Step, StepName
from app.theme import set_role
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import button, clear_layout, hbox, label, named, vbox
from app.widgets.decisions.run_header import duration
from app.widgets.icons import ThemedButton

STEPS_OF_BAR = 1000
SIGNS = {"open": "○", "running": "…", "paused": "‖", "done": "✓", "failed": "!"}
ROLES = {"open": "muted", "running": "", "paused": "warning", "done": "success", "failed": "danger"}


class StepBar(QFrame):
    """The steps from left to right with how each stands. Signals: chosen(str)."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("setup.steps")
        self.setAccessibleName(self.tr("Steps of the setup"))
        self._names: dict[StepName, str] = {
            "detect": self.tr("Detect"),
            "plan": self.tr("Plan"),
            "engine": self.tr("Engine"),
            "checkpoint": self.tr("Checkpoint"),
            "preflight": self.tr("Preflight"),
            "launch": self.tr("Launch"),
            "probe": self.tr("Probe"),
        }
        self._buttons: dict[StepName, QPushButton] = {}
        group = QButtonGroup(self)
        row = FlowLayout(spacing=4)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 0, 16, 8)
        outer.addLayout(row)
        for name in STEPS:
            made = button(self._names[name], f"setup.step.{name}", partial(self.chosen.emit, name), role="quiet")
            made.setCheckable(True)
            group.addButton(made)
            self._buttons[name] = made
            row.addWidget(made)

    def show_steps(self, steps: dict[StepName, Step], current: StepName) -> None:
        for name, made in self._buttons.items():
            phase = steps[name].phase
            made.setText(f"{SIGNS[phase]} {self._names[name]}")
            made.setAccessibleDescription(steps[name].text)
            made.setToolTip(steps[name].text)
            made.setChecked(name == current)


class StepHead(QFrame):
    """How a step stands: a sign, the reason, the one thing to do."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self._sign = label("", "heading")
        self._sign.setFixedWidth(22)
        self._text = named(label("", "heading", wrap=True), f"{name}.text")
        self._remedy = named(label("", "muted", wrap=True), f"{name}.remedy")
        for part in (self._text, self._remedy):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = vbox(self._text, self._remedy, spacing=4)
        row = hbox(self._sign, column, spacing=8)
        row.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        row.setStretchFactor(column, 1)
        row.setContentsMargins(16, 12, 16, 12)
        self.setLayout(row)

    def show_step(self, step: Step, fallback: str = "") -> None:
        """``fallback``: the words where the step has none."""
        self._sign.setText(SIGNS[step.phase])
        self._sign.setStyleSheet("")
        set_role(self._sign, ROLES[step.phase] or "heading")
        self._text.setText(as_sentence(step.text or fallback))
        self._remedy.setText(as_sentence(step.remedy))
        self._remedy.setVisible(bool(step.remedy))


class WorkPanel(QWidget):
    """A bar with phase, amount, rate and time to go."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._phase = named(label("", "strong"), f"{name}.phase")
        self._figures = named(label("", "muted"), f"{name}.figures")
        self._detail = named(label("", "caption", wrap=True), f"{name}.detail")
        self.bar = named(QProgressBar(), f"{name}.bar", self.tr("Progress"))
        self.bar.setTextVisible(False)
        self.setLayout(vbox(hbox(self._phase, 1, self._figures), self.bar, self._detail, spacing=6))
        self.hide()

    def show_step(self, step: Step) -> None:
        work = step.work
        self.setVisible(step.busy and work is not None)
        if work is None:
            return
        self._phase.setText(work.phase if step.phase == "running" else self.tr("Paused"))
        if work.fraction is None:
            self.bar.setRange(0, 0 if step.phase == "running" else STEPS_OF_BAR)
        else:
            self.bar.setRange(0, STEPS_OF_BAR)
            self.bar.setValue(int(work.fraction * STEPS_OF_BAR))
        size = QLocale().formattedDataSize
        figures = []
        if work.total:
            amounts = (size(work.done), size(work.total))
            figures.append(self.tr("{done} of {total}").format(done=amounts[0], total=amounts[1]))
        if work.rate > 0:
            figures.append(f"{size(int(work.rate))}/s")
        if work.eta_s:
            figures.append(self.tr("{time} left").format(time=duration(work.eta_s)))
        self._figures.setText(" · ".join(figures))
        self._detail.setText(work.detail)
        self._detail.setVisible(bool(work.detail))


class Sentences(QWidget):
    """A list of (sign, role, text, remedy) lines; a line may have a button."""

    asked = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._shown: tuple[object, ...] = ()

    def show_lines(
        self, lines: Sequence[tuple[str, str, str, str]], actions: dict[int, tuple[str, str]] | None = None
    ) -> None:
        """``actions``: by line, key and words of its button."""
        found = actions or {}
        state = (tuple(lines), tuple(sorted(found.items())))
        if state == self._shown:
            return
        self._shown = state
        clear_layout(self._column)
        for place, (sign, role, text, remedy) in enumerate(lines):
            self._column.addWidget(self._line(sign, role, text, remedy, found.get(place)))
        self.setVisible(bool(lines))

    def _line(self, sign: str, role: str, text: str, remedy: str, action: tuple[str, str] | None) -> QWidget:
        mark = label(sign, role)
        mark.setFixedWidth(18)
        words = [label(as_sentence(text), "", wrap=True)]
        if remedy:
            words.append(label(as_sentence(remedy), "muted", wrap=True))
        for part in words:
            policy = part.sizePolicy()  # a long word (a UUID) must not widen the page
            policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
            part.setSizePolicy(policy)
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = vbox(*words, spacing=2)
        row = hbox(mark, column, spacing=6)
        row.setAlignment(mark, Qt.AlignmentFlag.AlignTop)
        row.setStretchFactor(column, 1)
        if action is not None:
            made = button(action[1], f"{self.objectName()}.{action[0]}", partial(self.asked.emit, action[0]))
            row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        line = QWidget()
        line.setLayout(row)
        return line


class FolderField(QWidget):
    """A folder to be named. Signals: chosen(str): the button was pressed with a folder in the field."""

    chosen = Signal(str)

    def __init__(self, name: str, spoken: str, hint: str, action: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = named(QLineEdit(), f"{name}.folder", spoken)
        self.field.setPlaceholderText(hint)
        self._act = ThemedButton(action, f"{name}.use")
        self._act.clicked.connect(lambda: self.chosen.emit(self.field.text().strip()))
        self._act.setEnabled(False)
        self.field.textChanged.connect(lambda text: self._act.setEnabled(bool(text.strip())))
        choose = ThemedButton(self.tr("Choose…"), f"{name}.choose", icon_name="folder")
        choose.clicked.connect(self._choose)
        row = hbox(self.field, choose, self._act)
        row.setStretchFactor(self.field, 1)
        self.setLayout(row)

    def _choose(self) -> None:
        dialog = QFileDialog(self, self.field.accessibleName())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.field.setText)
        dialog.open()
