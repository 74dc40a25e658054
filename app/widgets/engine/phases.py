"""A start as it goes: a bar, the phases with their times, the time to go."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from app.models.engine_start import PhaseTime, StartView
from app.theme import set_role
from app.widgets.decisions.parts import hbox, label, named, vbox
from app.widgets.decisions.run_header import duration
from app.widgets.setup.parts import Sentences

STEPS = 1000  # of the bar
SIGNS = {"done": ("✓", "success"), "running": ("…", "strong"), "open": ("○", "muted")}


class PhasesCard(QFrame):
    """Shows a start that runs, or how long each phase of the last one took."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(name)
        self.title = named(label("", "strong"), f"{name}.title")
        self.figures = named(label("", "muted"), f"{name}.figures")
        self.bar = named(QProgressBar(), f"{name}.bar", self.tr("Progress of the start"))
        self.bar.setTextVisible(False)
        self.bar.setRange(0, STEPS)
        self.phases = Sentences(f"{name}.list")
        self.detail = named(label("", "caption", wrap=True), f"{name}.detail")
        layout = vbox(hbox(self.title, 1, self.figures), self.bar, self.phases, self.detail, spacing=8)
        layout.setContentsMargins(16, 12, 16, 14)
        self.setLayout(layout)
        self.hide()

    def show_start(self, view: StartView, *, running: bool) -> None:
        """``running``: else the last start is over, and only its times count."""
        self.setVisible(bool(view.phases))
        self.title.setText(self.tr("Starting") if running else self.tr("The last start"))
        figures = [self.tr("{time} so far") if running else self.tr("{time} in all")]
        figures[0] = figures[0].format(time=duration(view.elapsed_s))
        if running and view.eta_s:
            figures.append(self.tr("about {time} left").format(time=duration(view.eta_s)))
        self.figures.setText(" · ".join(figures))
        self.bar.setVisible(running)
        self.bar.setValue(int(view.share * STEPS))
        signs = SIGNS if running else {**SIGNS, "running": ("✕", "danger")}  # where it ended
        self.phases.show_lines([(*signs[phase.state], self._line(phase, view), "") for phase in view.phases])
        self.detail.setText(view.detail)
        self.detail.setVisible(running and bool(view.detail))

    def _line(self, phase: PhaseTime, view: StartView) -> str:
        parts = [phase.name]
        if phase.state == "running" and view.fraction is not None:
            parts.append(f"{view.fraction:.0%}")
        if phase.seconds is not None:
            parts.append(duration(phase.seconds))
        return "  ".join(parts)
