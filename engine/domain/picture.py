"""Pictures that an engine is shown, and the text that they belong to."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

PictureKind = Literal["png", "jpeg", "webp", "gif"]
Sees = Literal["yes", "no", "unknown"]


@dataclass(frozen=True)
class Picture:
    """A picture as it lies on disk; nothing of it is decoded here.

    Attributes:
        name: of its file, for people.
        width, height: pixels, as its header says.
        sha256: of ``data``, in hex.
    """

    name: str
    kind: PictureKind
    width: int
    height: int
    sha256: str
    data: bytes

    @property
    def media_type(self) -> str:
        """``image/png`` and so on."""
        return f"image/{self.kind}"

    @cached_property
    def data_url(self) -> str:
        """The picture as a URL (RFC 2397), which is how an engine is sent it; made once."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class PictureUse:
    """Which picture a row was read with.

    Attributes:
        path: where it lay.
        sha256: of its bytes, in hex.
    """

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PicturedState:
    """What questions are about: a text and pictures, which stand before it.

    Attributes:
        paths: of the pictures, absolute; they are read when the questions are asked.
    """

    text: str
    paths: tuple[str, ...] = ()


State = str | PicturedState


def text_of(state: State) -> str:
    """The text that questions are about."""
    return state if isinstance(state, str) else state.text


def paths_of(state: State) -> Sequence[str]:
    """Where the pictures lie that questions are about."""
    return () if isinstance(state, str) else state.paths


def with_text(state: State, text: str) -> State:
    """The state with another text and the same pictures."""
    return text if isinstance(state, str) else PicturedState(text, state.paths)


@dataclass(frozen=True, slots=True)
class Sight:
    """Whether an engine sees.

    Attributes:
        sees: ``unknown`` where the engine has no way of asking.
        why: a sentence for the user; empty for ``yes``.
        tokens: that a small square picture takes in the prompt; None where nobody said.
    """

    sees: Sees
    why: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class PictureColumn:
    """The column of a table that names the pictures of a row.

    Attributes:
        column: its cells hold paths or ``file:`` URLs; relative ones start from the table's folder.
        separator: between several pictures of one cell; empty: a cell names one.
    """

    column: str
    separator: str = ""


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of a message, without its bytes; ``ChatReader.picture`` gives them.

    Attributes:
        name: of its file.
        width, height: pixels.
        size: bytes.
    """

    sha256: str
    name: str
    kind: PictureKind
    width: int
    height: int
    size: int
