"""Reviewing: which answers a person should look at first, and what the person may say about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.batch.prepare import form_of
from engine.domain.question import Question, Score
from engine.domain.run import Label
from engine.errors import InputError
from engine.store.reviews import ReviewStore
from engine.store.run_browse import KEY_BASE, RunBrowser, StoredAnswer

CANNOT_TELL = "?"


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An answer to look at.

    Attributes:
        names: of the columns, in the order of the answer's cells.
        keys: what may be said, by the key that says it: 1 to 9, then letters; the last one is "cannot tell".
    """

    question: Question
    answer: StoredAnswer
    names: tuple[str, ...]
    keys: Mapping[str, str]


class Review:
    """One reviewer at one run. Use as a context manager; may be open while a worker writes the run.

    Args:
        author: who reviews; stands beside every label.
        question: id of the question to review; None: all.

    Raises:
        InputError: no such question, or no name.
        UserError: as ``RunView``.
    """

    def __init__(self, path: Path, author: str, question: str | None = None) -> None:
        if not author.strip() or not author.isprintable():
            raise InputError("review.author", "a reviewer needs a name; got {author}", author=repr(author))
        self.author = author
        self._browser = RunBrowser(path)
        try:
            self._questions = form_of(self._browser).questions
            self._place = self._of(question)
            self._store = ReviewStore(path)
        except BaseException:
            self._browser.close()
            raise

    def __enter__(self) -> Review:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """May be called twice."""
        self._store.close()
        self._browser.close()

    def next(self, passed: frozenset[int] = frozenset()) -> ReviewItem | None:
        """The least certain answer that nobody has reviewed; None when there is none.

        Args:
            passed: keys (``row * 64 + question``) to leave out this time.
        """
        keys = self._browser.to_review(self._place, 1 + len(passed))
        key = next((key for key in keys if key not in passed), None)
        if key is None:
            return None
        (answer,) = self._browser.answers([key])
        return self._item(answer)

    def item(self, row: int, question: str) -> ReviewItem:
        """One answer by its row and its question's id.

        Raises:
            InputError: there is no such question or answer.
        """
        place = self._of(question)
        assert place is not None
        return self.item_at(row, place)

    def item_at(self, row: int, place: int) -> ReviewItem:
        """As ``item``, by the question's place in the form."""
        found = self._browser.answers([row * KEY_BASE + place])
        if not found:
            raise InputError("review.no_answer", "row {row} has no answer to review", row=row)
        return self._item(found[0])

    def say(self, item: ReviewItem, value: str) -> Label:
        """Note what the reviewer says.

        Args:
            value: an answer of the question, or ``?``: it cannot be told.

        Raises:
            InputError: it is no answer of this question.
        """
        if value != CANNOT_TELL and value not in item.question.answers:
            raise InputError(
                "review.value",
                "{value} is no answer to {question}",
                remedy="its answers are {answers}, or ? when it cannot be told",
                value=repr(value),
                question=repr(item.question.id),
                answers=", ".join(item.question.answers),
            )
        kept = None if value == CANNOT_TELL else value
        return self._store.add(item.answer.row, item.answer.question, kept, self.author)

    def undo(self) -> Label | None:
        """Take back this reviewer's last word, and give it; None when there is none."""
        return self._store.undo(self.author)

    def _item(self, answer: StoredAnswer) -> ReviewItem:
        question = self._questions[answer.question]
        return ReviewItem(question, answer, self._browser.spec.columns, review_keys(question))

    def _of(self, question: str | None) -> int | None:
        if question is None:
            return None
        for place, each in enumerate(self._questions):
            if each.id == question:
                return place
        ids = ", ".join(each.id for each in self._questions)
        message = "the run has no question {question}"
        raise InputError("review.question", message, remedy="its questions are {ids}", question=repr(question), ids=ids)


def review_keys(question: Question) -> dict[str, str]:
    """What may be said by which key: yes 1, no 2, cannot tell 3; options from 1 on; levels by their own digit."""
    if isinstance(question, Score):
        return {**{level: level for level in question.answers}, CANNOT_TELL: CANNOT_TELL}
    # q ends, s leaves for later, u undoes
    return dict(zip("123456789abcdefghijklmnoprtvwxyz", [*question.answers, CANNOT_TELL], strict=False))
