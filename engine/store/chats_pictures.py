"""The pictures of messages: bytes in the conversations' own file, once each, whatever shows them.

They lie in the database and not beside it, so that a message and its pictures are written, deleted, restored and
copied together, and a backup is one file. Their key is the SHA-256 of the bytes, so that branches share them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from engine.domain.picture import Picture, StoredPicture
from engine.errors import InputError
from engine.pictures import check_count

Given = Sequence[Picture | StoredPicture]
Table = Literal["shown", "draft_picture"]

NO_CONVERSATION = 0  # owner of the drafts of a conversation to be
_OWNER = {"shown": "message", "draft_picture": "conversation"}


def listed(table: Table, owner: str) -> str:
    """An SQL expression: the pictures of an owner as a JSON array; ``parsed`` reads it.

    Args:
        owner: an SQL expression.
    """
    # length() of a blob looks at its header only. Nearly no message has pictures, and a look is cheaper than a list.
    found = f"FROM {table} AS s JOIN picture AS p ON p.sha256 = s.picture WHERE s.{_OWNER[table]} = {owner}"
    return f"""CASE WHEN EXISTS (SELECT 1 FROM {table} WHERE {_OWNER[table]} = {owner}) THEN
        (SELECT json_group_array(json_array(sha256, name, kind, width, height, size)) FROM
         (SELECT p.sha256, s.name, p.kind, p.width, p.height, length(p.data) AS size {found} ORDER BY s.place))
        ELSE '[]' END"""


def parsed(array: str) -> tuple[StoredPicture, ...]:
    """Of ``listed``."""
    return () if array == "[]" else tuple(StoredPicture(*each) for each in json.loads(array))


def add(connection: sqlite3.Connection, table: Table, owner: int, pictures: Given) -> None:
    """The pictures of an owner that has none.

    Raises:
        InputError: too many, or one that is not here.
    """
    check_count(len(pictures))
    for place, picture in enumerate(pictures):
        if isinstance(picture, Picture):
            values = (picture.sha256, picture.kind, picture.width, picture.height, picture.data)
            connection.execute("INSERT OR IGNORE INTO picture VALUES (?, ?, ?, ?, ?)", values)
        elif connection.execute("SELECT 1 FROM picture WHERE sha256 = ?", (picture.sha256,)).fetchone() is None:
            raise missing(picture)
        name = picture.name.encode(errors="replace").decode()
        connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (owner, place, picture.sha256, name))


def remove(connection: sqlite3.Connection, table: Table, owner: int) -> None:
    """An owner shows nothing any more; the bytes stay until ``drop_unused``."""
    connection.execute(f"DELETE FROM {table} WHERE {_OWNER[table]} = ?", (owner,))


def drop_unused(connection: sqlite3.Connection) -> None:
    """Removes what no message and no draft shows."""
    for table, owner in _OWNER.items():
        there = f"SELECT 1 FROM {owner} WHERE {owner}.id = {table}.{owner}"
        kept = f" AND {owner} <> {NO_CONVERSATION}" if table == "draft_picture" else ""
        connection.execute(f"DELETE FROM {table} WHERE NOT EXISTS ({there}){kept}")
    connection.execute(
        """DELETE FROM picture WHERE NOT EXISTS (SELECT 1 FROM shown WHERE picture = sha256)
           AND NOT EXISTS (SELECT 1 FROM draft_picture WHERE picture = sha256)"""
    )


def with_bytes(row: tuple[Any, ...] | None, picture: StoredPicture) -> Picture:
    """A picture with its bytes.

    Args:
        row: what table ``picture`` holds as ``data``.

    Raises:
        InputError: it is not here.
    """
    if row is None:
        raise missing(picture)
    return Picture(picture.name, picture.kind, picture.width, picture.height, picture.sha256, row[0])


def missing(picture: StoredPicture) -> InputError:
    """The error for a picture that the file has not got."""
    return InputError("chat.no_picture", "there is no picture {name} any more", name=picture.name)
