"""The window on its desktop: tray, closing, messages, a second start, files."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from desk_driver import WAIT_S, answered, expect, kill_engine, living_children, until, until_phase, within
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.__main__ import are_files
from app.models.engine_state import EngineState
from app.pages.decisions import DecisionsPage
from app.single_instance import SingleInstance
from app.widgets.desktop.close_dialog import CloseDialog
from app.windows import desktop_events
from app.windows.desk import Desk
from app.windows.desktop import DesktopTools
from app.windows.messages import DesktopMessages, in_front
from app.windows.tray import Tray, badged
from engine.batch.form import load_form
from engine.batch.selection import Selection
from engine.paths import resources_dir
from engine.store.chats_exchange import as_json, write_file

# Qt's icon asks the offscreen platform, which has no tray, for a signal of X.
pytestmark = pytest.mark.qt_log_ignore("systemTrayWindowChanged")

TICKETS = resources_dir() / "examples" / "tickets"


def tools(desk: Desk) -> DesktopTools:
    assert desk.desktop is not None
    return desk.desktop


def decisions(desk: Desk) -> DecisionsPage:
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    return page


async def start_long_run(desk: Desk) -> None:
    """A run that cannot end before the test has."""
    form = load_form(TICKETS / "form.json")
    runs = decisions(desk).runs
    moved = expect(runs.status_changed.connect, lambda: bool(runs.status.progress and runs.status.progress.done))
    runs.start(replace(form, method=replace(form.method, draws=32)), TICKETS / "table.csv", {}, 2)
    await within(moved)


def offer_tray(desk: Desk) -> None:
    """As if the desktop had one: the icon itself is the real one."""
    tools(desk).tray._offered = lambda: True
    tools(desk).tray.want(True)


def closing(desk: Desk) -> CloseDialog | None:
    return desk.window.findChild(CloseDialog)


def press(dialog: CloseDialog, choice: str) -> None:
    button = dialog.findChild(QAbstractButton, f"closing.{choice}")
    assert button is not None
    button.click()


# ---- tray
def test_the_tray_shows_the_engines_state(qapp: QApplication) -> None:
    tray = Tray(lambda: True)
    assert not tray.look()  # nobody wants it yet
    tray.want(True)
    assert tray.look()
    actions = {action.objectName(): action for action in tray.menu.actions()}
    tray.set_state(EngineState("ready", model="m"), "Engine ready · a&b")
    assert tray.tooltip == "Diffusion Desk\nEngine ready · a&b"
    assert actions["tray.state"].text() == "Engine ready · a&&b"
    assert (actions["tray.start"].isEnabled(), actions["tray.stop"].isEnabled()) == (False, True)
    tray.set_state(EngineState("stopped"), "Engine is stopped")
    assert (actions["tray.start"].isEnabled(), actions["tray.stop"].isEnabled()) == (True, False)
    tray.want(False)
    assert not tray.look()
    tray.close_down()


def test_every_state_has_its_own_picture(qapp: QApplication) -> None:
    pictures = {phase: badged(phase).toImage() for phase in ("stopped", "starting", "ready", "failed")}  # type: ignore[arg-type]
    names = list(pictures)
    assert all(pictures[a] != pictures[b] for place, a in enumerate(names) for b in names[place + 1 :])


def test_a_tray_that_comes_later_is_used(qapp: QApplication) -> None:
    """The panel may start after the program, and may go."""
    there = [False]
    tray = Tray(lambda: there[0])
    tray.want(True)
    assert not tray.look()
    there[0] = True
    tray.set_state(EngineState("ready"), "ready")
    assert tray._icon.isVisible()
    there[0] = False
    assert not tray.look()
    assert not tray._icon.isVisible()
    tray.close_down()


# ---- closing
async def test_closing_with_a_run_going(desk: Desk) -> None:
    """One after the other, all that can become of it; the last answer ends everything."""
    assert desk.settings is not None
    await start_long_run(desk)
    desk.window.close()
    dialog = closing(desk)
    assert dialog is not None
    assert "run is going" in dialog.text()
    assert dialog.findChild(QAbstractButton, "closing.tray") is None  # no tray here
    gone = expect(dialog.destroyed.connect)
    press(dialog, "cancel")
    await within(gone)
    assert desk.window.isVisible()
    assert decisions(desk).runs.busy
    offer_tray(desk)
    desk.window.close()
    dialog = closing(desk)
    assert dialog is not None
    gone = expect(dialog.destroyed.connect)
    dialog.remember.setChecked(True)
    press(dialog, "tray")
    await within(gone)
    assert not desk.window.isVisible()
    assert decisions(desk).runs.busy  # it goes on
    assert desk.settings.value.on_close == "tray"
    desk.raise_window()
    assert desk.window.isVisible()
    desk.window.close()  # now without a question
    assert closing(desk) is None
    assert not desk.window.isVisible()
    entry = next(action for action in tools(desk).tray.menu.actions() if action.objectName() == "tray.show")
    entry.trigger()
    assert desk.window.isVisible()
    desk.settings.update(on_close="ask")
    assert tools(desk).registry.run("window.quit")
    dialog = closing(desk)
    assert dialog is not None
    assert dialog.findChild(QAbstractButton, "closing.tray") is None  # "quit" means the whole program
    press(dialog, "quit")
    await asyncio.wait_for(desk.run_until_closed(), WAIT_S)
    assert living_children() == []


async def test_the_tray_quits_cleanly_while_the_window_is_hidden(desk: Desk) -> None:
    offer_tray(desk)
    desk.window.hide()
    entry = next(action for action in tools(desk).tray.menu.actions() if action.objectName() == "tray.quit")
    entry.trigger()
    await asyncio.wait_for(desk.run_until_closed(), WAIT_S)
    assert living_children() == []


async def test_with_nothing_going_the_window_just_closes(desk: Desk) -> None:
    """The toy engine is no reason to ask."""
    desk.window.close()
    assert closing(desk) is None
    await asyncio.wait_for(desk.run_until_closed(), WAIT_S)


async def test_closing_hides_only_where_there_is_a_tray(desk: Desk) -> None:
    assert desk.settings is not None
    desk.settings.update(on_close="tray")
    await start_long_run(desk)
    desk.window.close()
    assert desk.window.isVisible()
    dialog = closing(desk)
    assert dialog is not None
    press(dialog, "quit")
    await asyncio.wait_for(desk.run_until_closed(), WAIT_S)


# ---- a second start
def test_files_are_told_from_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("form.json", "chat", "serve"):
        (tmp_path / name).touch()
    assert are_files(["form.json"])
    assert are_files([str(tmp_path / "chat")])
    assert not are_files(["chat"])  # the command
    assert not are_files(["--help"])
    assert not are_files(["missing.json"])
    assert not are_files(["form.json", "serve"])


async def test_a_second_start_hands_over_its_files_and_token(
    qapp: QApplication, desk_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = SingleInstance(desk_home), SingleInstance(desk_home)
    assert first.acquire()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "kwin-7")
    asked = expect(first.raise_requested.connect)
    assert second.raise_other(["form.json", "/abs/ä.csv"])
    assert await within(asked) == ("kwin-7", [str(tmp_path / "form.json"), "/abs/ä.csv"])
    first.release()


@pytest.mark.parametrize("said", [b"raise 1\n", b"\xff\xfe\n", b'{"version": 9}\n', b"[1]\n"])
async def test_a_foreign_word_on_the_socket_does_nothing(qapp: QApplication, desk_home: Path, said: bytes) -> None:
    first = SingleInstance(desk_home)
    assert first.acquire()
    asked = expect(first.raise_requested.connect)
    _reader, writer = await asyncio.open_unix_connection(str(desk_home / "window.sock"))
    writer.write(said)
    await writer.drain()
    assert SingleInstance(desk_home).raise_other(["x"])  # still listening
    assert (await within(asked))[1][0].endswith("/x")
    writer.close()
    first.release()


async def test_after_a_kill_the_next_start_takes_over(root: Path, desk_home: Path) -> None:
    """kill -9 leaves lock and socket behind."""
    dead = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import sys, pathlib; from PySide6.QtCore import QCoreApplication; app = QCoreApplication([]);"
        "from app.single_instance import SingleInstance; one = SingleInstance(pathlib.Path(sys.argv[1]));"
        "print(one.acquire(), flush=True); app.exec()",
        str(desk_home),
        cwd=root,
        stdout=asyncio.subprocess.PIPE,
    )
    assert dead.stdout is not None
    assert await asyncio.wait_for(dead.stdout.readline(), WAIT_S) == b"True\n"
    second = SingleInstance(desk_home)
    assert not second.acquire()
    dead.send_signal(signal.SIGKILL)
    await dead.wait()
    assert (desk_home / "window.lock").exists()
    assert (desk_home / "window.sock").exists()
    assert not second.raise_other()
    assert second.acquire()
    second.release()


async def test_files_are_opened_by_what_they_are(desk: Desk, tmp_path: Path) -> None:
    page = decisions(desk)
    form = tmp_path / "form.json"
    shutil.copy(TICKETS / "form.json", form)
    desk.open_files([str(form)])
    assert desk.window.current_page == "decisions"
    assert page.presenter.document.path == form
    desk.open_files([str(TICKETS / "table.csv")])
    await until(lambda: page.presenter.table.facts is not None)
    assert page.tabs.currentWidget() is page.table_part
    assert desk.chat_room is not None
    assert desk.chat is not None
    talk = tmp_path / "talk.json"
    number = desk.chat.store.create("Of zebras")
    write_file(talk, as_json(desk.chat.store, [number]))
    before = len(desk.chat.store.conversations())
    listed = expect(desk.chat_room.library.told.connect)
    desk.open_files([str(talk)])
    await within(listed)
    assert desk.window.current_page == "chat"
    assert len(desk.chat.store.conversations()) == before + 1
    odd = tmp_path / "picture.png"
    odd.write_bytes(b"\x89PNG")
    desk.open_files([str(odd), str(tmp_path / "gone.json")])
    texts = [notice.text for notice in desk.window.notices.notices()]
    assert any("picture.png is no form" in text for text in texts)
    assert any("gone.json" in text for text in texts)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, object]]:
    """What would be shown on the desktop: (topic, title, what a click does); another program is in front."""
    shown: list[tuple[str, str, object]] = []

    def show(_self: DesktopMessages, topic: str, title: str, _text: str, run: object) -> bool:
        shown.append((topic, title, run))
        return True

    monkeypatch.setattr(DesktopMessages, "show", show)
    return shown


async def test_ends_of_long_work_are_told(
    said: list[tuple[str, str, object]], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert desk.chat is not None
    assert desk.engine is not None
    monkeypatch.setattr(desktop_events, "LONG_S", 3600.0)
    await answered(desk.chat, "Hello!")
    assert said == []  # a short answer was waited for
    monkeypatch.setattr(desktop_events, "LONG_S", 0.0)
    await answered(desk.chat, "Hello again!")
    (topic, title, click) = said.pop()
    assert (topic, title) == (f"answer-{desk.chat.current}", "The answer is there")
    desk.window.show_page("settings")
    assert callable(click)
    click()
    assert desk.window.current_page == "chat"
    ended = expect(decisions(desk).runs.ended.connect)
    decisions(desk).runs.start(load_form(TICKETS / "form.json"), TICKETS / "table.csv", {}, 8, Selection(first=4))
    run_id, _how = await within(ended)
    assert said.pop()[:2] == (f"run-{run_id}", "The run is finished")
    kill_engine(desk)
    await until_phase(desk.engine, "lost")
    topic, title, click = said.pop()
    assert (topic, title) == ("engine", "The engine stopped answering")
    assert callable(click)
    click()
    assert desk.window.current_page == "engine"


async def test_no_message_while_the_window_is_in_front_or_unwanted(desk: Desk) -> None:
    assert desk.settings is not None  # no session bus here (conftest.py), so that messages go by the tray
    messages = tools(desk).messages
    offer_tray(desk)
    assert in_front()
    assert not messages.show("t", "title", "text", list)
    desk.window.hide()
    await until(lambda: not in_front())
    desk.settings.update(notifications=False)
    assert not messages.show("t", "title", "text", list)
    desk.settings.update(notifications=True)
    assert messages.show("t", "title", "text", list)
    desk.window.show()
