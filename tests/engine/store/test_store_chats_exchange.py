"""Export and import: JSON gives the same conversation, Markdown is for reading, and neither holds a thought."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.conversation import AnswerFigures, ChatOptions
from engine.errors import InputError, UserError
from engine.store.chats import ChatStore
from engine.store.chats_exchange import as_json, as_markdown, import_json, read_file, write_file
from engine.store.chats_read import ChatReader


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    with ChatStore(tmp_path / "chats.sqlite") as opened:
        yield opened


def branched(store: ChatStore) -> int:
    """A conversation with everything that there is: versions, a failure, a cut, a thought, options."""
    number = store.create("Mine, «quoted»", ChatOptions("Be brief.\nIn German.", True, 99))
    first = store.ask(number, None, "Was ist $5?\n# kein Titel", model="toy")
    store.finish(
        first.id, "```\n<b>\n```", "done", AnswerFigures(1.25, 0.5, 2, 17, 5, 40), thought="secret", finish="length"
    )
    failed = store.ask(number, first.id, "zwei")
    store.finish(failed.id, "halb", "failed", AnswerFigures(), error="it broke", remedy="mend it")
    question = store.message(failed.id).parent
    assert question is not None
    again = store.answer_again(number, question)
    store.finish(again.id, "ganz", "stopped", AnswerFigures(0.1))
    edited = store.ask(number, first.id, "zwei, besser")
    store.save_text(edited.id, "interrup").result()
    store.cut(question, summary="Bisher: nichts.")
    store.show_version(number, failed.id)
    store.set_draft(number, "ein Entwurf")
    store.set_pinned(number, True)
    return number


def test_what_is_exported_comes_back_equal(store: ChatStore, tmp_path: Path) -> None:
    number, plain = branched(store), store.create()
    exported = as_json(store, [number, plain])
    with ChatStore(tmp_path / "other.sqlite") as other:
        numbers = import_json(other, exported.encode(), "x.json")
        assert as_json(other, numbers) == exported
        assert [message.text for message in other.page(other.conversation(numbers[0]).tip)] == [
            "Was ist $5?\n# kein Titel",
            "```\n<b>\n```",
            "zwei",
            "halb",
        ]
        assert other.conversation(numbers[0]).options == ChatOptions("Be brief.\nIn German.", True, 99)
        assert other.search("besser")
        again = import_json(other, exported.encode(), "x.json")  # a second time beside the first
        assert len(other.conversations()) == 4
        assert as_json(other, again) == exported
    assert "secret" not in exported


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text())
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str]], title: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "exchange.sqlite"
    with ChatStore(path) as store:
        number, tip = store.create(title), None
        for question, answer in turns:
            row = store.ask(number, tip, question)
            store.finish(row.id, answer, "done", AnswerFigures())
            tip = row.id
        exported = as_json(store, [number])
        assert as_json(store, import_json(store, exported.encode(), "x")) == exported
        as_markdown(store, [number])


def test_markdown_shows_what_is_shown(store: ChatStore) -> None:
    number = branched(store)
    text = as_markdown(store, [number])
    assert text.startswith("# Mine, «quoted»\n\nSystem prompt:\n\n> Be brief.\n> In German.\n\n## You, ")
    assert "```\n<b>\n```\n\n*cut at the length limit*\n\n## You, " in text
    assert text.endswith("halb\n\n*broke off: it broke*\n")
    assert "## toy, " in text
    assert "secret" not in text
    assert "ganz" not in text
    assert as_markdown(store, [number, number]).count("# Mine, «quoted»") == 2


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], bytes]:
    def make(exported: dict[str, Any]) -> bytes:
        change(exported["conversations"][0])
        return json.dumps(exported).encode()

    return make


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda _: b"", "no export"),
        (lambda _: b"# Markdown", "Markdown is for reading"),
        (lambda _: b"\xff\xfe{}", "no export"),
        (lambda _: b"[" * 100_000, "no export"),
        (lambda _: b'{"conversations": []}', "format"),
        (lambda _: b'{"format": "diffusion-desk-chats", "version": 99}', "version 99"),
        (lambda _: b'{"format": "diffusion-desk-chats", "version": 1}', "conversations"),
        (changed(lambda c: c["messages"][1].update(role="system")), r"conversations\.0\.messages\.1\.role"),
        (changed(lambda c: c["messages"][1].update(role="user")), "message 2: a message of the user cannot follow"),
        (changed(lambda c: c["messages"][0].update(parent=1)), "message 1: its parent 1 does not stand before"),
        (changed(lambda c: c["messages"][2].update(parent=77)), "message 3: its parent 77"),
        (changed(lambda c: c["messages"][2].update(id=1)), "message 1 stands twice"),
        (changed(lambda c: c.update(tip=50)), "conversation 1: there is no message 50"),
        (changed(lambda c: c["messages"][1]["figures"].update(seconds=-1)), "seconds"),
        (changed(lambda c: c["messages"][1]["figures"].update(canvases=1e300)), "canvases"),
        (changed(lambda c: c.update(created=float("inf"))), "created"),
        (changed(lambda c: c.update(max_tokens=0)), "max_tokens"),
    ],
)
def test_what_does_not_hang_together_is_named_and_nothing_is_taken(
    store: ChatStore, spoil: Callable[[dict[str, Any]], bytes], words: str
) -> None:
    exported = json.loads(as_json(store, [branched(store), store.create()]))
    with pytest.raises(InputError, match=words) as refused:
        import_json(store, spoil(exported), "x.json")
    assert "x.json" in str(refused.value)
    assert len(store.conversations()) == 2


def test_an_old_export_with_little_in_it_is_enough(store: ChatStore) -> None:
    data = {
        "format": "diffusion-desk-chats",
        "version": 1,
        "conversations": [{"messages": [{"id": 7, "role": "user", "text": "hi"}], "from_the_future": 1}],
    }
    [number] = import_json(store, json.dumps(data).encode(), "x")
    assert [message.text for message in store.page(store.conversation(number).tip)] == ["hi"]


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    write_file(path, "# ü\n")
    assert read_file(path) == "# ü\n".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["chat.md"]
    with pytest.raises(UserError, match="No such file"):
        write_file(tmp_path / "missing" / "chat.md", "x")
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "missing.json")
    with pytest.raises(InputError, match="directory"):
        read_file(tmp_path)


def test_a_reader_beside_a_writer(store: ChatStore) -> None:
    number = branched(store)
    with ChatReader(store.path) as reader:
        before = as_json(reader, [number])
        store.rename(number, "new")
        assert as_json(reader, [number]) != before
