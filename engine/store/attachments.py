"""Text files that are put into a message."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import InputError

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


def read_attachment(path: Path) -> Attachment:
    """The text of a file: UTF-8, UTF-16 with its mark, else Windows-1252.

    Raises:
        InputError: it is a picture, no text, too large, or cannot be read; names the file.
    """
    if path.suffix.lower() in PICTURES:
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


def picture_refused(name: str = "the picture") -> InputError:
    """Why a picture is not taken."""
    return InputError(
        "attachment.picture",
        "{name} was not taken: messages hold text only, the engine is sent no pictures",
        remedy="describe what matters in words",
        name=name,
    )


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
