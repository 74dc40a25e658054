"""Puts the chat together: the file of the conversations, its presenters, and the page that shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.models.notice import Notice
from app.notify import NotificationSink
from app.pages.chat import ChatPage
from app.presenters.chat import ChatPresenter
from app.presenters.chat_cards import ChatCards
from app.presenters.chat_find import ChatFind
from app.presenters.chat_library import ChatLibrary
from app.presenters.chat_meter import ChatMeter
from app.presenters.chat_pictures import ChatPictures
from app.presenters.engine import EnginePresenter
from app.presenters.settings import SettingsPresenter
from app.tasks import cancel_all, spawn
from app.widgets.chat.canvas_export import Replay, write_replay
from app.widgets.chat.picture_window import PictureWindow
from engine import paths
from engine.domain.conversation import ConversationInfo, StoredMessage
from engine.domain.picture import Sight, StoredPicture
from engine.errors import EngineError, InputError
from engine.store.chats import ChatStore

FALLBACK = "chats-new.sqlite"  # in use while the real file cannot be opened


class ChatRoom(QObject):
    """The parts of the chat. ``close_down`` ends its answers and closes its file."""

    def __init__(
        self,
        page: ChatPage,
        engine: EnginePresenter,
        settings: SettingsPresenter,
        notifier: NotificationSink,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._page = page
        self._settings = settings
        self._notifier = notifier
        self.chat = ChatPresenter(engine, self._opened_store(), self)
        self.library = ChatLibrary(self.chat, self)
        self.meter = ChatMeter(self.chat, self)
        self.pictures = ChatPictures(self.chat, self)
        self.find = ChatFind(self.chat, self)
        self.cards = ChatCards(engine, page.isVisible, self)
        page.attach(self.chat)
        page.attach_find(self.find)
        self.find.failed.connect(notifier.report)
        self._join_list()
        self._join_composer()
        self._join_pictures()
        self._join_figures()
        self.chat.unsaved.connect(lambda error: notifier.report(error, self.tr("The draft could not be kept")))
        self.chat.begin()
        self.library.refresh()
        page.options.set_prompts(self.chat.store.prompts())
        page.set_enter_sends(settings.value.enter_sends)

    async def close_down(self) -> None:
        """Ends every answer and every search, and closes the file."""
        await cancel_all(self)
        await self.library.close_down()
        await self.find.close_down()
        await self.pictures.close_down()
        await self.cards.close_down()
        await self.meter.close_down()
        await self.chat.close_down()

    def _opened_store(self) -> ChatStore:
        """The conversations; a file of its own beside a damaged one, which is left as it is."""
        path = paths.chats_file()
        try:
            return ChatStore(path)
        except EngineError as error:
            self._notifier.report(error, self.tr("The conversations cannot be opened; new ones go to another file"))
            return ChatStore(path.with_name(FALLBACK))

    def _join_list(self) -> None:
        chats, library = self._page.chats, self.library
        self._page.new_requested.connect(lambda: self.chat.open(None))
        chats.opened.connect(self._open)
        chats.hit_opened.connect(lambda number, message: self.chat.open(number, message if message >= 0 else None))
        chats.searched.connect(library.search)
        chats.renamed.connect(library.rename)
        chats.pinned.connect(library.set_pinned)
        chats.removed.connect(library.delete)
        chats.exported.connect(self._ask_export)
        chats.import_wanted.connect(self._ask_import)
        library.listed.connect(chats.set_conversations)
        library.found.connect(chats.set_hits)
        library.deleted.connect(self._offer_undo)
        library.told.connect(self._notifier.success)
        library.failed.connect(self._notifier.report)

    def _join_composer(self) -> None:
        page, composer = self._page, self._page.composer
        composer.attach_wanted.connect(self._ask_files)
        composer.files_given.connect(self._take_files)
        composer.picture_given.connect(lambda given: self.pictures.take([given]))
        composer.changed.connect(lambda _text: self.meter.touch())
        page.options.changed.connect(lambda _options: self.meter.forget())
        page.options.enter_chosen.connect(lambda enter: self._settings.update(enter_sends=enter))
        page.options.prompt_saved.connect(self._save_prompt)
        page.options.prompt_deleted.connect(self._delete_prompt)
        self._settings.changed.connect(lambda: page.set_enter_sends(self._settings.value.enter_sends))

    def _join_pictures(self) -> None:
        page, composer, pictures = self._page, self._page.composer, self.pictures
        pictures.text_given.connect(composer.insert)
        pictures.waiting_changed.connect(composer.set_reading)
        pictures.failed.connect(self._notifier.report)
        self.chat.pictures_changed.connect(lambda: composer.set_pictures(self.chat.pictures, pictures.before))
        self.chat.sight.changed.connect(self._on_sight)
        composer.pictures.removed.connect(pictures.remove)
        composer.pictures.opened.connect(lambda place: self._open_pictures(self.chat.pictures, place))
        page.transcript.pictures_opened.connect(self._open_pictures)
        for wanted in (composer.pictures.wanted, page.transcript.picture_wanted):
            wanted.connect(lambda tile: pictures.thumbnail(tile.picture, tile, tile.set_image))
        self._on_sight(self.chat.sight.value)

    def _on_sight(self, sight: Sight) -> None:
        tip = self.tr("Insert a text file") if sight.sees == "no" else self.tr("Insert a text file or a picture")
        self._page.composer.set_attach_tip(tip)

    def _open_pictures(self, pictures: tuple[StoredPicture, ...], place: int) -> None:
        window = PictureWindow(pictures, place, self._page)
        window.wanted.connect(lambda picture: self.pictures.large(picture, window, partial(window.set_image, picture)))
        window.ask()

    def _join_figures(self) -> None:
        self.meter.changed.connect(self._page.meter.set_use)
        self.cards.changed.connect(self._page.figures.set_cards)
        self._page.canvas.export_wanted.connect(self._ask_replay)
        self.chat.finished.connect(self._on_finished)
        self.chat.shown.connect(lambda _messages, _later: self._show_totals())

    def _open(self, conversation: int) -> None:
        if conversation != self.chat.current:
            self.chat.open(conversation)

    def _on_finished(self, message: StoredMessage) -> None:
        self._page.figures.add_answer(message.figures)
        self._show_totals()

    def _show_totals(self) -> None:
        if self.chat.current is not None:
            self._page.figures.set_totals(*self.chat.store.totals(self.chat.current))
        else:
            self._page.figures.clear()

    def _offer_undo(self, info: ConversationInfo) -> None:
        self._notifier.show(
            Notice(
                "info",
                # Isolated, so that a title in Arabic or Hebrew does not turn the sentence around.
                self.tr("Deleted: {title}").format(title=f"\u2068{info.title or self.tr('Untitled')}\u2069"),
                topic=f"deleted-{info.id}",
                action=self.tr("Undo"),
                run=lambda: self.library.restore(info.id),
            )
        )

    def _save_prompt(self, name: str, text: str) -> None:
        self.chat.store.save_prompt(name, text)
        self._page.options.set_prompts(self.chat.store.prompts())

    def _delete_prompt(self, name: str) -> None:
        self.chat.store.delete_prompt(name)
        self._page.options.set_prompts(self.chat.store.prompts())

    def _take_files(self, names: list[str]) -> None:
        self.pictures.take([Path(name) for name in names])

    def _ask_files(self) -> None:
        """Pictures are offered where the engine may see them; one that is chosen all the same is refused with why."""
        if self.chat.sight.value.sees == "no":
            title, filters = self.tr("Insert text files"), [self.tr("Text files (*)")]
        else:
            title = self.tr("Insert text files or pictures")
            filters = [
                self.tr("Text files and pictures (*)"),
                self.tr("Pictures (*.png *.jpg *.jpeg *.webp *.gif)"),
            ]
        dialog = _file_dialog(self._page, title, self._take_files)
        dialog.setNameFilters(filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.open()

    def _ask_import(self) -> None:
        def take(names: list[str]) -> None:
            for name in names:
                self.library.import_file(Path(name))

        dialog = _file_dialog(self._page, self.tr("Import conversations"), take)
        dialog.setNameFilter(self.tr("Exported conversations (*.json)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.open()

    def _ask_replay(self) -> None:
        replay = self._page.canvas.replay()

        def take(names: list[str]) -> None:
            path = Path(names[0])
            if path.suffix.lower() not in (".gif", ".png"):
                path = path.with_name(path.name + (".png" if dialog.selectedNameFilter() == filters[1] else ".gif"))
            spawn(self, self._write_replay(replay, path), "export replay")

        filters = [self.tr("Film (*.gif)"), self.tr("Strip of steps (*.png)")]
        dialog = _file_dialog(self._page, self.tr("Save the replay"), take)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(filters)
        dialog.selectFile("canvas")
        dialog.open()

    async def _write_replay(self, replay: Replay, path: Path) -> None:
        self._page.show_hint(self.tr("Writing {name} …").format(name=path.name))
        try:
            shown = await asyncio.to_thread(write_replay, replay, path)
        except OSError as error:
            self._notifier.report(
                InputError("canvas.export", "{path}: {reason}", path=path, reason=error.strerror or error),
                self.tr("The replay was not saved"),
            )
        else:
            words = self.tr("Saved {path}: {shown} of {steps} steps")
            self._notifier.success(words.format(path=path, shown=shown, steps=len(replay.steps)))
        finally:
            self._page.show_hint("")

    def _ask_export(self, conversation: int) -> None:
        def take(names: list[str]) -> None:
            markdown = dialog.selectedNameFilter() == filters[1]
            path = Path(names[0])
            if not path.suffix:
                path = path.with_suffix(".md" if markdown else ".json")
            self.library.export([conversation], path)

        filters = [self.tr("JSON, to be imported again (*.json)"), self.tr("Markdown, to be read (*.md)")]
        dialog = _file_dialog(self._page, self.tr("Export the conversation"), take)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(filters)
        title = self.chat.store.conversation(conversation).info.title
        dialog.selectFile("".join(char if char.isalnum() or char in " -_" else "_" for char in title)[:60].strip())
        dialog.open()


def _file_dialog(parent: QWidget, title: str, take: Callable[[list[str]], None]) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    dialog.setObjectName("chat.files")
    dialog.filesSelected.connect(take)
    dialog.finished.connect(dialog.deleteLater)
    return dialog
