"""A message to the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One message.

    Attributes:
        remedy: what to do next.
        details: for the copy button, never shown by itself.
        topic: notices of a topic can be withdrawn together, once they are no longer true.
        action: words of a button that does the next thing; ``run`` is what it does.
    """

    level: Level
    text: str
    remedy: str = ""
    details: str = ""
    topic: str = ""
    action: str = ""
    run: Callable[[], None] | None = field(default=None, compare=False)


def as_sentence(text: str) -> str:
    """A message of the engine room, which begins in lower case, with a capital; a name like ``a.csv`` stays."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[0].upper() + text[1:] if word.isalpha() and word.islower() else text
