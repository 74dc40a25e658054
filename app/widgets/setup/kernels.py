"""The numeric self-test on the step Launch: what is known, once more, and the start without it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.models.setup import KernelState
from app.theme import set_role
from app.widgets.decisions.parts import hbox, label, vbox
from app.widgets.icons import ThemedButton
from app.widgets.setup.parts import ROLES, SIGNS, Sentences, WorkPanel


class KernelsCard(QFrame):
    """Signals: again(), stop_wanted(), untested_wanted(): start although the test could not run."""

    again = Signal()
    stop_wanted = Signal()
    untested_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.line = Sentences("setup.kernels.line")
        self.work = WorkPanel("setup.kernels.work")
        self.test = ThemedButton(self.tr("Test now"), "setup.kernels.again", icon_name="refresh")
        self.stop = ThemedButton(self.tr("Stop the test"), "setup.kernels.stop", icon_name="stop")
        self.untested = ThemedButton(self.tr("Start without the test"), "setup.kernels.untested")
        self.test.clicked.connect(lambda: self.again.emit())
        self.stop.clicked.connect(lambda: self.stop_wanted.emit())
        self.untested.clicked.connect(lambda: self.untested_wanted.emit())
        words = label(
            self.tr(
                "On these cards vLLM stores the weights padded. The test computes every padded shape on each card and "
                "compares it with plain arithmetic; a card that computes wrong numbers starts nothing."
            ),
            "muted",
            wrap=True,
        )
        column = vbox(
            label(self.tr("Numeric self-test"), "strong"),
            words,
            self.line,
            self.work,
            hbox(self.test, self.stop, self.untested, 1),
            spacing=8,
        )
        column.setContentsMargins(16, 12, 16, 14)
        self.setLayout(column)

    def show_state(self, state: KernelState, *, free: bool) -> None:
        """``free``: the engine is installed, and none runs or starts on the cards."""
        step = state.step
        self.setVisible(state.wanted)
        self.line.show_lines([(SIGNS[step.phase], ROLES[step.phase], step.text, step.remedy)] if step.text else [])
        self.work.show_step(step)
        self.work.setVisible(step.busy and free)  # the start shows it as its own work
        self.test.setText(self.tr("Test again") if state.tested or step.phase == "failed" else self.tr("Test now"))
        self.test.setVisible(free and not step.busy)
        self.stop.setVisible(free and step.busy)
        self.untested.setVisible(free and state.can_waive and not step.busy)
