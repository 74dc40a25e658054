"""The steps Preflight, Launch and Probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.models.setup import ProbeAnswer, Step
from app.theme import set_role
from app.widgets.decisions.parts import card, hbox, label, named, vbox
from app.widgets.engine.diagnosis_card import DiagnosisCard
from app.widgets.facts import Facts
from app.widgets.fields import NumberField
from app.widgets.icons import ThemedButton
from app.widgets.log_view import LogView
from app.widgets.setup.detect_view import SIGNS
from app.widgets.setup.kernels import KernelsCard
from app.widgets.setup.parts import Sentences, StepHead, WorkPanel
from engine.domain.hardware import Finding

LOG_HEIGHT = 170  # pixels


class PreflightView(QWidget):
    """Signals: again(), port_given(int), asked(str): the action of a finding, by the finding's code."""

    again = Signal()
    port_given = Signal(int)
    asked = Signal(str)

    def __init__(self, actions: Mapping[str, str], parent: QWidget | None = None) -> None:
        """``actions``: by a finding's code, the words of the button that does its remedy."""
        super().__init__(parent)
        self._actions = actions
        self.head = StepHead("setup.preflight")
        self.findings = Sentences("setup.preflight.findings")
        self.findings.asked.connect(self.asked)
        self.right = Sentences("setup.preflight.right")
        self._findings = card(vbox(self.findings))
        self._right = card(vbox(label(self.tr("In order"), "strong"), self.right, spacing=10))
        self.port = named(NumberField(1024, 65535), "setup.preflight.port", self.tr("Port"))
        self.port.setGroupSeparatorShown(False)
        self.port.valueChanged.connect(self._on_port)
        again = ThemedButton(self.tr("Look"), "setup.preflight.again", icon_name="refresh", role="primary")
        again.clicked.connect(lambda: self.again.emit())
        self._row = QWidget()
        self._row.setLayout(hbox(again, 1, label(self.tr("Port of the engine")), self.port))
        self._showing = False
        self.setLayout(vbox(self.head, self._row, self._findings, self._right, 1, spacing=14))

    def show_findings(
        self, step: Step, findings: Sequence[Finding], right: Sequence[str], port: int, *, needed: bool
    ) -> None:
        many = sum(found.severity == "blocker" for found in findings)
        if step.phase == "failed" and many > 1:
            step = Step("failed", self.tr("{n} things are in the way.").format(n=many))
        self.head.show_step(step, self.tr("Not looked yet: is everything ready for a start?"))
        keys = {
            place: (found.code, self._actions[found.code])
            for place, found in enumerate(findings)
            if found.code in self._actions
        }
        self.findings.show_lines([(*SIGNS[found.severity], found.text, found.remedy) for found in findings], keys)
        self.right.show_lines([("✓", "success", text, "") for text in right])
        self._findings.setVisible(bool(findings) and needed)
        self._right.setVisible(bool(right) and needed)
        self._row.setVisible(needed)
        self._showing = True
        self.port.setValue(port)
        self._showing = False

    def _on_port(self, port: int) -> None:
        if not self._showing:
            self.port_given.emit(port)


class LaunchView(QWidget):
    """Signals: launch_wanted(), stop_wanted()."""

    launch_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = StepHead("setup.launch")
        self.work = WorkPanel("setup.launch.work")
        self.phases = Sentences("setup.launch.phases")
        self.start = ThemedButton(self.tr("Start"), "setup.launch.start", icon_name="play", role="primary")
        self.stop = ThemedButton(self.tr("Stop"), "setup.launch.stop", icon_name="stop")
        self.start.clicked.connect(lambda: self.launch_wanted.emit())
        self.stop.clicked.connect(lambda: self.stop_wanted.emit())
        self.log = LogView("setup.launch.log")
        self.log.setMinimumHeight(LOG_HEIGHT)
        self._log = card(vbox(label(self.tr("Log"), "strong"), self.log, spacing=8))
        self._doing = card(vbox(self.work, self.phases, hbox(self.start, self.stop, 1), spacing=12))
        self.kernels = KernelsCard()
        self.diagnosis = DiagnosisCard("setup.launch.diagnosis")
        self.setLayout(vbox(self.head, self.diagnosis, self._doing, self.kernels, self._log, 1, spacing=14))

    def show_launch(self, step: Step, phases: Sequence[str], log: str, *, prepared: bool) -> None:
        """``phases``: of the plan; those before the one that runs are through.

        ``prepared``: all that a start needs is there.
        """
        head = Step(step.phase, self.tr("Starting") if step.busy else step.text, step.remedy)
        missing = self.tr("Engine and checkpoint come first") if phases else self.tr("Make a plan first")
        first = self.tr("Ready to start") if prepared else missing
        self.head.show_step(head, first)
        self.work.show_step(step)
        now = phases.index(step.work.phase) if step.work is not None and step.work.phase in phases else -1
        lines = [
            ("✓" if step.done or place < now else "…" if place == now else "○", _role(step, place, now), name, "")
            for place, name in enumerate(phases)
        ]
        self.phases.show_lines(lines)
        self._doing.setVisible(bool(phases) or step.busy)
        self.start.setVisible(bool(phases) and not step.busy)
        self.start.setEnabled(prepared)
        self.start.setToolTip("" if prepared else missing)
        set_role(self.start, "primary" if prepared and not step.done else "")
        self.start.setText(self.tr("Start again") if step.phase in ("done", "failed") else self.tr("Start"))
        self.stop.setVisible(step.busy)
        self.log.show_text(log)
        self._log.setVisible(bool(log))


class ProbeView(QWidget):
    """Signals: ask_wanted(), page_wanted(str): go to this page of the program."""

    ask_wanted = Signal()
    page_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = StepHead("setup.probe")
        self.facts = Facts(
            (
                ("chat", self.tr("First chat")),
                ("chat_time", self.tr("It took")),
                ("question", self.tr("First read")),
                ("answer", self.tr("Answer")),
                ("mass", self.tr("Label mass")),
                ("read_time", self.tr("It took")),
            )
        )
        ask = self.ask = ThemedButton(self.tr("Ask"), "setup.probe.ask", icon_name="refresh")
        chat = ThemedButton(self.tr("Open the chat"), "setup.probe.chat", icon_name="chat", role="primary")
        decisions = ThemedButton(self.tr("Open the decisions"), "setup.probe.decisions", icon_name="decisions")
        ask.clicked.connect(lambda: self.ask_wanted.emit())
        chat.clicked.connect(lambda: self.page_wanted.emit("chat"))
        decisions.clicked.connect(lambda: self.page_wanted.emit("decisions"))
        self._go = QWidget()
        self._go.setLayout(hbox(chat, decisions, ask, 1))
        self.setLayout(vbox(self.head, self.facts, self._go, 1, spacing=14))

    def show_answer(self, step: Step, answer: ProbeAnswer | None, *, ready: bool) -> None:
        """``ready``: an engine is there to be asked."""
        self.head.show_step(step, self.tr("Ask the first questions") if ready else self.tr("Start the engine first"))
        self.facts.setVisible(answer is not None)
        self._go.setVisible(ready)
        self.ask.setText(self.tr("Ask") if answer is None else self.tr("Ask again"))
        if answer is None:
            return
        canvases = self.tr("{s} s, {n} canvases").format(s=f"{answer.chat_s:.1f}", n=answer.canvases)
        one = self.tr("{s} s, 1 canvas").format(s=f"{answer.chat_s:.1f}")
        self.facts.set_value("chat", answer.chat)
        self.facts.set_value("chat_time", one if answer.canvases == 1 else canvases)
        self.facts.set_value("question", answer.question)
        self.facts.set_value("answer", answer.answer)
        self.facts.set_value("mass", f"{answer.label_mass:.0%}")
        self.facts.set_value("read_time", self.tr("{s} s").format(s=f"{answer.read_s:.2f}"))


def _role(step: Step, place: int, now: int) -> str:
    if step.done or place < now:
        return "success"
    return "strong" if place == now else "muted"
