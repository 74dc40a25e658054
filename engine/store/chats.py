"""The conversations: one SQLite file, written ahead of what the window shows.

A question and the row of its answer are on disk before the engine is asked; the text of a streaming answer follows at
least once a second. What was streaming when the program died is found by ``recover`` and becomes ``interrupted``.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from engine.domain.conversation import AnswerFigures, ChatOptions, Ending, MessageState, StoredMessage, title_of
from engine.errors import InputError
from engine.store.chats_pictures import NO_CONVERSATION, Given, add, drop_unused, remove
from engine.store.chats_read import ChatReader
from engine.store.chats_schema import CHATS_SCHEMA
from engine.store.db import Database

KEPT_DELETED_S = 30 * 24 * 3600.0  # a deleted conversation can be restored for so long


class ChatStore(ChatReader):
    """All conversations: everything of ``ChatReader``, and the writing. One window or command at a time writes.

    Args:
        path: the file; it is made when it is missing.
        clock: seconds since 1970.

    Raises:
        UserError: damaged, foreign, newer, locked, or no space. Every write may raise the last two.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._database = Database(path, CHATS_SCHEMA, create=True)
        try:
            super().__init__(path)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> ChatStore:
        return self

    def close(self) -> None:
        """Writes what is queued. May be called twice."""
        super().close()  # first: only a connection that can write clears the write-ahead log when it is the last
        self._database.close()

    # --- conversations ------------------------------------------------------------------------------------------------

    def create(self, title: str = "", options: ChatOptions | None = None) -> int:
        """A new conversation without messages; its number."""
        return self._database.write(lambda connection: self._create(connection, title, options or ChatOptions()))

    def rename(self, conversation: int, title: str) -> None:
        """Gives a title; an empty one lets the first question be the title again."""
        text = clean(title).strip()
        if not text:
            first = self._first_question(conversation)
            self._set("conversation", conversation, title=title_of(first), named=False)
        else:
            self._set("conversation", conversation, title=text, named=True)

    def set_pinned(self, conversation: int, pinned: bool) -> None:
        self._set("conversation", conversation, pinned=pinned)

    def set_options(self, conversation: int, options: ChatOptions) -> None:
        self._set(
            "conversation",
            conversation,
            system=clean(options.system),
            thinking=options.thinking,
            max_tokens=options.max_tokens,
        )

    def set_draft(self, conversation: int, text: str) -> None:
        self._set("conversation", conversation, draft=clean(text))

    def set_draft_pictures(self, conversation: int | None, pictures: Given) -> None:
        """The pictures of what is not sent yet, in place of those before; None: of a conversation to be.

        Raises:
            InputError: too many.
        """
        owner = conversation or NO_CONVERSATION

        def replace(connection: sqlite3.Connection) -> None:
            remove(connection, "draft_picture", owner)
            add(connection, "draft_picture", owner, pictures)

        self._database.write(replace)

    def delete(self, conversation: int) -> None:
        """Takes it out of the list and of searches; ``restore`` brings it back for 30 days."""
        self._set("conversation", conversation, deleted=self._clock())

    def restore(self, conversation: int) -> None:
        self._set("conversation", conversation, deleted=None)

    def purge(self, *, older_than_s: float = KEPT_DELETED_S) -> int:
        """Removes for good what was deleted so long ago, and pictures that nothing shows; how many conversations."""
        limit = self._clock() - older_than_s

        def clear(connection: sqlite3.Connection) -> int:
            gone = "SELECT id FROM conversation WHERE deleted <= ?"
            connection.execute(f"DELETE FROM message WHERE conversation IN ({gone})", (limit,))
            removed = connection.execute("DELETE FROM conversation WHERE deleted <= ?", (limit,)).rowcount
            drop_unused(connection)
            return removed

        return self._database.write(clear)

    # --- messages -----------------------------------------------------------------------------------------------------

    def ask(
        self, conversation: int, parent: int | None, text: str, *, model: str = "", pictures: Given = ()
    ) -> StoredMessage:
        """A question, and the row of the answer that will follow it; both are on disk afterwards.

        Args:
            parent: the message that the question follows; None for a first one, or another version of the first.
            pictures: new ones, or those of another version of the question.

        Returns:
            The answer; its parent is the question. The path that is shown ends with it, and the draft is empty.

        Raises:
            InputError: too many pictures.
        """
        return self.message(
            self._database.write(lambda found: self._ask(found, conversation, parent, text, model, pictures))
        )

    def ask_first(
        self, text: str, options: ChatOptions, *, model: str = "", pictures: Given = ()
    ) -> tuple[int, StoredMessage]:
        """The first question of a new conversation, and the row of its answer: all of it or nothing.

        Returns:
            The conversation and the answer.
        """

        def begin(connection: sqlite3.Connection) -> tuple[int, int]:
            conversation = self._create(connection, "", options)
            remove(connection, "draft_picture", NO_CONVERSATION)
            return conversation, self._ask(connection, conversation, None, text, model, pictures)

        conversation, answer = self._database.write(begin)
        return conversation, self.message(answer)

    def answer_again(self, conversation: int, question: int, *, model: str = "") -> StoredMessage:
        """The row of another answer to a question; the path that is shown ends with it."""

        def add(connection: sqlite3.Connection) -> int:
            return self._add(
                connection, conversation, question, role="assistant", text="", state="streaming", model=model
            )

        return self.message(self._database.write(add))

    def resume(self, message: int) -> None:
        """An answer goes on: it is streaming again."""
        self._set("message", message, state="streaming", finish="", error="", remedy="")

    def save_text(self, message: int, text: str, thought: str = "") -> Future[None]:
        """Queues the text of a streaming answer; the future ends when it is on disk."""
        values = {"text": clean(text), "thought": clean(thought)}
        return self._database.submit(lambda connection: _update(connection, "message", message, values))

    def finish(
        self,
        message: int,
        text: str,
        state: MessageState,
        figures: AnswerFigures,
        *,
        thought: str = "",
        finish: Ending = "",
        error: str = "",
        remedy: str = "",
    ) -> None:
        """The end of an answer, whatever it is."""
        self._set(
            "message",
            message,
            text=clean(text),
            thought=clean(thought),
            state=state,
            finish=finish,
            error=clean(error),
            remedy=clean(remedy),
            **_figure_values(figures),
        )

    def recover(self) -> int:
        """Marks answers that were streaming when the program died; how many. Only for the one who streams answers."""
        sql = "UPDATE message SET state = 'interrupted' WHERE state = 'streaming'"
        return self._database.write(lambda connection: connection.execute(sql).rowcount)

    def set_tip(self, conversation: int, tip: int | None) -> None:
        """The path that is shown ends here."""
        self._set("conversation", conversation, tip=tip)

    def show_version(self, conversation: int, message: int) -> int:
        """Shows another version: the path goes through ``message``, to where it ended when it was last shown.

        Returns:
            The new tip.
        """

        def switch(connection: sqlite3.Connection) -> int:
            old = connection.execute("SELECT tip FROM conversation WHERE id = ?", (conversation,)).fetchone()[0]
            # Whoever is left remembers where its path ended.
            connection.execute(
                """UPDATE message SET tip = :old WHERE id IN (
                    WITH RECURSIVE path (id, parent) AS (
                        SELECT id, parent FROM message WHERE id = :old
                        UNION ALL SELECT m.id, m.parent FROM path JOIN message AS m ON m.id = path.parent)
                    SELECT path.id FROM path JOIN message AS goal ON goal.id = :goal
                    WHERE path.parent IS goal.parent)""",
                {"old": old, "goal": message},
            )
            tip = _lowest(connection, conversation, message)
            connection.execute("UPDATE conversation SET tip = ? WHERE id = ?", (tip, conversation))
            return tip

        return self._database.write(switch)

    def cut(self, message: int, *, is_cut: bool = True, summary: str = "") -> None:
        """From here on the model is sent the conversation, with a summary of what is above; or again all of it."""
        self._set("message", message, is_cut=is_cut, summary=clean(summary))

    # --- the rest -----------------------------------------------------------------------------------------------------

    def save_prompt(self, name: str, text: str) -> None:
        """Keeps a system prompt, in place of one of the same name.

        Raises:
            InputError: the name is empty.
        """
        if not name.strip():
            raise InputError("chat.prompt_name", "a saved prompt needs a name")
        values = (clean(name).strip(), clean(text))
        self._database.write(lambda connection: connection.execute("REPLACE INTO prompt VALUES (?, ?)", values))

    def delete_prompt(self, name: str) -> None:
        self._database.write(lambda connection: connection.execute("DELETE FROM prompt WHERE name = ?", (name,)))

    def set_note(self, key: str, value: str) -> None:
        values = (key, clean(value))
        self._database.write(lambda connection: _note(connection, values))

    def queue_note(self, key: str, value: str) -> Future[None]:
        """``set_note`` without waiting for the disk; the future ends when it is there."""
        values = (key, clean(value))
        return self._database.submit(lambda connection: _note(connection, values))

    def transact[T](self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a function of this room in one transaction (imports)."""
        return self._database.write(job)

    def _create(self, connection: sqlite3.Connection, title: str, options: ChatOptions) -> int:
        now = self._clock()
        return insert(
            connection,
            "conversation",
            title=clean(title),
            named=bool(title),
            system=clean(options.system),
            thinking=options.thinking,
            max_tokens=options.max_tokens,
            created=now,
            updated=now,
        )

    def _ask(
        self,
        connection: sqlite3.Connection,
        conversation: int,
        parent: int | None,
        text: str,
        model: str,
        pictures: Given,
    ) -> int:
        question = clean(text)
        asked = self._add(connection, conversation, parent, role="user", text=question, state="done")
        add(connection, "shown", asked, pictures)
        remove(connection, "draft_picture", conversation)
        title = title_of(question) or clean(pictures[0].name if pictures else "")
        answer = self._add(connection, conversation, asked, role="assistant", text="", state="streaming", model=model)
        named = "CASE WHEN named OR title <> '' THEN title ELSE ? END"
        connection.execute(f"UPDATE conversation SET draft = '', title = {named} WHERE id = ?", (title, conversation))
        return answer

    def _add(self, connection: sqlite3.Connection, conversation: int, parent: int | None, **values: Any) -> int:
        """A message at the end of a path, which is shown from now on."""
        now = self._clock()
        depth = 1
        if parent is not None:
            above = connection.execute(
                "SELECT depth FROM message WHERE id = ? AND conversation = ?", (parent, conversation)
            ).fetchone()
            if above is None:
                raise InputError("chat.no_message", "there is no message {number}", number=parent)
            depth = above[0] + 1
        number = insert(
            connection, "message", conversation=conversation, parent=parent, depth=depth, created=now, **values
        )
        connection.execute("UPDATE conversation SET tip = ?, updated = ? WHERE id = ?", (number, now, conversation))
        return number

    def _first_question(self, conversation: int) -> str:
        sql = "SELECT text FROM message WHERE conversation = ? AND parent IS NULL ORDER BY id LIMIT 1"
        with self._rows(sql, (conversation,)) as rows:
            row = rows.fetchone()
        return "" if row is None else str(row[0])

    def _set(self, table: str, number: int, **values: Any) -> None:
        self._database.write(lambda connection: _update(connection, table, number, values))


def insert(connection: sqlite3.Connection, table: str, **values: Any) -> int:
    """One row; its number."""
    marks = ", ".join(f":{name}" for name in values)
    cursor = connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", values)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def clean(text: str) -> str:
    """A text that SQLite takes: half a surrogate pair, as a broken paste may hold, becomes a question mark."""
    return text.encode(errors="replace").decode()


def _update(connection: sqlite3.Connection, table: str, number: int, values: dict[str, Any]) -> None:
    places = ", ".join(f"{name} = :{name}" for name in values)
    done = connection.execute(f"UPDATE {table} SET {places} WHERE id = :_id", {**values, "_id": number})
    if not done.rowcount:
        raise InputError("chat.unknown", "there is no {table} {number}", table=table, number=number)


def _note(connection: sqlite3.Connection, values: tuple[str, str]) -> None:
    connection.execute("REPLACE INTO note VALUES (?, ?)", values)


def _lowest(connection: sqlite3.Connection, conversation: int, message: int) -> int:
    """Where the path through a message ends: where it did when it was left, and from there the newest child each."""
    remembered = connection.execute("SELECT tip FROM message WHERE id = ?", (message,)).fetchone()[0]
    tip = int(remembered or message)
    newest = "SELECT max(id) FROM message WHERE conversation = ? AND parent = ?"
    while (child := connection.execute(newest, (conversation, tip)).fetchone()[0]) is not None:
        tip = int(child)
    return tip


def _figure_values(figures: AnswerFigures) -> dict[str, Any]:
    names = ("seconds", "first_canvas_s", "canvases", "denoise_steps", "prompt_tokens", "completion_tokens")
    return {name: getattr(figures, name) for name in names}
