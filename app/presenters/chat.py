"""The conversation that is open, and the answers on their way: one a conversation, each written ahead to disk.

An answer goes on when another conversation is opened; it is found there, finished or not, when one comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.canvas import CanvasSnapshot
from app.models.chat import Overflow, Unseen, WayOut
from app.presenters.chat_answer import AnswerRun
from app.presenters.chat_context import Fitting, summarise, summary_budget
from app.presenters.chat_count import Asked, PathCounter, path_of
from app.presenters.chat_open import DRAFT_NOTE, OpenConversation
from app.presenters.chat_request import Job, Request, path_as_stored, with_bytes
from app.presenters.chat_vocabulary import ServedVocabulary
from app.presenters.engine import EnginePresenter
from app.presenters.engine_sight import EngineSight
from app.tasks import cancel_all, spawn
from engine.client.http import EngineClient
from engine.domain.chat import Message
from engine.domain.conversation import StoredMessage, sent_messages
from engine.domain.picture import StoredPicture
from engine.errors import EngineError, EngineUnreachable, UserError
from engine.store.chats import ChatStore


class ChatPresenter(OpenConversation):
    """The open conversation and its answers.

    Signals, beside those of ``OpenConversation``:
        appended(list[StoredMessage]): a question was taken; it, and its answer, which begins.
        text_changed(int, str, str): text and thought of a streaming answer so far.
        message_changed(StoredMessage): an answer ended or goes on.
        finished(StoredMessage): an answer ended, here or in another conversation.
        canvas_changed(CanvasSnapshot)
        working(str): what is done before the answer begins; empty when nothing is.
        overflow(Overflow): the question does not fit; ``resolve`` or ``dismiss`` follows.
        unseen(Unseen): there are pictures and the engine sees none; ``resolve`` or ``dismiss`` follows.
        refused(str): it was not taken, and why. Its text is still the caller's.
        answering_changed(bool): of the open conversation.
    """

    appended = Signal(list)
    text_changed = Signal(int, str, str)
    message_changed = Signal(object)
    finished = Signal(object)
    canvas_changed = Signal(object)
    working = Signal(str)
    overflow = Signal(object)
    unseen = Signal(object)
    refused = Signal(str)
    answering_changed = Signal(bool)

    def __init__(self, engine: EnginePresenter, store: ChatStore, parent: QObject | None = None) -> None:
        super().__init__(store, parent)
        self.engine = engine
        engine.ready.connect(lambda _client: self._agreed.clear())
        self._jobs: list[Job] = []
        self._pending: Request | None = None
        self.sight = EngineSight(engine, self)
        self._vocabulary = ServedVocabulary(engine)
        self._agreed: set[int] = set()  # conversations that are continued without their pictures
        self._counter: PathCounter | None = None

    def open(self, conversation: int | None, message: int | None = None) -> None:
        super().open(conversation, message)
        self.answering_changed.emit(self.answering)

    @property
    def answering(self) -> bool:
        """Whether an answer of the open conversation is on its way."""
        return self._job_of(self.current) is not None

    def send(self, text: str) -> bool:
        """Asks, with the pictures of the draft; False with ``refused`` when it cannot be asked now. The text is the
        caller's until ``appended``."""
        if not text.strip() and not self.pictures:
            return False
        return self._start(Request("ask", self.tip, text.strip(), self.pictures, is_draft=True))

    def edit(self, question: int, text: str) -> bool:
        """Asks another version of a question, with its pictures; the old one and what followed it are kept."""
        old = self.store.message(question)
        if not text.strip() and not old.pictures:
            return False
        return self._start(Request("ask", old.parent, text.strip(), old.pictures))

    def answer_again(self, answer: int) -> bool:
        """Another answer to the same question; one at the end that has no text is replaced."""
        row = self.store.message(answer)
        if not row.text and answer == self.tip:
            return self._start(Request("continue", answer))
        return self._start(Request("again", row.parent))

    def go_on(self, answer: int) -> bool:
        """Lets an answer go on where it ended."""
        return self.store.message(answer).can_continue and self._start(Request("continue", answer))

    def resolve(self, way: WayOut) -> bool:
        """The user's choice after ``overflow``."""
        request, self._pending = self._pending, None
        if request is None:
            return False
        if way == "unseen":
            return self._start(replace(request, unseen=True))
        return self._start(request, way)

    def dismiss(self) -> None:
        """Nothing is asked after ``overflow``."""
        self._pending = None

    def counter(self, client: EngineClient) -> PathCounter:
        """What counts with this engine."""
        if self._counter is None or self._counter.client is not client:
            self._counter = PathCounter(client, lambda picture: asyncio.to_thread(self.store.picture, picture))
        return self._counter

    def stop(self) -> None:
        """Ends the answer of the open conversation in the engine; what has been committed stays."""
        job = self._job_of(self.current)
        if job is not None and job.task is not None:
            job.task.cancel()

    async def stop_conversation(self, conversation: int) -> None:
        """Ends the answer of any conversation, and waits for its end."""
        job = self._job_of(conversation)
        if job is not None and job.task is not None:
            job.task.cancel()
            await asyncio.gather(job.task, return_exceptions=True)

    def switch_version(self, message: int, by: int) -> None:
        """Shows the version before (-1) or after (+1) of a message."""
        if self.answering:
            self.refused.emit(self.tr("The answer is still arriving. Stop it with Esc, or wait for its end."))
            return
        versions = self.store.versions(message)
        place = versions.index(message) + by
        if self.current is not None and 0 <= place < len(versions):
            self.tip = self.store.show_version(self.current, versions[place])
            self.show_newest()
            self.changed.emit()

    def uncut(self, message: int) -> None:
        """Everything above is sent again."""
        self.store.cut(message, is_cut=False)
        self.show_newest()
        self.changed.emit()

    def why_not(self) -> str:
        """Why no question can be asked while the engine is not ready."""
        match self.engine.state.phase:
            case "starting":
                return self.tr(
                    "The engine is still starting. Your message stays here; send it when the engine is ready."
                )
            case "stopping":
                return self.tr("The engine is stopping. Start it on the Engine page.")
            case "failed" | "lost":
                return self.tr("The engine does not answer. Restart it on the Engine page.")
            case _:
                return self.tr("The engine is stopped. Start it on the Engine page.")

    async def close_down(self) -> None:
        """Stops every answer and closes the file."""
        self.save_draft()
        await self.sight.close_down()
        await cancel_all(self)
        self.store.close()

    # --- the way of a request -----------------------------------------------------------------------------------------

    def _start(self, request: Request, way: WayOut | None = None) -> bool:
        client = self.engine.client
        if self.answering:
            self.refused.emit(self.tr("The answer is still arriving. Stop it with Esc, or wait for its end."))
            return False
        if client is None or not self.engine.state.ready:
            self.refused.emit(self.why_not())
            return False
        job = Job(self.current)
        self._jobs.append(job)
        job.task = spawn(self, self._reported(job, self._perform(client, job, request, way)), "chat answer")
        job.task.add_done_callback(lambda _task: self._ended(job))
        self.answering_changed.emit(True)
        return True

    async def _reported(self, job: Job, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except EngineError as error:  # the disk, or an engine that went before the question was stored
            if self._is_shown(job):
                self.refused.emit(str(error))
            if isinstance(error, EngineUnreachable):
                spawn(self.engine, self.engine.check_now(), "engine check")

    async def _perform(self, client: EngineClient, job: Job, request: Request, way: WayOut | None) -> None:
        if way == "branch":
            request = self._alone(request)
        path = await path_of(self.store, request.last)
        pictures = request.pictures_with(path)
        sight = await self.sight.known() if pictures else self.sight.value
        if sight.sees == "no" and pictures and not request.unseen and job.conversation not in self._agreed:
            self._ask_unseen(job, request, Unseen(len(pictures), sight.why, bool(request.pictures)))
            return
        shown = None if sight.sees == "no" else await with_bytes(self.store, pictures)
        found = await self._fit(client, path, request, way, sees=shown is not None)
        summary, place = "", None
        if found is not None:
            overflow, place = found
            if way is None or not overflow.helps:
                self._ask_back(job, request, overflow)
                return
            if way == "summarise":
                self.working.emit(self.tr("Summarising what is left out …"))
                try:
                    summary = await summarise(client, path[: overflow.left_out], overflow.window)
                except UserError as error:
                    self._ask_back(job, request, replace(overflow, fault=error.message))
                    return
                finally:
                    self.working.emit("")
        async with self.draft_turn:  # a picture on its way into the draft is there, or comes after the question
            row = self._stored(job, request)
        if request.unseen and job.conversation is not None:
            self._agreed.add(job.conversation)
        cut_at: int | None = None
        if found is not None:
            cut_at = row.parent if place is None else path[place].id
            assert cut_at is not None
            self.store.cut(cut_at, summary=summary)
        self._show_begun(job, request, row, anew=found is not None)
        new = [row] if request.kind != "ask" or row.parent is None else [self.store.message(row.parent), row]
        sent = sent_messages(path_as_stored(path, new, cut_at, summary), self.options, shown)
        await self._stream(client, job, row, sent)

    def _ask_unseen(self, job: Job, request: Request, unseen: Unseen) -> None:
        if self._is_shown(job):
            self._pending = request
            self.unseen.emit(unseen)

    async def _fit(
        self, client: EngineClient, path: list[StoredMessage], request: Request, way: WayOut | None, *, sees: bool
    ) -> tuple[Overflow, int | None] | None:
        window = self.engine.state.context
        if not window:
            return None
        extra = summary_budget(window) if way == "summarise" else 0
        asked = Asked(request.text, request.pictures)
        fitting = Fitting(self.counter(client), path, asked, self.options, window, sees=sees, extra=extra)
        return await fitting.overflow()

    def _ask_back(self, job: Job, request: Request, overflow: Overflow) -> None:
        if self._is_shown(job):
            self._pending = request
            self.overflow.emit(overflow)

    def _alone(self, request: Request) -> Request:
        """The question as another version of the first one."""
        text, pictures = request.text, request.pictures
        if request.kind != "ask":
            assert request.last is not None
            message = self.store.message(request.last)
            if message.role == "assistant" and message.parent is not None:
                message = self.store.message(message.parent)
            text, pictures = message.text, message.pictures
        return replace(request, kind="ask", last=None, text=text, pictures=pictures)

    def _stored(self, job: Job, request: Request) -> StoredMessage:
        """The row of the answer; from here on everything is on disk."""
        author = self.tr("Toy model") if self.engine.state.is_toy else self.engine.state.model
        if request.kind == "continue":
            assert request.last is not None
            self.store.resume(request.last)
            return self.store.message(request.last)
        if request.kind == "again":
            assert request.last is not None
            assert job.conversation is not None
            return self.store.answer_again(job.conversation, request.last, model=author)
        shown, text, pictures = self._is_shown(job), request.text, request.pictures
        if job.conversation is not None:
            keep = None if request.is_draft else self._draft_of(job.conversation)
            late = self._late(job.conversation, request) if keep is None else keep[1]
            row = self.store.ask(job.conversation, request.last, text, model=author, pictures=pictures)
            if keep is not None:
                self.store.set_draft(job.conversation, keep[0])
            self.store.set_draft_pictures(job.conversation, late)
            return row
        late = self._late(None, request)
        job.conversation, row = self.store.ask_first(text, self.options, model=author, pictures=pictures)
        self.store.set_draft_pictures(job.conversation, late)
        if shown:
            self.current = job.conversation
        self.store.set_note(DRAFT_NOTE, "")
        self._remember_open()
        return row

    def _late(self, conversation: int | None, request: Request) -> tuple[StoredPicture, ...]:
        """Pictures that came into the draft after its question was sent: they belong to the next one."""
        there = self.store.draft_pictures(conversation)
        return tuple(picture for picture in there if picture not in request.pictures)

    def _draft_of(self, conversation: int) -> tuple[str, tuple[StoredPicture, ...]]:
        """What is being written while an older question is edited: the store takes every question for the draft."""
        if conversation == self.current:
            self.save_draft()
        return self.store.conversation(conversation).draft, self.store.draft_pictures(conversation)

    def _show_begun(self, job: Job, request: Request, row: StoredMessage, *, anew: bool) -> None:
        self.changed.emit()
        if not self._is_shown(job):
            return
        follows = request.kind == "ask" and request.last == self.tip and not anew
        if request.kind != "continue":
            self.tip = row.id
        if request.is_draft:
            self._draft_timer.stop()
            self._draft_changed = False
            self.draft = ""
            self.pictures_written(job.conversation)
        if follows:
            assert row.parent is not None
            self.appended.emit([self.store.message(row.parent), row])
        else:
            self.show_newest()
            if request.kind == "ask":
                self.appended.emit([])

    async def _stream(self, client: EngineClient, job: Job, row: StoredMessage, messages: list[Message]) -> None:
        job.run = AnswerRun(
            self.store,
            row,
            on_text=lambda run: self._if_shown(job, self.text_changed, run.row.id, run.text, run.thought),
            on_canvas=lambda _run, picture: self._on_canvas(job, picture),
        )
        try:
            await job.run.stream(client, messages, self.options, self.engine.live, self._vocabulary.get)
        finally:
            if job.run.failed:
                spawn(self.engine, self.engine.check_now(), "engine check")
            ended = self.store.message(row.id)
            self._if_shown(job, self.message_changed, ended)
            self.finished.emit(ended)
            self.changed.emit()

    def _ended(self, job: Job) -> None:
        shown = self._is_shown(job)
        self._jobs.remove(job)
        if shown:
            self.answering_changed.emit(self.answering)

    def _on_canvas(self, job: Job, picture: CanvasSnapshot) -> None:
        self._if_shown(job, self.canvas_changed, picture)

    def _if_shown(self, job: Job, signal: Any, *values: object) -> None:
        if self._is_shown(job):
            signal.emit(*values)

    def _is_shown(self, job: Job) -> bool:
        return job.conversation == self.current and job in self._jobs

    def _job_of(self, conversation: int | None) -> Job | None:
        return next((job for job in self._jobs if job.conversation == conversation), None)

    def _leave(self) -> None:
        """A question that is being looked at and belongs to no conversation yet goes back to being a draft."""
        self._pending = None
        job = self._job_of(None)
        if self.current is None and job is not None and job.task is not None:
            job.task.cancel()

    def _live(self, page: list[StoredMessage]) -> list[StoredMessage]:
        """A page with the newest text of an answer on its way, which is ahead of the disk."""
        job = self._job_of(self.current)
        run = job.run if job is not None else None
        if run is None:
            return page
        return [replace(each, text=run.text, thought=run.thought) if each.id == run.row.id else each for each in page]
