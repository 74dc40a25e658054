"""Pictures in messages: taken, sent in the engine's shape, kept, shown; and refused in words where it does not see."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_driver import PICTURE, WINDOW, Reopen, Room, Script, pictures_in, text_of
from desk_driver import expect, until, within
from PySide6.QtCore import QEvent, QMimeData, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from app.widgets.chat.picture_row import PictureRow
from app.widgets.chat.picture_window import PictureWindow


def drawn(path: Path, color: str = "#3366cc", size: tuple[int, int] = (60, 40)) -> Path:
    """A picture of one colour in a file of the kind that its name says."""
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    image.fill(QColor(color))
    assert image.save(str(path))
    return path


def given(*paths: Path) -> QMimeData:
    """What is dropped."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


@pytest.fixture
async def seeing(rooms: Reopen) -> Room:
    """A room whose engine sees."""
    room = await rooms(Script(sees=True))
    await until(lambda: room.chat.sight.value.sees == "yes")
    return room


async def blinded(rooms: Reopen, room: Room, sees: bool | None = False) -> Room:
    """After a restart with an engine that does not see."""
    room.script.sees = sees
    again = await rooms()
    await until(lambda: again.chat.sight.value.why)
    return again


async def attached(room: Room, *paths: Path) -> None:
    """Drops files on the composer and waits until they are in the draft."""
    count = len(room.chat.pictures) + len(paths)
    room.page.composer.text.insertFromMimeData(given(*paths))
    await until(lambda: len(room.chat.pictures) == count)


def sent(room: Room) -> list[tuple[str, list[bytes]]]:
    """Text and pictures of each question in the last request."""
    messages = room.bodies()[-1]["messages"]
    return [(text_of(message), pictures_in(message)) for message in messages if message["role"] == "user"]


def chip_names(room: Room) -> list[str]:
    return [chip.tile.picture.name for chip in room.page.composer.pictures.chips]


def row(room: Room, place: int) -> PictureRow:
    found = room.page.transcript.messages[place].findChild(PictureRow)
    assert found is not None
    return found


async def test_pictures_come_by_drop_paste_and_button_and_are_sent_before_the_text(
    seeing: Room, tmp_path: Path
) -> None:
    composer = seeing.page.composer
    png, jpeg = drawn(tmp_path / "cat.png"), drawn(tmp_path / "höchst sonderbar.jpg", "#aa2211")
    await attached(seeing, png, jpeg)
    pasted = QMimeData()
    image = QImage(20, 10, QImage.Format.Format_ARGB32)
    image.fill(QColor(0, 0, 0, 0))
    pasted.setImageData(image)
    pasted.setUrls([QUrl("https://example.org/remote.png")])  # as a browser gives it: the address is not loaded
    composer.text.insertFromMimeData(pasted)
    await until(lambda: len(seeing.chat.pictures) == 3)
    attach = seeing.page.findChild(QToolButton, "composer.attach")
    assert attach is not None
    assert "picture" in attach.accessibleName()
    attach.click()
    dialog = seeing.page.findChild(QFileDialog, "chat.files")
    assert dialog is not None
    assert "*.webp" in dialog.nameFilters()[1]
    dialog.filesSelected.emit([str(drawn(tmp_path / "four.webp", "#00ff00"))])
    dialog.close()
    await until(lambda: len(seeing.chat.pictures) == 4)
    assert chip_names(seeing) == ["cat.png", "höchst sonderbar.jpg", "pasted.png", "four.webp"]
    composer.put("What is this?")
    await seeing.ended(composer.text.submitted.emit)
    ((text, pictures),) = sent(seeing)
    assert text == "What is this?"
    assert pictures[:2] == [png.read_bytes(), jpeg.read_bytes()]  # byte for byte
    assert len(pictures) == 4
    assert composer.pictures.isHidden()
    assert seeing.chat.pictures == ()
    tiles = row(seeing, 0).tiles
    assert [tile.picture.name for tile in tiles] == ["cat.png", "höchst sonderbar.jpg", "pasted.png", "four.webp"]
    await until(lambda: all(tile._image is not None for tile in tiles))
    assert tiles[0].accessibleName() == "Picture cat.png"


async def test_a_picture_alone_is_a_question(seeing: Room, tmp_path: Path, qtbot: QtBot) -> None:
    await attached(seeing, drawn(tmp_path / "cat.png"))
    send = seeing.page.composer.send
    assert send.isEnabled()
    await seeing.ended(send.click)
    assert [(text, len(pictures)) for text, pictures in sent(seeing)] == [("", 1)]
    assert seeing.chat.store.conversations()[0].title == "cat.png"
    qtbot.keyClick(seeing.page.composer.text, Qt.Key.Key_Up)
    assert seeing.page.composer.text.toPlainText() == ""  # nothing was written that could come back
    seeing.page.composer.put("And its colour?")
    await seeing.ended(seeing.page.composer.text.submitted.emit)
    assert [(text, len(pictures)) for text, pictures in sent(seeing)] == [("", 1), ("And its colour?", 0)]


async def test_drafts_keep_their_pictures_by_conversation_and_over_a_restart(
    seeing: Room, rooms: Reopen, tmp_path: Path
) -> None:
    await seeing.ask("first")
    first = seeing.chat.current
    await attached(seeing, drawn(tmp_path / "of first.png"))
    seeing.chat.open(None)
    assert chip_names(seeing) == []
    await attached(seeing, drawn(tmp_path / "of a new one.png", "#111111"))
    seeing.chat.open(first)
    assert chip_names(seeing) == ["of first.png"]
    again = await rooms()
    assert again.chat.current == first
    assert chip_names(again) == ["of first.png"]
    again.chat.open(None)
    assert chip_names(again) == ["of a new one.png"]
    await until(lambda: again.chat.sight.value.sees == "yes")
    again.page.composer.put("now")
    await again.ended(again.page.composer.text.submitted.emit)
    again.chat.open(None)
    assert chip_names(again) == []  # it went with its question
    again.chat.open(first)
    assert chip_names(again) == ["of first.png"]


async def test_what_is_read_goes_to_the_conversation_that_was_open(rooms: Reopen, tmp_path: Path) -> None:
    known = asyncio.Event()  # whether the engine sees
    room = await rooms(Script(sees=True, hold_render=known))
    composer = room.page.composer
    await room.chat.new_conversation()
    composer.text.insertFromMimeData(given(drawn(tmp_path / "late.png")))
    reading = room.page.findChild(QLabel, "composer.reading")
    assert reading is not None
    assert reading.text() == "Reading a file …"
    composer.put("with the picture")
    assert not composer.send.isEnabled()
    composer.text.submitted.emit()
    hint = room.page.findChild(QLabel, "chat.hint")
    assert hint is not None
    assert "still being read" in hint.text()
    assert room.bodies() == []
    other = room.chat.store.create("another")
    room.chat.open(other)
    assert composer.pictures.isHidden()  # nothing is read for this one
    known.set()
    await until(lambda: room.chat.store.draft_pictures(None))
    assert room.chat.pictures == ()
    room.chat.open(None)
    assert chip_names(room) == ["late.png"]
    assert composer.text.toPlainText() == "with the picture"
    assert composer.send.isEnabled()


async def test_chips_are_worked_by_keys_alone(seeing: Room, tmp_path: Path, qtbot: QtBot) -> None:
    await attached(seeing, *[drawn(tmp_path / f"{name}.png", f"#{name}{name}{name}") for name in ("11", "22", "33")])
    composer = seeing.page.composer
    tile = composer.pictures.chips[1].tile
    tile.setFocus()
    assert "22.png; 60 × 40" in tile.accessibleName()
    qtbot.keyClick(tile, Qt.Key.Key_Return)
    window = seeing.page.findChild(PictureWindow)
    assert window is not None
    assert window.windowTitle() == "22.png"
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert window.windowTitle() == "33.png"
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert window.windowTitle() == "11.png"
    await until(lambda: window._canvas.image is not None)
    assert window._canvas.image is not None
    assert window._canvas.image.pixelColor(5, 5) == QColor("#111111")
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.keyClick(tile, Qt.Key.Key_Delete)
    await until(lambda: chip_names(seeing) == ["11.png", "33.png"])
    close = composer.pictures.chips[0].close_button
    assert close.accessibleName() == "Take out the picture 11.png"
    close.setFocus()
    qtbot.keyClick(close, Qt.Key.Key_Space)
    await until(lambda: chip_names(seeing) == ["33.png"])
    assert seeing.page.focusWidget() is composer.pictures.chips[0].tile
    qtbot.keyClick(composer.pictures.chips[0].tile, Qt.Key.Key_Backspace)
    await until(lambda: chip_names(seeing) == [])
    assert seeing.page.focusWidget() is composer.text
    assert seeing.chat.store.draft_pictures(seeing.chat.current) == ()


async def test_several_chips_taken_out_at_once_are_all_gone(seeing: Room, tmp_path: Path) -> None:
    await attached(seeing, *[drawn(tmp_path / f"{name}.png", f"#{name}{name}{name}") for name in ("11", "22", "33")])
    chips = seeing.page.composer.pictures.chips
    chips[0].removed.emit()
    chips[1].removed.emit()  # before the first has gone
    chips[1].removed.emit()
    await until(lambda: chip_names(seeing) == ["33.png"])


@pytest.mark.parametrize("first", [True, False], ids=["a new conversation", "one that is there"])
async def test_a_picture_that_is_taken_out_right_before_sending_is_neither_sent_nor_kept(
    seeing: Room, tmp_path: Path, *, first: bool
) -> None:
    if not first:
        await seeing.ask("hello")
    await attached(seeing, *[drawn(tmp_path / f"{name}.png", f"#{name}{name}{name}") for name in ("11", "22")])
    seeing.page.composer.pictures.chips[0].removed.emit()
    assert chip_names(seeing) == ["22.png"]  # at once
    await seeing.ask("q")
    assert [picture.name for message in seeing.path() for picture in message.pictures] == ["22.png"]
    for conversation in (None, seeing.chat.current):
        assert seeing.chat.store.draft_pictures(conversation) == ()
    assert chip_names(seeing) == []


async def test_a_picture_that_arrives_while_another_leaves_and_the_question_goes_keeps_the_order(
    seeing: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await attached(seeing, *[drawn(tmp_path / f"{name}.png", f"#{name}{name}{name}") for name in ("11", "22")])
    store, begun, may_end = seeing.chat.store, threading.Event(), threading.Event()
    write = store.set_draft_pictures

    def held(conversation: int | None, pictures: Sequence[Any]) -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            may_end.wait()
        write(conversation, pictures)

    monkeypatch.setattr(store, "set_draft_pictures", held)
    seeing.room.pictures.take([drawn(tmp_path / "33.png", "#333333")])
    await until(begun.is_set)  # with both of the others in its hands
    seeing.page.composer.pictures.chips[0].removed.emit()
    finished = expect(seeing.chat.finished.connect)
    assert seeing.chat.send("q")
    may_end.set()
    await within(finished)
    await until(lambda: not seeing.chat.answering)
    assert [picture.name for message in seeing.path() for picture in message.pictures] == ["22.png"]
    assert store.draft_pictures(None) == ()
    await until(lambda: chip_names(seeing) == ["33.png"])  # too late for this question, so it waits for the next
    assert [picture.name for picture in store.draft_pictures(seeing.chat.current)] == ["33.png"]


async def test_files_may_be_dropped_anywhere_on_the_page(seeing: Room, tmp_path: Path) -> None:
    await seeing.ask("hello")
    page = seeing.page

    def drop(data: QMimeData, kind: QEvent.Type) -> bool:
        where, modifiers = QPointF(400, 80), Qt.KeyboardModifier.NoModifier
        event = QDropEvent(where, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, modifiers, kind)
        event.ignore()
        QApplication.sendEvent(page, event)
        return event.isAccepted()

    data = given(drawn(tmp_path / "cat.png"))
    assert drop(data, QEvent.Type.DragEnter)
    assert drop(data, QEvent.Type.Drop)
    await until(lambda: chip_names(seeing) == ["cat.png"])
    words = QMimeData()
    words.setText("only words")
    assert not drop(words, QEvent.Type.DragEnter)


async def test_editing_a_question_leaves_what_is_being_written(seeing: Room, rooms: Reopen, tmp_path: Path) -> None:
    await seeing.ask("first")
    question = seeing.path()[0].id
    await attached(seeing, drawn(tmp_path / "cat.png"))
    seeing.page.composer.put("half a thought")
    await seeing.ended(lambda: seeing.chat.edit(question, "first, otherwise"))
    assert sent(seeing) == [("first, otherwise", [])]
    assert seeing.page.composer.text.toPlainText() == "half a thought"
    assert chip_names(seeing) == ["cat.png"]
    again = await rooms()
    assert again.page.composer.text.toPlainText() == "half a thought"
    assert chip_names(again) == ["cat.png"]


async def test_a_picture_of_a_message_opens_in_our_own_window(seeing: Room, tmp_path: Path, qtbot: QtBot) -> None:
    await attached(seeing, drawn(tmp_path / "cat.png"))
    await seeing.ask("look")
    tile = row(seeing, 0).tiles[0]
    tile.setFocus()
    qtbot.keyClick(tile, Qt.Key.Key_Return)
    window = seeing.page.findChild(PictureWindow)
    assert window is not None
    assert window.isVisible()
    await until(lambda: window._canvas.image is not None)
    assert not any(button.isVisible() for button in (window._back, window._on))
    window.close()


async def test_editing_regenerating_and_branching_keep_the_pictures(seeing: Room, tmp_path: Path) -> None:
    cat = drawn(tmp_path / "cat.png")
    await attached(seeing, cat)
    answer = await seeing.ask("What is this?")
    await seeing.ended(lambda: seeing.chat.answer_again(answer.id))
    assert sent(seeing) == [("What is this?", [cat.read_bytes()])]
    view = seeing.page.transcript.messages[0]
    view.begin_edit()
    editor = view.findChild(QPlainTextEdit, "message.editor.text")
    ask = view.findChild(QAbstractButton, "message.editor.ask")
    assert editor is not None
    assert ask is not None
    assert row(seeing, 0).isVisible()  # one sees what is asked about
    editor.setPlainText("")
    await seeing.ended(ask.click)
    assert sent(seeing) == [("", [cat.read_bytes()])]
    assert [message.versions for message in seeing.path()] == [2, 1]
    assert row(seeing, 0).tiles[0].picture.name == "cat.png"
    seeing.chat.switch_version(seeing.path()[0].id, -1)
    assert seeing.texts()[0] == "What is this?"
    assert len(seeing.path()[0].pictures) == 1


async def test_where_the_engine_does_not_see_a_picture_is_refused_and_the_text_stays(
    room: Room, tmp_path: Path
) -> None:
    await until(lambda: room.chat.sight.value.why)
    composer = room.page.composer
    composer.put("half a thought")
    text = composer.text
    text.insertFromMimeData(given(drawn(tmp_path / "cat.png")))
    await until(lambda: room.notices)
    assert "cat.png was not taken" in room.notices[-1].text
    assert "this model takes text only" in room.notices[-1].text
    assert "\n" not in room.notices[-1].text
    assert text.toPlainText() == "half a thought"
    assert composer.pictures.isHidden()
    assert room.chat.store.draft_pictures(None) == ()
    attach = room.page.findChild(QToolButton, "composer.attach")
    assert attach is not None
    assert attach.accessibleName() == "Insert a text file"
    attach.click()
    dialog = room.page.findChild(QFileDialog, "chat.files")
    assert dialog is not None
    assert not any("*.png" in each for each in dialog.nameFilters())
    dialog.close()


def way(room: Room, name: str) -> QAbstractButton:
    found = room.page.overflow.findChild(QAbstractButton, f"overflow.{name}")
    assert found is not None
    return found


async def test_a_conversation_with_pictures_is_continued_without_them_only_when_the_user_says_so(
    seeing: Room, rooms: Reopen, tmp_path: Path
) -> None:
    cat = drawn(tmp_path / "cat.png")
    await attached(seeing, cat)
    await seeing.ask("What is this?")
    room = await blinded(rooms, seeing)
    count = len(room.bodies())
    asked = expect(room.chat.unseen.connect)
    room.page.composer.put("And now?")
    room.page.composer.text.submitted.emit()
    (unseen,) = await within(asked)
    assert (unseen.count, unseen.in_question) == (1, False)
    await until(lambda: not room.chat.answering)
    card = room.page.overflow
    assert card.isVisible()
    assert "this model takes text only" in card.accessibleName()
    assert [name for name in ("drop", "summarise", "branch", "unseen") if way(room, name).isVisible()] == ["unseen"]
    way(room, "cancel").click()
    assert len(room.bodies()) == count
    assert room.page.composer.text.toPlainText() == "And now?"
    room.page.composer.text.submitted.emit()
    await until(lambda: card.isVisible() and not room.chat.answering)
    await room.ended(way(room, "unseen").click)
    words = [text for text, pictures in sent(room) if not pictures]
    assert words == ["[The picture cat.png was here. You cannot see it.]\n\nWhat is this?", "And now?"]
    await room.ask("Again?")  # it was said once
    assert len(room.path()) == 6
    assert len(room.path()[0].pictures) == 1  # the conversation keeps it
    room.script.sees = True
    again = await rooms()
    await until(lambda: again.chat.sight.value.sees == "yes")
    await again.ask("And with open eyes?")
    assert sent(again)[0] == ("What is this?", [cat.read_bytes()])


async def test_a_draft_with_pictures_meets_an_engine_that_does_not_see(
    seeing: Room, rooms: Reopen, tmp_path: Path
) -> None:
    await attached(seeing, drawn(tmp_path / "cat.png"))
    room = await blinded(rooms, seeing)
    assert chip_names(room) == ["cat.png"]
    asked = expect(room.chat.unseen.connect)
    room.page.composer.text.submitted.emit()
    (unseen,) = await within(asked)
    assert unseen.in_question
    await until(lambda: not room.chat.answering)
    assert chip_names(room) == ["cat.png"]
    await room.ended(way(room, "unseen").click)
    assert sent(room) == [("[The picture cat.png was here. You cannot see it.]", [])]
    assert chip_names(room) == []


async def test_an_engine_that_cannot_tell_is_shown_the_picture_and_answers_for_itself(
    seeing: Room, rooms: Reopen, tmp_path: Path
) -> None:
    room = await blinded(rooms, seeing, None)
    assert room.chat.sight.value.sees == "unknown"
    await attached(room, drawn(tmp_path / "cat.png"))
    answer = await room.ask("What is this?")
    assert answer.state == "failed"
    assert "this model takes text only" in answer.error


async def test_the_meter_and_the_window_count_pictures(seeing: Room, tmp_path: Path) -> None:
    meter = seeing.room.meter
    counted = expect(meter.changed.connect, lambda use: use.used == PICTURE)
    await attached(seeing, drawn(tmp_path / "one.png"))
    await within(counted)
    counted = expect(meter.changed.connect, lambda use: use.used == 3 + 1 + PICTURE + 3 + 2)
    await seeing.ask("look")
    await within(counted)
    fits = WINDOW // PICTURE
    await attached(seeing, *[drawn(tmp_path / f"{place}.png", f"#0000{place:02x}") for place in range(fits)])
    asked = expect(seeing.chat.overflow.connect)
    seeing.page.composer.text.submitted.emit()
    (overflow,) = await within(asked)
    assert overflow.needed == 3 + 1 + PICTURE + 3 + 2 + 3 + fits * PICTURE
    assert not overflow.helps
    await until(lambda: not seeing.chat.answering)


@pytest.mark.qt_log_ignore("imageio", extend=True)
@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0\x90\x91h6", "cannot be decoded"),
        ("bomb.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0\0\0\0\0", "pixels"),
        ("drawing.png", b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>", "PNG"),
        ("scan.tiff", b"II*\0" + bytes(40), "PNG"),
    ],
)
async def test_what_cannot_be_sent_is_refused_with_why(
    seeing: Room, tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    good = drawn(tmp_path / "good.png")
    seeing.page.composer.text.insertFromMimeData(given(path, good))
    await until(lambda: seeing.notices and chip_names(seeing) == ["good.png"])  # the others are taken all the same
    notice = seeing.notices[-1]
    assert name in notice.text
    assert why in f"{notice.text} {notice.remedy}"
    assert notice.remedy


async def test_there_is_a_most_of_pictures(seeing: Room, tmp_path: Path) -> None:
    files: Sequence[Path] = [drawn(tmp_path / f"{place}.png", f"#0000{place:02x}") for place in range(17)]
    seeing.page.composer.text.insertFromMimeData(given(*files))
    await until(lambda: seeing.notices)
    assert "at most 16" in seeing.notices[-1].text
    await until(lambda: len(seeing.chat.pictures) == 16)
    assert not seeing.page.composer.pictures.horizontalScrollBar().isHidden()


async def test_the_clipboard_gives_its_bytes_as_they_are(seeing: Room, tmp_path: Path) -> None:
    data = drawn(tmp_path / "x.jpg").read_bytes()
    copied = QMimeData()
    copied.setData("image/jpeg", data)
    QGuiApplication.clipboard().setMimeData(copied)
    seeing.page.composer.text.paste()
    await until(lambda: len(seeing.chat.pictures) == 1)
    await seeing.ask("what")
    assert sent(seeing) == [("what", [data])]
    QGuiApplication.clipboard().clear()
