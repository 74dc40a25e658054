"""The commands of the pages: what a page offers itself, its shortcuts and actions, and its buttons of consequence.

A page that implements ``app.models.commands.OffersCommands`` says what it can do. Beside that, every shortcut and
action below a page stands in the registry, described by its ``whatsThis`` or its text; for those that have neither the
words are here, so that the map of the keys stays complete (a test finds what has no words).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QMenu, QStackedWidget, QTabWidget, QWidget

from app.models.commands import Command, OffersCommands
from app.windows.main_window import PAGES, MainWindow

FORM_ACTIONS = ("form_template.", "form_tickets", "form_contradictions")  # open a form: found as such, not as a command


class PageCommands(QObject):
    """A source of the registry."""

    def __init__(self, window: MainWindow, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window

    def commands(self) -> Iterator[Command]:
        """All commands of all pages that have been loaded."""
        for name in PAGES:
            page = self._window.page(name)
            if isinstance(page, OffersCommands):
                yield from page.commands()
            yield from self._keys(name, page)
            yield from self._inside(name)
            yield from self._buttons(name, page)
            yield from self._actions(name, page)

    def forms(self) -> list[tuple[str, Callable[[], object]]]:
        """The bundled forms and what opens them."""
        page = self._window.page("decisions")
        found = [each for each in page.findChildren(QAction) if each.objectName().startswith(FORM_ACTIONS)]
        return [(each.text(), self._shown_first("decisions", each.trigger)) for each in found]

    def wordless(self) -> list[str]:
        """Shortcuts that the map of the keys cannot show for want of words; there should be none."""
        missing = []
        for name in PAGES:
            for owner, keys, text, _run, _enabled in _key_bearers(self._window.page(name)):
                if not text and not self._words(name, owner, keys):
                    missing.append(f"{keys} of {owner!r} on {name}")
        return missing

    def _keys(self, name: str, page: QWidget) -> Iterator[Command]:
        for owner, keys, text, run, enabled in _key_bearers(page):
            words = text or self._words(name, owner, keys)
            if words:
                shown_run = None if run is None else self._shown_first(name, run)
                yield Command(f"{name}.{owner}.{keys}", words, name, (keys,), shown_run, enabled)

    def _words(self, page: str, owner: str, keys: str) -> str:
        known = self._known_keys()
        return known.get((page, owner, keys)) or known.get((page, "", keys), "")

    def _known_keys(self) -> dict[tuple[str, str, str], str]:
        """(page, objectName of the owner or empty, keys): what they do."""
        return {
            ("chat", "", "Ctrl+N"): self.tr("New conversation"),
            ("chat", "", "Esc"): self.tr("Stop the answer"),
            ("chat", "", "Ctrl+K"): self.tr("Search all conversations"),
            ("chat", "", "Ctrl+L"): self.tr("Show or hide the conversations"),
            ("chat", "", "Ctrl+F"): self.tr("Find in the conversation"),
            ("chat", "", "F3"): self.tr("Next match"),
            ("chat", "", "Shift+F3"): self.tr("Previous match"),
            ("decisions", "", "Ctrl+S"): self.tr("Save the form"),
            ("decisions", "", "Ctrl+O"): self.tr("Open a form file"),
            ("decisions", "", "Ctrl+Z"): self.tr("Undo"),
            ("decisions", "questions", "Alt+Up"): self.tr("Move the question up"),
            ("decisions", "questions", "Alt+Down"): self.tr("Move the question down"),
            ("decisions", "questions", "Ctrl+D"): self.tr("Duplicate the question"),
            ("decisions", "questions", "Del"): self.tr("Delete the question"),
            ("decisions", "queue", "Alt+Up"): self.tr("Move the waiting run up"),
            ("decisions", "queue", "Alt+Down"): self.tr("Move the waiting run down"),
            ("decisions", "queue", "Del"): self.tr("Take the run out of the queue"),
            ("decisions", "runs", "Del"): self.tr("Delete the run"),
            ("engine", "", "Ctrl+F"): self.tr("Search the log"),
            ("engine", "", "F3"): self.tr("Next match in the log"),
            ("engine", "", "Shift+F3"): self.tr("Previous match in the log"),
            ("engine", "", "Esc"): self.tr("End the search of the log"),
        }

    def _inside(self, name: str) -> Iterator[Command]:
        """Keys that mean something where the focus is; widgets read them themselves."""
        for page, keys, text in (
            ("chat", ("Return",), self.tr("Send the message, or a new line: as set on the Settings page")),
            ("chat", ("Ctrl+Return",), self.tr("Send the message; in a question that is edited: ask it anew")),
            ("chat", ("Shift+Return",), self.tr("New line in the message")),
            ("chat", ("Up", "Down"), self.tr("In an empty message: recall earlier ones")),
            ("chat", ("F2",), self.tr("In the list: rename the conversation")),
            ("chat", ("Del",), self.tr("In the list: delete the conversation")),
            ("decisions", ("Ctrl+V",), self.tr("On the table: paste cells of a spreadsheet")),
            ("decisions", ("S",), self.tr("In the review: leave it for later")),
            ("decisions", ("U",), self.tr("In the review: undo the last label")),
        ):
            if page == name:
                yield Command(f"{page}.inside.{keys[0]}", text, page, keys)

    def _buttons(self, name: str, page: QWidget) -> Iterator[Command]:
        for owner, button_name, text in self._known_buttons():
            button = page.findChild(QAbstractButton, button_name) if owner == name else None
            if button is not None:
                run = self._shown_first(name, _pressing(button))
                yield Command(f"{name}.{button_name}", text, name, (), run, _reachable(button, page))

    def _known_buttons(self) -> tuple[tuple[str, str, str], ...]:
        """(page, objectName, what it does): a button's own text is too short to be found by."""
        return (
            ("chat", "chat.instructions", self.tr("Instructions, thinking and length of answers")),
            ("chat", "chat.canvas", self.tr("Show or hide the canvas")),
            ("chat", "composer.attach", self.tr("Insert a text file or a picture")),
            ("chat", "chats.import", self.tr("Import conversations")),
            ("decisions", "table_open", self.tr("Open a table")),
            ("decisions", "table_empty.open", self.tr("Open a table")),
            ("decisions", "table_paste", self.tr("Paste cells as a table")),
            ("decisions", "preview_read", self.tr("Try one row")),
            ("decisions", "preview_rows", self.tr("Try 20 rows")),
            ("decisions", "run_start", self.tr("Start the run")),
            ("decisions", "run_pause", self.tr("Pause the run")),
            ("decisions", "run_resume", self.tr("Resume the run")),
            ("decisions", "run_cancel", self.tr("Cancel the run")),
            ("decisions", "run_again", self.tr("Read rows of the run again")),
            ("decisions", "run_export", self.tr("Export the run")),
            ("decisions", "method_start", self.tr("Compare the methods")),
            ("setup", "setup.detect.again", self.tr("Look at the machine again")),
            ("engine", "engine.server.url.copy", self.tr("Copy the engine's address")),
            ("engine", "engine.server.curl.copy", self.tr("Copy the example for curl")),
            ("engine", "engine.server.python.copy", self.tr("Copy the example for Python")),
            ("engine", "engine.log.copy", self.tr("Copy the engine's log")),
            ("settings", "settings.open", self.tr("Open the data folder")),
            ("settings", "settings.reset", self.tr("Reset all settings to defaults")),
        )

    def _actions(self, name: str, page: QWidget) -> Iterator[Command]:
        """Named entries of a page's menus."""
        known = {
            "question_add.noul": self.tr("Add a yes/no question"),
            "question_add.choice": self.tr("Add a choice question"),
            "question_add.score": self.tr("Add a score question"),
        }
        for action in page.findChildren(QAction):
            action_name = action.objectName()
            if not action_name or action_name.startswith(FORM_ACTIONS) or isinstance(action.parent(), QAbstractButton):
                continue
            text = known.get(action_name, action.text().replace("&", ""))
            if text and not action.shortcut() and not isinstance(action.menu(), QMenu):
                yield Command(
                    f"{name}.{action_name}", text, name, (), self._shown_first(name, action.trigger), action.isEnabled
                )

    def _shown_first(self, name: str, run: Callable[[], object]) -> Callable[[], object]:
        def show_and_run() -> None:
            if self._window.current_page != name:
                self._window.show_page(name)
            run()

        return show_and_run


Bearer = tuple[str, str, str, Callable[[], object] | None, Callable[[], bool]]
WITHIN = Qt.ShortcutContext.WidgetShortcut  # of a list: it acts on the chosen line, so it is not for the palette


def _key_bearers(page: QWidget) -> Iterator[Bearer]:
    """(owner's name, keys, own words, what it does, whether it can be done) of each shortcut and action with keys.

    A standard key brings those of rare keyboards along ("Find"); only its first is shown.
    """
    for shortcut in page.findChildren(QShortcut):
        for keys in shortcut.keys()[:1]:
            run = None if shortcut.context() == WITHIN else shortcut.activated.emit
            yield _owner(shortcut), _portable(keys), shortcut.whatsThis(), run, shortcut.isEnabled
    for action in page.findChildren(QAction):
        for keys in action.shortcuts()[:1]:
            words = action.whatsThis() or action.text().replace("&", "")
            run = None if action.shortcutContext() == WITHIN else action.trigger
            yield _owner(action), _portable(keys), words, run, action.isEnabled


def _owner(bearer: QObject) -> str:
    above = bearer.parent()
    return above.objectName() if above is not None else ""


def _portable(keys: QKeySequence) -> str:
    return keys.toString(QKeySequence.SequenceFormat.PortableText)


def _reachable(button: QAbstractButton, page: QWidget) -> Callable[[], bool]:
    """Whether the button could be pressed, were its tab in front."""

    def check() -> bool:
        if not button.isEnabled():
            return False
        widget: QWidget | None = button
        while widget is not None and widget is not page:
            if widget.isHidden() and _tabs_of(widget) is None:
                return False
            widget = widget.parentWidget()
        return True

    return check


def _pressing(button: QAbstractButton) -> Callable[[], object]:
    """Presses the button after its tab has come to the front."""

    def press() -> None:
        widget: QWidget | None = button
        while widget is not None:
            tabs = _tabs_of(widget)
            if tabs is not None:
                tabs.setCurrentWidget(widget)
            widget = widget.parentWidget()
        button.click()

    return press


def _tabs_of(widget: QWidget) -> QTabWidget | None:
    """The tabs that a widget is a page of."""
    stack = widget.parentWidget()
    tabs = stack.parentWidget() if isinstance(stack, QStackedWidget) else None
    return tabs if isinstance(tabs, QTabWidget) else None
