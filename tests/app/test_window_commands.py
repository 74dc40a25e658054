"""One registry of commands: palette, map of the keys, shortcuts."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk_driver import WAIT_S, answered, expect, until, within
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QShortcut
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.models.commands import Command, CommandRegistry
from app.models.fuzzy import folded, match
from app.models.palette import Entry, PaletteModel
from app.pages.decisions import DecisionsPage
from app.windows.desk import Desk
from app.windows.desktop import DesktopTools
from app.windows.main_window import PAGES
from app.windows.recent import KEPT, RecentForms
from engine.batch.form import load_form
from engine.batch.selection import Selection
from engine.paths import resources_dir

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def tools(desk: Desk) -> DesktopTools:
    assert desk.desktop is not None
    return desk.desktop


def all_keys(root: QWidget) -> Iterator[str]:
    """The first key sequence that a shortcut or an action below a widget has."""
    for shortcut in root.findChildren(QShortcut):
        yield from (keys.toString() for keys in shortcut.keys()[:1])
    for action in root.findChildren(QAction):
        yield from (keys.toString() for keys in action.shortcuts()[:1])


def found(desk: Desk) -> list[str]:
    model = tools(desk).palette.model
    return [str(model.index(row).data()) for row in range(model.rowCount())]


# ---- the registry
def test_a_command_stands_once_and_the_first_source_counts() -> None:
    registry = CommandRegistry()
    registry.add(lambda: [Command("a", "first", run=list), Command("b", "keys alone", keys=("Up",))])
    registry.add(lambda: [Command("a", "second"), Command("c", "not now", run=list, enabled=lambda: False)])
    assert [command.text for command in registry.all()] == ["first", "keys alone", "not now"]
    assert [command.id for command in registry.runnable()] == ["a"]
    assert [command.id for command in registry.with_keys()] == ["b"]
    assert not registry.run("c")
    assert not registry.run("nowhere")


async def test_the_registry_is_complete(desk: Desk) -> None:
    """Who adds a shortcut says what it does: ``setWhatsThis`` on it, a text on the action."""
    registry = tools(desk).registry
    assert tools(desk).page_commands.wordless() == []
    mapped = {keys for command in registry.with_keys() for keys in command.keys}
    missing = {keys for name in PAGES for keys in all_keys(desk.window.page(name))} - mapped
    assert missing == set()
    own = [shortcut for shortcut in desk.window.findChildren(QShortcut) if shortcut.parent() is desk.window]
    assert {shortcut.key().toString() for shortcut in own} <= mapped
    # Qt runs neither of two shortcuts that want the same keys.
    of_window = [keys for command in registry.all() if not command.page for keys in command.keys]
    assert len(of_window) == len(set(of_window))
    for name in PAGES:
        assert set(of_window) & set(all_keys(desk.window.page(name))) == set(), name
    # A page that renames a button would lose its command.
    names = {command.id for command in registry.all()}
    assert not any(command.keys == ("Del",) for command in registry.runnable())  # of a line that is not in view
    known = tools(desk).page_commands._known_buttons()
    assert {f"{page}.{button}" for page, button, _ in known} <= names
    assert all(command.text and "&" not in command.text for command in registry.all())


# ---- the search
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("", "anything"),
        ("dark", "Theme: dark"),
        ("th dk", "Theme: dark"),
        ("dark theme", "Theme: dark"),
        ("nc", "New conversation"),
        ("ubung", "Übung mit Äpfeln"),
        ("ÄPFEL", "Übung mit Äpfeln"),
    ],
)
def test_what_is_found(pattern: str, text: str) -> None:
    assert match(folded(pattern), folded(text)) is not None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("dx", "Theme: dark"), ("krad", "dark"), ("dark x", "Theme: dark"), ("run", "previous match in the log")],
)
def test_what_is_not_found(pattern: str, text: str) -> None:
    assert match(folded(pattern), folded(text)) is None


@pytest.mark.parametrize(
    ("pattern", "better", "worse"),
    [
        ("run", "Start the run", "Truncate"),
        ("nc", "New conversation", "Another canvas"),
        ("stop", "Stop the answer", "Show the top"),
        ("export", "Export the run", "Explain the report"),
    ],
)
def test_the_better_match_comes_first(pattern: str, better: str, worse: str) -> None:
    model = PaletteModel()
    model.set_entries([Entry("command", worse, list), Entry("command", better, list)])
    model.search(pattern)
    assert model.index(0).data() == better


def test_folding_keeps_places() -> None:
    for text in ("Straße", "İstanbul", "ﬁn", "e\u0301a", "日本"):
        assert len(folded(text)) == len(text)


# ---- the palette
async def opened(field: QWidget) -> None:
    """Keys go to a dialog once its window is the active one."""
    await until(lambda: QApplication.focusWidget() is field)


def recent(desk: Desk) -> list[Entry]:
    tools(desk).open_palette()
    model = tools(desk).palette.model
    return [entry for entry, _text, _detail in model._entries if entry.kind == "form" and entry.detail]


async def test_the_palette_opens_recent_form_files(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    assert recent(desk) == []
    presenter = tools(desk).places.decisions().presenter
    form = resources_dir() / "examples" / "tickets" / "form.json"
    presenter.open_example("tickets")
    assert recent(desk) == []  # it is offered as an example
    files = [tmp_path / f"höchst-{number}.json" for number in range(KEPT + 2)]
    for file in files:
        shutil.copy(form, file)
        assert presenter.open_form(file)
    assert [entry.text for entry in recent(desk)] == [file.name for file in files[-2:1:-1]]  # the last one is open
    assert recent(desk)[0].detail == str(tmp_path)
    desk.window.show_page("chat")
    qtbot.keyClicks(tools(desk).palette.field, "hochst-5")
    qtbot.keyClick(tools(desk).palette.field, Qt.Key.Key_Return)
    assert presenter.document.path == files[5]
    assert desk.window.current_page == "decisions"
    assert files[5].name not in [entry.text for entry in recent(desk)]
    kept = RecentForms(presenter.document, desk.window.state_file)
    assert kept.files()[0] == files[-1]  # also after a new start
    gone = next(entry for entry in recent(desk) if entry.text == files[-1].name)
    files[-1].unlink()
    gone.run()
    assert any(files[-1].name in notice.text for notice in desk.window.notices.notices())
    assert files[-1].name not in [entry.text for entry in recent(desk)]
    tools(desk).palette.close()


async def test_the_palette_by_keys_alone(desk: Desk, qtbot: QtBot) -> None:
    qtbot.keyClick(desk.window, Qt.Key.Key_P, CONTROL | SHIFT)
    palette = tools(desk).palette
    field = palette.field
    await opened(field)
    qtbot.keyClicks(field, "theme")
    assert {"Theme: light", "Theme: dark"} <= set(found(desk))
    first = field.accessibleDescription()
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert palette.list.currentIndex().row() == 1
    assert field.accessibleDescription() not in ("", first)  # what a screen reader says
    qtbot.keyClick(field, Qt.Key.Key_Up)
    qtbot.keyClick(field, Qt.Key.Key_Up)
    assert palette.list.currentIndex().row() == palette.model.rowCount() - 1
    qtbot.keyClick(field, Qt.Key.Key_PageUp)
    qtbot.keyClick(field, Qt.Key.Key_PageDown)
    assert QApplication.focusWidget() is field
    qtbot.keyClicks(field, "qqqqzzzz")
    assert palette.none.isVisible()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert palette.isVisible()  # nothing is found, so nothing is done
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    desk.window.resize(desk.window.minimumSize())
    tools(desk).open_palette()
    await opened(field)
    assert desk.window.geometry().contains(palette.geometry())
    qtbot.keyClicks(field, "goto decis")
    assert found(desk)[0] == "Go to Decisions"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert desk.window.current_page == "decisions"


async def test_conversations_forms_and_runs_are_found_and_opened(desk: Desk, qtbot: QtBot) -> None:
    assert desk.chat is not None
    await answered(desk.chat, "Tell me about zebras.")
    number = desk.chat.current
    desk.chat.open(None)
    palette = tools(desk).palette
    tools(desk).open_palette()
    qtbot.keyClicks(palette.field, "triage")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    assert desk.window.current_page == "decisions"
    assert page.presenter.document.form.questions
    tools(desk).open_palette()
    qtbot.keyClicks(palette.field, "zebras")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert desk.window.current_page == "chat"
    assert desk.chat.current == number
    tickets = resources_dir() / "examples" / "tickets"
    ended = expect(page.runs.ended.connect)
    page.runs.start(load_form(tickets / "form.json"), tickets / "table.csv", {}, 8, Selection(first=4))
    run_id, _how = await within(ended)
    tools(desk).open_palette()
    model = palette.model
    await until(lambda: any(entry.kind == "run" for entry, _name, _words in model._entries))
    qtbot.keyClicks(palette.field, next(entry.text for entry, _n, _w in model._entries if entry.kind == "run"))
    row = next(row for row in range(model.rowCount()) if (entry := model.entry(row)) and entry.kind == "run")
    for _ in range(row):
        qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert page.tabs.currentWidget() is page.runs_part
    assert page.runs_part.list.current() == run_id


async def test_a_button_behind_a_tab_is_reached(desk: Desk) -> None:
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    page.files.open_example("tickets")
    await until(lambda: any(each.id == "decisions.preview_read" for each in tools(desk).registry.runnable()))
    assert "decisions.run_pause" not in {each.id for each in tools(desk).registry.runnable()}  # nothing runs
    assert page.tabs.currentWidget() is not page.preview
    assert tools(desk).registry.run("decisions.preview_read")
    assert desk.window.current_page == "decisions"
    assert page.tabs.currentWidget() is page.preview


# ---- the map of the keys, and keys
async def test_f1_and_the_other_keys(desk: Desk, qtbot: QtBot) -> None:
    qtbot.keyClick(desk.window, Qt.Key.Key_F1)
    sheet = tools(desk).keys
    await opened(sheet.field)
    shown = sheet.shown()
    assert len(shown) == len(tools(desk).registry.with_keys())
    assert ("Chat", "Ctrl+N", "New conversation") in shown
    assert {page for page, _keys, _what in shown} == {"Everywhere", "Chat", "Decisions", "Engine"}
    for text, line in (
        ("palette", "Command palette"),
        ("ctrl shift p", "Command palette"),
        ("ctrl+l", "Show or hide the conversations"),
    ):
        sheet.field.clear()
        qtbot.keyClicks(sheet.field, text)
        assert line in [what for _page, _keys, what in sheet.shown()]
        assert len(sheet.shown()) < len(shown)
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert sheet.isVisible()  # Enter in the search closes nothing
    qtbot.keyClick(sheet.field, Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    desk.window.activateWindow()  # the offscreen platform gives the focus back to nobody
    await until(desk.window.isActiveWindow)
    assert desk.settings is not None
    for key, scale in (("Plus", 1.1), ("Minus", 1.0), ("Minus", 0.9), ("0", 1.0)):
        qtbot.keyClick(desk.window, getattr(Qt.Key, f"Key_{key}"), CONTROL)
        assert desk.settings.value.font_scale == scale
    qtbot.keyClick(desk.window, Qt.Key.Key_Q, CONTROL)
    await asyncio.wait_for(desk.run_until_closed(), WAIT_S)
