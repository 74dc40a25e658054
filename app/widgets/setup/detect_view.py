"""The step Detect: the cards as they are, and what there is to know about the machine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.models.setup import Step
from app.widgets.decisions.parts import card, hbox, label, vbox
from app.widgets.icons import ThemedButton
from app.widgets.setup.card_drawing import CardDrawing, bar_of_gpu
from app.widgets.setup.elsewhere import ElsewhereCard
from app.widgets.setup.parts import Sentences, StepHead
from engine.domain.hardware import Finding, Gpu, Machine

SIGNS = {"blocker": ("✕", "danger"), "warning": ("!", "warning"), "note": ("i", "muted")}


class DetectView(QWidget):
    """Signals: again(): look at the machine again."""

    again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = StepHead("setup.detect")
        self.drawing = CardDrawing("setup.detect.cards")
        self.findings = Sentences("setup.detect.findings")
        self._cards = card(vbox(self.drawing))
        self._known = card(vbox(label(self.tr("Good to know"), "strong"), self.findings, spacing=10))
        again = ThemedButton(self.tr("Look again"), "setup.detect.again", icon_name="refresh")
        again.clicked.connect(lambda: self.again.emit())
        self.elsewhere = ElsewhereCard("setup.elsewhere")
        self.setLayout(
            vbox(self.head, self._cards, self._known, hbox(again, 1), self.elsewhere, 1, spacing=14),
        )

    def show_machine(self, step: Step, machine: Machine | None, findings: Sequence[Finding]) -> None:
        self.head.show_step(step, self.tr("Not looked yet"))
        gpus = machine.gpus if machine is not None else ()
        bars = [bar for gpu in gpus if (bar := bar_of_gpu(gpu, _title(gpu)))]
        self.drawing.show_bars(bars)
        self._cards.setVisible(bool(bars))
        rest = findings[1:] if step.phase == "failed" else findings  # the head says the first
        self.findings.show_lines([(*SIGNS[found.severity], found.text, found.remedy) for found in rest])
        self._known.setVisible(bool(rest))


def _title(gpu: Gpu) -> str:
    parts = [f"{gpu.index}: {gpu.name}"]
    if gpu.pcie_generation and gpu.pcie_width:
        parts.append(f"PCIe {gpu.pcie_generation} ×{gpu.pcie_width}")
    return " · ".join(parts)
