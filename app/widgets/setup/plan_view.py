"""The step Plan: the cards filled to scale, what the user may overrule, the command line and every flag's reason."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.models.setup import Step
from app.widgets.decisions.parts import card, hbox, label, named, vbox
from app.widgets.icons import ThemedButton
from app.widgets.setup.card_drawing import CardDrawing, bar_of_plan
from app.widgets.setup.command_box import CommandBox
from app.widgets.setup.elsewhere import ElsewhereCard
from app.widgets.setup.overrides import Overrides
from app.widgets.setup.parts import Sentences, StepHead
from engine.domain.hardware import Machine
from engine.domain.plan import EnvVar, Flag, LaunchPlan, PlanResult, Refusal, Wishes


class PlanView(QWidget):
    """Signals: wished(str, object): overrule one value; reset(): leave everything to the planner."""

    wished = Signal(str, object)
    reset = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = StepHead("setup.plan")
        self.facts = named(label("", "muted", wrap=True), "setup.plan.facts")
        self.drawing = CardDrawing("setup.plan.drawing")
        self._cards = card(vbox(self.facts, self.drawing, spacing=10))
        self.notes = Sentences("setup.plan.notes")
        self._notes = card(vbox(self.notes))
        self.overrides = Overrides()
        self.overrides.wished.connect(self.wished)
        back = ThemedButton(self.tr("As the planner says"), "setup.plan.reset", icon_name="undo")
        back.clicked.connect(lambda: self.reset.emit())
        self._wishes = card(
            vbox(hbox(label(self.tr("Your wishes"), "strong"), 1, back), self.overrides, spacing=10),
            "setup.plan.wishes",
        )
        self.command = CommandBox("setup.plan.command")
        self.flags = Sentences("setup.plan.flags")
        self._command = vbox(
            label(self.tr("The command line"), "strong"),
            self.command,
            label(self.tr("Why every flag"), "strong"),
            self.flags,
            spacing=8,
        )
        self._start = card(self._command)
        self.elsewhere = ElsewhereCard("setup.plan.elsewhere")
        self.setLayout(
            vbox(self.head, self._cards, self._notes, self._wishes, self._start, self.elsewhere, 1, spacing=14)
        )

    def show_plan(
        self, step: Step, machine: Machine | None, result: PlanResult | None, wishes: Wishes, command: str
    ) -> None:
        self.head.show_step(step, self.tr("Look at the machine first"))
        gpus = machine.gpus if machine is not None else ()
        self.overrides.show_wishes(wishes, gpus)
        self._wishes.setVisible(bool(gpus))
        found = result if isinstance(result, LaunchPlan) else None
        titles = {gpu.uuid: f"{gpu.index}: {gpu.name}" for gpu in gpus}
        bars = [bar_of_plan(budget, titles.get(budget.uuid, budget.name)) for budget in found.cards] if found else []
        self.drawing.show_bars(bars)
        self._cards.setVisible(bool(bars))
        if found is not None:
            self.facts.setText(self._facts(found))
        self._show_notes(result)
        self._start.setVisible(bool(command))
        self.elsewhere.setVisible(found is None or found.checkpoint == "embedded")
        if command and found is not None:
            self.command.show_command(command)
            lines = [("", "", _flag(flag), flag.reason) for flag in found.flags]
            lines += [("", "", _variable(variable), variable.reason) for variable in found.env]
            self.flags.show_lines(lines)

    def _facts(self, found: LaunchPlan) -> str:
        speeds = {
            "slow": self.tr("slow"),
            "usable": self.tr("usable"),
            "fast": self.tr("fast"),
            "very fast": self.tr("very fast"),
        }
        text = self.tr(
            "{context} tokens of context; the cache holds {n} such conversations; {sequences} at once; speed: {speed}"
        )
        return text.format(
            context=f"{found.context:,}",
            n=f"{found.concurrency:.1f}",
            sequences=found.sequences,
            speed=speeds[found.speed],
        )

    def _show_notes(self, result: PlanResult | None) -> None:
        lines: list[tuple[str, str, str, str]] = []
        if isinstance(result, Refusal):
            lines += [("→", "success", way, "") for way in result.ways_out[1:]]  # the head says the first
        elif result is not None:
            lines += [("i", "muted", note, "") for note in result.notes]
        if result is not None:
            alike = Counter((left.name, left.reason) for left in result.left_out)
            lines += [("○", "muted", self._left(*left, count), "") for left, count in alike.items()]
        self.notes.show_lines(lines)
        self._notes.setVisible(bool(lines))

    def _left(self, name: str, reason: str, count: int) -> str:
        cards = f"{count}× {name}" if count > 1 else name
        return self.tr("Not used: {cards}: {reason}").format(cards=cards, reason=reason)


def _flag(flag: Flag) -> str:
    return flag.name if flag.value is None else f"{flag.name} {flag.value}"


def _variable(variable: EnvVar) -> str:
    return (
        f"{variable.name} (removed)"
        if variable.value is None
        else f"{variable.name}={variable.value}".replace(",", ", ")
    )
