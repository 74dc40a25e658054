"""CSV in: how a file is written is found out, its cells come as they are, and faults are named."""

from __future__ import annotations

import contextlib
import csv
import encodings.aliases
import gzip
import io
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.batch.tables import TableFormat, file_sha256, open_table, sniff
from engine.errors import InputError

GERMAN = "Nr;Text\n1;Ärger mit der Gebühr – „schön“ für 5 €\n"
FRENCH = "id;texte\n1;L'été à la plage, où ça coûte cher\n2;déjà vu\n"
KOREAN = "id,문의\n1,안녕하세요. 고객 문의 드립니다 환불은 언제 되나요?\n2,배송이 늦어요\n"
JAPANESE = "id,質問\n1,こんにちは。返品はどうすればいいですか、教えてください\n"
SIMPLIFIED = "编号,问题\n1,你好，我想知道退款什么时候到账，谢谢你们的帮助\n"
TRADITIONAL = "編號,問題\n1,你好，我想知道退款什麼時候到帳，謝謝你們的幫助\n"
RUSSIAN = "номер,вопрос\n1,Здравствуйте когда вернут деньги за Заказ?\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize(
    ("text", "encoding", "found", "bom"),
    [
        (GERMAN, "utf-8", "utf-8", False),
        (GERMAN, "utf-8-sig", "utf-8", True),
        (GERMAN, "utf-16", "utf-16", True),
        (GERMAN, "utf-16-le", "utf-16-le", False),
        (FRENCH, "utf-16-be", "utf-16-be", False),
        (GERMAN, "utf-32", "utf-32", True),
        (GERMAN, "cp1252", "cp1252", False),
        (FRENCH, "latin-1", "cp1252", False),
        (KOREAN, "cp949", "cp949", False),
        (KOREAN, "euc_kr", "cp949", False),
        (JAPANESE, "cp932", "cp932", False),
        (JAPANESE, "euc_jp", "euc_jp", False),
        (SIMPLIFIED, "gbk", "gb18030", False),
        (TRADITIONAL, "big5", "big5", False),
        (RUSSIAN, "cp1251", "cp1251", False),
        (RUSSIAN, "koi8_r", "koi8_r", False),
        ("a,b\ncafé,1\n", "cp1252", "cp1252", False),
        ("a,b\nÄrger,1\n", "cp1252", "cp1252", False),
        ("a,b\n1,é\n", "latin-1", "cp1252", False),
    ],
)
def test_the_encoding_is_found(path: Path, text: str, encoding: str, found: str, bom: bool) -> None:
    path.write_bytes(text.encode(encoding))
    fmt = sniff(path)
    assert (fmt.encoding, fmt.bom) == (found, bom)
    table = open_table(path, fmt)
    expected = list(csv.reader(io.StringIO(text), delimiter=fmt.delimiter))
    assert [table.columns, *table.rows()] == [tuple(row) for row in expected]


def test_a_file_that_is_ascii_for_long_and_then_not(path: Path) -> None:
    path.write_bytes(b"a,b\n" + b"x,y\n" * 300_000 + "Gebühr,y\n".encode("cp1252"))
    assert sniff(path).encoding == "cp1252"
    path.write_bytes(b"a,b\n" + b"x,y\n" * 300_000 + "Gebühr,y\n".encode())
    assert sniff(path).encoding == "utf-8"


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_across_two_chunks_is_no_fault(path: Path, cut: int) -> None:
    path.write_bytes(b"a\n" + b"x" * ((1 << 20) - 2 - cut) + "🂡\n".encode())
    assert sniff(path).encoding == "utf-8"


@pytest.mark.parametrize(
    ("text", "delimiter", "columns"),
    [
        ("a,b\n1,2\n", ",", 2),
        ("a;b\n1,5;2,5\n", ";", 2),
        ("a\tb\n1,2\t3\n", "\t", 2),
        ("a|b\r\n1|2\r\n", "|", 2),
        ("a,b\r1,2\r", ",", 2),
        ('"a;x",b\n1,2\n', ",", 2),
        ("a,b;c\n1,2\n3,4\n", ",", 2),
        ("text\nhello, world\nx\n", ";", 1),
        ("text\n", ",", 1),
        ('a,b\n"one\nline",2\n', ",", 2),
    ],
)
def test_the_delimiter_is_found(path: Path, text: str, delimiter: str, columns: int) -> None:
    path.write_bytes(text.encode())
    fmt = sniff(path)
    assert (fmt.delimiter, len(fmt.columns)) == (delimiter, columns)


def test_what_is_shown_before_use(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbfid;"the text"\r\n1;"a ""b"""\r\n\r\n2;c\r\n')
    assert sniff(path) == TableFormat("utf-8", ";", True, True, "\r\n", ("id", "the text"))
    table = open_table(path)
    assert table.preview(1) == [("1", 'a "b"')]
    assert table.count() == 2
    assert list(table.rows()) == list(table.rows()) == [("1", 'a "b"'), ("2", "c")]


def test_the_user_can_choose_instead(path: Path) -> None:
    path.write_bytes(KOREAN.encode("cp949"))
    assert sniff(path, encoding="latin-1").encoding == "latin-1"
    assert sniff(path, delimiter="|").columns == ("id,문의",)
    assert sniff(path, header=False).columns == ("column_1", "column_2")
    assert open_table(path, sniff(path, header=False)).count() == 3
    path.write_bytes(GERMAN.encode("utf-16"))
    assert sniff(path, encoding="utf-16-le").columns == ("Nr", "Text")  # no mark left in the first name
    for wrong in ("rot13", "no-such", "hex", "idna", "Punycode", "undefined", "unicode_escape", "utf7", "a\tb"):
        with pytest.raises(InputError, match=f"no text encoding named {wrong}; name one"):
            sniff(path, encoding=wrong)
    for wrong in ("", ",,", '"', "\n"):
        with pytest.raises(InputError, match="the delimiter is one character"):
            sniff(path, delimiter=wrong)


EVERY_ENCODING = sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values()})
ODD = b"a,b\n+2AA-\\ud800\\,x--\xff\xd8 \xd8\n" + bytes(range(1, 256))


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("t.csv", ODD),
        ("t.csv", ODD + b"\0"),
        ("t.csv", b"text,g\nhello,yes\nworld,no\n"),
        ("t.csv", b"a,b\n" + b"x,y\n" * 40_000 + b"\xff,\xd8\n"),
        ("t.jsonl", b'{"a": "hello"}\n'),
        ("t.jsonl", b'{"a": "\\ud800"}\n{"a": "' + ODD + b'"}\n'),
    ],
    ids=["odd", "zero", "plain", "late", "plain lines", "odd lines"],
)
def test_no_encoding_brings_a_traceback_or_half_a_character(tmp_path: Path, name: str, raw: bytes) -> None:
    (tmp_path / name).write_bytes(raw)
    for encoding in EVERY_ENCODING:
        with contextlib.suppress(InputError):
            table = open_table(tmp_path / name, sniff(tmp_path / name, encoding=encoding))
            "".join(cell for row in table.rows() for cell in row).encode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize(("name", "raw"), [("t.csv", b"text,g\nhello,yes\n"), ("t.jsonl", b'{"a": "hello"}\n')])
def test_a_text_without_a_mark_is_not_in_an_encoding_that_wants_one(
    tmp_path: Path, name: str, raw: bytes, encoding: str
) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(InputError, match=f"not in {encoding} .*; choose another encoding") as caught:
        open_table(tmp_path / name, sniff(tmp_path / name, encoding=encoding)).count()
    assert caught.value.code == "table.encoding"


@pytest.mark.parametrize("wrong", ["rot13", "no-such", "hex", "idna", "utf7"])
def test_json_lines_know_the_same_encodings(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}')
    with pytest.raises(InputError, match=f"no text encoding named {wrong}; name one"):
        sniff(tmp_path / "t.jsonl", encoding=wrong)


def test_a_pipe_and_a_device_are_no_tables(tmp_path: Path) -> None:
    """Nobody writes into the pipe: whoever opened it would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null"), Path("/dev/zero")):
        for read in (sniff, file_sha256):
            with pytest.raises(InputError, match=f"{path} is a pipe or a device, and no file; .*`decide FORM -`"):
                read(path)


FAULTS = {
    "nothing": (b"", "table.empty", "is empty"),
    "blank lines": (b"\n \n\r\n", "table.empty", "is empty"),
    "a UTF-8 mark only": (b"\xef\xbb\xbf", "table.empty", "is empty"),
    "a UTF-16 mark only": (b"\xff\xfe", "table.empty", "is empty"),
    "a UTF-32 mark only": (b"\xff\xfe\x00\x00", "table.empty", "is empty"),
    "a mark and blank lines": (b"\xef\xbb\xbf\n\r\n", "table.empty", "is empty"),
    "a big-endian mark and a blank line": (b"\xfe\xff\x00\n", "table.empty", "is empty"),
    "a header only": (b"a,b\n", "table.empty", "no rows below its header"),
    "a short row": (b"a,b\n1,2\n3\n", "table.ragged", "row 2 (line 3) has 1 cells, the header has 2"),
    "a long row": (b'a,b\n"x\ny",2\n3,4,5\n', "table.ragged", "row 2 (line 4) has 3 cells"),
    "a name twice": (b"a,b,a\n1,2,3\n", "table.duplicate_column", "columns 1 and 3 are both named 'a'"),
    "an empty name": (b"a,,b\n1,2,3\n", "table.unnamed_column", "column 2 has no name"),
    "an open quote": (b'a,b\n"x,1\n2,3\n', "table.quotes", "row 1 (line 3)"),
    "text behind a quote": (b'a,b\n1,2\n"x" y,1\n', "table.quotes", "row 2 (line 3)"),
    "an open quote in the header": (b'"a,b\n1,2\n', "table.quotes", "broken quotes"),
    "a zero byte": (b"a,b\n1,\0\n", "table.binary", "a zero byte (line 2)"),
    "a late zero byte": (b"a,b\n" + b"1,2\n" * 400_000 + b"\0,3\n", "table.binary", "a zero byte (line 400002)"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0", "table.binary", "a PNG image"),
    "a PDF": (b"%PDF-1.7\n", "table.binary", "a PDF"),
    "gzip": (gzip.compress(b"a,b\n1,2\n"), "table.binary", "a gzip archive"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1", "table.binary", "no workbook that can be read"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(path: Path, name: str) -> None:
    raw, code, message = FAULTS[name]
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        open_table(path).count()
    assert caught.value.code == code
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_zip_archive_that_is_no_workbook_is_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(InputError, match=r"no workbook that can be read: .*; save the table as CSV"):
        sniff(path)


def test_a_wrong_encoding_is_named_with_the_line_and_the_byte(path: Path) -> None:
    path.write_bytes(b"a,b\n1,2\n" + b"x,y\n" * 10_000 + b"\xff,3\n")
    with pytest.raises(InputError, match=r"not in ascii behind line \d+ \(byte 0xff\); choose another encoding"):
        open_table(path, sniff(path, encoding="ascii")).count()


def test_a_missing_file_a_folder_and_a_cell_without_end(tmp_path: Path, path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        sniff(path)
    with pytest.raises(InputError, match="Is a directory"):
        sniff(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        file_sha256(path)
    path.write_bytes(b'a,b\n1,2\n"' + b"x" * 10_000_001 + b'",2\n')
    with pytest.raises(InputError, match=r"row 2 .*more than 10000000 characters"):
        open_table(path).count()


cells = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)


@given(
    data=st.data(),
    width=st.integers(1, 5),
    delimiter=st.sampled_from(",;\t|"),
    ending=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_cells_come_in_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    width: int,
    delimiter: str,
    ending: str,
    encoding: str,
) -> None:
    """Quotes, line breaks, delimiters, any script; the format is found without help for two columns and more."""
    rows = data.draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=5))
    header = tuple(f"c{number}" for number in range(width))
    path = tmp_path_factory.mktemp("table") / "t.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=ending, quoting=csv.QUOTE_ALL)
        writer.writerows([header, *rows])
    fmt = sniff(path, delimiter=delimiter if width == 1 else None)
    assert fmt.delimiter == delimiter
    table = open_table(path, fmt)
    assert table.columns == header
    assert list(table.rows()) == rows


@given(raw=st.binary(max_size=300))
def test_any_bytes_give_a_table_or_a_named_fault(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_bytes(raw)
    said = str(path)
    try:
        open_table(path).count()
    except InputError as error:
        said = str(error)
    assert str(path) in said
