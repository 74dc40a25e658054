"""Cells that a spreadsheet would run as a formula (CSV injection), and the apostrophe that keeps it from doing so.

A formula begins with ``=``, ``+``, ``-`` or ``@`` (also in their full-width forms); importers skip white space and
invisible characters before it, and some start at a leading tab or carriage return
(https://owasp.org/www-community/attacks/CSV_Injection).
"""

from __future__ import annotations

import re
import unicodedata

_SIGNS = frozenset("=+-@＝＋－＠")
_BREAKS = frozenset("\t\r")
# A plain number is no formula: a minus, digits with separators, an exponent, a percent sign. "+1" is a text to us:
# a spreadsheet would drop the plus, which spoils telephone numbers.
_NUMBER = re.compile(r"-(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?%?", re.ASCII)
_FIRST = _SIGNS | _BREAKS


def guarded(cell: str) -> str:
    """The cell, with an apostrophe before it if a spreadsheet would run it."""
    return f"'{cell}" if runs(cell) else cell


def runs(cell: str) -> bool:
    """Whether a spreadsheet may take this cell for a formula."""
    if not cell:
        return False
    first = cell[0]
    if first.isascii() and first.isprintable() and first not in _FIRST and first != " ":
        return False  # nearly every cell
    rest = cell.lstrip() if first == " " else cell
    if _NUMBER.fullmatch(rest):
        return False
    at = next((at for at, char in enumerate(cell) if not _unseen(char)), len(cell))
    rest = cell[at:].rstrip()
    if first in _BREAKS:
        return bool(rest)
    # Two characters at least: a lone sign, such as the dash of an empty field, runs nothing.
    return len(rest) > 1 and rest[0] in _SIGNS


def _unseen(char: str) -> bool:
    """White space, control and format characters (zero-width space, direction marks, byte order mark, ...)."""
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Cn", "Zs", "Zl", "Zp") or char in _FILLERS


# Letters and marks without a glyph: Hangul fillers, Braille blank, combining grapheme joiner, variation selectors.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u180b\u180c\u180d\ufe0e\ufe0f")
