"""The setup page: from an unknown machine to a running engine in seven steps, each of which can be done again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.models.engine_state import EngineState
from app.models.setup import STEPS, StepName
from app.pages.engine_diagnosis import connect_diagnosis
from app.presenters.engine import EngineChoice, EnginePresenter
from app.presenters.engine_remedies import EngineRemedies
from app.presenters.setup import SetupPresenter
from app.theme import set_role
from app.widgets.icons import ThemedButton
from app.widgets.page_header import PageHeader
from app.widgets.setup.detect_view import DetectView
from app.widgets.setup.elsewhere import ElsewhereCard
from app.widgets.setup.launch_views import LaunchView, PreflightView, ProbeView
from app.widgets.setup.parts import StepBar
from app.widgets.setup.plan_view import PlanView
from app.widgets.setup.work_views import CheckpointView, EngineView
from engine.launch.fixes import needed
from engine.launch.preflight import LEFTOVERS, SERVER

WIDTH = 900  # pixels; longer lines are hard to read


class SetupPage(QWidget):
    """Signals: page_wanted(str): go to another page of the program."""

    page_wanted = Signal(str)

    def __init__(self, presenter: SetupPresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page.setup")
        self.presenter = presenter
        self._build()
        self._connect()
        presenter.changed.connect(self._show)
        presenter.elsewhere.tested.connect(self._on_url_tested)
        self._show()

    def follow_remedies(self, engine: EnginePresenter, remedies: EngineRemedies) -> None:
        """A failed launch says why, and its remedies are followed from here too."""
        connect_diagnosis(self.launch.diagnosis, engine, remedies)
        engine.state_changed.connect(self._show_toy)
        self._show_toy(engine.state)

    def _show_toy(self, state: EngineState) -> None:
        for place in self._elsewhere():
            place.show_toy(in_use=state.kind == "embedded" and state.phase in ("starting", "ready"))

    @property
    def step(self) -> StepName:
        return self.presenter.memory.step

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.presenter.begin()

    def _build(self) -> None:
        self.back = ThemedButton(self.tr("Back"), "setup.back")
        self.next = ThemedButton(self.tr("Next"), "setup.next", role="primary")
        self.back.clicked.connect(lambda: self._go(-1))
        self.next.clicked.connect(lambda: self._go(1))
        header = PageHeader(
            self.tr("Setup"), self.tr("DiffusionGemma on this computer's cards, step by step."), self.back, self.next
        )
        self.steps = StepBar()
        self.detect, self.plan = DetectView(), PlanView()
        self.engine, self.checkpoint = EngineView(), CheckpointView()
        self.preflight = PreflightView({LEFTOVERS: self.tr("End it"), SERVER: self.tr("Use that engine")})
        self.launch, self.probe = LaunchView(), ProbeView()
        self.stack = QStackedWidget()
        for view in (
            self.detect,
            self.plan,
            self.engine,
            self.checkpoint,
            self.preflight,
            self.launch,
            self.probe,
        ):
            self.stack.addWidget(self._scrolled(view))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(header)
        layout.addWidget(self.steps)
        layout.addWidget(self.stack, 1)

    def _scrolled(self, view: QWidget) -> QScrollArea:
        view.setMaximumWidth(WIDTH)
        page = QWidget()
        set_role(page, "page")
        row = QHBoxLayout(page)
        row.setContentsMargins(24, 4, 24, 20)
        row.addWidget(view, 1000)
        row.addStretch(1)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setAccessibleName(self.tr("Step of the setup"))
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        return scroll

    def _connect(self) -> None:
        presenter = self.presenter
        self.steps.chosen.connect(presenter.show_step)
        self.detect.again.connect(presenter.detect)
        self.plan.wished.connect(lambda name, value: presenter.wish(**{name: value}))
        self.plan.reset.connect(presenter.forget_wishes)
        self.engine.install_wanted.connect(presenter.install)
        self.engine.pause_wanted.connect(presenter.pause)
        self.engine.resume_wanted.connect(presenter.resume)
        self.engine.cancel_wanted.connect(presenter.cancel)
        self.engine.wheels_given.connect(self._install_from)
        self.checkpoint.fetch_wanted.connect(presenter.fetch)
        self.checkpoint.pause_wanted.connect(presenter.pause)
        self.checkpoint.resume_wanted.connect(presenter.resume)
        self.checkpoint.cancel_wanted.connect(presenter.cancel)
        self.checkpoint.folder_given.connect(presenter.adopt)
        self.checkpoint.source_given.connect(presenter.set_source)
        self.preflight.again.connect(presenter.check)
        self.preflight.port_given.connect(presenter.set_port)
        self.preflight.asked.connect(self._on_asked)
        self.launch.launch_wanted.connect(presenter.launch)
        self.launch.stop_wanted.connect(presenter.stop_launch)
        self.launch.kernels.again.connect(presenter.test_kernels)
        self.launch.kernels.stop_wanted.connect(presenter.start.kernels.stop)
        self.launch.kernels.untested_wanted.connect(presenter.launch_untested)
        self.probe.ask_wanted.connect(presenter.probe)
        self.probe.page_wanted.connect(self.page_wanted)
        for place in self._elsewhere():
            place.test_wanted.connect(presenter.elsewhere.test)
            place.use_wanted.connect(lambda url, key: presenter.choice_made.emit(EngineChoice("url", url, key or None)))
            place.embedded_wanted.connect(lambda: presenter.choice_made.emit(EngineChoice()))

    def _elsewhere(self) -> tuple[ElsewhereCard, ...]:
        return (self.detect.elsewhere, self.plan.elsewhere)

    def _install_from(self, folder: str) -> None:
        self.presenter.set_wheels(folder)
        self.presenter.install()

    def _on_asked(self, code: str) -> None:
        answers: dict[str, Callable[[], None]] = {
            LEFTOVERS: self.presenter.end_leftovers,
            SERVER: self.presenter.adopt_server,
        }
        answers[code]()

    def _on_url_tested(self, text: str, good: bool) -> None:
        for place in self._elsewhere():
            place.show_test(text, good=good)

    def _go(self, way: int) -> None:
        place = STEPS.index(self.step) + way
        if 0 <= place < len(STEPS):
            self.presenter.show_step(STEPS[place])

    def _show(self) -> None:
        """The step that is shown, and the bar; the others are drawn when they are chosen."""
        step = self.step
        place = STEPS.index(step)
        self.steps.show_steps(self.presenter.steps, step)
        self.stack.setCurrentIndex(place)
        self.back.setEnabled(place > 0)
        self.next.setEnabled(place < len(STEPS) - 1)
        set_role(self.next, "primary" if self.presenter.steps[step].done else "")
        shows: dict[StepName, Callable[[], None]] = {
            "detect": self._show_detect,
            "plan": self._show_plan,
            "engine": self._show_engine,
            "checkpoint": self._show_checkpoint,
            "preflight": self._show_preflight,
            "launch": self._show_launch,
            "probe": self._show_probe,
        }
        shows[step]()

    def _show_detect(self) -> None:
        seen = self.presenter.seen
        self.detect.show_machine(self.presenter.steps["detect"], seen.machine, seen.findings)

    def _show_plan(self) -> None:
        presenter = self.presenter
        self.plan.show_plan(
            presenter.steps["plan"],
            presenter.seen.machine,
            presenter.seen.result,
            presenter.memory.wished.as_wishes(),
            presenter.command_line(),
        )

    def _show_engine(self) -> None:
        disk = self.presenter.seen.disk
        fixes = [(fix.status, fix.title, fix.detail) for fix in needed(disk.fixes)] if disk is not None else []
        self.engine.show_engine(self.presenter.steps["engine"], fixes, needed=self._vllm())

    def _show_checkpoint(self) -> None:
        presenter = self.presenter
        self.checkpoint.show_checkpoint(
            presenter.steps["checkpoint"], presenter.checkpoint_title(), needed=self._vllm()
        )
        self.checkpoint.source.show_source(*presenter.source, presenter.seen.source_problems)

    def _show_preflight(self) -> None:
        presenter, seen = self.presenter, self.presenter.seen
        self.preflight.show_findings(
            presenter.steps["preflight"], seen.in_the_way, seen.right, presenter.memory.port, needed=self._vllm()
        )

    def _show_launch(self) -> None:
        presenter, start = self.presenter, self.presenter.start
        step = presenter.steps["launch"]
        steps, log = presenter.steps, "\n".join(presenter.seen.log)
        prepared = presenter.seen.plan is not None and steps["engine"].done and steps["checkpoint"].done
        self.launch.show_launch(step, start.phases, log, prepared=prepared)
        free = steps["engine"].done and not step.busy and not start.runs
        self.launch.kernels.show_state(start.kernels.state, free=free)

    def _show_probe(self) -> None:
        ready = self.presenter.engine_ready
        self.probe.show_answer(self.presenter.steps["probe"], self.presenter.seen.answer, ready=ready)

    def _vllm(self) -> bool:
        return self.presenter.seen.plan is not None and not self.presenter.seen.embedded
