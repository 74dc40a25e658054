"""The canvas: frames to pictures, pictures to the screen, replay."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.canvas import CanvasSnapshot
from app.presenters.canvas import CanvasReader
from app.theme import apply_theme
from app.widgets.canvas_view import CanvasView
from engine import paths
from engine.client.vocabulary import Vocabulary
from engine.domain.chat import CanvasFrame


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.from_file(paths.demo_model_dir() / "tokenizer.json")


def frame(number: int, ids: tuple[int, ...], *, converged: bool = False) -> CanvasFrame:
    return CanvasFrame("r", number, 48 - number, converged, ids, (True,) * len(ids), (0.5,) * len(ids))


def test_steps_count_per_canvas_and_changes_against_the_step_before(vocabulary: Vocabulary) -> None:
    reader = CanvasReader(vocabulary)
    pictures = [
        *reader.read(frame(1, (500, 501))),
        *reader.read(frame(2, (500, 502))),
        *reader.read(frame(4, (500, 503), converged=True)),  # the third was lost
        *reader.read(frame(5, (600, 601))),  # waits: nobody knows yet whether there will be a second canvas
        *reader.committed(2),
    ]
    assert [(picture.canvas, picture.step) for picture in pictures] == [(1, 1), (1, 2), (1, 4), (2, 1)]
    changed = [[cell.changed for cell in picture.cells()] for picture in pictures]
    assert changed == [[False, False], [False, True], [False, True], [False, False]]
    assert reader.steps == 5
    assert [cell.text for cell in pictures[0].cells()] == vocabulary.pieces((500, 501))


def picture(step: int, *, converged: bool = False) -> CanvasSnapshot:
    """Step by step one more token of forty is accepted, and that one has just changed."""
    before = [number if number != step else -1 for number in range(40)]
    kept = [number < step for number in range(40)]
    return CanvasSnapshot(1, step, converged, range(40), kept, [2.0] * 40, before, words)


def words(ids: Sequence[int]) -> list[str]:
    return [f"w{number}" for number in ids]


def test_pictures_are_coalesced_and_can_be_replayed(qapp: QApplication, qtbot: QtBot) -> None:
    view = CanvasView()
    qtbot.addWidget(view)
    view.resize(500, 200)
    view.show()
    view.start()
    for step in range(1, 11):
        view.add(picture(step, converged=step == 10))
    assert view.shown is None
    qtbot.waitUntil(lambda: view.shown is not None)
    assert view.shown == picture(10, converged=True)
    view.finish()
    view.show_step(3)
    assert view.shown == picture(4)
    assert "4 of 40" in view.sheet.accessibleDescription() or "accepted" in view.sheet.accessibleDescription()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_accepted_tokens_stand_on_a_tint(qapp: QApplication, qtbot: QtBot, theme: str) -> None:
    tokens = apply_theme(qapp, theme)  # type: ignore[arg-type]
    view = CanvasView()
    qtbot.addWidget(view)
    view.resize(500, 200)
    view.show()
    view.add(picture(20))
    view.finish()
    image = view.sheet.grab().toImage()
    colors = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 2)}
    assert tokens.accent_soft in colors


def test_an_engine_without_frames_says_so(qtbot: QtBot) -> None:
    view = CanvasView()
    qtbot.addWidget(view)
    view.start()
    view.finish()
    assert view.steps == 0


async def test_reading_a_wide_canvas_does_not_hold_the_window(vocabulary: Vocabulary) -> None:
    """256 slots, as the real model has them."""
    reader = CanvasReader(vocabulary)
    for number in range(1, 49):
        assert [len(each.cells()) for each in reader.read(frame(number, tuple(range(500, 756))))] == [256]
        await asyncio.sleep(0)
