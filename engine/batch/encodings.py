"""Guessing the encoding of a text file without a byte order mark.

Valid UTF-8 is UTF-8. What is left are the old national encodings, most of which can decode each other's bytes; so
every candidate that decodes the sample is scored by how much its text looks like the language it was made for, and
the best one wins. It stays a guess: the user sees it and can choose another.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable

# The hanzi met most often in running text: together over a quarter of it, in any subject.
_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还"
    "发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种"
)
_TRADITIONAL = frozenset(
    "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可裡後小麼心多天而能好都然沒日於起還"
    "發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種"
)
_TYPICAL_MARKS = frozenset("‘’“”–—…€•«»°§£©®™¿¡·´º²³½ \N{NO-BREAK SPACE}")
_HANZI_GAIN = 3.0
_MIN_ZEROS = 4  # "a,b" and a line break; fewer are stray zero bytes
_MIN_KANA = 0.15  # Japanese without kana does not occur


def guess_encoding(sample: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8.

    Args:
        sample: whole lines with bytes over 127; a few are enough.

    Returns:
        A Python codec name; ``latin-1``, which decodes anything, when nothing else does.
    """
    best, best_score = "", -1.0
    # The order decides a tie: "Ä" followed by "r" is also a Hangul syllable.
    for encoding, score in _CANDIDATES:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        found = score(text)
        if found > best_score:
            best, best_score = encoding, found
    return best or "latin-1"


def utf16_without_mark(head: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` when every other byte is mostly zero, as in Western text and in separators."""
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd >= max(_MIN_ZEROS, 0.25 * pairs) and even < 0.02 * pairs:
        return "utf-16-le"
    if even >= max(_MIN_ZEROS, 0.25 * pairs) and odd < 0.02 * pairs:
        return "utf-16-be"
    return None


def by_mark(head: bytes) -> str | None:
    """The encoding that a byte order mark names. UTF-32 first: its little-endian mark begins with UTF-16's."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return encoding
    return None


def _foreign(text: str) -> list[str]:
    return [char for char in text if ord(char) > 127]


def _share(chars: list[str], fits: Callable[[str], bool]) -> float:
    return sum(map(fits, chars)) / len(chars) if chars else 0.0


def _korean(text: str) -> float:
    # Only the 2,350 syllables in use: the 8,822 others of cp949 are what Shift JIS looks like when read as Korean.
    # (Python's euc_kr spells those out in eight bytes.)
    return _share(_foreign(text), lambda char: "가" <= char <= "힣" and len(char.encode("euc_kr")) == 2)


def _japanese(text: str) -> float:
    chars = _foreign(text)
    kana = _share(chars, lambda char: "\u3041" <= char <= "\u30fe")
    return (
        _share(chars, lambda char: "\u3001" <= char <= "\u30fe" or "一" <= char <= "鿿") if kana >= _MIN_KANA else 0.0
    )


def _simplified(text: str) -> float:
    return min(1.0, _HANZI_GAIN * _share(_foreign(text), _SIMPLIFIED.__contains__))


def _traditional(text: str) -> float:
    return min(1.0, _HANZI_GAIN * _share(_foreign(text), _TRADITIONAL.__contains__))


def _western(text: str) -> float:
    """Accented letters that stand alone among ASCII, and the usual marks."""
    chars, fitting = 0, 0
    for at, char in enumerate(text):
        if ord(char) <= 127:
            continue
        chars += 1
        around = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
        fitting += (char.isalpha() and around.isascii()) or char in _TYPICAL_MARKS
    return fitting / chars if chars else 0.0


def _cyrillic(text: str) -> float:
    """Cyrillic letters in words of their own, capitals at their beginning only."""
    chars, fitting = 0, 0
    for at, char in enumerate(text):
        if ord(char) <= 127:
            continue
        chars += 1
        before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
        mixed = any(other.isascii() and other.isalpha() for other in (before, after))
        cased = char.islower() or not before.isalpha() or before.isupper()
        fitting += "Ё" <= char <= "ё" and not mixed and cased
    return fitting / chars if chars else 0.0


_CANDIDATES: tuple[tuple[str, Callable[[str], float]], ...] = (
    ("cp1252", _western),
    ("cp949", _korean),
    ("cp932", _japanese),
    ("euc_jp", _japanese),
    ("gb18030", _simplified),
    ("big5", _traditional),
    ("cp1251", _cyrillic),
    ("koi8_r", _cyrillic),
)
