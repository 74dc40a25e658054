"""Conversations in files: JSON that comes back equal, Markdown to read. Thoughts are part of neither."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.domain.conversation import Conversation, StoredMessage, title_of
from engine.domain.picture import Picture
from engine.errors import InputError, UserError
from engine.store.chats import ChatStore, clean, insert
from engine.store.chats_exchange_pictures import PictureData, PictureName, named, plain_names, taken, with_data
from engine.store.chats_pictures import add
from engine.store.chats_read import ChatReader

FORMAT, VERSION = "diffusion-desk-chats", 2  # 2 added pictures; a file without any is still written as 1
MOST_BYTES = 1 << 30  # a larger file is no export of ours, and reading it whole would take the memory away

Moment = Annotated[float, Field(ge=0, le=253402300799, allow_inf_nan=False)]  # up to the year 9999
Count = Annotated[int, Field(ge=0, le=2**53)]


class _Figures(BaseModel):
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    first_canvas_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    canvases: Count = 0
    denoise_steps: Count | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: int
    parent: int | None = None
    role: Literal["user", "assistant"]
    text: str
    state: Literal["done", "stopped", "failed", "interrupted"] = "done"
    finish: Literal["", "stop", "length"] = ""
    error: str = ""
    remedy: str = ""
    model: str = ""
    created: Moment = 0.0
    figures: _Figures = _Figures()
    is_cut: bool = False
    summary: str = ""
    pictures: tuple[PictureName, ...] = ()


class _Conversation(BaseModel):
    model_config = ConfigDict(extra="ignore")

    title: str = ""
    pinned: bool = False
    system: str = ""
    thinking: bool = False
    max_tokens: Annotated[int, Field(ge=1, le=2**31)] | None = None
    draft: str = ""
    draft_pictures: tuple[PictureName, ...] = ()
    created: Moment = 0.0
    updated: Moment = 0.0
    tip: int | None = None
    messages: tuple[_Message, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    conversations: tuple[_Conversation, ...]
    pictures: dict[str, PictureData] = {}


def as_json(reader: ChatReader, conversations: Sequence[int]) -> str:
    """The conversations with all their versions; messages are numbered from 1 in each.

    Raises:
        InputError: there is no such conversation.
    """
    trees = [reader.tree(number) for number in conversations]
    drafts = [reader.draft_pictures(number) for number in conversations]
    found = [
        _plain(reader.conversation(number), tree) | ({"draft_pictures": plain_names(draft)} if draft else {})
        for number, tree, draft in zip(conversations, trees, drafts, strict=True)
    ]
    shown = [picture for tree in trees for message in tree for picture in message.pictures]
    pictures = with_data(reader, [*shown, *(picture for draft in drafts for picture in draft)])
    whole = {"format": FORMAT, "version": VERSION if pictures else 1, "conversations": found}
    return json.dumps(whole | ({"pictures": pictures} if pictures else {}), ensure_ascii=False, indent=1) + "\n"


def as_markdown(reader: ChatReader, conversations: Sequence[int]) -> str:
    """The conversations as they are shown: of each question and answer the version that was chosen."""
    return "\n\n---\n\n".join(_markdown(reader, number) for number in conversations)


def import_json(store: ChatStore, data: bytes, source: str) -> list[int]:
    """Adds the conversations of a file beside those that are there; their numbers.

    All of them or, when one is wrong, none.

    Args:
        source: the file's name, for messages.

    Raises:
        InputError: it is no such file, or newer, or a conversation in it does not hang together, or a picture is none;
            names the place.
    """
    file = _parsed(data, source)
    conversations, pictures = file.conversations, taken(file.pictures, source)
    ordered = [_checked(found, f"{source}: conversation {number}") for number, found in enumerate(conversations, 1)]

    def put(connection: sqlite3.Connection) -> list[int]:
        return [_add(connection, found, depths, pictures) for found, depths in zip(conversations, ordered, strict=True)]

    return store.transact(put)


def read_file(path: Path) -> bytes:
    """The bytes of a file to import, or of a pipe.

    Raises:
        InputError: it cannot be read, is a device, or is too large to be an export.
    """
    try:
        found = path.stat()
        if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):  # it may never end
            remedy = "import a .json that was exported here"
            raise InputError("chat.import_device", "{path} is a device, and no file", remedy=remedy, path=str(path))
        with path.open("rb") as file:
            # Of a file no more is taken than there is; of a pipe nobody knows how much will come.
            limit = found.st_size if stat.S_ISREG(found.st_mode) else MOST_BYTES
            data = b"" if found.st_size > MOST_BYTES else file.read(limit + 1)
    except OSError as error:
        raise InputError("chat.import_file", "{path}: {why}", path=str(path), why=error.strerror) from error
    if max(found.st_size, len(data)) > MOST_BYTES:
        message = "{path} has more than {limit} bytes; no export has"
        raise InputError("chat.import_size", message, path=str(path), limit=MOST_BYTES)
    return data


def write_file(path: Path, text: str) -> None:
    """Writes an export; the name holds either the whole text or what it held before.

    Raises:
        UserError: it cannot be written.
    """
    if path.is_dir():
        raise InputError("chat.export_folder", "{path} is a folder; name a file", path=str(path))
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        remedy = "choose another folder"
        raise UserError(
            "chat.export_file", "{path}: {why}", remedy=remedy, path=str(path), why=error.strerror
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _plain(conversation: Conversation, tree: Sequence[StoredMessage]) -> dict[str, Any]:
    numbers = {message.id: number for number, message in enumerate(tree, 1)}
    info, options = conversation.info, conversation.options
    return {
        "title": info.title,
        "pinned": info.pinned,
        **asdict(options),
        "draft": conversation.draft,
        "created": info.created,
        "updated": info.updated,
        "tip": None if conversation.tip is None else numbers[conversation.tip],
        "messages": [_plain_message(message, numbers) for message in tree],
    }


def _plain_message(message: StoredMessage, numbers: dict[int, int]) -> dict[str, Any]:
    return {
        "id": numbers[message.id],
        "parent": None if message.parent is None else numbers[message.parent],
        "role": message.role,
        "text": message.text,
        "state": "interrupted" if message.state == "streaming" else message.state,
        "finish": message.finish,
        "error": message.error,
        "remedy": message.remedy,
        "model": message.model,
        "created": message.created,
        "figures": asdict(message.figures),
        "is_cut": message.is_cut,
        "summary": message.summary,
        **({"pictures": plain_names(message.pictures)} if message.pictures else {}),
    }


def _parsed(data: bytes, source: str) -> _File:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _foreign(source, str(error)[:120]) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _foreign(source, f'it has no "format": "{FORMAT}"')
    version = found.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InputError(
            "chat.import_newer",
            "{source} has version {version}, and this program knows versions up to {known}",
            remedy="import it with the newer Diffusion Desk that wrote it",
            source=source,
            version=version,
            known=VERSION,
        )
    try:
        return _File.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            "chat.import_field", "{source}: {where}: {fault}", source=source, where=where, fault=first["msg"]
        ) from error


def _foreign(source: str, why: str) -> InputError:
    return InputError(
        "chat.import_foreign",
        "{source} is no export of conversations: {why}",
        remedy="import a .json that was exported here; Markdown is for reading only",
        source=source,
        why=why,
    )


def _checked(conversation: _Conversation, where: str) -> dict[int, int]:
    """The depth of each message by its number.

    Raises:
        InputError: a number stands twice, a parent does not stand before, or has the same role; the tip is unknown.
    """
    depths: dict[int, int] = {}
    roles: dict[int, str] = {}
    for message in conversation.messages:
        if message.id in depths:
            raise InputError("chat.import_twice", "{where}: message {id} stands twice", where=where, id=message.id)
        if message.parent is not None and message.parent not in depths:
            raise InputError(
                "chat.import_parent",
                "{where}: message {id}: its parent {parent} does not stand before it",
                where=where,
                id=message.id,
                parent=message.parent,
            )
        above = "assistant" if message.parent is None else roles[message.parent]
        if message.role == above:
            raise InputError(
                "chat.import_role",
                "{where}: message {id}: a message of the {role} cannot follow there",
                where=where,
                id=message.id,
                role=message.role,
            )
        roles[message.id] = message.role
        depths[message.id] = 1 if message.parent is None else depths[message.parent] + 1
    if conversation.tip is not None and conversation.tip not in depths:
        raise InputError("chat.import_tip", "{where}: there is no message {tip}", where=where, tip=conversation.tip)
    return depths


def _add(
    connection: sqlite3.Connection, found: _Conversation, depths: dict[int, int], pictures: dict[str, Picture]
) -> int:
    first = next((message.text for message in found.messages if message.parent is None), "")
    conversation = insert(
        connection,
        "conversation",
        title=clean(found.title),
        named=bool(found.title) and found.title != title_of(first),
        pinned=found.pinned,
        system=clean(found.system),
        thinking=found.thinking,
        max_tokens=found.max_tokens,
        draft=clean(found.draft),
        created=found.created,
        updated=found.updated,
    )
    numbers: dict[int, int] = {}
    for message in found.messages:
        values = message.model_dump(exclude={"id", "parent", "figures", "pictures"})
        values |= {name: clean(value) for name, value in values.items() if isinstance(value, str)}
        numbers[message.id] = insert(
            connection,
            "message",
            conversation=conversation,
            parent=None if message.parent is None else numbers[message.parent],
            depth=depths[message.id],
            **values,
            **message.figures.model_dump(),
        )
        add(connection, "shown", numbers[message.id], named(message.pictures, pictures))
    add(connection, "draft_picture", conversation, named(found.draft_pictures, pictures))
    tip = numbers.get(found.tip) if found.tip is not None else next(reversed(numbers.values()), None)
    connection.execute("UPDATE conversation SET tip = ? WHERE id = ?", (tip, conversation))
    return conversation


def _markdown(reader: ChatReader, number: int) -> str:
    conversation = reader.conversation(number)
    parts = [f"# {conversation.info.title or 'Conversation'}"]
    if conversation.options.system.strip():
        quoted = "\n".join(f"> {line}".rstrip() for line in conversation.options.system.strip().splitlines())
        parts.append(f"System prompt:\n\n{quoted}")
    for message in reader.page(conversation.tip, limit=2**31):
        name = "You" if message.role == "user" else message.model or "Assistant"
        when = datetime.fromtimestamp(message.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
        shown = [f"*Picture: {each.name} ({each.kind}, {each.width} x {each.height})*" for each in message.pictures]
        parts += [f"## {name}, {when}", *shown]
        parts += [message.text or "(empty)"] if message.text or not shown else []
        if note := _ending(message):
            parts.append(f"*{note}*")
    return "\n\n".join(parts) + "\n"


def _ending(message: StoredMessage) -> str:
    if message.role == "user":
        return ""
    endings = {
        "stopped": "stopped by the user",
        "interrupted": "interrupted: the program ended",
        "streaming": "interrupted: the program ended",
        "failed": f"broke off: {message.error}" if message.error else "broke off",
    }
    return endings.get(message.state, "cut at the length limit" if message.finish == "length" else "")
