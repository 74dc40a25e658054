"""Text files in a message: read in whatever encoding, refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import InputError
from engine.store.attachments import MOST_BYTES, Attachment, read_attachment


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße\n".encode(), "Grüße\n"),
        ("Grüße".encode("utf-8-sig"), "Grüße"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße €".encode("cp1252"), "Grüße €"),
        (b"", ""),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert read_attachment(path) == Attachment("a.txt", text)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.PNG", b"\x89PNG", "no pictures"),
        ("a.bin", b"abc\0def", "a.bin is no text"),
        ("a.log", b"x" * (MOST_BYTES + 1), "1,000,001 bytes"),
    ],
)
def test_what_is_not_taken_is_named(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=words):
        read_attachment(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"b\.txt: No such file"):
        read_attachment(tmp_path / "b.txt")
    with pytest.raises(InputError, match="directory"):
        read_attachment(tmp_path)


def test_the_fence_is_longer_than_any_in_the_text() -> None:
    assert Attachment("x.md", "a\n````\nb\n").as_message() == "x.md:\n`````md\na\n````\nb\n`````"
