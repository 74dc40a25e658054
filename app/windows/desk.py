"""The composition root: window, presenters and pages are put together here, in two steps.

First the window with the chat page (Qt only), so that something is on the screen soon; after its first paint the rest,
whose imports (aiohttp, pydantic) are made on a thread so that the window stays alive meanwhile.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from app.models.engine_state import EngineState
from app.models.notice import Notice
from app.notify import NotificationSink
from app.pages.chat import ChatPage
from app.tasks import spawn
from app.theme import apply_theme
from app.windows.main_window import MainWindow
from app.windows.ui_state import UiState
from engine.domain.setup import SETUP_STEPS
from engine.errors import EngineError

if TYPE_CHECKING:
    from app.presenters.chat import ChatPresenter
    from app.presenters.engine import EngineChoice, EnginePresenter
    from app.presenters.engine_remedies import EngineRemedies
    from app.presenters.settings import SettingsPresenter
    from app.presenters.setup import SetupPresenter
    from app.windows.chat_room import ChatRoom
    from app.windows.desktop import DesktopTools
    from engine.domain.diagnosis import Retry

_LATER = (
    "app.pages.engine",
    "app.pages.settings",
    "app.pages.decisions",
    "app.pages.setup",
    "app.windows.chat_room",
    "app.windows.desktop",
    "app.widgets.markdown",
)


class Desk(QObject):
    """The running program.

    Signals:
        loaded(): presenters and pages are there; the engine has been asked to start.
    """

    loaded = Signal()

    def __init__(self, app: QApplication, ui_state: UiState, notifier: NotificationSink) -> None:
        super().__init__()
        self.app = app
        self.notifier = notifier
        self.window = MainWindow(ui_state.file)
        self.chat_page = ChatPage()
        self.window.set_page("chat", self.chat_page)
        self.engine: EnginePresenter | None = None
        self.chat: ChatPresenter | None = None
        self.chat_room: ChatRoom | None = None
        self.settings: SettingsPresenter | None = None
        self.setup: SetupPresenter | None = None
        self.remedies: EngineRemedies | None = None
        self.desktop: DesktopTools | None = None
        self._files: list[str] = []  # given before the pages were there
        self._ui_state = ui_state
        self._done = asyncio.Event()
        self._closing = False
        notifier.noticed.connect(self.window.notices.show_notice)
        self.window.close_requested.connect(self._on_close_wanted)
        # The engine's rooms are imported only when the window can be seen.
        self.window.painted.connect(lambda: QTimer.singleShot(0, self, self._begin_load))
        app.styleHints().colorSchemeChanged.connect(lambda _scheme: self._apply_look())

    async def run(self) -> int:
        """Shows the window and returns when it has been closed and nothing of ours runs any more."""
        self.window.show()
        await self.run_until_closed()
        return 0

    async def run_until_closed(self) -> None:
        """Returns when the window is closed and nothing of ours runs any more."""
        await self._done.wait()

    def raise_window(self, token: str = "") -> None:
        """Brings the window to the front, wherever it is.

        Args:
            token: an activation token of the desktop, from another start of the program: without one Wayland lets no
                window take the focus. Qt takes it from the environment.
        """
        if token:
            os.environ["XDG_ACTIVATION_TOKEN"] = token
        window = self.window
        window.setWindowState((window.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        window.show()
        window.raise_()
        window.activateWindow()

    def open_files(self, names: list[str]) -> None:
        """Opens files as soon as the pages are there."""
        if self.desktop is None:
            self._files += names
        else:
            self.desktop.places.files(names)

    def take_over(self, token: str, files: list[str]) -> None:
        """What another start of the program wanted: the window, and its files."""
        self.raise_window(token)
        self.open_files(files)

    def request_close(self) -> None:
        """Stops everything, then closes the window. A second request changes nothing."""
        if not self._closing:
            self._closing = True
            spawn(self, self._close(), "close")

    def _on_close_wanted(self) -> None:
        if self.desktop is None or self._closing:
            self.request_close()
        else:
            self.desktop.ask_close()

    def _begin_load(self) -> None:
        spawn(self, self._load(), "load")

    async def _load(self) -> None:
        for name in _LATER:
            await asyncio.to_thread(importlib.import_module, name)
        if self._closing:
            return
        self._build_presenters()
        self._build_pages()
        self._build_desktop()
        self.loaded.emit()
        assert self.engine is not None
        await self._sweep(self.engine)
        self.engine.start()
        if self.setup is not None and self.setup.memory.active is not None:
            self.setup.begin()  # what was under way when the last window went

    def _build_presenters(self) -> None:
        from app.presenters.engine import EnginePresenter
        from app.presenters.settings import SettingsPresenter
        from app.windows.chat_room import ChatRoom

        self.settings = SettingsPresenter(self.notifier, self)
        self._apply_look()
        self.settings.changed.connect(self._on_settings)
        self.engine = EnginePresenter(self.settings.engine_choice(), self)
        self.engine.state_changed.connect(self._on_engine_state)
        self._build_setup(self.engine, self.settings)
        self._build_remedies(self.engine)
        self.chat_room = ChatRoom(self.chat_page, self.engine, self.settings, self.notifier, self)
        self.chat = self.chat_room.chat

    def _build_setup(self, engine: EnginePresenter, settings: SettingsPresenter) -> None:
        from app.presenters.setup import SetupPresenter

        self.setup = SetupPresenter(engine, parent=self)
        self.setup.choice_made.connect(self._use_engine)
        self.setup.launched.connect(lambda: settings.update(engine="vllm"))
        self.setup.noted.connect(self.notifier.report)
        settings.vllm = self.setup.choice
        engine.configure(settings.engine_choice())

    def _build_remedies(self, engine: EnginePresenter) -> None:
        from app.presenters.engine_remedies import EngineRemedies

        self.remedies = EngineRemedies(engine, self)
        self.remedies.retry_wanted.connect(lambda retry: spawn(self, self._retry(retry), "next start"))

    def _build_pages(self) -> None:
        from app.pages.decisions import DecisionsPage
        from app.pages.engine import EnginePage
        from app.pages.settings import SettingsPage
        from app.pages.setup import SetupPage

        assert self.engine is not None
        assert self.setup is not None
        assert self.settings is not None
        assert self.remedies is not None
        engine_page = EnginePage(self.engine, self.remedies, self.setup.elsewhere)
        engine_page.choice_made.connect(self._use_engine)
        engine_page.page_wanted.connect(self._show_step)
        setup_page = SetupPage(self.setup)
        setup_page.page_wanted.connect(self.window.show_page)
        setup_page.follow_remedies(self.engine, self.remedies)
        pages: dict[str, QWidget] = {
            "setup": setup_page,
            "engine": engine_page,
            "settings": SettingsPage(self.settings),
            "decisions": DecisionsPage(self.engine, self.settings.value, self.notifier),
        }
        for name, page in pages.items():
            self.window.set_page(name, page)

    def _build_desktop(self) -> None:
        from app.windows.desktop import DesktopTools

        self.desktop = DesktopTools(self)
        self.desktop.places.files(self._files)

    async def _sweep(self, engine: EnginePresenter) -> None:
        try:
            ended = await engine.sweep_leftovers()
        except EngineError as error:
            self.notifier.report(error)
            return
        if ended:
            self.notifier.info(
                self.tr("An engine that an earlier crash had left behind was ended."),
                self.tr("Nothing is lost; stored runs can be resumed."),
            )

    def _on_engine_state(self, state: EngineState) -> None:
        self.window.set_engine_state(state)
        self.chat_page.set_engine_state(state)
        self.window.notices.withdraw("engine")
        if state.phase in ("failed", "lost") and self.engine is not None:
            lost = self.tr("The engine stopped answering: {why}").format(why=state.message)
            failed = self.tr("The engine did not start: {why}").format(why=state.message)
            again = self.tr("Connect again") if state.kind == "url" else self.tr("Restart")
            known = state.diagnosis is not None  # then there is more to do than to try again
            notice = Notice(
                "error",
                lost if state.phase == "lost" else failed,
                state.remedy or self.tr("Its log is on the Engine page."),
                topic="engine",
                action=self.tr("What can be done") if known else again,
                run=(lambda: self.window.show_page("engine")) if known else self.engine.restart,
            )
            self.notifier.show(notice)
        elif state.diagnosis is not None:
            hangs = Notice(
                "warning",
                self.tr("The engine may hang: {why}").format(why=state.diagnosis.cause),
                topic="engine",
                action=self.tr("What can be done"),
                run=lambda: self.window.show_page("engine"),
            )
            self.notifier.show(hangs)

    def _use_engine(self, choice: EngineChoice) -> None:
        assert self.settings is not None
        assert self.engine is not None
        self.settings.set_engine_choice(choice)
        self.engine.configure(choice)
        self.engine.restart()

    async def _retry(self, retry: Retry) -> None:
        """Starts by what a remedy or another profile has made of the plan, and remembers it."""
        setup, engine, settings = self.setup, self.engine, self.settings
        assert setup is not None
        assert engine is not None
        assert settings is not None
        setup.take(retry)
        await setup.look_at_disk()  # it may be another checkpoint
        settings.update(engine="vllm")
        spawn(engine, engine.replace_now(setup.choice), "next start of vLLM")

    def _show_step(self, page: str, step: str) -> None:
        """Another page, and the step of the setup that does what is wanted."""
        known = next((name for name in SETUP_STEPS if name == step), None)
        if page == "setup" and self.setup is not None and known is not None:
            self.setup.show_step(known)
        self.window.show_page(page)

    def _on_settings(self) -> None:
        assert self.settings is not None
        if (self.settings.value.theme, self.settings.value.font_scale) != (
            self._ui_state.theme,
            self._ui_state.font_scale,
        ):
            self._apply_look()
        if self.engine is not None and self.settings is not None:
            self.engine.configure(self.settings.engine_choice())

    def _apply_look(self) -> None:
        if self.settings is not None:
            self._ui_state.set_look(self.settings.value.theme, self.settings.value.font_scale)
        apply_theme(self.app, self._ui_state.theme, self._ui_state.font_scale)

    async def _close(self) -> None:
        try:
            if self.engine is not None and self.engine.state.phase != "stopped":
                self.window.show_closing(self.tr("Stopping the engine …"))
            for part in (self.setup, self.window.page("decisions"), self.chat_room, self.engine):
                close_down = getattr(part, "close_down", None)  # a part with nothing to end has none
                if close_down is not None:
                    await close_down()
        finally:
            if self.desktop is not None:
                await self.desktop.close_down()
            self.window.finish()
            self._done.set()
