"""Conversations on disk: written ahead, kept through a crash, branched, searched, restored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from chats_clock import Clock
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.chat import Message
from engine.domain.conversation import (
    MARK_OFF,
    MARK_ON,
    SUMMARY_HEAD,
    AnswerFigures,
    ChatOptions,
    sent_messages,
    title_of,
)
from engine.errors import InputError, UserError
from engine.store.chats import ChatStore
from engine.store.chats_read import ChatReader
from engine.store.chats_search import fts_query

FIGURES = AnswerFigures(2.0, 0.5, 3, 24, 100, 300)


def turn(store: ChatStore, conversation: int, parent: int | None, question: str, answer: str) -> int:
    """One finished turn; the number of its answer."""
    row = store.ask(conversation, parent, question, model="toy")
    store.finish(row.id, answer, "done", FIGURES, finish="stop")
    return row.id


def texts(store: ChatReader, conversation: int) -> list[str]:
    return [message.text for message in store.page(store.conversation(conversation).tip)]


def test_a_question_and_the_row_of_its_answer_are_there_before_the_answer(store: ChatStore) -> None:
    number = store.create()
    answer = store.ask(number, None, "What is rain?\nTell me.", model="toy")
    with ChatReader(store.path) as other:  # what another process sees
        asked, waiting = other.page(other.conversation(number).tip)
        assert (asked.role, asked.text, asked.depth) == ("user", "What is rain?\nTell me.", 1)
        assert (waiting.id, waiting.role, waiting.state, waiting.text) == (answer.id, "assistant", "streaming", "")
        assert waiting.parent == asked.id
        assert other.conversation(number).info.title == "What is rain?"


def test_an_answer_that_was_streaming_is_marked_and_its_text_is_there(store: ChatStore) -> None:
    number = store.create()
    answer = store.ask(number, None, "q")
    store.save_text(answer.id, "half an ans", "a thought").result()
    turn(store, store.create(), None, "q", "a whole one")
    assert store.recover() == 1
    found = store.message(answer.id)
    assert (found.state, found.text, found.thought) == ("interrupted", "half an ans", "a thought")
    assert found.can_continue
    assert store.recover() == 0


def test_a_process_that_is_killed_loses_nothing_that_was_flushed(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    code = """if True:
        import os, signal, sys
        from pathlib import Path
        from engine.store.chats import ChatStore
        store = ChatStore(Path(sys.argv[1]))
        answer = store.ask(store.create(), None, "kept?")
        store.save_text(answer.id, "kept").result()
        os.kill(os.getpid(), signal.SIGKILL)"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=240)
    assert done.returncode == -9
    with ChatStore(path) as store:
        assert store.recover() == 1
        [info] = store.conversations()
        assert texts(store, info.id) == ["kept?", "kept"]


def test_the_figures_come_back_and_add_up(store: ChatStore) -> None:
    number = store.create()
    first = turn(store, number, None, "one", "1")
    turn(store, number, first, "two", "2")
    assert store.message(first).figures == FIGURES
    count, total = store.totals(number)
    assert (count, total.canvases, total.denoise_steps, total.completion_tokens) == (2, 6, 48, 600)
    assert total.tokens_per_second == 150
    assert FIGURES.steps_per_canvas == 8
    more = FIGURES.plus(AnswerFigures(1.0, 0.1, 1, None, 400, 20))
    assert more == AnswerFigures(3.0, 0.5, 4, None, 400, 320)


def test_an_edited_question_and_a_second_answer_are_versions_that_one_switches_between(store: ChatStore) -> None:
    number = store.create()
    first = turn(store, number, None, "one", "1")
    second = turn(store, number, first, "two", "2")
    turn(store, number, second, "three", "3")
    edited = turn(store, number, first, "two, edited", "2b")
    assert texts(store, number) == ["one", "1", "two, edited", "2b"]
    shown = store.page(store.conversation(number).tip)
    assert [(message.place, message.versions) for message in shown] == [(1, 1), (1, 1), (2, 2), (1, 1)]
    again = store.answer_again(number, shown[2].id)
    store.finish(again.id, "2c", "done", FIGURES)
    assert texts(store, number) == ["one", "1", "two, edited", "2c"]
    assert store.versions(again.id) == [edited, again.id]
    old_question = store.versions(shown[2].id)[0]
    store.show_version(number, old_question)
    assert texts(store, number) == ["one", "1", "two", "2", "three", "3"]
    store.show_version(number, shown[2].id)  # comes back to the answer that was shown there
    assert texts(store, number) == ["one", "1", "two, edited", "2c"]
    store.show_version(number, edited)
    store.show_version(number, old_question)
    store.show_version(number, shown[2].id)
    assert texts(store, number) == ["one", "1", "two, edited", "2b"]
    with ChatStore(store.path) as later:  # what is shown is kept
        assert texts(later, number) == ["one", "1", "two, edited", "2b"]


def test_a_message_of_another_conversation_is_no_parent(store: ChatStore) -> None:
    here, there = store.create(), store.create()
    answer = turn(store, here, None, "q", "a")
    with pytest.raises(InputError, match=str(answer)):
        store.ask(there, answer, "q")
    assert store.tree(there) == []


def test_a_long_conversation_comes_in_pages(store: ChatStore) -> None:
    number, last = store.create(), None
    for place in range(250):
        last = turn(store, number, last, f"q{place}", f"a{place}")
    newest = store.page(last)
    assert len(newest) == 100
    assert newest[-1].text == "a249"
    assert newest[0].depth == 401
    earlier = store.page(newest[0].parent)
    assert [message.depth for message in earlier] == list(range(301, 401))


def test_the_list_has_the_pinned_ones_first_then_the_newest(store: ChatStore) -> None:
    old, middle, new = store.create("old"), store.create("middle"), store.create("new")
    store.set_pinned(old, True)
    turn(store, middle, None, "q", "a")
    assert [info.id for info in store.conversations()] == [old, middle, new]
    assert [info.messages for info in store.conversations()] == [0, 2, 0]
    store.rename(old, "  renamed ")
    assert store.conversations()[0].title == "renamed"


def test_a_title_is_the_first_question_until_the_user_gives_one(store: ChatStore) -> None:
    number = store.create()
    answer = turn(store, number, None, "First?", "a")
    store.rename(number, "Mine")
    turn(store, number, answer, "Second?", "a")
    assert store.conversation(number).info.title == "Mine"
    store.rename(number, " ")
    assert store.conversation(number).info.title == "First?"
    assert title_of("\n  " + "word " * 30) == "word word word word word word word word word word word word …"


def test_what_is_deleted_comes_back_until_it_is_purged(store: ChatStore, clock: Clock) -> None:
    number = store.create()
    turn(store, number, None, "needle", "a")
    store.delete(number)
    assert store.conversations() == []
    assert store.search("needle") == []
    assert [info.id for info in store.conversations(deleted=True)] == [number]
    store.restore(number)
    assert texts(store, number) == ["needle", "a"]
    assert store.search("needle")
    store.delete(number)
    assert store.purge() == 0
    clock.now += 31 * 24 * 3600
    kept = store.create()
    assert store.purge() == 1
    assert [info.id for info in store.conversations()] == [kept]
    with pytest.raises(InputError):
        store.conversation(number)
    store.restore(kept)
    assert store.search("needle") == []


def test_options_drafts_prompts_and_notes_are_kept(store: ChatStore) -> None:
    number = store.create(options=ChatOptions("Be brief.", True, 100))
    store.set_draft(number, "half a quest")
    store.set_note("draft", "for later")
    store.save_prompt("short", "Be brief.")
    store.save_prompt("short", "Be very brief.")
    store.save_prompt("Long", "Be long.")
    with ChatStore(store.path) as later:
        found = later.conversation(number)
        assert (found.options, found.draft) == (ChatOptions("Be brief.", True, 100), "half a quest")
        assert later.note("draft") == "for later"
        assert later.note("nothing", "default") == "default"
        assert [(prompt.name, prompt.text) for prompt in later.prompts()] == [
            ("Long", "Be long."),
            ("short", "Be very brief."),
        ]
    store.set_options(number, ChatOptions())
    store.delete_prompt("Long")
    assert store.conversation(number).options == ChatOptions()
    assert [prompt.name for prompt in store.prompts()] == ["short"]
    store.ask(number, None, "half a question")
    assert store.conversation(number).draft == ""
    with pytest.raises(InputError):
        store.save_prompt(" ", "x")


def test_history_is_the_newest_first_and_each_once(store: ChatStore) -> None:
    number, gone = store.create(), store.create()
    last = None
    for question in ("a", "b", "a", "c"):
        last = turn(store, number, last, question, "x")
    turn(store, gone, None, "secret", "x")
    store.delete(gone)
    assert store.history() == ["c", "a", "b"]
    assert store.history(2) == ["c", "a"]


def test_what_the_model_is_sent(store: ChatStore) -> None:
    number = store.create()
    first = turn(store, number, None, "one", "1")
    failed = store.ask(number, first, "refused")
    store.finish(failed.id, "", "failed", AnswerFigures())
    second = turn(store, number, failed.id, "two", "2")
    waiting = store.ask(number, second, "three")
    options = ChatOptions(" Be brief. ")
    assert sent_messages(store.context(waiting.id), options) == [
        Message("system", "Be brief."),
        Message("user", "one"),
        Message("assistant", "1"),
        Message("user", "two"),
        Message("assistant", "2"),
        Message("user", "three"),
    ]
    question = store.message(second).parent
    assert question is not None
    store.cut(question, summary="They spoke of one.")
    assert sent_messages(store.context(waiting.id), ChatOptions()) == [
        Message("system", f"{SUMMARY_HEAD}\nThey spoke of one."),
        Message("user", "two"),
        Message("assistant", "2"),
        Message("user", "three"),
    ]
    store.cut(question, is_cut=False)
    assert len(sent_messages(store.context(waiting.id), ChatOptions())) == 5
    # An answer that goes on is the last message itself.
    store.save_text(waiting.id, "half").result()
    assert sent_messages(store.context(waiting.id), ChatOptions())[-1] == Message("assistant", "half")


def found(store: ChatReader, text: str) -> list[str]:
    return [hit.snippet.replace(MARK_ON, "[").replace(MARK_OFF, "]") for hit in store.search(text)]


def test_search_finds_words_beginnings_phrases_and_umlauts(store: ChatStore) -> None:
    number = store.create()
    turn(store, number, None, "Grüße aus Köln", 'She said "never again" and left.')
    assert found(store, "grusse") == []  # sharp s is a letter of its own
    assert found(store, "grü koln") == ["[Grüße] aus [Köln]", "[Grüße] aus [Köln]"]  # the title and the message
    assert found(store, "NEV left") == ['She said "[never] again" and [left].']
    assert found(store, '"never again"') == ['She said "[never again]" and left.']
    assert found(store, '"again never"') == []
    assert found(store, "never nothing") == []
    hit = store.search("left")[0]
    assert (hit.conversation, hit.title, hit.role) == (number, "Grüße aus Köln", "assistant")
    assert hit.message == store.conversation(number).tip


def test_search_finds_signs_and_scripts_without_spaces(store: ChatStore) -> None:
    number = store.create()
    turn(store, number, None, "価格は 100% ですか", "a_b and 🎈 here")
    assert found(store, "格は")[-1] == "価[格は] 100% ですか"
    assert found(store, "🎈") == ["a_b and [🎈] here"]
    assert found(store, "%")[-1] == "価格は 100[%] ですか"
    assert found(store, "%_") == []


def test_search_follows_an_answer_while_it_grows_and_forgets_old_text(store: ChatStore) -> None:
    answer = store.ask(store.create(), None, "q")
    store.save_text(answer.id, "first").result()
    store.save_text(answer.id, "second").result()
    assert found(store, "first") == []
    assert found(store, "second") == ["[second]"]


@given(st.text(max_size=40))
def test_no_input_is_query_syntax(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "search.sqlite"
    with ChatStore(path) as store:
        if not store.conversations():
            turn(store, store.create(), None, 'a "quoted" NEAR(b) column:c', "x AND y OR NOT z * ^ -")
        store.search(text)
        store.search(f'"{text}')
        store.search(f"{text}*")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("two words", '"two"* "words"*'),
        ('"a phrase" and', '"a phrase" "and"*'),
        ('un"closed', '"un closed"*'),
        ("text:NEAR(a, b)", '"text:NEAR(a,"* "b)"*'),
        ("- ^ * ()", ""),
        ("", ""),
    ],
)
def test_words_become_strings(text: str, query: str) -> None:
    assert fts_query(text) == query


def test_broken_unicode_is_stored_and_searched(store: ChatStore) -> None:
    number = store.create("\ud800 title")
    turn(store, number, None, "half \udc00 pair \0 nul", "x")
    assert store.search("\ud800") is not None
    assert texts(store, number) == ["half ? pair \0 nul", "x"]


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    path.write_text("no database at all, but long enough to be looked at" * 10)
    with pytest.raises(UserError, match="damaged"):
        ChatStore(path)
    assert path.read_text().startswith("no database")
