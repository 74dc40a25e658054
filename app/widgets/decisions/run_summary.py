"""What came out of a run, question by question: counts, a picture of the values, and metrics against gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.widgets.decisions.answer_view import STATUS_ROLES, STATUS_SIGNS
from app.widgets.decisions.charts import Histogram, ShareBars
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import card, clear_layout, hbox, label, named, vbox
from engine.domain.question import Question
from engine.domain.reading import STATUSES
from engine.domain.run import Totals


@dataclass(frozen=True, slots=True)
class QuestionSummary:
    """What the card of a question shows.

    Attributes:
        histogram: counts of the values in equal parts of ``low`` to ``high``; empty for a choice.
        named: how often each option was given, for a choice.
        metrics: (name, value) against the gold column; empty without one.
        groups: the groups whose unreadable answers stand out, in a sentence; empty without a group column.
    """

    question: Question
    totals: Totals
    histogram: tuple[int, ...] = ()
    low: float = 0.0
    high: float = 1.0
    named: tuple[tuple[str, int], ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()
    groups: str = ""


class RunSummary(QWidget):
    """A card for each question."""

    CARD_WIDTH = 300

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_summaries")
        self._flow = FlowLayout(spacing=12)
        self.setLayout(vbox(self._flow, 1))

    def show_questions(self, summaries: Sequence[QuestionSummary]) -> None:
        clear_layout(self._flow)
        for summary in summaries:
            made = self._card(summary)
            self._flow.addWidget(made)
        self.updateGeometry()

    def _card(self, summary: QuestionSummary) -> QWidget:
        question, name = summary.question, f"summary.{summary.question.id}"
        counts = hbox(spacing=12)
        for status in STATUSES:
            count = getattr(summary.totals, status)
            if count or status == "ok":
                text = label(f"{STATUS_SIGNS[status]} {count:,}", STATUS_ROLES[status])
                text.setToolTip(self._status(status, count))
                text.setAccessibleName(f"{self._status(status, count)}: {count}")
                counts.addWidget(text)
        counts.addStretch(1)
        box = vbox(label(question.id, "strong"), label(question.instructions, "muted", wrap=True), counts)
        if summary.histogram:
            picture = Histogram(f"{name}.histogram")
            picture.show_counts(summary.histogram, summary.low, summary.high, question.id)
            box.addWidget(picture)
        if summary.named:
            total = sum(count for _, count in summary.named) or 1
            bars = ShareBars(f"{name}.bars")
            bars.show_shares([each for each, _ in summary.named], [count / total for _, count in summary.named])
            box.addWidget(bars)
        for metric, value in summary.metrics:
            shown = label(value, "strong", wrap=True)
            shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            line = hbox(label(metric, "muted"), shown)
            line.setStretchFactor(shown, 1)
            box.addLayout(line)
        if summary.groups:
            box.addWidget(named(label(summary.groups, "muted", wrap=True), f"{name}.groups"))
        box.addStretch(1)
        made = card(box, name)
        made.setFixedWidth(self.CARD_WIDTH)
        return made

    def _status(self, status: str, count: int) -> str:
        return {
            "ok": self.tr("ok"),
            "unreadable": self.tr("unreadable"),
            "error": self.tr("error") if count == 1 else self.tr("errors"),
            "skipped": self.tr("skipped"),
        }[status]
