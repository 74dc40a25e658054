"""The plan that runs and its reasons; the profile that it is made for, and another one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.models.engine_retry import Proposal
from app.theme import set_role
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import FieldMessage, label, named, vbox
from app.widgets.engine.diagnosis_card import ProposalBox
from app.widgets.icons import ThemedButton
from app.widgets.setup.parts import Sentences
from engine.domain.plan import EnvVar, Flag, LaunchPlan, Profile


class PlanCard(QFrame):
    """Signals: profile_wanted(str); accepted(), dismissed(): about the next start; setup_wanted()."""

    profile_wanted = Signal(str)
    accepted = Signal()
    dismissed = Signal()
    setup_wanted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(name)
        self._plan: LaunchPlan | None = None
        self.title = named(label("", "strong", wrap=True), f"{name}.title")
        self.facts = named(label("", "muted", wrap=True), f"{name}.facts")
        self.profile = named(label("", "", wrap=True), f"{name}.profile")
        self.other = ThemedButton(self.tr("Switch the profile…"), f"{name}.other")
        self.other.clicked.connect(self._ask_other)
        change = ThemedButton(self.tr("Change the plan…"), f"{name}.change", icon_name="setup")
        change.clicked.connect(lambda: self.setup_wanted.emit())
        self.proposal = ProposalBox(f"{name}.next")
        self.proposal.accepted.connect(self.accepted)
        self.proposal.dismissed.connect(self.dismissed)
        self.message = FieldMessage(f"{name}.message")
        self.why = ThemedButton(self.tr("Why every flag"), f"{name}.why", icon_name="info")
        self.why.setCheckable(True)
        self.reasons = Sentences(f"{name}.reasons")
        self.why.toggled.connect(self.reasons.setVisible)
        actions = FlowLayout(spacing=8)
        for made in (self.other, change, self.why):
            actions.addWidget(made)
        layout = vbox(
            *(self.title, self.facts, self.profile, actions),
            *(self.message, self.proposal, self.reasons),
            spacing=8,
        )
        layout.setContentsMargins(16, 12, 16, 14)
        self.setLayout(layout)
        self.hide()

    def show_plan(self, plan: LaunchPlan | None) -> None:
        """None hides the card."""
        if plan == self._plan:
            return
        self._plan = plan
        self.setVisible(plan is not None)
        self.message.say("")
        if plan is None:
            return
        self.title.setText(self.tr("Plan: {title}").format(title=plan.title))
        text = self.tr("{context} tokens of context, the cache holds {n} such conversations; {sequences} at once")
        self.facts.setText(
            text.format(context=f"{plan.context:,}", n=f"{plan.concurrency:.1f}", sequences=plan.sequences)
        )
        self.profile.setText(self._profile_words(plan.profile))
        other = self.tr("Switch to decisions…") if plan.profile == "chat" else self.tr("Switch to chat…")
        self.other.setText(other)
        self.other.setAccessibleName(other)
        items: list[Flag | EnvVar] = [*plan.flags, *plan.env]
        lines = [("", "", _said(item), item.reason) for item in items]
        self.reasons.show_lines(lines)
        self.reasons.setVisible(self.why.isChecked())

    def show_proposal(self, proposal: Proposal | None) -> None:
        self.message.say("")
        self.proposal.show_proposal(proposal)

    def refuse(self, why: str) -> None:
        """Why another profile is not possible."""
        self.message.say(why)

    def _ask_other(self) -> None:
        if self._plan is not None:
            self.profile_wanted.emit("decisions" if self._plan.profile == "chat" else "chat")

    def _profile_words(self, profile: Profile) -> str:
        if profile == "chat":
            return self.tr("Profile chat: long conversations, few at once.")
        return self.tr("Profile decisions: many short reads at once, a shorter context.")


def _said(item: Flag | EnvVar) -> str:
    if isinstance(item, Flag):
        return item.name if item.value is None else f"{item.name} {item.value}"
    return f"{item.name} removed" if item.value is None else f"{item.name}={item.value}".replace(",", ", ")
