"""The engine page: what runs, where, since when, how much memory it holds, its log; start, stop, restart, connect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QLocale, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from app.models.engine_state import EngineState
from app.models.notice import as_sentence
from app.presenters.engine import EngineChoice, EnginePresenter
from app.tasks import spawn_late
from app.theme import set_role
from app.widgets.facts import Facts
from app.widgets.icons import ThemedButton
from app.widgets.log_view import LogView
from app.widgets.page_header import PageHeader

REFRESH_MS = 1000
LOG_HEIGHT = 160  # pixels, at least


class EnginePage(QWidget):
    """Signals: choice_made(EngineChoice): the user wants this engine from now on."""

    choice_made = Signal(object)

    def __init__(self, presenter: EnginePresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page.engine")
        self._presenter = presenter
        self._refreshing = False
        self._build()
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        presenter.state_changed.connect(self.set_state)
        self.set_state(presenter.state)

    def set_state(self, state: EngineState) -> None:
        self._title.setText(self._headline(state))
        self._words.setText(self._explanation(state))
        set_role(self._words, "danger" if state.phase in ("failed", "lost") else "muted")
        facts = {
            "model": state.model,
            "url": state.url,
            "pid": str(state.pid) if state.pid else "",
            "since": _clock(state.since),
            "context": self.tr("{n} tokens").format(n=state.context) if state.context else "",
            "log": str(state.log) if state.log else "",
        }
        for key, text in facts.items():
            self.facts.set_value(key, text)
        if not state.ready:
            self.facts.set_value("memory", "")
        self.facts.setVisible(any(facts.values()))
        self.start.setEnabled(not state.ready and not state.busy)
        self.stop.setEnabled(state.phase in ("ready", "starting"))
        self.restart.setEnabled(state.phase in ("ready", "failed", "lost"))
        self._log_box.setVisible(state.kind != "url")
        self._spare.setVisible(state.kind == "url")
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _build(self) -> None:
        self.start = self._button(self.tr("Start"), "engine.start", "play", self._presenter.start)
        self.restart = self._button(self.tr("Restart"), "engine.restart", "refresh", self._presenter.restart)
        self.stop = self._button(self.tr("Stop"), "engine.stop", "stop", self._presenter.stop)
        header = PageHeader(
            self.tr("Engine"), self.tr("What answers chats and decisions."), self.start, self.restart, self.stop
        )
        body = QVBoxLayout()
        body.setContentsMargins(24, 4, 24, 16)
        body.setSpacing(14)
        body.addWidget(self._state_card())
        self.facts = Facts(self._rows())
        body.addWidget(self.facts)
        body.addWidget(self._connect_card())
        self._log_box = self._log()
        body.addWidget(self._log_box, 1)
        self._spare = QWidget()
        body.addWidget(self._spare, 1)
        page = QWidget()
        set_role(page, "page")
        page.setLayout(body)
        scroll = QScrollArea()
        scroll.setObjectName("engine.scroll")
        scroll.setAccessibleName(self.tr("Engine"))
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(header)
        layout.addWidget(scroll, 1)

    def _button(self, text: str, name: str, icon_name: str, slot: Callable[[], None]) -> ThemedButton:
        button = ThemedButton(text, name, icon_name=icon_name)
        button.clicked.connect(lambda: slot())
        return button

    def _rows(self) -> tuple[tuple[str, str], ...]:
        return (
            ("model", self.tr("Model")),
            ("url", self.tr("Address")),
            ("pid", self.tr("Process")),
            ("since", self.tr("Ready since")),
            ("memory", self.tr("Memory")),
            ("context", self.tr("Context")),
            ("log", self.tr("Log file")),
        )

    def _state_card(self) -> QFrame:
        card = QFrame()
        set_role(card, "card")
        self._title = QLabel()
        self._title.setObjectName("engine.state")
        set_role(self._title, "heading")
        self._words = QLabel()
        self._words.setObjectName("engine.why")
        self._words.setWordWrap(True)
        column = QVBoxLayout(card)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(4)
        column.addWidget(self._title)
        column.addWidget(self._words)
        return card

    def _connect_card(self) -> QFrame:
        card = QFrame()
        set_role(card, "card")
        head = QLabel(self.tr("Use another engine"))
        set_role(head, "strong")
        words = QLabel(self.tr("A vLLM server on this or another machine, or the embedded toy on this computer's CPU."))
        words.setWordWrap(True)
        set_role(words, "muted")
        self.address = QLineEdit()
        self.address.setObjectName("engine.address")
        self.address.setAccessibleName(self.tr("Address of a server"))
        self.address.setPlaceholderText("http://127.0.0.1:8000")
        self.address.returnPressed.connect(self._connect)
        self.key = QLineEdit()
        self.key.setObjectName("engine.key")
        self.key.setAccessibleName(self.tr("API key, if the server wants one"))
        self.key.setPlaceholderText(self.tr("API key (optional)"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setMaximumWidth(200)
        self.connect_button = ThemedButton(self.tr("Connect"), "engine.connect", icon_name="link")
        self.connect_button.setEnabled(False)
        self.connect_button.clicked.connect(self._connect)
        self.address.textChanged.connect(lambda text: self.connect_button.setEnabled(bool(text.strip())))
        embedded = ThemedButton(self.tr("Use the embedded toy"), "engine.embedded")
        embedded.clicked.connect(lambda: self.choice_made.emit(EngineChoice()))
        row = QHBoxLayout()
        row.setSpacing(8)
        for widget, stretch in ((self.address, 1), (self.key, 0), (self.connect_button, 0), (embedded, 0)):
            row.addWidget(widget, stretch)
        column = QVBoxLayout(card)
        column.setContentsMargins(16, 12, 16, 14)
        column.setSpacing(6)
        column.addWidget(head)
        column.addWidget(words)
        column.addLayout(row)
        return card

    def _log(self) -> QWidget:
        box = QWidget()
        head = QLabel(self.tr("Log"))
        set_role(head, "strong")
        self.log = LogView("engine.log")
        self.log.setMinimumHeight(LOG_HEIGHT)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(head)
        column.addWidget(self.log, 1)
        return box

    def _connect(self) -> None:
        url = self.address.text().strip()
        if url:
            self.choice_made.emit(EngineChoice("url", url, self.key.text().strip() or None))

    def _refresh(self) -> None:
        """Memory and log, off the GUI's thread; at most one look at a time."""
        if not self._refreshing and self.isVisible():
            spawn_late(self, self._look, "engine page")

    async def _look(self) -> None:
        self._refreshing = True
        try:
            used = await self._presenter.memory()
            self.facts.set_value("memory", QLocale().formattedDataSize(used) if used else "")
            self.log.show_text(await self._presenter.log_tail())
        finally:
            self._refreshing = False

    def _headline(self, state: EngineState) -> str:
        names = {"embedded": self.tr("The embedded toy"), "vllm": "vLLM", "url": self.tr("The server")}
        name = names[state.kind]
        words = {
            "stopped": self.tr("{name} is stopped"),
            "starting": self.tr("{name} is starting …"),
            "ready": self.tr("{name} is ready"),
            "stopping": self.tr("{name} is stopping …"),
            "failed": self.tr("{name} did not start"),
            "lost": self.tr("{name} was lost"),
        }
        return words[state.phase].format(name=name)

    def _explanation(self, state: EngineState) -> str:
        if state.phase in ("failed", "lost"):
            return "\n".join(as_sentence(part) for part in (state.message, state.remedy) if part)
        if state.kind == "embedded":
            return self.tr(
                "A DiffusionGemma of a few million parameters that ships with the program and runs on the CPU. "
                "It shows chat and decisions at work; its answers are a toy's."
            )
        if state.kind == "vllm":
            return self.tr("DiffusionGemma on this computer's cards, started by the plan of the Setup page.")
        return self.tr("A server at an address that you gave. The program talks to it and never starts or stops it.")


def _clock(since: float | None) -> str:
    """A time of day; with the date when it was not today."""
    if since is None:
        return ""
    moment = datetime.fromtimestamp(since).astimezone()
    pattern = "%H:%M:%S" if moment.date() == datetime.now().astimezone().date() else "%Y-%m-%d %H:%M"
    return moment.strftime(pattern)
