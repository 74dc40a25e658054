"""One answer with all its evidence: value, shares, and the numbers that say whether to trust it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.theme import set_role
from app.widgets.decisions.charts import ShareBars, percent
from app.widgets.decisions.parts import label, named, vbox
from engine.domain.question import Question, Score
from engine.domain.reading import Reading

STATUS_SIGNS = {"ok": "●", "unreadable": "◐", "error": "✕", "skipped": "○"}
STATUS_ROLES = {"ok": "success", "unreadable": "warning", "error": "danger", "skipped": "muted"}


def value_text(reading: Reading) -> str:
    """The value for the eye: three decimals, names as they are, a dash for none."""
    if reading.value is None:
        return "–"
    return reading.value if isinstance(reading.value, str) else f"{reading.value:.3f}"


class AnswerView(QWidget):
    """Shows a reading; empty until one is shown."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._status = label("", "strong")
        self._value = named(label("", "title", wrap=True), f"{name}.value")
        self._meaning = label("", "muted", wrap=True)
        self._error = label("", "danger", wrap=True)
        self.bars = ShareBars(f"{name}.shares")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._numbers: dict[str, QLabel] = {}
        for place, (key, caption, tip) in enumerate(self._captions()):
            title = label(caption, "muted")
            number = named(label("–"), f"{name}.{key}", caption, tip)
            number.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            title.setToolTip(tip)
            self._grid.addWidget(title, place, 0)
            self._grid.addWidget(number, place, 1)
            self._numbers[key] = number
        self.setLayout(
            vbox(
                vbox(self._status, self._value, self._meaning, self._error, spacing=2),
                self.bars,
                self._grid,
                spacing=12,
            )
        )

    def show_answer(self, question: Question, reading: Reading, seconds: float | None = None) -> None:
        """Show a reading of a question; ``seconds`` is its wall time where it was measured."""
        names = {
            "ok": self.tr("ok"),
            "unreadable": self.tr("unreadable"),
            "error": self.tr("error"),
            "skipped": self.tr("skipped"),
        }
        set_role(self._status, STATUS_ROLES[reading.status])
        self._status.setText(f"{STATUS_SIGNS[reading.status]} {names[reading.status]}")
        self._value.setText(value_text(reading))
        self._meaning.setText(self._explain(question, reading))
        self._error.setText(reading.error)
        self._error.setVisible(bool(reading.error))
        self.bars.show_shares(self._answers(question), reading.shares)
        self.bars.setVisible(bool(reading.shares))
        self._show_numbers(reading, seconds)

    def _show_numbers(self, reading: Reading, seconds: float | None) -> None:
        argmax = {None: "–", True: self.tr("an answer"), False: self.tr("not an answer")}[reading.argmax_is_label]
        texts = {
            "label_mass": _number(reading.label_mass),
            "argmax": argmax,
            "entropy": f"{_number(reading.entropy)} nats" if reading.entropy is not None else "–",
            "draws": str(reading.draws),
            "stderr": _number(reading.stderr),
            "agreement": percent(reading.agreement) if reading.agreement is not None else "–",
            "method": reading.method or "–",
            "latency": f"{seconds * 1000:,.0f} ms" if seconds is not None else "–",
        }
        for key, text in texts.items():
            self._numbers[key].setText(text)
        row = list(texts).index("latency")
        for column in (0, 1):
            item = self._grid.itemAtPosition(row, column)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.setVisible(seconds is not None)

    def _answers(self, question: Question) -> list[str]:
        if isinstance(question, Score):
            return [f"{number}  {level}" for number, level in zip(question.labels, question.levels, strict=False)]
        return list(question.answers)

    def _explain(self, question: Question, reading: Reading) -> str:
        if reading.status == "unreadable":
            return self.tr("The model put too little probability on the answers; no value is given.")
        if reading.status != "ok":
            return ""
        return {
            "noul": self.tr("probability of yes"),
            "choice": self.tr("the likeliest option"),
            "score": self.tr("expected level, from 0"),
        }[question.type]

    def _captions(self) -> tuple[tuple[str, str, str], ...]:
        return (
            ("label_mass", self.tr("Label mass"), self.tr("Raw probability on the legal answers together")),
            (
                "argmax",
                self.tr("Top token"),
                self.tr("Whether the top token of the slot is a label"),
            ),
            ("entropy", self.tr("Entropy"), self.tr("Of the label shares of the first draw; 0 is certain")),
            ("draws", self.tr("Draws"), self.tr("How often the slot was read with other noise")),
            ("stderr", self.tr("Standard error"), self.tr("Over the draws; none for a single draw")),
            ("agreement", self.tr("Agreement"), self.tr("Share of the draws with the same likeliest answer")),
            ("method", self.tr("Method"), self.tr("Alone or joint, and the way to the engine")),
            ("latency", self.tr("Latency"), self.tr("Wall time of this read, all draws together")),
        )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
