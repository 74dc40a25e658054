"""``chats``: the window's conversations from the command line: list, search, export, import, restore."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from engine import paths
from engine.batch.export_target import spare_inputs
from engine.domain.conversation import MARK_OFF, MARK_ON, ConversationInfo
from engine.errors import InputError
from engine.store.chats import ChatStore
from engine.store.chats_exchange import as_json, as_markdown, import_json, read_file, write_file
from engine.store.chats_read import ChatReader

AS_JSON = click.option("--json", "as_json_", is_flag=True, help="One JSON array.")


@click.group("chats")
def command() -> None:
    """List, search, export and import the stored conversations."""


@command.command("list")
@AS_JSON
@click.option("--deleted", is_flag=True, help="Those that were deleted and can still be restored.")
def list_chats(as_json_: bool, deleted: bool) -> None:
    """List the conversations, pinned ones first, then the newest."""
    found = []
    if paths.chats_file().exists():
        with ChatReader(paths.chats_file()) as reader:
            found = reader.conversations(deleted=deleted)
    if as_json_:
        print(json.dumps([asdict(info) for info in found]))
    elif not found:
        click.echo("no conversations")
    else:
        _print(found)


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@AS_JSON
def search_chats(words: tuple[str, ...], as_json_: bool) -> None:
    """Find WORDS (their beginnings; "in quotes" a phrase) in titles and messages."""
    found = []
    if paths.chats_file().exists():
        with ChatReader(paths.chats_file()) as reader:
            found = reader.search(" ".join(words))
    if as_json_:
        print(json.dumps([asdict(hit) for hit in found]))
    elif not found:
        click.echo("nothing found", err=True)
    for hit in found if not as_json_ else ():
        plain = _shown(hit.snippet.replace(MARK_ON, "").replace(MARK_OFF, "").replace("\n", " "))
        click.echo(f"{hit.conversation}  {_shown(hit.title)}: {plain}")


@command.command("export")
@click.argument("numbers", nargs=-1, type=int)
@click.option("--out", type=click.Path(path_type=Path), help="A .json or .md file; without it JSON goes to stdout.")
@click.option("--format", "kind", type=click.Choice(("json", "md")), help="Instead of by the name of --out.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def export_chats(numbers: tuple[int, ...], out: Path | None, kind: str | None, overwrite: bool) -> None:
    """Write the conversations NUMBERS (all without any): JSON to be imported again, Markdown to be read."""
    if out is not None:
        spare_inputs(out)
    if out is not None and out.exists() and not out.is_dir() and not overwrite:
        raise InputError(
            "chat.export_there", "{path} is there already", remedy="--overwrite replaces it", path=str(out)
        )
    with _opened() as reader:
        chosen = numbers or [info.id for info in reader.conversations()]
        as_text = as_markdown if (kind or (out and out.suffix == ".md" and "md")) == "md" else as_json
        text = as_text(reader, chosen)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_file(out, text)
        click.echo(f"{len(chosen)} conversations in {out}", err=True)


@command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def import_chats(files: tuple[Path, ...]) -> None:
    """Add the conversations of exported JSON FILES beside those that are there."""
    with ChatStore(paths.chats_file()) as store:
        for path in files:
            added = import_json(store, read_file(path), str(path))
            click.echo(f"{path}: {len(added)} conversations: {' '.join(map(str, added))}")


@command.command("restore")
@click.argument("numbers", nargs=-1, required=True, type=int)
def restore_chats(numbers: tuple[int, ...]) -> None:
    """Bring deleted conversations back."""
    with _opened(), ChatStore(paths.chats_file()) as store:
        for number in numbers:
            store.restore(number)


@command.command("purge")
def purge_chats() -> None:
    """Remove deleted conversations for good, now instead of after 30 days."""
    with _opened(), ChatStore(paths.chats_file()) as store:
        click.echo(f"{store.purge(older_than_s=0)} conversations removed")


def _opened() -> ChatReader:
    path = paths.chats_file()
    if not path.exists():
        raise InputError("chat.none", "there are no conversations in {path}", path=str(path))
    return ChatReader(path)


def _print(found: Sequence[ConversationInfo]) -> None:
    for info in found:
        when = datetime.fromtimestamp(info.updated).astimezone().strftime("%Y-%m-%d %H:%M")
        pin = "*" if info.pinned else " "
        click.echo(f"{info.id:>6} {pin} {when}  {info.messages:>5} messages  {_shown(info.title)}")


def _shown(text: str) -> str:
    """On one line, and nothing that a terminal would obey."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
