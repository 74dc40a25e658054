"""Full-text search over conversations: whatever the user types is words, never query syntax."""

from __future__ import annotations

import re
import sqlite3
import unicodedata

from engine.domain.conversation import MARK_OFF, MARK_ON, SearchHit

LIMIT = 200  # hits shown
SNIPPET_WORDS = 14
AROUND = 40  # characters on each side of a hit of the plain search

_PHRASE = re.compile(r'"([^"]*)"|(\S+)')
# Scripts that are written without spaces: the index holds whole runs of them, so the text itself is looked through.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def fts_query(text: str) -> str:
    """What FTS5 is asked for a search box's text; empty when no word of it is in the index's alphabet.

    Every word must be there, the last letters of each may be missing; a part in quotes is a phrase. Each stands as an
    FTS5 string, in which nothing has a meaning but a doubled quote (https://sqlite.org/fts5.html#full_text_query_syntax).
    """
    terms = []
    for quoted, word in _PHRASE.findall(text):
        term = (quoted or word).replace('"', " ").replace("\0", " ")
        if not any(_is_indexed(char) for char in term):
            continue
        terms.append(f'"{term}"' if quoted else f'"{term}"*')
    return " ".join(terms)


def search(connection: sqlite3.Connection, text: str, limit: int = LIMIT) -> list[SearchHit]:
    """Where the words stand, titles first, then messages, the newest first; nothing of deleted conversations."""
    text = text.encode(errors="replace").decode()  # half a surrogate pair is no text to SQLite
    if not text.strip():
        return []
    query = fts_query(text)
    if not query or _UNSPACED.search(text):
        return _plain(connection, text.strip(), limit)
    titles = connection.execute(
        """SELECT c.id, highlight(title_words, 0, ?, ?), c.updated
           FROM title_words JOIN conversation AS c ON c.id = title_words.rowid
           WHERE title_words MATCH ? AND c.deleted IS NULL ORDER BY c.updated DESC LIMIT ?""",
        (MARK_ON, MARK_OFF, query, limit),
    )
    hits = [_title_hit(*row) for row in titles]
    messages = connection.execute(
        """SELECT c.id, c.title, m.id, m.role, snippet(message_words, 0, ?, ?, '…', ?), m.created
           FROM message_words JOIN message AS m ON m.id = message_words.rowid
           JOIN conversation AS c ON c.id = m.conversation
           WHERE message_words MATCH ? AND c.deleted IS NULL ORDER BY m.id DESC LIMIT ?""",
        (MARK_ON, MARK_OFF, SNIPPET_WORDS, query, limit - len(hits)),
    )
    return hits + [SearchHit(*row) for row in messages]


def _plain(connection: sqlite3.Connection, text: str, limit: int) -> list[SearchHit]:
    """The text as it is, anywhere: for signs and scripts that the index does not cut into words."""
    like = "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"
    titles = connection.execute(
        r"SELECT id, title, updated FROM conversation WHERE title LIKE ? ESCAPE '\' AND deleted IS NULL "
        "ORDER BY updated DESC LIMIT ?",
        (like, limit),
    )
    hits = [_title_hit(id_, _marked(title, text), updated) for id_, title, updated in titles]
    messages = connection.execute(
        r"""SELECT c.id, c.title, m.id, m.role, m.text, m.created
            FROM message AS m JOIN conversation AS c ON c.id = m.conversation
            WHERE m.text LIKE ? ESCAPE '\' AND c.deleted IS NULL ORDER BY m.id DESC LIMIT ?""",
        (like, limit - len(hits)),
    )
    return hits + [SearchHit(c, title, m, role, _marked(whole, text), at) for c, title, m, role, whole, at in messages]


def _title_hit(conversation: int, marked: str, updated: float) -> SearchHit:
    plain = marked.replace(MARK_ON, "").replace(MARK_OFF, "")
    return SearchHit(conversation, plain, None, None, marked, updated)


def _marked(whole: str, text: str) -> str:
    """The surroundings of the first place, marked."""
    at = max(whole.lower().find(text.lower()), 0)
    end = at + len(text)
    start = max(at - AROUND, 0)
    tail = whole[end : end + AROUND]
    lead = "…" if start else ""
    rest = "…" if end + AROUND < len(whole) else ""
    return f"{lead}{whole[start:at]}{MARK_ON}{whole[at:end]}{MARK_OFF}{tail}{rest}"


def _is_indexed(char: str) -> bool:
    """What unicode61 keeps: letters, digits and private use (https://sqlite.org/fts5.html#unicode61_tokenizer)."""
    category = unicodedata.category(char)
    return category[0] in "LN" or category == "Co"
