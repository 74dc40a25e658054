"""A message to the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One message. ``remedy`` says what to do next; ``details`` is for the copy button, never shown by itself."""

    level: Level
    text: str
    remedy: str = ""
    details: str = ""
