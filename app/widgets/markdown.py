"""Markdown to blocks: prose as safe HTML, fenced code as itself. No Qt here, so it is easily tested.

markdown-it-py with raw HTML off; what looks like a tag stays text. Links keep only http, https and mailto; images are
never loaded and become a link that names them. ``$5`` is money, not mathematics.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.widgets.urls import safe_url

PROSE_CHUNK = 2000  # characters of HTML; finished chunks are frozen, so a long answer is not laid out again and again


@dataclass(frozen=True, slots=True)
class Prose:
    """Formatted text as HTML for ``QTextDocument``."""

    html: str


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block, exactly as it was written, without its fence."""

    text: str
    language: str = ""


Block = Prose | Code


def blocks(source: str) -> list[Block]:
    """The blocks of a message, in order. An unclosed fence (still being written) counts as code."""
    return [block for block, _line in parsed_blocks(source)]


def parsed_blocks(source: str) -> list[tuple[Block, int]]:
    """The blocks of a message, each with the 0-based line of the source on which it begins."""
    parser = _parser()
    env: MutableMapping[str, Any] = {}
    tokens = parser.parse(source, env)
    found: list[tuple[Block, int]] = []
    pending: list[str] = []
    begin = 0

    def flush() -> None:
        if pending:
            found.append((Prose("".join(pending)), begin))
            pending.clear()

    for group in _top_level(tokens):
        first = group[0]
        line = first.map[0] if first.map else begin
        if first.type in ("fence", "code_block"):
            flush()
            language = first.info.split()[0] if first.info.strip() else ""
            found.append((Code(first.content.removesuffix("\n"), language), line))
            continue
        if sum(map(len, pending)) > PROSE_CHUNK:
            flush()
        if not pending:
            begin = line
        pending.append(parser.renderer.render(group, parser.options, env))
    flush()
    return found


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Tokens grouped by top-level block."""
    group: list[Token] = []
    depth = 0
    for token in tokens:
        group.append(token)
        depth += token.nesting
        if depth == 0:
            yield group
            group = []


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.validateLink = safe_url  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("table_open", _table_open)
    return parser


def _link_open(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    """A link without a target is none; the parser lets ``[x]()`` through."""
    from markdown_it.common.utils import escapeHtml

    url = str(tokens[index].attrs.get("href", ""))
    return f'<a href="{escapeHtml(url)}">' if safe_url(url) else "<a>"


def _image(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    """An image is shown as its description with a link; nothing is fetched."""
    from markdown_it.common.utils import escapeHtml

    token = tokens[index]
    url = escapeHtml(str(token.attrs.get("src", "")))
    words = escapeHtml(token.content or "image")
    return f'<a href="{url}">[{words}]</a>' if safe_url(url) else f"[{words}]"


def _table_open(_self: Any, _tokens: Sequence[Token], _index: int, _options: Any, _env: Any) -> str:
    # Qt's HTML subset draws borders and padding from attributes only.
    return '<table border="1" cellspacing="0" cellpadding="6">\n'
