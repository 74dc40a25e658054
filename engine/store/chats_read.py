"""The reading half of the conversations' file: lists, pages of a path, what the model is sent, sums."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from engine.domain.conversation import (
    AnswerFigures,
    ChatOptions,
    Conversation,
    ConversationInfo,
    SavedPrompt,
    SearchHit,
    StoredMessage,
)
from engine.domain.picture import Picture, StoredPicture
from engine.errors import InputError
from engine.store.chats_pictures import NO_CONVERSATION, listed, parsed, with_bytes
from engine.store.chats_schema import CHATS_SCHEMA
from engine.store.chats_search import LIMIT, search
from engine.store.db import connect_readonly, translated

PAGE = 100  # messages
HISTORY_READ = 5  # so many questions are looked through for each that is listed: some were asked again

_COUNT = "(SELECT count(*) FROM message WHERE message.conversation = conversation.id)"
_INFO = f"id, title, pinned, created, updated, {_COUNT}, deleted"
_MESSAGE = f"""
    m.id, m.parent, m.depth, m.role, m.text, m.state, m.thought, m.finish, m.error, m.remedy, m.model, m.created,
    m.seconds, m.first_canvas_s, m.canvases, m.denoise_steps, m.prompt_tokens, m.completion_tokens,
    m.is_cut, m.summary,
    (SELECT count(*) FROM message AS s
     WHERE s.conversation = m.conversation AND s.parent IS m.parent AND s.id <= m.id),
    (SELECT count(*) FROM message AS s WHERE s.conversation = m.conversation AND s.parent IS m.parent),
    {listed("shown", "m.id")}"""
# From a message upwards. The join is on the primary key: a step costs the same in a conversation of any length.
_PATH = """
    WITH RECURSIVE path (id, parent, length) AS (
        SELECT id, parent, 1 FROM message WHERE id = :last
        UNION ALL
        SELECT message.id, message.parent, length + 1 FROM path JOIN message ON message.id = path.parent
        WHERE length < :limit
    )"""


class ChatReader:
    """The conversations as they are on disk; every read is one moment's state. For one thread at a time.

    Raises:
        UserError: the file is missing, damaged, foreign or newer (when it is opened), or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading = threading.Lock()  # searches come from another thread
        self._connection = connect_readonly(path, CHATS_SCHEMA)

    def close(self) -> None:
        """May be called twice."""
        self._connection.close()

    def __enter__(self) -> ChatReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def conversations(self, *, deleted: bool = False) -> list[ConversationInfo]:
        """The pinned ones first, then by the time of their last message.

        Args:
            deleted: those that were deleted and can still be restored, instead.
        """
        state = "NOT NULL" if deleted else "NULL"
        order = "pinned DESC, updated DESC, id DESC"
        with self._rows(f"SELECT {_INFO} FROM conversation WHERE deleted IS {state} ORDER BY {order}") as rows:
            return [_info(row) for row in rows]

    def conversation(self, conversation: int) -> Conversation:
        """One conversation, a deleted one too.

        Raises:
            InputError: there is none of this number.
        """
        sql = f"SELECT {_INFO}, system, thinking, max_tokens, tip, draft FROM conversation WHERE id = ?"
        with self._rows(sql, (conversation,)) as rows:
            row = rows.fetchone()
        if row is None:
            raise InputError("chat.unknown", "there is no conversation {number}", number=conversation)
        system, thinking, max_tokens, tip, draft = row[7:]
        return Conversation(_info(row[:7]), ChatOptions(system, bool(thinking), max_tokens), tip, draft)

    def page(self, last: int | None, limit: int = PAGE) -> list[StoredMessage]:
        """The part of a path that ends with message ``last``, oldest first; at most ``limit`` messages."""
        sql = f"{_PATH} SELECT {_MESSAGE} FROM path JOIN message AS m ON m.id = path.id ORDER BY m.depth"
        with self._rows(sql, {"last": last, "limit": limit}) as rows:
            return [_message(row) for row in rows]

    def message(self, message: int) -> StoredMessage:
        """One message.

        Raises:
            InputError: there is none of this number.
        """
        with self._rows(f"SELECT {_MESSAGE} FROM message AS m WHERE m.id = ?", (message,)) as rows:
            row = rows.fetchone()
        if row is None:
            raise InputError("chat.no_message", "there is no message {number}", number=message)
        return _message(row)

    def conversation_of(self, message: int) -> Conversation:
        """The conversation that a message belongs to.

        Raises:
            InputError: there is no message of this number.
        """
        with self._rows("SELECT conversation FROM message WHERE id = ?", (message,)) as rows:
            row = rows.fetchone()
        if row is None:
            raise InputError("chat.no_message", "there is no message {number}", number=message)
        return self.conversation(row[0])

    def context(self, last: int | None) -> list[StoredMessage]:
        """The part of the path to ``last`` that the model is sent: from the newest cut on, else all of it."""
        path = self.page(last, limit=2**31)
        start = max((place for place, message in enumerate(path) if message.is_cut), default=0)
        return path[start:]

    def tree(self, conversation: int) -> list[StoredMessage]:
        """Every message of a conversation, parents before their children."""
        with self._rows(
            f"SELECT {_MESSAGE} FROM message AS m WHERE m.conversation = ? ORDER BY m.id", (conversation,)
        ) as rows:
            return [_message(row) for row in rows]

    def versions(self, message: int) -> list[int]:
        """The siblings of a message, itself among them, oldest first."""
        sql = """SELECT s.id FROM message AS m JOIN message AS s ON s.conversation = m.conversation
                 AND s.parent IS m.parent WHERE m.id = ? ORDER BY s.id"""
        with self._rows(sql, (message,)) as rows:
            return [row[0] for row in rows]

    def totals(self, conversation: int) -> tuple[int, AnswerFigures]:
        """How many answers a conversation has, in all its versions, and what they cost together.

        Answers of which the engine told no tokens or no steps are left out of those sums.
        """
        sql = """SELECT count(*), total(seconds), total(canvases), sum(denoise_steps), sum(completion_tokens)
                 FROM message WHERE conversation = ? AND role = 'assistant'"""
        with self._rows(sql, (conversation,)) as rows:
            count, seconds, canvases, steps, tokens = rows.fetchone()
        return count, AnswerFigures(seconds, None, round(canvases), steps, None, tokens)

    def picture(self, picture: StoredPicture) -> Picture:
        """A picture with its bytes.

        Raises:
            InputError: it is not here any more.
        """
        with self._rows("SELECT data FROM picture WHERE sha256 = ?", (picture.sha256,)) as rows:
            return with_bytes(rows.fetchone(), picture)

    def draft_pictures(self, conversation: int | None) -> tuple[StoredPicture, ...]:
        """The pictures of what is not sent yet; None: of a conversation to be."""
        sql = f"SELECT {listed('draft_picture', ':owner')}"
        with self._rows(sql, {"owner": conversation or NO_CONVERSATION}) as rows:
            return parsed(rows.fetchone()[0])

    def history(self, limit: int = PAGE) -> list[str]:
        """What the user has written, the newest first, each text once."""
        sql = """SELECT m.text FROM message AS m JOIN conversation AS c ON c.id = m.conversation
                 WHERE m.role = 'user' AND c.deleted IS NULL ORDER BY m.id DESC LIMIT ?"""
        with self._rows(sql, (HISTORY_READ * limit,)) as rows:
            return list(dict.fromkeys(row[0] for row in rows))[:limit]

    def search(self, text: str, limit: int = LIMIT) -> list[SearchHit]:
        """Where the words of a search box stand; see ``chats_search``."""
        with self._reading, translated(self.path):
            return search(self._connection, text, limit)

    def prompts(self) -> list[SavedPrompt]:
        """The saved system prompts by name."""
        with self._rows("SELECT name, text FROM prompt ORDER BY name COLLATE NOCASE") as rows:
            return [SavedPrompt(*row) for row in rows]

    def note(self, key: str, default: str = "") -> str:
        """A single remembered value."""
        with self._rows("SELECT value FROM note WHERE key = ?", (key,)) as rows:
            row = rows.fetchone()
        return default if row is None else str(row[0])

    @contextlib.contextmanager
    def _rows(self, sql: str, values: object = ()) -> Iterator[sqlite3.Cursor]:
        with self._reading, translated(self.path):
            yield self._connection.execute(sql, values)  # type: ignore[arg-type]


def _info(row: tuple[object, ...]) -> ConversationInfo:
    number, title, pinned, created, updated, messages, deleted = row
    return ConversationInfo(number, title, bool(pinned), created, updated, messages, deleted)  # type: ignore[arg-type]


def _message(row: tuple[object, ...]) -> StoredMessage:
    """From the columns of ``_MESSAGE``, which stand in the order of the fields, the figures in their midst."""
    figures = AnswerFigures(*row[12:18])  # type: ignore[arg-type]
    is_cut, summary, place, versions, pictures = row[18:]
    told = (bool(is_cut), summary, place, versions, parsed(str(pictures)))
    return StoredMessage(*row[:12], figures, *told)  # type: ignore[call-arg,arg-type]
