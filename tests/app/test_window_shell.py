"""The window around the pages: keyboard, names for everything, closing, second start."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from desk_driver import WAIT_S, close, expect, living_children, load, make_desk, until, within
from PySide6.QtCore import QSettings, QSize, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.models.notice import Notice
from app.pages.decisions import DecisionsPage
from app.single_instance import SingleInstance
from app.theme import apply_theme
from app.widgets.shell import MAX_NOTICES, NoticeCard
from app.windows.desk import Desk
from app.windows.main_window import DEFAULT_SIZE, PAGES, MainWindow
from app.windows.ui_state import UiState
from engine.batch.form import load_form
from engine.paths import resources_dir, runs_dir
from engine.store.runs import list_runs

INTERACTIVE = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
)


def interactive(root: QWidget) -> list[QWidget]:
    """Widgets that a user can act on; not the inner parts that Qt's own widgets are made of."""
    inner = ("qt_", "ScrollLeftButton", "ScrollRightButton")
    return [
        widget
        for widget in root.findChildren(QWidget)
        if isinstance(widget, INTERACTIVE)
        and not isinstance(widget, QScrollBar)
        and not widget.objectName().startswith(inner)
        and not any(isinstance(above, QAbstractSpinBox | QComboBox | QTabBar) for above in ancestors(widget))
        and type(widget).__name__ not in ("QTableCornerButton", "QHeaderView")
    ]


def spoken_name(widget: QWidget) -> str:
    """What a screen reader is told: the accessible name, or what Qt makes of text, buddy and title."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def ancestors(widget: QWidget) -> Iterator[QWidget]:
    while (widget := widget.parentWidget()) is not None:
        yield widget


async def test_everything_that_can_be_used_has_a_name(desk: Desk) -> None:
    assert all(interactive(desk.window.page(page)) for page in PAGES)
    found = interactive(desk.window)
    nameless = [
        f"{type(widget).__name__} {widget.objectName()!r} in {widget.parentWidget().objectName()!r}"
        for widget in found
        if not widget.objectName() or not spoken_name(widget)
    ]
    assert nameless == []


async def test_the_keyboard_reaches_every_page(desk: Desk, qtbot: QtBot) -> None:
    for number, page in enumerate(PAGES, start=1):
        qtbot.keyClick(desk.window, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
        assert desk.window.current_page == page
        assert desk.window.page(page).isVisible()
    qtbot.keyClick(desk.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.objectName() == "composer.text"


async def test_the_toy_is_named_while_it_answers(desk: Desk) -> None:
    assert desk.window.banner.isVisible()
    assert "not DiffusionGemma 26B" in desk.window.banner.accessibleName()


async def test_closing_stops_the_engine_and_leaves_nothing(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> None:
    desk = make_desk(qapp, desk_home)
    await load(desk)
    assert desk.engine is not None
    assert desk.engine.state.pid is not None
    assert psutil.pid_exists(desk.engine.state.pid)
    assert desk.chat is not None
    assert desk.chat.send("Tell me a long story.")
    await close(desk)
    assert living_children() == []
    assert [path.name for path in (desk_home / "run").iterdir()] == []
    assert not desk.window.isVisible()
    desk.window.deleteLater()


async def test_closing_while_the_engine_starts(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> None:
    desk = make_desk(qapp, desk_home)
    loaded = expect(desk.loaded.connect)
    desk.window.show()
    await within(loaded)
    assert desk.engine is not None
    await within(expect(desk.engine.state_changed.connect, lambda state: state.phase == "starting"))
    await close(desk)
    assert living_children() == []
    desk.window.deleteLater()


async def test_size_and_page_are_remembered(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> None:
    path = str(desk_home / "window.ini")
    first = MainWindow(QSettings(path, QSettings.Format.IniFormat))
    qtbot.addWidget(first)
    first.show()
    first.resize(1000, 700)
    first.show_page("engine")
    first.finish()
    second = MainWindow(QSettings(path, QSettings.Format.IniFormat))
    qtbot.addWidget(second)
    assert (second.width(), second.height()) == (1000, 700)
    assert second.current_page == "engine"


async def test_a_second_start_raises_the_first_window(qapp: QApplication, desk_home: Path) -> None:
    first, second = SingleInstance(desk_home), SingleInstance(desk_home)
    assert first.acquire()
    raised = expect(first.raise_requested.connect)
    assert not second.acquire()
    assert second.raise_other()
    await within(raised)
    first.release()
    assert second.acquire()
    second.release()


def test_notices_stay_until_closed_and_are_not_repeated(qtbot: QtBot, desk_home: Path) -> None:
    window = MainWindow(QSettings(str(desk_home / "w.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(window)
    for text in ("one", "two", "two", "three", "four"):
        window.notices.show_notice(Notice("error", text, "do this"))
    assert [notice.text for notice in window.notices.notices()] == ["four", "three", "two", "one"]
    nameless = [widget for widget in interactive(window.notices) if not widget.accessibleName()]
    assert nameless == []


def test_only_the_newest_notice_takes_room_until_the_others_are_wanted(qtbot: QtBot, desk_home: Path) -> None:
    window = MainWindow(QSettings(str(desk_home / "w.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(window)
    window.show()
    notices = window.notices

    def shown() -> list[str]:
        cards = [card for card in notices.findChildren(NoticeCard) if card.isVisible()]
        return [card.notice.text for card in sorted(cards, key=NoticeCard.y)]

    more = notices.findChild(QAbstractButton, "notices.more")
    assert more is not None
    for text in ("one", "two", "three"):
        notices.show_notice(Notice("error", text, "do this"))
        assert shown() == [text]
    assert (more.text(), more.accessibleName()) == ("2 more", "2 more")
    more.click()
    qtbot.waitUntil(lambda: shown() == ["three", "two", "one"])
    for left in (["two", "one"], ["one"], []):
        newest = next(card for card in notices.findChildren(NoticeCard) if card.notice == notices.notices()[0])
        newest.findChild(QAbstractButton, "notice.close").click()
        qtbot.waitUntil(lambda left=left: shown() == left)
    assert more.isHidden()
    for number in range(MAX_NOTICES + 5):
        notices.show_notice(Notice("error", str(number)))
    assert shown() == [str(MAX_NOTICES + 4)]  # it folds again
    assert [notice.text for notice in notices.notices()] == [str(number) for number in range(MAX_NOTICES + 4, 4, -1)]


def test_the_first_paint_brings_no_engine_library(root: Path, tmp_path: Path) -> None:
    """The real start, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=root,
        env={**os.environ, "DIFFUSION_DESK_BENCH": "first-paint", "DIFFUSION_DESK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["modules"] == []
    assert told["first_paint_ms"] > 0


def engine_of(home: Path) -> psutil.Process | None:
    """The engine that a window with this data folder has started, by its pid file."""
    for path in (home / "run").glob("*.json"):
        try:
            return psutil.Process(json.loads(path.read_text())["pid"])
        except (ValueError, KeyError, psutil.NoSuchProcess):
            continue
    return None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
async def test_no_end_of_the_window_leaves_an_engine(root: Path, desk_home: Path, number: signal.Signals) -> None:
    """Logout, Ctrl+C, and the out-of-memory killer."""
    window = await asyncio.create_subprocess_exec(sys.executable, "-m", "app", cwd=root)
    engine = await until(lambda: engine_of(desk_home))
    window.send_signal(number)
    code = await asyncio.wait_for(window.wait(), WAIT_S)
    await until(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE)
    assert code == (-signal.SIGKILL if number is signal.SIGKILL else 0)


def test_a_data_folder_that_cannot_be_used_is_named(root: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=root,
        env={**os.environ, "DIFFUSION_DESK_HOME": str(taken)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 2
    assert str(taken) in done.stderr
    assert "DIFFUSION_DESK_HOME" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_spoiled_window_file_does_no_harm(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> None:
    path = desk_home / "window.ini"
    path.write_text("[window]\nsize=rubbish\npage=nowhere\nmaximized=x\n[look]\ntheme=pink\nfont_scale=big\n")
    file = QSettings(str(path), QSettings.Format.IniFormat)
    window = MainWindow(file)
    qtbot.addWidget(window)
    assert window.current_page == "chat"
    assert window.size() == QSize(*DEFAULT_SIZE)
    state = UiState(file)
    assert (state.theme, state.font_scale) == ("system", 1.0)


def test_before_the_first_paint_only_qt_is_imported(root: Path) -> None:
    heavy = ("aiohttp", "pydantic", "tokenizers", "numpy", "markdown_it", "pygments", "jinja2", "huggingface_hub")
    script = f"import sys, app.bootstrap; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_both_themes_apply_to_a_living_window(qapp: QApplication, qtbot: QtBot, desk_home: Path) -> None:
    window = MainWindow(QSettings(str(desk_home / "w.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(window)
    window.show()
    for theme in ("dark", "light"):
        tokens = apply_theme(qapp, theme)
        assert tokens.name == theme
        assert window.grab().toImage().pixelColor(5, 300).name() == tokens.rail


async def test_closing_in_the_middle_of_a_run_keeps_it_for_later(
    qapp: QApplication, qtbot: QtBot, desk_home: Path
) -> None:
    desk = make_desk(qapp, desk_home)
    await load(desk)
    page = desk.window.page("decisions")
    assert isinstance(page, DecisionsPage)
    tickets = resources_dir() / "examples" / "tickets"
    form = load_form(tickets / "form.json")
    form = replace(form, method=replace(form.method, draws=8))  # so that it cannot end before it is closed
    runs = page.runs
    moved = expect(runs.status_changed.connect, lambda: bool(runs.status.progress and runs.status.progress.done))
    runs.start(form, tickets / "table.csv", {}, 4)
    await within(moved)
    await close(desk)
    assert living_children() == []
    (run,) = list_runs(runs_dir())
    assert run.state == "unfinished"
    assert 0 < run.done < run.rows * len(run.question_ids)
    desk.window.deleteLater()
