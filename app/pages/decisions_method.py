"""Part of the Decisions page that answers which method is worth it, on the user's own labelled rows."""

from __future__ import annotations

from typing import cast

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.presenters.decisions import DecisionsPresenter
from app.presenters.decisions_method import MethodPresenter
from app.widgets.decisions.method_view import MethodView
from app.widgets.decisions.parts import ScrollPane, vbox
from engine.batch.compare import DRAWS, LAYOUTS, STATES, STEPS, Draws, Layout, StateKind, grid


class MethodPart(QWidget):
    """Chooses the ways, starts and stops the comparison, shows what is kept."""

    def __init__(self, methods: MethodPresenter, decisions: DecisionsPresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("method_part")
        self._methods, self._decisions = methods, decisions
        layouts = {
            "alone": self.tr("alone"),
            "joint": self.tr("questions together"),
            "rows": self.tr("rows together"),
        }
        states = {"row": self.tr("the row's text"), "document": self.tr("the whole document before it")}
        self.view = MethodView(
            (
                ("draws", self.tr("Draws"), [(str(value), value, True) for value in DRAWS]),
                ("steps", self.tr("Steps"), [(str(value), value, True) for value in STEPS]),
                ("layout", self.tr("Canvas"), [(layouts[value], value, True) for value in LAYOUTS]),
                ("state", self.tr("Text"), [(states[value], value, True) for value in STATES]),
            )
        )
        outer = vbox(ScrollPane(self.view))
        outer.setContentsMargins(16, 12, 16, 12)
        self.setLayout(outer)
        self._connect()
        self.show_state()

    def show_state(self) -> None:
        """Bring everything up to date with the form, the table and the engine."""
        form = self._decisions.document.form
        self.view.allow("state", "document", form.document is not None)
        self.view.allow("layout", "joint", len(form.questions) > 1)
        other = self.view.set_questions([question.id for question in form.questions if question.gold])
        if not self._methods.busy:
            self.view.show_ready(self._methods.obstacle())
            if other and self.isVisible():
                self._methods.show(self.view.question.currentText())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._methods.show(self.view.question.currentText())

    def _connect(self) -> None:
        view, methods = self.view, self._methods
        view.start_requested.connect(self._start)
        view.stop_requested.connect(methods.cancel)
        view.question_chosen.connect(methods.show)
        methods.busy_changed.connect(self._show_busy)
        methods.progressed.connect(view.show_progress)
        methods.found.connect(view.show_facts)
        methods.failed.connect(lambda text: view.message.say(text))
        self._decisions.problems_changed.connect(self.show_state)
        self._decisions.document.origin_changed.connect(self.show_state)

    def _show_busy(self) -> None:
        self.view.show_busy(self._methods.busy)

    def _start(self, anew: bool) -> None:
        view = self.view
        chosen = [view.chosen(key) for key in ("draws", "steps", "layout", "state")]
        if not all(chosen):
            view.message.say(self.tr("Tick at least one of each line."))
            return
        draws, steps, layouts, states = chosen
        cells = grid(
            cast("list[Draws]", draws),
            cast("list[int]", steps),
            cast("list[Layout]", layouts),
            cast("list[StateKind]", states),
            full=view.full.isChecked(),
        )
        view.message.say("")
        self._methods.start(view.question.currentText(), view.sample.value(), cells, anew=anew)
