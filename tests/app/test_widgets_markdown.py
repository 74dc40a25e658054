"""Markdown: what becomes of it, and what must never become of it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.widgets.code_block import CodeBlock, spans
from app.widgets.icons import IconButton
from app.widgets.link_dialog import LinkDialog
from app.widgets.markdown import Code, Prose, blocks
from app.widgets.message import MessageView
from app.widgets.prose import ProseView
from app.widgets.urls import safe_url

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"


def html_of(source: str) -> str:
    return "".join(block.html for block in blocks(source) if isinstance(block, Prose))


def test_prose_and_code_are_apart_and_in_order() -> None:
    found = blocks("before\n\n```python\nx = 1\n\n  y\n```\n\nafter")
    assert [type(block) for block in found] == [Prose, Code, Prose]
    assert found[1] == Code("x = 1\n\n  y", "python")


def test_a_fence_that_is_still_being_written_is_code() -> None:
    assert blocks("```c\nint x;")[-1] == Code("int x;", "c")


def test_tables_lists_and_emphasis() -> None:
    assert "<th>a</th>" in html_of(TABLE)
    assert "<li>one</li>" in html_of("* one\n* two")
    assert "<strong>b</strong>" in html_of("**b**")


def test_money_stays_text() -> None:
    assert html_of("It costs $5 and $6.") == "<p>It costs $5 and $6.</p>\n"


@pytest.mark.parametrize(
    "tag", ["<script>alert(1)</script>", '<img src="file:///etc/passwd">', "<b>x</b>", "<!-- x -->"]
)
def test_raw_html_stays_text(tag: str) -> None:
    assert "&lt;" in html_of(tag)
    assert tag not in html_of(tag)


@pytest.mark.parametrize(
    "url", ["", "<>", "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "ftp://x", "//x", "x"]
)
def test_unsafe_links_are_no_links(url: str) -> None:
    assert not safe_url(url)
    assert "href" not in html_of(f"[x]({url})")
    assert "<img" not in html_of(f"![x]({url})")


def test_an_image_becomes_a_named_link() -> None:
    html = html_of("![a cat](https://example.org/cat.png)")
    assert "<img" not in html
    assert "[a cat]" in html


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="`~\r\x00"), max_size=200))
def test_any_fenced_text_comes_out_as_it_went_in(text: str) -> None:
    assert blocks(f"````\n{text}\n````") == [Code(text, "")]


@given(st.text(max_size=300))
def test_any_text_can_be_shown(text: str) -> None:
    html = html_of(text)
    assert "<script" not in html
    assert "<img" not in html


class _Watcher(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def watcher() -> Iterator[http.server.HTTPServer]:
    """A server on loopback that notes what it is asked for."""
    server = http.server.HTTPServer(("127.0.0.1", 0), _Watcher)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_nothing_is_ever_loaded(qtbot: QtBot, tmp_path: Path, watcher: http.server.HTTPServer) -> None:
    """Neither through Markdown nor through HTML that reaches the document by another way."""
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"x")
    base = f"http://127.0.0.1:{watcher.server_port}"
    loaded: list[object] = []

    class Watched(ProseView):
        def loadResource(self, type: int, name: QUrl | str) -> object:
            found = super().loadResource(type, name)
            loaded.append(found)
            return found

    view = Watched()
    qtbot.addWidget(view)
    view.set_html(
        f'<img src="{base}/a.png"><img src="{secret.as_uri()}">'
        f'<link rel="stylesheet" href="{base}/x.css"><body background="{base}/b.png">text'
    )
    view.resize(400, 300)
    view.show()
    view.grab()
    assert loaded
    assert set(loaded) == {None}
    message = MessageView("assistant", f"![x]({base}/c.png) ![y]({secret.as_uri()})\n\n<img src='{base}/d.png'>")
    qtbot.addWidget(message)
    message.show()
    message.grab()
    assert watcher.asked == []  # type: ignore[attr-defined]


def test_copy_gives_exactly_the_source(qtbot: QtBot) -> None:
    source = '\tif (a < b && c) {\n\n    print("ünïcødé 🎈");  \n}\n\n'
    message = MessageView("assistant", f"```c\n{source}\n```\n")
    qtbot.addWidget(message)
    code = message.findChild(CodeBlock)
    assert code is not None
    button = code.findChild(IconButton, "code.copy")
    assert button is not None
    QGuiApplication.clipboard().setMimeData(QMimeData())
    button.click()
    assert QGuiApplication.clipboard().text() == source
    assert code.view.toPlainText() == source


def test_the_whole_message_is_copied_as_written(qtbot: QtBot) -> None:
    message = MessageView("assistant", "# Head\n\n**b** $5\n")
    qtbot.addWidget(message)
    button = message.findChild(IconButton, "message.copy")
    assert button is not None
    button.click()
    assert QGuiApplication.clipboard().text() == "# Head\n\n**b** $5\n"


def test_colours_count_as_qt_counts() -> None:
    lines = spans("# 🎈 x\ny = 'ab'", "python")
    assert lines[0] == [(0, 6, "Comment")]
    assert (4, 4, "Literal") in merged(lines[1], "Literal")


def test_half_a_surrogate_pair_is_coloured_and_counted() -> None:
    assert spans("x = '\ud815'  # \udc00", "python")[0][-1] == (9, 3, "Comment")


def test_colours_come_when_the_code_is_finished(qtbot: QtBot) -> None:
    message = MessageView("assistant", "```python\n# a comment\n```")
    qtbot.addWidget(message)
    code = message.findChild(CodeBlock)
    assert code is not None
    layout = code.view.document().firstBlock().layout()
    qtbot.waitUntil(lambda: bool(layout.formats()))
    assert layout.formats()[0].length == len("# a comment")


def merged(line: list[tuple[int, int, str]], kind: str) -> list[tuple[int, int, str]]:
    parts = [part for part in line if part[2] == kind]
    return [(parts[0][0], sum(part[1] for part in parts), kind)]


def test_an_unknown_language_and_a_huge_text_stay_plain() -> None:
    assert spans("x", "no-such-language") == []
    assert spans("x\n" * 5000, "python") == []


def test_a_link_is_opened_only_after_its_target_was_shown(qtbot: QtBot) -> None:
    followed: list[str] = []
    dialog = LinkDialog("https://example.org/a?b=c", lambda: followed.append("yes"))
    qtbot.addWidget(dialog)
    dialog.open()
    target = dialog.findChild(QLabel, "link.target")
    assert target is not None
    assert target.text() == "https://example.org/a?b=c"
    assert followed == []
    dialog.open_button.click()
    assert followed == ["yes"]


def test_a_bad_link_cannot_be_opened(qtbot: QtBot) -> None:
    dialog = LinkDialog("file:///etc/passwd", lambda: None)
    qtbot.addWidget(dialog)
    dialog.open()
    button = dialog.findChild(QPushButton, "link.open")
    assert button is not None
    assert not button.isVisible()
    dialog.reject()


def test_finished_blocks_keep_their_widgets_while_text_streams_in(qtbot: QtBot) -> None:
    first = "word " * 900 + "\n\n"
    message = MessageView("assistant", first + "```\nx = 1\n```\n\nA")
    qtbot.addWidget(message)
    before = message.findChildren(ProseView), message.findChildren(CodeBlock)
    with qtbot.waitSignal(message.resized):
        message.set_text(first + "```\nx = 1\n```\n\nA longer end", final=False)
    assert (message.findChildren(ProseView), message.findChildren(CodeBlock)) == before
    assert message.text.endswith("A longer end")


def test_streamed_text_is_coalesced(qtbot: QtBot) -> None:
    message = MessageView("assistant")
    qtbot.addWidget(message)
    rendered: list[str] = []
    message.resized.connect(lambda: rendered.append(message.text))
    with qtbot.waitSignal(message.resized):
        for number in range(100):
            message.set_text("x" * number, final=False)
    assert rendered == ["x" * 99]


def test_what_the_user_typed_is_shown_as_typed(qtbot: QtBot) -> None:
    message = MessageView("user", "# not a head\n<b>&amp;</b>")
    qtbot.addWidget(message)
    view = message.findChild(ProseView)
    assert view is not None
    assert view.toPlainText() == "# not a head\n<b>&amp;</b>"
