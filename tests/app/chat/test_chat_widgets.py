"""The chat's widgets by themselves: growing text, the list's times, the line of the session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.models.chat_list import ConversationModel, HitModel
from app.widgets.chat.figures import Sparkline, answer_words
from app.widgets.chat.list_delegate import when
from app.widgets.empty_chat import EmptyChat
from app.widgets.markdown import blocks
from app.widgets.markdown_stream import StreamedBlocks
from app.widgets.message import MessageView
from app.widgets.transcript import AT_ONCE, Transcript
from engine.domain.conversation import AnswerFigures, ConversationInfo, SearchHit, StoredMessage

PIECES = st.sampled_from(
    [
        "# Head\n\n",
        "word " * 90,
        "\n\n",
        "- item\n",
        "1. one\n2. two\n\n",
        "```python\nx = 1\n",
        "```\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "> quote\n",
        "    indented\n",
        "text\r\n\r\n",
        "===\n",
        "**bold** and `code`",
        "\n",
    ]
)


@given(st.lists(PIECES, max_size=25))
def test_a_growing_text_has_the_blocks_of_the_whole(pieces: list[str]) -> None:
    stream, source = StreamedBlocks(), ""
    for piece in pieces:
        source += piece
        assert stream.update(source) == blocks(source)


def test_a_text_that_does_not_go_on_begins_anew() -> None:
    stream = StreamedBlocks()
    stream.update("```\na\n```\n\none\n\n```\nb\n```\n")
    assert stream.update("quite another") == blocks("quite another")
    assert stream.update("") == []


def test_a_streamed_answer_ends_as_the_whole_text(qtbot: QtBot) -> None:
    source = "A [link][1].\n\n" + "word " * 900 + "\n\nend\n\n[1]: https://example.org\n"
    streamed, whole = MessageView("assistant"), MessageView("assistant", source)
    for view in (streamed, whole):
        qtbot.addWidget(view)
    for end in range(0, len(source), 97):
        streamed.set_text(source[:end], final=False)
        streamed.flush()
    streamed.set_text(source, final=True)
    assert streamed._shown == whole._shown


def test_a_long_page_is_built_from_its_end(qtbot: QtBot) -> None:
    transcript = Transcript()
    qtbot.addWidget(transcript)
    messages = [StoredMessage(n, n - 1 or None, n, "user", str(n)) for n in range(1, 51)]
    transcript.show_messages(messages)
    assert [view.text for view in transcript.messages] == [str(n) for n in range(51 - AT_ONCE, 51)]
    transcript.build_all()
    assert [view.text for view in transcript.messages] == [str(n) for n in range(1, 51)]
    kept = transcript.messages[:20]
    other = [*messages[:20], StoredMessage(99, 20, 21, "user", "other")]
    transcript.show_messages(other)
    assert transcript.messages[:20] == kept  # what stays is not built again
    assert transcript.messages[-1].text == "other"
    transcript.clear()
    assert transcript.messages == []


@pytest.mark.parametrize(
    ("ago", "words"),
    [(timedelta(), "15:30"), (timedelta(days=2), "Fri 15:30"), (timedelta(days=40), "2026-10-20")],
)
def test_times_of_the_list(ago: timedelta, words: str) -> None:
    now = datetime(2026, 11, 29, 15, 30).astimezone()
    assert when((now - ago).timestamp(), now) == words
    assert when(datetime(1970, 1, 2, tzinfo=UTC).timestamp(), now).startswith("1970-01-0")


def test_the_session_line_says_its_figures(qtbot: QtBot) -> None:
    line = Sparkline()
    qtbot.addWidget(line)
    line.show()
    for value in (10.0, 30.0, 20.0):
        line.add(value)
    assert line.accessibleName() == "Wall tokens/s of the last 3 answers: 10 to 30, last 20"
    assert not line.grab().toImage().isNull()


def test_an_answer_without_figures_has_no_words(qtbot: QtBot) -> None:
    view = MessageView("assistant")
    qtbot.addWidget(view)
    done = StoredMessage(1, 2, 2, "assistant", "x")
    assert answer_words(done, view) == ""
    figures = AnswerFigures(2.0, 0.5, 1, 9, 10, 1)
    counted = StoredMessage(1, 2, 2, "assistant", "x", finish="length", figures=figures)
    assert answer_words(counted, view) == (
        "ended at the length limit  ·  0 tokens/s wall  ·  1 token in 2.0 s  ·  1 canvas  ·  "
        "9.0 denoise steps per canvas  ·  first canvas after 0.5 s"
    )


def test_the_models_keep_qts_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    conversations, hits = ConversationModel(), HitModel()
    infos = [ConversationInfo(n, f"t{n}", n == 1, 0.0, 0.0, 2) for n in range(3)]
    conversations.set_items(infos)
    hits.set_items([SearchHit(1, "t", 2, "user", "a \x02b\x03", 0.0)])
    qtmodeltester.check(conversations)
    qtmodeltester.check(hits)
    spoken = conversations.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "t1, pinned, 2 messages"
    assert hits.index(0, 0).data() == "t: a b"
    asked: list[tuple[int, str]] = []
    conversations.renamed.connect(lambda number, title: asked.append((number, title)))
    assert conversations.setData(conversations.index(0, 0), "new")
    assert conversations.setData(conversations.index(2, 0), "t2")  # as it was
    assert asked == [(0, "new")]


@pytest.mark.parametrize("height", [90, 160, 220, 300, 420])
@pytest.mark.parametrize("points", [9, 15])
def test_an_empty_conversation_shows_whole_parts_or_none(qtbot: QtBot, height: int, points: int) -> None:
    empty = EmptyChat(("What is a diffusion model?", "Tell me a story about a fox.", "Write a loop in Python."))
    qtbot.addWidget(empty)
    font = empty.font()
    font.setPointSize(points)
    empty.setFont(font)
    empty.resize(560, height)
    empty.show()
    assert_whole(empty, height)
    empty.resize(560, 900)
    assert all(each.isVisible() for each in empty.findChildren(QPushButton))
    empty.resize(560, height)  # what had its room already gives it up again
    assert_whole(empty, height)


def assert_whole(empty: EmptyChat, height: int) -> None:
    """Nothing lies on something else, and every text has its lines; lower than one line nothing can be done."""
    shown = [each for each in empty.findChildren(QWidget) if each.isVisible() and not each.layout()]
    assert shown or height == 90
    places = sorted([each.geometry() for each in shown], key=lambda rect: rect.top())
    assert all(above.bottom() < below.top() for above, below in pairwise(places))
    needed = [each.heightForWidth(each.width()) for each in shown if isinstance(each, QLabel)]
    given_to = [each.height() for each in shown if isinstance(each, QLabel)]
    assert height == 90 or all(high >= need for high, need in zip(given_to, needed, strict=True))
