"""The parts of the Engine page: the log as it grows, the cards' memory, the times of a start, the server's key."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.models.engine_log import KEPT, LogFilter, LogNews, StartChoice, as_text
from app.models.engine_memory import CardMemory
from app.models.engine_start import StartView
from app.pages.engine_words import start_choices
from app.presenters.engine_log import FIRST_BYTES, MOST_BYTES, EngineLogs, LogFeed
from app.presenters.engine_memory import Ours, card_memory, look_at_memory
from app.presenters.engine_start import StartTimes
from app.widgets.engine.live_cards import LiveCards, bar_of_memory
from app.widgets.engine.log_panel import LogPanel
from app.widgets.engine.phases import PhasesCard
from app.widgets.engine.server_card import HIDDEN, ServerCard
from engine.domain.diagnosis import LogLine
from engine.domain.hardware import GIB, Gpu, GpuProcess
from engine.domain.plan import LaunchPlan, Wishes
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.planner import plan
from engine.local.disk import MACHINE_VARIABLE
from engine.supervise.diagnose_changes import plan_changes
from engine.supervise.diagnose_report import Redactor
from engine.supervise.logs import rotate
from engine.supervise.start_log import StartProgress

INFO = "(EngineCore pid=7) INFO 11-29 18:30:00 [core.py:1] {}\n"
ERROR = "(Worker_TP1 pid=9) ERROR 11-29 18:30:01 [x.py:2] {}\n"


def planned(name: str = "2x3090-pcie", wishes: Wishes | None = None) -> LaunchPlan:
    found = plan(load_machine(recorded_machines()[name]), wishes)
    assert isinstance(found, LaunchPlan)
    return found


def texts(news: LogNews) -> list[str]:
    return [line.text for line in news.lines]


async def test_the_feed_gives_what_is_new_in_whole_lines(tmp_path: Path) -> None:
    log, feed = tmp_path / "engine.log", LogFeed()
    assert await feed.look(log) == LogNews()
    log.write_text(INFO.format("one") + "(EngineCore pid=7) INFO 11-29 18:30:0")
    news = await feed.look(log)
    assert (news.anew, texts(news)) == (True, ["one"])
    with log.open("a") as file:
        file.write("0 [core.py:1] two\n")
    news = await feed.look(log)
    assert (news.anew, texts(news)) == (False, ["two"])
    assert await feed.look(log) == LogNews()
    log.write_text(INFO.format("cut"))  # shorter than what was read
    news = await feed.look(log)
    assert (news.anew, texts(news)) == (True, ["cut"])
    other = tmp_path / "other.log"
    other.write_text(INFO.format("another start"))
    assert texts(await feed.look(other)) == ["another start"]
    assert (await feed.look(None)).anew


async def test_a_bar_is_one_line_and_a_traceback_has_the_level_of_its_error(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    bars = "".join(f"\rLoading shards: {n:3}%|###   | {n}/100 [00:01<00:02]" for n in (0, 50, 100))
    log.write_text(
        bars + "\n" + ERROR.format("bad") + "Traceback (most recent call last):\n" + "2026-11-29 INFO engine: hello\n"
    )
    news = await LogFeed().look(log)
    assert [(line.level, line.text.split(":")[0]) for line in news.lines] == [
        ("", "Loading shards"),
        ("ERROR", "bad"),
        ("ERROR", "Traceback (most recent call last)"),
        ("INFO", "2026-11-29 INFO engine"),
    ]
    assert "100%" in news.lines[0].text


async def test_a_huge_log_takes_little_memory_and_says_what_it_passed_over(tmp_path: Path) -> None:
    log, feed = tmp_path / "engine.log", LogFeed()
    line = INFO.format("x" * 100).encode()
    log.write_bytes(line * 300_000)  # 45 MB
    size = log.stat().st_size
    tracemalloc.start()
    try:
        news = await feed.look(log)
        with log.open("ab") as file:
            file.write(line * 20_000)
        more = await feed.look(log)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert news.skipped == size - FIRST_BYTES
    assert more.skipped == 20_000 * len(line) - MOST_BYTES
    assert {len(each.text) for each in (*news.lines, *more.lines)} == {100}, "it begins with a whole line"
    assert peak < 16 * 2**20


async def test_the_log_of_an_earlier_start_is_shown_until_it_is_gone(tmp_path: Path) -> None:
    log, logs = tmp_path / "engine-vllm.log", EngineLogs()
    log.write_text(INFO.format("old"))
    rotate(log)
    log.write_text(INFO.format("new"))
    newest, earlier = start_choices(await logs.starts(log, running=True))
    assert newest.log == 0
    assert newest.text.endswith("runs")
    assert earlier.text.endswith("was not ready")
    assert texts(await logs.look(log, newest.log)) == ["new"]
    news = await logs.look(log, earlier.log)
    assert (news.anew, texts(news)) == (True, ["old"])
    rotate(log)
    log.write_text(INFO.format("newer"))
    await logs.starts(log, running=True)
    assert not (await logs.look(log, earlier.log)).anew, "the same file under another name"
    log.with_name(f"{log.name}.2").unlink()
    await logs.starts(log, running=True)
    assert texts(await logs.look(log, earlier.log)) == ["newer"]


def panel(qtbot: QtBot) -> LogPanel:
    made = LogPanel("log", lambda: Redactor(["s3cret-key"], home="/home/somebody", user="somebody", host="box"))
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    return made


def lines(*pairs: tuple[str, str]) -> LogNews:
    return LogNews(tuple(LogLine(n, "Core", level, text) for n, (level, text) in enumerate(pairs, 1)))


def test_the_panel_filters_by_level_and_text(qtbot: QtBot) -> None:
    log = panel(qtbot)
    log.take(lines(("INFO", "hello"), ("WARNING", "hot card"), ("ERROR", "Card lost"), ("DEBUG", "card 2")))
    log.level.setCurrentIndex(log.level.findData("warnings"))
    assert log.shown_text().splitlines() == ["Core  WARNING  hot card", "Core  ERROR  Card lost"]
    log.filter.setText("LOST")
    assert log.shown_text() == "Core  ERROR  Card lost"
    log.take(lines(("ERROR", "lost again"), ("ERROR", "other")))
    assert log.shown_text().splitlines()[-1] == "Core  ERROR  lost again", "what comes later is filtered too"
    log.level.setCurrentIndex(log.level.findData("all"))
    log.filter.clear()
    assert len(log.shown_text().splitlines()) == 6


def test_the_panel_offers_earlier_starts_and_keeps_the_choice(qtbot: QtBot) -> None:
    log = panel(qtbot)
    wanted: list[int] = []
    log.start_wanted.connect(lambda: wanted.append(log.chosen))
    log.show_starts((StartChoice(0, "18:30 · runs"),))
    assert not log.start.isVisible(), "nothing to choose from"
    log.show_starts((StartChoice(0, "19:00 · runs"), StartChoice(7, "18:30 · was ready", "in full")))
    assert log.start.isVisible()
    assert (log.chosen, wanted) == (0, []), "nobody has chosen"
    log.start.setCurrentIndex(1)
    assert wanted == [7]
    assert log.start.itemData(1, Qt.ItemDataRole.ToolTipRole) == "in full"
    log.show_starts(
        (StartChoice(0, "20:00 · runs"), StartChoice(9, "19:00 · died"), StartChoice(7, "18:30 · was ready"))
    )
    assert (log.chosen, wanted) == (7, [7])
    log.show_starts((StartChoice(0, "21:00 · runs"), StartChoice(9, "19:00 · died")))
    assert log.chosen == 0, "its log is gone"


def test_the_panel_searches_with_the_keyboard(qtbot: QtBot) -> None:
    log = panel(qtbot)
    log.take(lines(*(("INFO", f"line {n} {'needle' if n % 10 == 0 else ''}") for n in range(100))))
    with qtbot.waitActive(log):
        log.activateWindow()
    log.view.setFocus()
    QTest.keyClick(log.view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert log.search.hasFocus()
    QTest.keyClicks(log.search, "needle")
    QTest.keyClick(log.search, Qt.Key.Key_Return)
    first = log.view.textCursor()
    assert first.selectedText() == "needle"
    assert not log.follow.isChecked()
    QTest.keyClick(log.search, Qt.Key.Key_F3)
    assert log.view.textCursor().position() != first.position()
    QTest.keyClick(log.search, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert log.view.textCursor().position() == first.position()
    for _ in range(10):
        log.go_on()
    assert log.view.textCursor().position() == first.position(), "ten places, around the end"
    QTest.keyClick(log.search, Qt.Key.Key_Escape)
    assert log.search.text() == ""
    assert log.view.hasFocus()


def test_the_end_is_followed_until_the_reader_scrolls_up(qtbot: QtBot) -> None:
    log = panel(qtbot)
    bar = log.view.verticalScrollBar()
    log.take(lines(*(("INFO", f"line {n}") for n in range(200))))
    assert bar.value() == bar.maximum()
    bar.setValue(10)
    assert not log.follow.isChecked()
    log.take(lines(("INFO", "more")))
    assert bar.value() == 10
    bar.setValue(bar.maximum())
    assert log.follow.isChecked()
    bar.setValue(0)
    log.follow.setChecked(True)
    assert bar.value() == bar.maximum()


def test_what_is_copied_holds_no_key_and_no_name(qtbot: QtBot) -> None:
    log = panel(qtbot)
    log.take(lines(("INFO", "key s3cret-key in /home/somebody/x on box"), ("INFO", "and more")))
    log.copy()
    copied = QGuiApplication.clipboard().text()
    assert "s3cret" not in copied
    assert "somebody" not in copied
    assert copied.splitlines()[1] == "Core  INFO  and more"
    log.view.selectAll()
    QTest.keyClick(log.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == copied, "the keyboard's copy too"


def test_the_panel_keeps_a_bounded_number_of_lines(qtbot: QtBot) -> None:
    log = panel(qtbot)
    for start in range(0, KEPT + 2000, 1000):
        log.take(lines(*(("INFO", f"line {n}") for n in range(start, start + 1000))))
    shown = log.shown_text().splitlines()
    assert len(shown) == KEPT
    assert shown[-1] == f"Core  INFO  line {KEPT + 1999}"
    log.filter.setText("line")
    assert len(log.shown_text().splitlines()) == KEPT
    log.take(LogNews(anew=True))
    assert log.shown_text() == ""


@given(st.sampled_from(["all", "warnings", "errors"]), st.sampled_from(["", "INFO", "WARNING", "ERROR", "CRITICAL"]))
def test_a_higher_level_is_never_hidden_where_a_lower_one_is_shown(least: str, level: str) -> None:
    ranks = ["", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    chosen = LogFilter(least)  # type: ignore[arg-type]
    if chosen.wants(LogLine(1, "", level, "x")):
        assert all(chosen.wants(LogLine(1, "", higher, "x")) for higher in ranks[ranks.index(level) :])


sizes = st.integers(0, 24 * GIB)


@given(sizes, sizes, sizes, sizes, st.booleans())
def test_the_parts_of_a_card_are_what_is_in_use_and_no_more(
    used: int, mine: int, weights: int, cache: int, known: bool
) -> None:
    budget = planned().cards[0]
    used = min(used, 23 * GIB)
    processes = (GpuProcess(7, "vllm", mine if known else None), GpuProcess(8, "Xorg", 100 << 20))
    gpu = Gpu(0, "RTX", budget.uuid, memory_total=24 * GIB, memory_used=used, processes=processes)
    before = {budget.uuid: used // 3}
    found = card_memory(gpu, Ours(frozenset({7}), planned(), weights, cache, before))
    assert min(found.weights, found.cache, found.working, found.others) >= 0
    assert found.weights + found.cache + found.working + found.others == used
    assert found.weights <= weights
    assert "Xorg" in found.holders
    assert "vllm" not in found.holders
    if not known:  # a container: the difference to before the start is ours
        assert found.weights + found.cache + found.working == used - used // 3


def test_a_start_fills_the_weights_first() -> None:
    found = planned()
    uuid = found.cards[0].uuid
    gpu = Gpu(0, "RTX", uuid, memory_total=24 * GIB, memory_used=5 * GIB, processes=(GpuProcess(7, "v", 4 * GIB),))
    loading = card_memory(gpu, Ours(frozenset({7}), found))
    assert (loading.weights, loading.cache, loading.working, loading.others) == (4 * GIB, 0, 0, GIB)
    gpu = replace(gpu, memory_used=20 * GIB, processes=(GpuProcess(7, "v", 19 * GIB),))
    ready = card_memory(gpu, Ours(frozenset({7}), found, 14 * GIB, 4 * GIB))
    assert (ready.weights, ready.cache, ready.working, ready.others) == (14 * GIB, 4 * GIB, GIB, GIB)
    stranger = card_memory(replace(gpu, uuid="GPU-other"), Ours(frozenset({7}), found))
    assert not stranger.planned


@pytest.mark.parametrize("name", sorted(recorded_machines()))
async def test_every_machine_shows_its_cards_or_says_why_not(
    name: str, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()[name]))
    view = await look_at_memory(Ours())
    assert bool(view.cards) != bool(view.why_none)
    shown = LiveCards("memory")
    qtbot.addWidget(shown)
    shown.show_memory(view)
    assert shown.why_none.isHidden() == bool(view.cards)
    assert all(card.title in shown.drawing.accessibleDescription() for card in view.cards)
    shown.grab()


def test_a_bar_says_what_is_free() -> None:
    bar = bar_of_memory(CardMemory("u", "0: RTX", 24 * GIB, weights=14 * GIB, cache=4 * GIB, working=GIB, others=GIB))
    assert bar.free == 4 * GIB
    assert bar.note == "4.0 of 24.0 GiB free"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_phases_get_their_times_and_those_passed_over_none() -> None:
    clock = Clock()
    times = StartTimes(("one", "two", "three", "four"), clock)
    for at, number, detail in ((0, 0, ""), (5, 1, ""), (9, 3, "Model loading took 13.56 GiB memory and 9 seconds")):
        clock.now = at
        times.feed(StartProgress("", number, 4, detail=detail, eta_s=7.0))
    clock.now = 12
    view = times.view()
    assert [(phase.state, phase.seconds) for phase in view.phases] == [
        ("done", 5),
        ("done", 4),
        ("done", 0),
        ("running", 3),
    ]
    assert (view.elapsed_s, view.eta_s, view.share) == (12, 7.0, 0.75)
    assert times.weights == int(13.56 * GIB)
    times.end(serves=False)
    clock.now = 100
    assert times.view().elapsed_s == 12


@pytest.mark.parametrize(("serves", "last"), [(True, "done"), (False, "open")])
def test_what_serves_is_through_with_every_phase_whatever_of_its_log_was_read(serves: bool, last: str) -> None:
    times = StartTimes(("one", "two", "three"), Clock())
    times.feed(StartProgress("two", 1, 3))
    times.end(serves=serves)
    assert [phase.state for phase in times.view().phases] == ["done", "done" if serves else "running", last]


def test_the_phases_say_the_time_to_go_while_it_runs(qtbot: QtBot) -> None:
    times = StartTimes(("one", "two"), Clock())
    times.feed(StartProgress("one", 0, 2, 0.5, "loading", eta_s=80.0))
    card = PhasesCard("phases")
    qtbot.addWidget(card)
    card.show_start(times.view(), running=True)
    assert "1 min 20 s left" in card.figures.text()
    assert card.bar.value() == 250
    assert not card.isHidden()
    card.show_start(StartView(), running=True)
    assert card.isHidden()


def test_changes_name_what_is_otherwise_and_nothing_else() -> None:
    before = planned(wishes=Wishes(utilisation=0.82))
    after = planned(wishes=Wishes(utilisation=0.78))
    found = {change.what: (change.before, change.after) for change in plan_changes(before, after)}
    assert found["utilisation"] == ("0.82", "0.78")
    assert found["--gpu-memory-utilization"] == ("0.82", "0.78")
    assert "checkpoint" not in found
    assert plan_changes(before, before) == ()


def test_the_key_is_hidden_until_asked_for_and_copied_whole(qtbot: QtBot) -> None:
    card = ServerCard("server")
    qtbot.addWidget(card)
    card.show_server("http://127.0.0.1:8042", "s3cret-key", "diffusiongemma")
    snippet = card.findChild(QPlainTextEdit, "server.curl")
    assert snippet is not None
    assert HIDDEN in snippet.toPlainText()
    assert card.key.text() == HIDDEN
    copied = {"key": "s3cret-key", "url": "http://127.0.0.1:8042", "model": "diffusiongemma"}
    for name, start in (copied | {"base": "http://127.0.0.1:8042/v1"}).items():
        found = card.findChild(QPushButton, f"server.{name}.copy")
        assert found is not None
        found.click()
        assert QGuiApplication.clipboard().text() == start
    copy = card.findChild(QPushButton, "server.python.copy")
    assert copy is not None
    copy.click()
    assert 'api_key="s3cret-key"' in QGuiApplication.clipboard().text()
    compile(QGuiApplication.clipboard().text(), "snippet", "exec")
    card.shown.click()
    assert card.key.text() == "s3cret-key"
    assert "s3cret-key" in snippet.toPlainText()
    card.show_server("", "", "")
    assert card.isHidden()


def test_a_line_says_its_process_and_level_where_it_has_them() -> None:
    assert as_text(LogLine(1, "", "", "plain")) == "plain"
    assert as_text(LogLine(1, "Core", "INFO", "x")) == "Core  INFO  x"
