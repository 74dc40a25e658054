"""Fuzzy search: the letters of a pattern in their order, better the closer together and the nearer to word starts."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

WORD_START = 8  # points for a letter at the beginning of a word
NEIGHBOUR = 5  # for a letter right behind the one before
GAP = 1  # taken off for each letter that is skipped inside, up to MOST_GAPS
MOST_GAPS = 6


@dataclass(frozen=True, slots=True)
class Match:
    """Attributes: score: higher is better; places: of the matched letters, rising."""

    score: int
    places: tuple[int, ...]


def folded(text: str) -> str:
    """The text without case and accents, letter for letter: place n stays place n."""
    return "".join(_plain(letter) for letter in text)


def match(pattern: str, text: str) -> Match | None:
    """How a pattern is found in a text; None when it is not. Both are ``folded``.

    Every word of the pattern must be found; their order does not matter.
    """
    words = pattern.split()
    if not words:
        return Match(0, ())
    score, places = 0, set[int]()
    for word in words:
        found = _best(word, text)
        if found is None:
            return None
        score += found.score
        places.update(found.places)
    return Match(score - len(text) // 16, tuple(sorted(places)))


def _best(word: str, text: str) -> Match | None:
    """The best of: the word as it stands, and its letters one after the other from each place where it can begin.

    Letters that lie about (fewer than no points) are no match.
    """
    if not _within(word, text):
        return None
    whole = [place for place in range(len(text)) if text.startswith(word, place)]
    candidates = [tuple(range(place, place + len(word))) for place in whole]
    if not candidates:
        starts = [place for place, letter in enumerate(text) if letter == word[0]]
        candidates = [places for start in starts if (places := _greedy(word, text, start))]
    matches = [hit for places in candidates if (hit := Match(_points(places, text), places)).score >= 0]
    return max(matches, key=lambda each: each.score, default=None)


def _within(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def _greedy(word: str, text: str, start: int) -> tuple[int, ...]:
    """The letters from ``start`` on, each at the next beginning of a word if there is one, else at the next place."""
    places = [start]
    for letter in word[1:]:
        here = places[-1] + 1
        if text.startswith(letter, here):
            places.append(here)
            continue
        later = [place for place in range(here, len(text)) if text[place] == letter]
        if not later:
            return ()
        places.append(next((place for place in later if _begins_word(text, place)), later[0]))
    return tuple(places)


def _points(places: tuple[int, ...], text: str) -> int:
    points = 0
    for number, place in enumerate(places):
        if _begins_word(text, place):
            points += WORD_START
        if number:
            gap = place - places[number - 1] - 1
            points += NEIGHBOUR if gap == 0 else -GAP * min(gap, MOST_GAPS)
    return points


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()


def _plain(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0].casefold()
    return base if len(base) == 1 else letter
