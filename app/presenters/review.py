"""Reviewing a run's answers in the window: the next one, what the reviewer says, and taking it back."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.tasks import cancel_all, spawn
from engine import paths
from engine.batch.review import Review, ReviewItem
from engine.domain.run import Label
from engine.errors import EngineError
from engine.store.run_browse import KEY_BASE, Browse, RunBrowser
from engine.store.runs import run_path


class ReviewPresenter(QObject):
    """One reviewer at one run. Each word is on disk before the next answer is shown.

    Attributes:
        author: stands beside every label.
        item: the answer on the screen, or None: none is left, or nothing is open.
        passed: how many were left for later.
        reviewed, total: answers that somebody has reviewed, and those that can be.
        changed: whether something was said since ``settled`` was called.

    Signals:
        shown(object): the next ``ReviewItem``, or None.
        failed(str, str): what went wrong and what to do.
    """

    shown = Signal(object)
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.author = user_name()
        self.item: ReviewItem | None = None
        self.reviewed, self.total = 0, 0
        self.changed = False
        self._review: Review | None = None
        self._passed: set[int] = set()
        self._path, self._question = Path(), ""
        self._busy = asyncio.Lock()

    @property
    def passed(self) -> int:
        return len(self._passed)

    def begin(self, run_id: str, question: str = "") -> None:
        """Show the least certain answer of a run; ``question``: only of this one."""
        spawn(self, self.load(run_id, question), "begin review")

    def say(self, value: str) -> None:
        """What is right for the answer on the screen; nothing while the last word is still being written."""
        self._do(lambda: self._say(value))

    def skip(self) -> None:
        """Leave the answer on the screen for later."""
        if self.item is not None and not self._busy.locked():
            self._passed.add(self.item.answer.row * KEY_BASE + self.item.answer.question)
            self._do(lambda: None)

    def take_up(self) -> None:
        """Show again what was left for later."""
        self._passed.clear()
        self._do(lambda: None)

    def undo(self) -> None:
        """Take back this reviewer's last word; its answer is shown again."""
        if self._review is not None and not self._busy.locked():
            spawn(self, self._undo(self._review), "undo review")

    def settled(self) -> bool:
        """Whether something was said since this was asked last."""
        changed, self.changed = self.changed, False
        return changed

    async def load(self, run_id: str, question: str = "") -> None:
        """Open the review of a run; the empty id closes."""
        async with self._busy:
            await self._close()
            if run_id:
                await self._open(run_id, question)
        self.shown.emit(self.item)

    async def close_down(self) -> None:
        """The window leaves."""
        await cancel_all(self)
        await self._close()

    # ---- private
    async def _open(self, run_id: str, question: str) -> None:
        try:
            self._path, self._question = run_path(paths.runs_dir(), run_id), question
            review = await asyncio.to_thread(Review, self._path, self.author, question or None)
            self._review = review
            self.reviewed, self.total = await asyncio.to_thread(_counted, self._path, question)
            self.item = await asyncio.to_thread(review.next)
        except EngineError as error:
            self.failed.emit(error.message, error.remedy)

    async def _close(self) -> None:
        review, self._review = self._review, None
        self.item, self.reviewed, self.total = None, 0, 0
        self._passed.clear()
        if review is not None:
            await asyncio.to_thread(review.close)

    def _do(self, act: Callable[[], Label | None]) -> None:
        if self._review is not None and not self._busy.locked():
            spawn(self, self._act(self._review, act), "review")

    def _say(self, value: str) -> Label | None:
        review, item = self._review, self.item
        return review.say(item, value) if review is not None and item is not None else None

    async def _act(self, review: Review, act: Callable[[], Label | None]) -> None:
        async with self._busy:
            try:
                said = await asyncio.to_thread(act)
                self.reviewed += said is not None
                self.changed |= said is not None
                self.item = await asyncio.to_thread(review.next, frozenset(self._passed))
            except EngineError as error:
                self.failed.emit(error.message, error.remedy)
        self.shown.emit(self.item)

    async def _undo(self, review: Review) -> None:
        async with self._busy:
            try:
                self.item = await asyncio.to_thread(_undone, review) or self.item
                self.reviewed, self.total = await asyncio.to_thread(_counted, self._path, self._question)
                self.changed = True
            except EngineError as error:
                self.failed.emit(error.message, error.remedy)
        self.shown.emit(self.item)


def user_name() -> str:
    """Who is at the desk, as the system knows them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account without a name
        return "reviewer"


def _undone(review: Review) -> ReviewItem | None:
    label = review.undo()
    return None if label is None else review.item_at(label.row, label.question)


def _counted(path: Path, question: str) -> tuple[int, int]:
    """(reviewed, all that can be) of a question, or of all when it is empty."""
    with RunBrowser(path) as browser:
        place = browser.spec.questions.index(question) if question else None
        totals = browser.totals()
        wanted = [totals[each] for each in ([question] if question else browser.spec.questions)]
        reviewed = len(browser.keys(Browse(question=place, reviewed=True)))
        return reviewed, sum(each.ok + each.unreadable for each in wanted)
