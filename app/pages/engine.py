"""The engine page: what runs, by which plan, in which memory, what its log says; start, stop, restart, connect."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QLocale, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QTabWidget, QWidget

from app.models.engine_retry import Proposal
from app.models.engine_start import StartView
from app.models.engine_state import EngineState
from app.pages import engine_words as words
from app.pages.engine_diagnosis import connect_diagnosis
from app.presenters.engine import EngineChoice, EnginePresenter
from app.presenters.engine_log import EngineLogs
from app.presenters.engine_memory import look_at_memory
from app.presenters.engine_process import log_of
from app.presenters.engine_remedies import EngineRemedies
from app.presenters.setup_elsewhere import Elsewhere
from app.tasks import spawn_late
from app.theme import set_role
from app.widgets.decisions.parts import card, label, named, vbox
from app.widgets.engine.diagnosis_card import DiagnosisCard
from app.widgets.engine.live_cards import LiveCards
from app.widgets.engine.log_panel import LogPanel
from app.widgets.engine.phases import PhasesCard
from app.widgets.engine.plan_card import PlanCard
from app.widgets.engine.server_card import ServerCard
from app.widgets.facts import Facts
from app.widgets.icons import ThemedButton
from app.widgets.page_frame import frame_page
from app.widgets.page_header import PageHeader
from app.widgets.setup.elsewhere import ElsewhereCard

REFRESH_MS = 1000


class EnginePage(QWidget):
    """Signals: choice_made(EngineChoice): the user wants this engine from now on; page_wanted(str, str): page, step."""

    choice_made = Signal(object)
    page_wanted = Signal(str, str)

    def __init__(
        self,
        presenter: EnginePresenter,
        remedies: EngineRemedies,
        elsewhere: Elsewhere,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page.engine")
        self._presenter, self._remedies, self._elsewhere = presenter, remedies, elsewhere
        self._logs = EngineLogs()
        self._refreshing = False
        self._build()
        self._connect()
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        self.set_state(presenter.state)

    def set_state(self, state: EngineState) -> None:
        ours = state.kind != "url"
        self._title.setText(words.headline(state))
        self._explain()
        facts = {
            "model": state.model,
            "url": state.url,
            "pid": str(state.pid) if state.pid else "",
            "since": words.clock(state.since) if state.ready else "",
            "context": self.tr("{n} tokens").format(n=f"{state.context:,}") if state.context else "",
            "log": str(state.log) if state.log else "",
        }
        for key, text in facts.items():
            self.facts.set_value(key, text)
        if not state.ready:
            self.facts.set_value("memory", "")
        self.facts.setVisible(any(facts.values()))
        for made, text in zip((self.start, self.restart, self.stop), words.actions(state.kind), strict=True):
            made.setText(text)
            made.setAccessibleName(text)
        self.elsewhere.show_toy(in_use=state.kind == "embedded" and state.phase in ("starting", "ready"))
        self.start.setEnabled(not state.ready and not state.busy)
        self.stop.setEnabled(state.phase in ("ready", "starting"))
        self.restart.setEnabled(state.phase in ("ready", "failed", "lost"))
        self.memory.setVisible(ours)  # cards of another computer are not seen from here
        self.plan.show_plan(state.plan)
        self.server.show_server(state.url if state.ready else "", self._presenter.api_key or "", state.model)
        self._no_server.setVisible(not state.ready)
        self.tabs.setTabVisible(self.tabs.indexOf(self.log), ours)
        self._show_start()
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _build(self) -> None:
        self.start = self._button(self.tr("Start"), "engine.start", "play")
        self.restart = self._button(self.tr("Restart"), "engine.restart", "refresh")
        self.stop = self._button(self.tr("Stop"), "engine.stop", "stop")
        subtitle = self.tr("What answers chats and decisions.")
        header = PageHeader(self.tr("Engine"), subtitle, self.start, self.restart, self.stop)
        self.diagnosis = DiagnosisCard("engine.diagnosis")
        self.phases = PhasesCard("engine.phases")
        self.tabs = named(QTabWidget(), "engine.tabs", self.tr("Parts of the page"))
        self.tabs.addTab(self._overview(), self.tr("Overview"))
        self.log = LogPanel("engine.log", self._remedies.redactor)
        self.log.setContentsMargins(0, 12, 0, 0)
        self.tabs.addTab(self.log, self.tr("Log"))
        self.tabs.addTab(self._programs(), self.tr("For other programs"))
        self.elsewhere = ElsewhereCard("engine.elsewhere")
        self.tabs.addTab(_tab(self.elsewhere), self.tr("Another engine"))
        body = vbox(self._state_card(), self.diagnosis, self.phases, self.tabs, spacing=14)
        body.setStretchFactor(self.tabs, 1)
        body.setContentsMargins(24, 4, 24, 16)
        frame_page(self, header, body, "engine")

    def _button(self, text: str, name: str, icon_name: str) -> ThemedButton:
        return ThemedButton(text, name, icon_name=icon_name)

    def _state_card(self) -> QFrame:
        self._title = named(label("", "heading"), "engine.state")
        self._words = named(label("", "muted", wrap=True), "engine.why")
        return card(vbox(self._title, self._words, spacing=4))

    def _overview(self) -> QWidget:
        self.facts = Facts(
            (
                ("model", self.tr("Model")),
                ("url", self.tr("Address")),
                ("pid", self.tr("Process")),
                ("since", self.tr("Ready since")),
                ("memory", self.tr("Memory")),
                ("context", self.tr("Context")),
                ("log", self.tr("Log file")),
            )
        )
        self.memory = LiveCards("engine.memory")
        self.plan = PlanCard("engine.plan")
        return _tab(self.memory, self.plan, self.facts)

    def _programs(self) -> QWidget:
        self.server = ServerCard("engine.server")
        self._no_server = label(self.tr("Once the engine is ready its address and key are here."), "muted", wrap=True)
        return _tab(self.server, self._no_server)

    def _connect(self) -> None:
        presenter, remedies = self._presenter, self._remedies
        pairs: tuple[tuple[ThemedButton, Callable[[], None]], ...] = (
            (self.start, presenter.start),
            (self.stop, presenter.stop),
            (self.restart, remedies.restart),
        )
        for made, slot in pairs:
            made.clicked.connect(lambda _checked=False, call=slot: call())
        presenter.state_changed.connect(self.set_state)
        presenter.vllm.progressed.connect(self._on_progress)
        self.log.start_wanted.connect(self._refresh)
        connect_diagnosis(self.diagnosis, presenter, remedies)
        remedies.page_wanted.connect(self.page_wanted)
        remedies.proposed.connect(self._on_proposed)
        remedies.refused.connect(self._on_refused)
        self.plan.profile_wanted.connect(remedies.propose_profile)
        self.plan.accepted.connect(remedies.accept)
        self.plan.dismissed.connect(remedies.dismiss)
        self.plan.setup_wanted.connect(lambda: self.page_wanted.emit("setup", "plan"))
        self.elsewhere.test_wanted.connect(self._elsewhere.test)
        self._elsewhere.tested.connect(lambda text, good: self.elsewhere.show_test(text, good=good))
        self.elsewhere.use_wanted.connect(lambda url, key: self.choice_made.emit(EngineChoice("url", url, key or None)))
        self.elsewhere.embedded_wanted.connect(lambda: self.choice_made.emit(EngineChoice()))

    def _on_progress(self, _view: StartView) -> None:
        self._show_start()

    def _on_proposed(self, proposal: Proposal | None) -> None:
        self.plan.show_proposal(proposal if proposal is not None and proposal.remedy is None else None)

    def _on_refused(self, why: str) -> None:
        if self._presenter.state.diagnosis is None:  # else its card says so
            self.plan.refuse(why)

    def _explain(self) -> None:
        state = self._presenter.state
        text = words.explanation(state, self._presenter.vllm.view())
        self._words.setText(text)
        self._words.setVisible(bool(text))
        set_role(self._words, "danger" if state.phase in ("failed", "lost") else "muted")

    def _show_start(self) -> None:
        state = self._presenter.state
        shown = state.kind == "vllm" and state.phase != "stopped"
        view = self._presenter.vllm.view()
        self.phases.show_start(view, running=state.phase == "starting")
        self.phases.setVisible(shown and bool(view.phases) and not state.ready)
        self._explain()

    def _refresh(self) -> None:
        """Memory and log, off the GUI's thread; at most one look at a time."""
        if not self._refreshing and self.isVisible():
            spawn_late(self, self._look, "engine page")

    async def _look(self) -> None:
        self._refreshing = True
        presenter = self._presenter
        try:
            if presenter.state.phase == "starting":
                self._show_start()
            used = await presenter.memory()
            self.facts.set_value("memory", QLocale().formattedDataSize(used) if used else "")
            await self._look_at_log(presenter.state)
            if self.memory.isVisible():
                self.memory.show_memory(await look_at_memory(presenter.vllm.ours(await presenter.pids())))
        finally:
            self._refreshing = False

    async def _look_at_log(self, state: EngineState) -> None:
        newest = log_of(state)
        if self.log.isVisible():
            starts = await self._logs.starts(newest, running=state.ready or state.busy)
            self.log.show_starts(words.start_choices(starts))
        self.log.take(await self._logs.look(newest, self.log.chosen))


def _tab(*cards: QWidget) -> QWidget:
    made = QWidget()
    column = vbox(*cards, 1, spacing=14)
    column.setContentsMargins(0, 12, 0, 0)
    made.setLayout(column)
    return made
