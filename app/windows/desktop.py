"""The tools of the desktop around a loaded window: commands with palette and map of keys, tray, messages, closing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QAbstractButton, QSystemTrayIcon

from app.models.commands import Command, CommandRegistry
from app.models.palette import Entry
from app.models.results_runs import local_time
from app.theme import SCALE_MAX, SCALE_MIN
from app.widgets.desktop.close_dialog import CloseDialog
from app.widgets.desktop.key_map import KeyMap, keys_text
from app.widgets.desktop.palette import Palette
from app.windows.desktop_events import DesktopEvents
from app.windows.main_window import bind
from app.windows.messages import DesktopMessages
from app.windows.page_commands import PageCommands
from app.windows.places import Places
from app.windows.recent import RecentForms
from app.windows.tray import Tray

if TYPE_CHECKING:
    from app.windows.desk import Desk

SCALE_STEP = 0.1


class DesktopTools(QObject):
    """Made once the pages are there."""

    def __init__(self, desk: Desk, offered: Callable[[], bool] = QSystemTrayIcon.isSystemTrayAvailable) -> None:
        """``offered``: whether the desktop has a tray."""
        super().__init__(desk)
        assert desk.engine is not None
        assert desk.settings is not None
        self._desk, self._engine, self._settings = desk, desk.engine, desk.settings
        self._window = desk.window
        self.places = Places(desk)
        self.tray = Tray(offered)
        self.messages = DesktopMessages(
            self.tray, desk.app.desktopFileName(), lambda: self._settings.value.notifications, self
        )
        self.events = DesktopEvents(desk, self.messages, self.places, self)
        self.page_commands = PageCommands(self._window, self)
        self.registry = CommandRegistry()
        for source in (self._window.commands, self.commands, self.page_commands.commands):
            self.registry.add(source)
        for command in self.commands():
            bind(self._window, command)
        self.palette = Palette(self._window)
        self.keys = KeyMap(self._window)
        self._join_tray()
        self._join_canvas()
        self.recent = RecentForms(self.places.decisions().presenter.document, desk.window.state_file, self)
        self.places.decisions().runs.runs_changed.connect(self._refresh_palette)

    # ---- commands
    def commands(self) -> Iterator[Command]:
        """What belongs to no page, and the engine, which can be commanded from everywhere."""
        yield Command("window.palette", self.tr("Command palette"), "", ("Ctrl+Shift+P",), self.open_palette)
        yield Command("window.keys", self.tr("All keys"), "", ("F1",), self.open_keys)
        yield Command("window.quit", self.tr("Quit"), "", ("Ctrl+Q",), partial(self.ask_close, may_hide=False))
        yield Command("window.hide", self.tr("Hide into the tray"), "", (), self.hide, self.tray.look)
        yield Command("look.larger", self.tr("Larger text"), "", ("Ctrl++", "Ctrl+="), partial(self._scale, SCALE_STEP))
        yield Command("look.smaller", self.tr("Smaller text"), "", ("Ctrl+-",), partial(self._scale, -SCALE_STEP))
        yield Command("look.usual", self.tr("Text of the usual size"), "", ("Ctrl+0",), partial(self._scale, None))
        for theme, text in (
            ("system", self.tr("Theme: as the desktop")),
            ("light", self.tr("Theme: light")),
            ("dark", self.tr("Theme: dark")),
        ):
            yield Command(f"look.{theme}", text, "", (), partial(self._settings.update, theme=theme))
        engine, phase = self._engine, self._engine.state.phase
        for verb, text, run, possible in (
            ("start", self.tr("Start the engine"), engine.start, phase in ("stopped", "failed", "lost")),
            ("stop", self.tr("Stop the engine"), engine.stop, phase in ("starting", "ready", "lost")),
            ("restart", self.tr("Restart the engine"), engine.restart, phase in ("starting", "ready", "lost")),
        ):
            yield Command(f"engine.{verb}", text, "engine", (), run, partial(bool, possible))

    def open_palette(self) -> None:
        """The palette; the stored runs are listed anew meanwhile."""
        self.places.decisions().runs.refresh()
        self.palette.ask(self._entries())

    def open_keys(self) -> None:
        self.keys.ask(self.registry.with_keys(), self._window.titles())

    # ---- closing
    def ask_close(self, *, may_hide: bool = True) -> None:
        """Closes, hides into the tray or asks, as set and as things are.

        Args:
            may_hide: the window was closed; else the user said "quit".
        """
        going, how = self.events.going(), self._settings.value.on_close
        if going and how == "tray" and may_hide and self.tray.look():
            self.hide()
        elif not going or how == "quit":
            self._desk.request_close()
        else:
            dialog = CloseDialog(going, has_tray=may_hide and self.tray.look(), parent=self._window)
            dialog.chosen.connect(self._on_close_chosen)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def hide(self) -> None:
        """The window goes, everything else goes on."""
        if self.tray.look():
            self._window.hide()

    async def close_down(self) -> None:
        await self.messages.close_down()
        self.tray.close_down()

    def _on_close_chosen(self, choice: str, remember: bool) -> None:
        if remember:
            self._settings.update(on_close=choice)
        if choice == "tray":
            self.hide()
        else:
            self._desk.request_close()

    # ---- palette
    def _entries(self) -> list[Entry]:
        titles = dict(self._window.titles())
        here = self._window.current_page
        commands = sorted(self.registry.runnable(), key=lambda command: command.page != here)
        found = [
            Entry("command", command.text, command.run, titles.get(command.page, ""), keys_text(command.keys))
            for command in commands
            if command.run is not None and command.id != "window.palette"
        ]
        found += [Entry("form", text, run) for text, run in self.page_commands.forms()]
        found += [
            Entry("form", path.name, partial(self._open_recent, path), str(path.parent)) for path in self.recent.files()
        ]
        assert self._desk.chat is not None
        for talk in self._desk.chat.store.conversations():
            title = talk.title or self.tr("Untitled")
            found.append(Entry("conversation", title, partial(self.places.conversation, talk.id)))
        return found + self._runs()

    def _open_recent(self, path: Path) -> None:
        if not self.places.files([str(path)]):
            self.recent.forget(path)

    def _runs(self) -> list[Entry]:
        return [
            Entry("run", run.name or run.id, partial(self.places.run, run.id), local_time(run.created))
            for run in self.places.decisions().runs.runs
        ]

    def _refresh_palette(self) -> None:
        if self.palette.isVisible():
            self.palette.set_entries(self._entries())

    def _scale(self, step: float | None) -> None:
        scale = 1.0 if step is None else round(self._settings.value.font_scale + step, 2)
        self._settings.update(font_scale=min(max(scale, SCALE_MIN), SCALE_MAX))

    # ---- joining
    def _join_tray(self) -> None:
        tray, engine = self.tray, self._engine
        tray.show_wanted.connect(self._desk.raise_window)
        tray.start_wanted.connect(engine.start)
        tray.stop_wanted.connect(engine.stop)
        tray.quit_wanted.connect(self._desk.request_close)
        engine.state_changed.connect(lambda state: tray.set_state(state, self._window.status.describe(state)))
        tray.set_state(engine.state, self._window.status.describe(engine.state))
        self._settings.changed.connect(lambda: tray.want(self._settings.value.tray))
        tray.want(self._settings.value.tray)

    def _join_canvas(self) -> None:
        """The chat's switch of the canvas is a setting: it stands as it was left."""
        switch = self._window.page("chat").findChild(QAbstractButton, "chat.canvas")
        if switch is not None:
            switch.setChecked(self._settings.value.canvas)
            switch.toggled.connect(lambda shown: self._settings.update(canvas=shown))
            self._settings.changed.connect(lambda: switch.setChecked(self._settings.value.canvas))
