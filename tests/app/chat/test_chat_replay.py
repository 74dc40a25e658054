"""The replay of an answer's canvases as a film and as a strip; whose vocabulary they are read with."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from chat_driver import Answer, Room
from desk_driver import until
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QImageReader, QMovie
from PySide6.QtWidgets import QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from app.models.canvas import CanvasSnapshot
from app.theme import DARK, LIGHT, Tokens
from app.widgets.canvas_view import CanvasView
from app.widgets.chat.canvas_export import MAX_FILM, Replay, palette, spread, write_replay
from engine.client.live import LiveChannel

SLOTS = 24


def words(ids: object) -> list[str]:
    return [f"w{number}" for number in ids]  # type: ignore[attr-defined]


def step(number: int, *, of: int = 8) -> CanvasSnapshot:
    kept = [place < SLOTS * number // of for place in range(SLOTS)]
    return CanvasSnapshot(1, number, number == of, range(SLOTS), kept, None, range(SLOTS), words)


def replay_of(qtbot: QtBot, count: int, tokens: Tokens) -> Replay:
    view = CanvasView()
    qtbot.addWidget(view)
    for number in range(1, count + 1):
        view.add(step(number, of=count))
    view.finish()
    made = view.replay()
    return Replay(made.steps, made.captions, tokens, made.font)


def nearest(image: QImage, color: str) -> bool:
    """Whether the picture has this colour on a good part of it."""
    found = [image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)]
    return found.count(color) > len(found) // 50


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_a_film_has_every_step_in_the_colours_of_the_window(qtbot: QtBot, tmp_path: Path, tokens: Tokens) -> None:
    path = tmp_path / "canvas.gif"
    assert write_replay(replay_of(qtbot, 8, tokens), path) == 8
    reader = QImageReader(str(path))
    pictures, times = [], []
    while not (picture := reader.read()).isNull():
        pictures.append(picture)
        times.append(reader.nextImageDelay())
    assert times == [120] * 7 + [2500]
    last = pictures[-1]
    assert last.width() == 720
    assert nearest(last, tokens.sunken)
    assert nearest(last, tokens.accent_soft)  # every token is accepted
    assert not nearest(pictures[0], tokens.accent_soft)  # an eighth of the tokens, in a corner
    movie = QMovie(str(path))
    assert movie.frameCount() == 8
    assert list(tmp_path.iterdir()) == [path]


def test_a_strip_has_its_steps_below_each_other(qtbot: QtBot, tmp_path: Path) -> None:
    film, strip = tmp_path / "canvas.gif", tmp_path / "canvas.png"
    replay = replay_of(qtbot, 5, LIGHT)
    write_replay(replay, film)
    write_replay(replay, strip)
    movie = QMovie(str(film))
    movie.jumpToFrame(0)
    assert QImage(str(strip)).size() == QSize(720, 5 * movie.currentImage().height())


def test_a_long_answer_is_thinned_evenly_and_keeps_its_end() -> None:
    chosen = spread([step(1)] * 2048, MAX_FILM)
    assert len(chosen) == MAX_FILM
    assert chosen[-1] == 2047
    assert {after - before for before, after in pairwise(chosen)} == {8, 9}


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_the_colours_fit_into_a_table(tokens: Tokens) -> None:
    assert 32 < len(palette(tokens)) <= 256


def test_a_file_that_cannot_be_written_leaves_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    replay = replay_of(qtbot, 2, LIGHT)
    for name in ("x.gif", "x.png"):
        with pytest.raises(OSError):  # noqa: PT011
            write_replay(replay, tmp_path / "no such folder" / name)
    assert list(tmp_path.iterdir()) == []


async def test_the_window_saves_what_is_in_the_view(room: Room, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        room.page.canvas.add(step(number, of=3))
    room.page.canvas.finish()
    room.page.canvas.export_wanted.emit()
    dialog = room.page.findChild(QFileDialog, "chat.files")
    assert dialog is not None
    dialog.filesSelected.emit([str(tmp_path / "mine")])
    dialog.reject()
    await until(lambda: (tmp_path / "mine.gif").exists() and len(room.notices) == 1)
    assert "mine.gif: 3 of 3 steps" in room.notices[0].text
    room.page.canvas.export_wanted.emit()
    dialog = room.page.findChildren(QFileDialog, "chat.files")[-1]
    dialog.filesSelected.emit([str(tmp_path / "none" / "x.png")])
    dialog.reject()
    await until(lambda: len(room.notices) == 2)
    assert "x.png" in room.notices[1].text


async def test_a_foreign_server_is_said_to_send_no_canvas(room: Room) -> None:
    await room.ask("q")
    detail = room.page.canvas.findChild(QLabel, "canvas.detail")
    assert detail is not None
    assert detail.text() == "only engines that this program starts send their canvas"
    assert not room.page.canvas.sheet.isVisible()  # a line is enough
    room.page.canvas.add(step(1))  # and yet one came
    await until(room.page.canvas.sheet.isVisible)


async def test_frames_without_a_vocabulary_cost_only_the_canvas(room: Room, tmp_path: Path) -> None:
    """A model that is not ours on a server that is: nobody knows what its ids mean."""
    async with LiveChannel(tmp_path / "live.sock") as live:
        room.engine.live = live
        room.say(Answer(["whole"]))
        assert (await room.ask("q")).text == "whole"
        assert "vllm_xargs" not in room.bodies()[-1]
        room.engine.live = None
