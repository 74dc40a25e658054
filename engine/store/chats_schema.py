"""The tables of the conversations' file.

- ``conversation``: title, options, draft, and the tip of the path that is shown. ``named``: the title is the user's.
- ``message``: a tree; ``tip`` remembers where the path ended when another sibling was chosen.
- ``message_words``, ``title_words``: full-text indexes, kept by triggers. ``unicode61`` folds case and, with
  ``remove_diacritics 2``, accents (https://sqlite.org/fts5.html#unicode61_tokenizer); the prefix indexes serve search
  while one types.
- ``picture``: the bytes of pictures, once each. ``shown``, ``draft_picture``: which message, and which conversation's
  draft (0: of one to be), shows which, in order.
- ``prompt``: saved system prompts. ``note``: single values, for instance the draft of a conversation to be.
"""

from __future__ import annotations

import sqlite3

from engine.store.migrations import Schema

CHATS_SCHEMA = Schema("collection of chats", application_id=0x44444331)  # "DDC1"


@CHATS_SCHEMA.step(1)
def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables conversation, message, prompt and note, and the full-text indexes."""
    connection.execute(
        """CREATE TABLE conversation (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            title TEXT NOT NULL DEFAULT '',
            named INTEGER NOT NULL DEFAULT 0,
            pinned INTEGER NOT NULL DEFAULT 0,
            system TEXT NOT NULL DEFAULT '',
            thinking INTEGER NOT NULL DEFAULT 0,
            max_tokens INTEGER,
            draft TEXT NOT NULL DEFAULT '',
            tip INTEGER,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            deleted REAL
        ) STRICT"""
    )
    connection.execute(
        """CREATE TABLE message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation INTEGER NOT NULL,
            parent INTEGER,
            depth INTEGER NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            text TEXT NOT NULL,
            thought TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL CHECK (state IN ('streaming', 'done', 'stopped', 'failed', 'interrupted')),
            finish TEXT NOT NULL DEFAULT '' CHECK (finish IN ('', 'stop', 'length')),
            error TEXT NOT NULL DEFAULT '',
            remedy TEXT NOT NULL DEFAULT '',
            model TEXT NOT NULL DEFAULT '',
            created REAL NOT NULL,
            seconds REAL NOT NULL DEFAULT 0,
            first_canvas_s REAL,
            canvases INTEGER NOT NULL DEFAULT 0,
            denoise_steps INTEGER,
            prompt_tokens INTEGER,
            completion_tokens INTEGER,
            is_cut INTEGER NOT NULL DEFAULT 0,
            summary TEXT NOT NULL DEFAULT '',
            tip INTEGER
        ) STRICT"""
    )
    connection.execute("CREATE INDEX message_siblings ON message (conversation, parent, id)")
    connection.execute("CREATE INDEX message_open ON message (state) WHERE state = 'streaming'")
    connection.execute("CREATE INDEX message_asked ON message (created) WHERE role = 'user'")
    connection.execute("CREATE TABLE prompt (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID")
    connection.execute("CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID")
    for table, column in (("message", "text"), ("conversation", "title")):
        _index_words(connection, table, column)


@CHATS_SCHEMA.step(2)
def add_pictures(connection: sqlite3.Connection) -> None:
    """Add pictures of messages and of drafts."""
    connection.execute(
        """CREATE TABLE picture (
            sha256 TEXT PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('png', 'jpeg', 'webp', 'gif')),
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            data BLOB NOT NULL
        ) STRICT"""
    )
    for table, owner in (("shown", "message"), ("draft_picture", "conversation")):
        connection.execute(
            f"""CREATE TABLE {table} (
                {owner} INTEGER NOT NULL,
                place INTEGER NOT NULL,
                picture TEXT NOT NULL,
                name TEXT NOT NULL,
                PRIMARY KEY ({owner}, place)
            ) STRICT, WITHOUT ROWID"""
        )
        connection.execute(f"CREATE INDEX {table}_picture ON {table} (picture)")


def _index_words(connection: sqlite3.Connection, table: str, column: str) -> None:
    """A full-text index over one column (https://sqlite.org/fts5.html#external_content_tables)."""
    words = f"{column if table == 'conversation' else table}_words"
    connection.execute(
        f"CREATE VIRTUAL TABLE {words} USING fts5({column}, content='{table}', content_rowid='id', "
        "tokenize='unicode61 remove_diacritics 2', prefix='2 3')"
    )
    add = f"INSERT INTO {words} (rowid, {column}) VALUES (new.id, new.{column});"
    remove = f"INSERT INTO {words} ({words}, rowid, {column}) VALUES ('delete', old.id, old.{column});"
    connection.execute(f"CREATE TRIGGER {words}_added AFTER INSERT ON {table} BEGIN {add} END")
    connection.execute(f"CREATE TRIGGER {words}_removed AFTER DELETE ON {table} BEGIN {remove} END")
    connection.execute(
        f"CREATE TRIGGER {words}_changed AFTER UPDATE OF {column} ON {table} "
        f"WHEN old.{column} IS NOT new.{column} BEGIN {remove} {add} END"
    )
