"""The composer: drafts that are kept, history, files, the choice of the key that sends, saved prompts."""

from __future__ import annotations

from pathlib import Path

from chat_driver import Reopen, Room
from desk_driver import until
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QComboBox, QInputDialog, QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot


async def test_drafts_are_kept_by_conversation_and_over_a_restart(room: Room, rooms: Reopen) -> None:
    composer = room.page.composer
    composer.put("for a new one")
    await room.ask("q")
    number = room.chat.current
    assert composer.text.toPlainText() == ""
    composer.put("for the first")
    room.chat.open(None)
    assert composer.text.toPlainText() == ""
    composer.put("for another new one")
    room.chat.open(number)
    assert composer.text.toPlainText() == "for the first"
    again = await rooms()
    assert again.page.composer.text.toPlainText() == "for the first"
    again.chat.open(None)
    assert again.page.composer.text.toPlainText() == "for another new one"


async def test_a_draft_is_on_disk_before_anything_else_happens(room: Room) -> None:
    room.page.composer.put("half a thought")
    await until(lambda: room.chat.store.note("draft") == "half a thought")
    await room.ask("q")
    room.page.composer.put("another")
    await until(lambda: room.chat.store.conversation(room.chat.current or 0).draft == "another")


async def test_up_goes_back_through_what_was_written(room: Room, qtbot: QtBot) -> None:
    text = room.page.composer.text
    await room.ask("first")
    await room.ask("second")
    for key, shown in (
        (Qt.Key.Key_Up, "second"),
        (Qt.Key.Key_Up, "first"),
        (Qt.Key.Key_Up, "first"),
        (Qt.Key.Key_Down, "second"),
        (Qt.Key.Key_Down, ""),
    ):
        qtbot.keyClick(text, key)
        assert text.toPlainText() == shown
    qtbot.keyClick(text, Qt.Key.Key_Up)
    qtbot.keyClicks(text, "!")
    qtbot.keyClick(text, Qt.Key.Key_Up)  # it is a new text now
    assert text.toPlainText() == "second!"


async def test_enter_may_begin_a_new_line_instead(room: Room, rooms: Reopen, qtbot: QtBot) -> None:
    room.page.options.enter.setChecked(False)
    text = room.page.composer.text
    qtbot.keyClicks(text, "one")
    qtbot.keyClick(text, Qt.Key.Key_Return)
    qtbot.keyClicks(text, "two")
    assert text.toPlainText() == "one\ntwo"
    await room.ended(lambda: qtbot.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier))
    assert room.texts()[0] == "one\ntwo"
    again = await rooms()  # a setting
    assert not again.page.composer.text.enter_sends
    hint = again.page.findChild(QLabel, "chat.hint")
    assert hint is not None
    assert hint.text().startswith("Ctrl+Enter sends")


async def test_files_are_put_in_as_text_and_pictures_refused_with_the_reason(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Zeile eins\n", encoding="utf-8")
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG")
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(path)), QUrl.fromLocalFile(str(picture))])
    text = room.page.composer.text
    assert text.canInsertFromMimeData(dropped)
    text.insertFromMimeData(dropped)
    await until(lambda: room.notices)  # one after the other: the text is there already
    assert text.toPlainText() == "notes.txt:\n```txt\nZeile eins\n```\n"
    assert "cat.png was not taken" in room.notices[-1].text
    assert "no pictures" in room.notices[-1].text
    pasted = QMimeData()
    image = QImage(2, 2, QImage.Format.Format_RGB32)
    image.fill(0)
    pasted.setImageData(image)
    count = len(room.notices)
    text.insertFromMimeData(pasted)
    await until(lambda: len(room.notices) == count + 1)
    assert room.page.composer.pictures.isHidden()
    plain = QMimeData()
    plain.setText("just words")
    text.insertFromMimeData(plain)
    assert text.toPlainText().endswith("just words")


async def test_system_prompts_are_saved_used_and_deleted(room: Room, rooms: Reopen) -> None:
    options = room.page.options
    options.show()
    options.system.setPlainText("Be brief.")
    save = options.findChild(QPushButton, "chat.prompt.save")
    assert save is not None
    save.click()
    dialog = options.findChild(QInputDialog, "chat.prompt.name")
    assert dialog is not None
    dialog.setTextValue("short")
    dialog.accept()
    again = await rooms()
    saved = again.page.options.findChild(QComboBox, "chat.prompts")
    remove = again.page.options.findChild(QToolButton, "chat.prompt.delete")
    assert saved is not None
    assert remove is not None
    assert [saved.itemText(row) for row in range(saved.count())][1:] == ["short"]
    saved.setCurrentIndex(1)
    saved.activated.emit(1)
    assert again.chat.options.system == "Be brief."
    await until(remove.isEnabled)
    remove.click()
    assert saved.count() == 1
    assert again.chat.options.system == "Be brief."  # the conversation keeps its own
