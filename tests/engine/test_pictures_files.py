"""Local pictures: known by their bytes, bounded, and nothing that is not a file of this computer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from fakes.seeing_engine import png
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QImage

from engine.errors import InputError
from engine.picture_header import Header, header_of, looks_like_picture
from engine.pictures import (
    MAX_BYTES,
    MAX_PIXELS,
    MAX_TOGETHER,
    PictureShelf,
    check_count,
    locate,
    picture_of,
    read_picture,
)

GIF = b"GIF89a" + (7).to_bytes(2, "little") + (5).to_bytes(2, "little") + b"\x00\x00\x00;"
LOSSLESS = b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0e\x00\x00\x00\x2f" + (6 | 4 << 14).to_bytes(4, "little") + b"\0" * 9
EXTENDED = b"RIFF\x1a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\0\0\0" + b"\x06\0\0\x04\0\0" + b"\0" * 4
LOSSY = b"RIFF\x1a\x00\x00\x00WEBPVP8 \x0e\x00\x00\x00\0\0\0\x9d\x01\x2a\x07\x00\x05\x00" + b"\0" * 8
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x0b\x08\x00\x05\x00\x07\x01\x00\x00\x00\xff\xda"


@pytest.mark.parametrize(
    ("data", "kind"), [(GIF, "gif"), (LOSSLESS, "webp"), (EXTENDED, "webp"), (LOSSY, "webp"), (JPEG, "jpeg")]
)
def test_every_kind_says_its_size(data: bytes, kind: str) -> None:
    assert header_of(data) == Header(kind, 7, 5)  # type: ignore[arg-type]
    assert looks_like_picture(data)


@pytest.mark.parametrize(("suffix", "kind"), [("png", "png"), ("jpg", "jpeg"), ("webp", "webp")])
@pytest.mark.parametrize("size", [(1, 1), (300, 2), (37, 411)])
def test_files_of_another_program(tmp_path: Path, suffix: str, kind: str, size: tuple[int, int]) -> None:
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.fill(QColor("#336699"))
    path = tmp_path / f"a.{suffix}"
    assert image.save(str(path))
    path = path.rename(tmp_path / "named.txt")  # what it is says its content
    found = read_picture(path)
    assert (found.kind, found.width, found.height, found.name) == (kind, *size, "named.txt")
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.data_url.startswith(f"data:image/{kind};base64,")


@given(data=st.binary(max_size=64), mark=st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", JPEG]))
def test_no_bytes_break_it(data: bytes, mark: bytes) -> None:
    found = header_of(mark + data)
    assert found is None or (found.width >= 0 and found.height >= 0)


@pytest.mark.parametrize("whole", [png("red"), GIF[:10], LOSSLESS, JPEG])
def test_what_is_cut_off_is_no_picture(whole: bytes) -> None:
    header = header_of(whole)
    assert header is not None
    for length in range(len(whole)):
        assert header_of(whole[:length]) in (None, header)


def test_limits_are_named_with_file_value_and_limit(tmp_path: Path) -> None:
    huge = tmp_path / "huge.png"
    with huge.open("wb") as file:
        file.write(png("red"))
        file.truncate(MAX_BYTES + 1)  # a hole: nothing is written
    with pytest.raises(InputError, match=r"huge\.png: 20,000,001 bytes; a picture may have 20,000,000"):
        read_picture(huge)
    side = 10_000
    assert side * side > MAX_PIXELS
    wide = GIF[:6] + side.to_bytes(2, "little") * 2 + GIF[10:]
    with pytest.raises(InputError, match=r"wide\.gif: 10000 x 10000 pixels; a picture may have 50,000,000"):
        picture_of(wide, "wide.gif")
    with pytest.raises(InputError, match="0 x 5 pixels"):
        picture_of(GIF[:6] + b"\0\0" + GIF[8:], "none.gif")
    check_count(MAX_TOGETHER)
    with pytest.raises(InputError, match="17 pictures; at most 16"):
        check_count(MAX_TOGETHER + 1)


def test_what_is_no_picture_file_is_said(tmp_path: Path) -> None:
    text = tmp_path / "photo.png"
    text.write_text("<html>")
    os.mkfifo(tmp_path / "pipe.png")  # opening it would never end
    expected = {
        text: "no picture that can be sent; PNG, JPEG",
        tmp_path: "is no file",
        tmp_path / "pipe.png": "is no file",
        tmp_path / "gone.png": "No such file",
        tmp_path / "a\0b.png": "null",
        tmp_path / ("x" * 300): "File name too long",
    }
    for path, words in expected.items():
        with pytest.raises(InputError, match=words):
            read_picture(path)
        with pytest.raises(InputError, match=words):
            PictureShelf().read(str(path))


@pytest.mark.parametrize(
    "name",
    [
        *("http://example.org/a.png", "HTTPS://example.org/a.png", "ftp://h/a.png", "data:image/png;base64,AAAA"),
        *("file://otherhost/a.png", "s3://b/a.png", "smb://h/a.png", "javascript:alert(1)"),
    ],
)
def test_nothing_remote_is_taken(name: str) -> None:
    with pytest.raises(InputError, match="nothing is loaded from elsewhere") as caught:
        locate(name, Path("/t"))
    assert caught.value.code == "picture.remote"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.png", "/t/a.png"),
        ("../b/a b.png", "/t/../b/a b.png"),
        ("/x/a.png", "/x/a.png"),
        ("file:///x/a%20b.png", "/x/a b.png"),
        ("file://localhost/x/a.png", "/x/a.png"),
        ("FILE:/x/a.png", "/x/a.png"),
        ("a:b.png", "/t/a:b.png"),  # one letter is a drive or a name, no scheme
        ("1:2.png", "/t/1:2.png"),
    ],
)
def test_paths_start_from_the_tables_folder(name: str, found: str) -> None:
    assert str(locate(name, Path("/t"))) == found


def test_the_users_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert str(locate("~/a.png", Path("/t"))) == "/home/somebody/a.png"
    assert str(locate("~a.png", Path("/t"))) == "/t/~a.png"


def test_the_shelf_keeps_what_fits_and_sees_changes(tmp_path: Path) -> None:
    paths = []
    for number, colour in enumerate(("red", "green", "blue")):
        path = tmp_path / f"{number}.png"
        path.write_bytes(png(colour))
        paths.append(str(path))
    size = max(len(png(colour)) for colour in ("red", "green", "blue"))
    shelf = PictureShelf(2 * size)
    first = shelf.read(paths[0])
    assert shelf.read(paths[0]) is first
    shelf.read(paths[1])
    shelf.read(paths[2])  # the first one has to go
    again = shelf.read(paths[0])
    assert again == first
    assert again is not first
    (tmp_path / "new.png").write_bytes(png("grey"))
    (tmp_path / "new.png").replace(paths[0])
    assert shelf.read(paths[0]).sha256 != first.sha256
