"""Why the engine failed or hangs, what can be done about it, and the next start before it is begun.

``app.pages.engine_diagnosis.connect_diagnosis`` connects one to the engine and its remedies.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.models.engine_retry import Proposal
from app.models.engine_state import EngineState
from app.models.notice import as_sentence
from app.theme import set_role
from app.widgets.decisions.parts import FieldMessage, button, clear_layout, hbox, label, named, vbox
from app.widgets.icons import ThemedButton
from app.widgets.log_view import LogView
from app.widgets.reveal import KeepInView
from engine.domain.diagnosis import Action, Diagnosis, LogLine, Remedy, Stage

TAIL = 40  # lines of a failure that nobody knows
LINE = 400  # characters of a log line that are shown
TAIL_HEIGHT = 200  # pixels

_BREAKS = re.compile(r"([,:/=.])")  # after which a long value may go on in the next line


class DiagnosisCard(QFrame):
    """Hidden while there is nothing to say.

    Signals:
        remedy_asked(Remedy), accepted(), dismissed(): about the next start; report_wanted(Path).
    """

    remedy_asked = Signal(object)
    accepted = Signal()
    dismissed = Signal()
    report_wanted = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._shown: Diagnosis | None = None
        set_role(self, "notice-error")
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Diagnosis"))
        self.cause = named(_selectable("heading"), f"{name}.cause")
        self.where = named(_selectable("muted"), f"{name}.where")
        self.line = named(_selectable("mono"), f"{name}.line")
        self._remedies = QVBoxLayout()
        self._remedies.setSpacing(6)
        self.tail = LogView(f"{name}.tail")
        self.tail.setAccessibleName(self.tr("The end of the log; likely lines are marked"))
        self.tail.setFixedHeight(TAIL_HEIGHT)
        self.proposal = ProposalBox(f"{name}.next")
        self.proposal.accepted.connect(self.accepted)
        self.proposal.dismissed.connect(self.dismissed)
        self.message = FieldMessage(f"{name}.message")
        self.report = ThemedButton(self.tr("Save report…"), f"{name}.report", icon_name="export")
        self.report.setToolTip(self.tr("Log, plan and machine in one file, without keys, names and addresses"))
        self.report.clicked.connect(self._ask_where)
        layout = vbox(
            *(self.cause, self.where, self.line, self._remedies, self.tail, self.proposal, self.message),
            hbox(self.report, 1),
            spacing=8,
        )
        layout.setContentsMargins(16, 12, 16, 14)
        self.setLayout(layout)
        self.hide()

    def show_diagnosis(self, diagnosis: Diagnosis | None) -> None:
        """None hides the card."""
        if diagnosis == self._shown:
            return
        self._shown = diagnosis
        self.setVisible(diagnosis is not None)
        self.proposal.show_proposal(None)
        self.message.say("")
        if diagnosis is None:
            return
        set_role(self, "notice-warning" if diagnosis.kind == "hang" else "notice-error")
        self.cause.setText(as_sentence(diagnosis.cause))
        self.where.setText(self._where(diagnosis))
        self.line.setText(diagnosis.line.text[:LINE] if diagnosis.line else "")
        self.line.setVisible(diagnosis.line is not None)
        self._show_remedies(diagnosis.remedies)
        self.tail.setVisible(bool(diagnosis.tail))
        self.tail.show_text("\n".join(map(_marked, diagnosis.tail[-TAIL:])))

    def show_state(self, state: EngineState) -> None:
        self.show_diagnosis(state.diagnosis)

    def show_proposal(self, proposal: Proposal | None) -> None:
        """The next start by a remedy; another profile is not this card's business."""
        self.message.say("")
        self.proposal.show_proposal(proposal if proposal is not None and proposal.remedy is not None else None)

    def tell(self, text: str) -> None:
        """A remedy is done."""
        self.message.say(text, "success")

    def refuse(self, why: str) -> None:
        """A remedy cannot be followed here."""
        self.message.say(why)

    def fail(self, error: Exception) -> None:
        """Following a remedy went wrong."""
        self.message.say(str(error))

    def _where(self, diagnosis: Diagnosis) -> str:
        stages: dict[Stage, str] = {
            "start": self.tr("while it started"),
            "connect": self.tr("while the cards were connected"),
            "load": self.tr("while the weights were loaded"),
            "memory": self.tr("while memory was measured"),
            "warm-up": self.tr("while it warmed up"),
            "serving": self.tr("while it served"),
        }
        parts = [as_sentence(stages[diagnosis.stage])]
        if diagnosis.line is not None:
            parts.append(self.tr("line {n} of the log").format(n=f"{diagnosis.line.number:,}"))
            parts.append(diagnosis.line.process)
        return " · ".join(filter(None, parts))

    def _show_remedies(self, remedies: tuple[Remedy, ...]) -> None:
        clear_layout(self._remedies)
        words = self._words()
        for place, remedy in enumerate(remedies):
            text = label(as_sentence(remedy.text), "", wrap=True)
            policy = text.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
            text.setSizePolicy(policy)
            row = hbox(label("→", "muted"), text, spacing=8)
            row.setStretchFactor(text, 1)
            if remedy.action in words:
                name = f"{self._name}.remedy.{remedy.action}"
                made = button(words[remedy.action], name, partial(self.remedy_asked.emit, remedy))
                made.setAccessibleName(f"{words[remedy.action]} {as_sentence(remedy.text)}")
                set_role(made, "primary" if place == 0 else "")
                row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
            line = QWidget()
            line.setLayout(row)
            self._remedies.addWidget(line)

    def _words(self) -> dict[Action, str]:
        """Words of the buttons; what only the user can do has none."""
        look = self.tr("Look at it…")
        other: tuple[Action, ...] = (
            *("lower_utilisation", "one_sequence", "smaller_canvas", "shorter_context", "text_only"),
            *("other_checkpoint", "fewer_cards", "marlin", "p2p_off", "nccl_log", "no_deep_gemm", "eager"),
            *("longer_start", "without_parts", "other_port"),
        )
        return dict.fromkeys(other, look) | {
            "restart": self.tr("Start again"),
            "wait": self.tr("Wait on"),
            "free_memory": self.tr("Who holds it?"),
            "reinstall": self.tr("Go to the step Engine"),
            "clear_caches": self.tr("Clear the caches"),
            "check_checkpoint": self.tr("Check the files"),
            "look_again": self.tr("Look at the machine"),
        }

    def _ask_where(self) -> None:
        dialog = QFileDialog(self, self.tr("Save the report"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Zip files (*.zip)"))
        dialog.setDefaultSuffix("zip")
        dialog.selectFile(f"engine-report-{datetime.now().astimezone():%Y%m%d-%H%M}.zip")
        dialog.fileSelected.connect(lambda path: self.report_wanted.emit(Path(path)))
        dialog.open()


class ProposalBox(QFrame):
    """The next start: what it has otherwise, and whether to begin it. Signals: accepted(), dismissed()."""

    accepted = Signal()
    dismissed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(name)
        self.setAccessibleName(self.tr("The next start"))
        self.title = named(label("", "strong", wrap=True), f"{name}.title")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        for column in (1, 3):
            self._grid.setColumnStretch(column, 1)
        self.warning = named(label("", "warning", wrap=True), f"{name}.warning")
        self.accept = ThemedButton(self.tr("Start like this"), f"{name}.accept", icon_name="play", role="primary")
        self.accept.clicked.connect(lambda: self.accepted.emit())
        self._in_view = KeepInView(self.accept, self)
        back = ThemedButton(self.tr("Not now"), f"{name}.dismiss")
        back.clicked.connect(lambda: self.dismissed.emit())
        layout = vbox(self.title, self._grid, self.warning, hbox(self.accept, back, 1), spacing=8)
        layout.setContentsMargins(14, 10, 14, 12)
        self.setLayout(layout)
        self.hide()

    def show_proposal(self, proposal: Proposal | None) -> None:
        if proposal is None:
            self._in_view.end()
            self.hide()
            return
        self.title.setText(self.tr("The next start: {what}").format(what=proposal.title))
        clear_layout(self._grid)
        for row, change in enumerate(proposal.changes):
            words = (change.what, change.before or self.tr("not there"), "→", change.after or self.tr("not there"))
            for column, text in enumerate(words):
                made = label(_BREAKS.sub("\\1\u200b", text), "muted" if column in (0, 2) else "", wrap=True)
                if column == 2:
                    made.setWordWrap(False)
                self._grid.addWidget(made, row, column, Qt.AlignmentFlag.AlignTop)
        self.warning.setText(proposal.warning)
        self.warning.setVisible(bool(proposal.warning))
        spoken = [f"{change.what}: {change.before} → {change.after}" for change in proposal.changes]
        self.setAccessibleDescription("; ".join(spoken))
        self.show()
        if self.isVisible():  # the same start is proposed on a page that nobody sees; the focus is not its to take
            self.accept.setFocus(Qt.FocusReason.OtherFocusReason)
            self._in_view.begin()


def _selectable(role: str) -> QLabel:
    made = label("", role, wrap=True)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    policy = made.sizePolicy()  # a long word (a path) must not widen the page
    policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
    made.setSizePolicy(policy)
    return made


def _marked(line: LogLine) -> str:
    return f"{'>' if line.likely else ' '} {line.number:>6}  {line.process}  {line.text[:LINE]}"
