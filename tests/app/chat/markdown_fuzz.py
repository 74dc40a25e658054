"""Random and malicious Markdown, the same for the same number."""

from __future__ import annotations

import random
from collections.abc import Callable

WORDS = (
    "canvas",
    "Größe",
    "日本語",
    "שלום",
    "مرحبا",
    "🎈👩‍👩‍👧",
    "$5",
    "x_y_z",
    "&amp;",
    "&#0;",
    "a\u0301\u0301\u0301",
    "\u202eabc",
)
SIGNS = "*_`~#>-+=|[](){}!<>\\&:;.,'\"^$%@/ \t\n\n\n0123456789"
SCHEMES = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "vbscript:x",
    "data:text/html;base64,PHNjcmlwdD4=",
    "file:///etc/passwd",
    "qrc:/x",
    ":/x.png",
    "//host/x",
    "\\\\host\\x",
    "ftp://host/x",
    "http://[::1",
    "https://example.org/" + "a" * 300,
    "mailto:a@b",
    "{remote}",
    "{local}",
)
TAGS = (
    "<script>alert(1)</script>",
    "<img src='{remote}' onerror=alert(1)>",
    "<img src={local}>",
    "<link rel=stylesheet href='{remote}'>",
    "<style>@import url('{remote}');*{{background:url({local})}}</style>",
    "<body background='{remote}'>",
    "<table background='{remote}'><tr><td>",
    "<iframe src='{local}'></iframe>",
    "<object data='{remote}'>",
    "<!-- ",
    "<![CDATA[",
    "<?php",
    "</div></p></table>",
    "<a href='{remote}'>x",
    "<meta http-equiv=refresh content='0;url={remote}'>",
    "<svg onload=alert(1)>",
)


def document(number: int, remote: str, local: str) -> str:
    """The document of a number.

    Args:
        remote, local: an address and a file that must never be read; some documents name them.
    """
    rng = random.Random(number)
    kind = rng.choice((_noise, _signs, _words, _links, _tags, _nested, _repeated, _table, _fences, _mixed))
    return kind(rng).replace("{remote}", remote).replace("{local}", local)


def _noise(rng: random.Random) -> str:
    """Any code points: controls, halves of surrogate pairs, unassigned ones."""
    return "".join(chr(rng.randrange(0x110000 if rng.random() < 0.3 else 0x500)) for _ in range(rng.randrange(400)))


def _signs(rng: random.Random) -> str:
    return "".join(rng.choices(SIGNS, k=rng.randrange(1, 600)))


def _words(rng: random.Random) -> str:
    parts = (rng.choice(WORDS) + rng.choice((" ", "\n", "\n\n", "*", "**", "`", "  \n")) for _ in range(60))
    return "".join(parts)


def _links(rng: random.Random) -> str:
    forms: tuple[Callable[[str, str], str], ...] = (
        lambda text, url: f"[{text}]({url})",
        lambda text, url: f"![{text}]({url})",
        lambda text, url: f"[{text}](<{url}> 'title')",
        lambda text, url: f"<{url}>",
        lambda text, url: f'[{text}][r]\n\n[r]: {url} "t"\n',
        lambda text, url: f"[![{text}]({url})]({url})",
    )
    lines = (rng.choice(forms)(rng.choice(WORDS), rng.choice(SCHEMES)) for _ in range(rng.randrange(1, 12)))
    return rng.choice(("\n", "\n\n", " ")).join(lines)


def _tags(rng: random.Random) -> str:
    return "".join(rng.choice(TAGS) + rng.choice(("", "\n", "\n\n", "x")) for _ in range(rng.randrange(1, 12)))


def _nested(rng: random.Random) -> str:
    """Quotes, lists and brackets inside each other, deeper than any reader wants them."""
    depth = rng.randrange(2, 400)
    form = rng.randrange(4)
    if form == 0:
        return ">" * depth + " deep"
    if form == 1:
        return "\n".join("  " * level + "- x" for level in range(min(depth, 60)))
    if form == 2:
        return "".join(rng.choice(("> ", "- ", "1. ")) for _ in range(depth)) + "x"
    return "[" * depth + "x" + "](y)" * rng.randrange(depth)


def _repeated(rng: random.Random) -> str:
    """What makes careless parsers take a time that grows with the square of the length."""
    piece = rng.choice(
        ("*a ", "_a_", "`", "``a", "[", "![", "[a](", "<", "<a", "&", "\\", "|", "~~", "**a *b ", "[a]: b\n")
    )
    return piece * rng.choice((1, 10, 100, 1000, 3000)) + rng.choice(("", "x", "\n\nx"))


def _table(rng: random.Random) -> str:
    columns, rows = rng.randrange(1, 30), rng.randrange(0, 12)
    lines = ["|".join("h" * columns), "|".join(rng.choice(("-", ":-:", "-:", "x")) for _ in range(columns))]
    lines += ["|".join(rng.choices((*WORDS, "`|`", "\\|", ""), k=rng.randrange(1, columns + 3))) for _ in range(rows)]
    return "\n".join(f"|{line}|" for line in lines)


def _fences(rng: random.Random) -> str:
    language = rng.choice(("python", "c", "html", "no-such-language", "../../etc/passwd", "python\x00", "x" * 500, ""))
    mark = rng.choice(("```", "~~~", "`````"))
    body = "".join(rng.choices(SIGNS + "abc", k=rng.randrange(300)))
    return f"{mark}{language}\n{body}{rng.choice(('', mark, chr(10) + mark))}\nafter"


def _mixed(rng: random.Random) -> str:
    kinds = (_noise, _signs, _words, _links, _tags, _nested, _table, _fences)
    return rng.choice(("\n", "\n\n", "\r\n", "\r")).join(rng.choice(kinds)(rng) for _ in range(rng.randrange(2, 6)))
