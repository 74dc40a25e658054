"""Files that are put into a message: their text, or a picture for an engine that sees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.domain.picture import Picture, Sight
from engine.errors import InputError
from engine.picture_header import looks_like_picture
from engine.pictures import read_picture

MOST_BYTES = 1_000_000  # about 250,000 tokens: more than any window of the model holds
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif"})
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class Attachment:
    """The text of a file and its name."""

    name: str
    text: str

    def as_message(self) -> str:
        """The file as a part of a message: its name, and the text in a fence that the text does not close."""
        fence = "```"
        while fence in self.text:
            fence += "`"
        suffix = Path(self.name).suffix.lstrip(".")
        return f"{self.name}:\n{fence}{suffix}\n{self.text.rstrip()}\n{fence}"


def read_given(path: Path, sight: Sight) -> Attachment | Picture:
    """What a dropped, pasted or chosen file is: a picture (by its first bytes, or its name), else a text.

    Args:
        sight: of the engine; where that is unknown a picture is taken, and the engine will say.

    Raises:
        InputError: a picture that the engine does not see or that cannot be sent; else as ``read_attachment``.
    """
    if not _is_picture(path):
        return read_attachment(path)
    if sight.sees == "no":
        raise picture_refused(path.name, sight)
    return read_picture(path)


def read_attachment(path: Path) -> Attachment:
    """The text of a file: UTF-8, UTF-16 with its mark, else Windows-1252.

    Raises:
        InputError: it is a picture, no text, too large, or cannot be read; names the file.
    """
    if _is_picture(path):
        raise picture_refused(path.name)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(
                "attachment.size",
                "{name}: {size} bytes; a file in a message may have {limit}",
                remedy="put in the part that matters, or read it as a table on the Decisions page",
                name=path.name,
                size=f"{size:,}",
                limit=f"{MOST_BYTES:,}",
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError("attachment.file", "{name}: {why}", name=path.name, why=error.strerror) from error
    return Attachment(path.name, _decoded(data, path.name))


def picture_refused(name: str = "the picture", sight: Sight | None = None) -> InputError:
    """Why a picture is not taken.

    Args:
        sight: of the engine; None: only texts are wanted.
    """
    return InputError(
        "attachment.picture",
        "{name} was not taken: {why}",
        remedy="describe what matters in words"
        if sight is None
        else "take an engine that sees, or describe it in words",
        name=name,
        why="a text is wanted here, and no pictures" if sight is None else f"the engine sees no pictures: {sight.why}",
    )


def _is_picture(path: Path) -> bool:
    if path.suffix.lower() in PICTURES:
        return True
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return looks_like_picture(file.read(16))
    except (OSError, ValueError):
        return False  # whoever reads it says why


def _decoded(data: bytes, name: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                break
    if b"\0" in data:
        raise InputError("attachment.binary", "{name} is no text file", remedy="only text can be sent", name=name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")
