"""Workbooks, Parquet, JSON lines and pasted text: the cells come out as a user sees them, faults are named."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from engine.batch.cell_text import cell_text
from engine.batch.pasted import save_pasted, save_piped
from engine.batch.tables import Table, open_table, sniff
from engine.errors import InputError


def workbook(path: Path, *sheets: tuple[str, list[list[object]]], row: int = 0, column: int = 0) -> Path:
    """A workbook whose sheets begin at a cell; formulas are (text, result)."""
    book = xlsxwriter.Workbook(path)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    for name, rows in sheets:
        sheet = book.add_worksheet(name.removeprefix("!"))
        if name.startswith("!"):
            sheet.hide()
        for at, cells in enumerate(rows, start=row):
            for place, cell in enumerate(cells, start=column):
                match cell:
                    case None:
                        pass
                    case ("formula", formula, result):
                        sheet.write_formula(at, place, formula, None, result)
                    case dt.date() | dt.timedelta() | dt.time():
                        sheet.write_datetime(at, place, cell, day)
                    case str():
                        sheet.write_string(at, place, cell)
                    case _:
                        sheet.write(at, place, cell)
    book.close()
    return path


@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 2), (3, 0), (4, 28)])
def test_a_workbook_shows_what_the_user_sees(tmp_path: Path, row: int, column: int) -> None:
    rows: list[list[object]] = [
        ["text", 2024, "on", "day"],
        [" 007 ", 1, True, dt.date(2024, 1, 31)],
        [None, None, None, None],
        ["a\nb", 0.1 + 0.2, False, dt.datetime(2024, 1, 31, 10, 5)],
        [("formula", "=1/0", "#DIV/0!"), ("formula", "=NA()", "#N/A"), ("formula", "=1+1", 2), "=1+1"],
        ["", -2.5, None, 1e20],
    ]
    path = workbook(tmp_path / "t.xlsx", ("One", rows), row=row, column=column)
    table = open_table(path)
    assert (table.format.kind, table.format.sheet, table.format.sheets) == ("xlsx", "One", ("One",))
    assert table.columns == ("text", "2024", "on", "day")
    assert list(table.rows()) == [
        (" 007 ", "1", "TRUE", "2024-01-31"),
        ("a\nb", "0.3", "FALSE", "2024-01-31 10:05:00"),
        ("#DIV/0!", "#N/A", "2", "=1+1"),
        ("", "-2.5", "", "1e+20"),
    ]
    assert table.count() == 4


def test_a_sheet_is_chosen_by_name_and_hidden_ones_come_last(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ("A", [["a"], ["1"]]), ("!aside", [["h"], ["x"]]), ("B", [["b"], ["2"]]))
    assert sniff(path).sheets == ("A", "B", "aside")
    assert sniff(path).columns == ("a",)
    assert list(open_table(path, sniff(path, sheet="B")).rows()) == [("2",)]
    assert list(open_table(path, sniff(path, sheet="aside", header=False)).rows()) == [("h",), ("x",)]
    with pytest.raises(InputError, match="no sheet named C; its sheets are A, B, aside"):
        sniff(path, sheet="C")


def test_a_workbook_has_no_encoding_a_text_no_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ("A", [["a"], ["1"]]))
    with pytest.raises(InputError, match="a workbook, which has no encoding"):
        sniff(path, encoding="utf-8")
    with pytest.raises(InputError, match="a workbook, which has no delimiter"):
        sniff(path, delimiter=";")
    text = tmp_path / "t.csv"
    text.write_text("a\n1\n")
    with pytest.raises(InputError, match="no sheets"):
        sniff(text, sheet="A")


def test_faulty_workbooks_are_named(tmp_path: Path) -> None:
    empty = workbook(tmp_path / "empty.xlsx", ("A", []))
    with pytest.raises(InputError, match="sheet A is empty"):
        sniff(empty)
    with pytest.raises(InputError, match="column 2 has no name"):
        sniff(workbook(tmp_path / "gap.xlsx", ("A", [["a", None], ["1", "2"]])))
    with pytest.raises(InputError, match="both named 'a'"):
        sniff(workbook(tmp_path / "twice.xlsx", ("A", [["a", "a"], ["1", "2"]])))
    with pytest.raises(InputError, match="no rows below its header"):
        open_table(workbook(tmp_path / "head.xlsx", ("A", [["a"]]))).count()
    whole = workbook(tmp_path / "t.xlsx", ("A", [["a"], ["1"]])).read_bytes()
    (tmp_path / "torn.xlsx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="no workbook that can be read"):
        sniff(tmp_path / "torn.xlsx")


def test_parquet_of_every_type(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {
        "text": pa.array(["a,b", None, ""]),
        "whole": pa.array([1, None, -3]),
        "float": pa.array([1.0, 0.1 + 0.2, float("nan")]),
        "small": pa.array([0.1, 1.0, None], pa.float32()),
        "yes": pa.array([True, False, None]),
        "day": pa.array([dt.date(2024, 1, 2), None, None]),
        "moment": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 600), dt.datetime(2024, 1, 2), None], pa.timestamp("ns")),
        "zoned": pa.array([dt.datetime(2024, 1, 2), None, None], pa.timestamp("us", tz="UTC")),
        "time": pa.array([dt.time(1, 2), None, None]),
        "money": pa.array([Decimal("1.50"), None, None]),
        "kind": pa.array(["x", "y", None]).dictionary_encode(),
        "raw": pa.array(["é".encode(), None, b""]),
        "list": pa.array([[1, 2], None, []]),
        "record": pa.array([{"k": "v"}, None, {"k": None}]),
    }
    pq.write_table(pa.table(columns), path)
    table = open_table(path)
    assert table.format.kind == "parquet"
    first, second, third = table.rows()
    assert dict(zip(table.columns, first, strict=True)) == {
        "text": "a,b",
        "whole": "1",
        "float": "1",
        "small": "0.1",
        "yes": "TRUE",
        "day": "2024-01-02",
        "moment": "2024-01-02 03:04:05.0006",
        "zoned": "2024-01-02 00:00:00Z",
        "time": "01:02:00",
        "money": "1.50",
        "kind": "x",
        "raw": "é",
        "list": "[1, 2]",
        "record": '{"k": "v"}',
    }
    assert second[:7] == ("", "", "0.3", "1", "FALSE", "", "2024-01-02")
    assert third[:4] == ("", "-3", "", "")


def test_parquet_faults_are_named_and_batches_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": list(range(2500))}), path, row_group_size=700)
    assert [cells[0] for cells in open_table(path).rows()] == [str(number) for number in range(2500)]
    whole = path.read_bytes()
    path.write_bytes(whole[:-50])
    with pytest.raises(InputError, match="a damaged Parquet file"):
        sniff(path)
    pq.write_table(pa.table({"a b": [b"ok"] * 1000 + [b"\xff"]}), path)
    with pytest.raises(InputError, match=r'row 1001: column "a b" holds bytes'):
        open_table(path).count()
    with pytest.raises(InputError, match="has no encoding"):
        sniff(path, encoding="utf-8")


def test_pyarrow_is_not_loaded_for_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    code = (
        "import sys; from pathlib import Path; from engine.batch.tables import open_table; "
        f"open_table(Path({str(path)!r})).count(); import engine.batch.export; "
        "print([name for name in ('pyarrow', 'xlsxwriter', 'pandas') if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_json_lines_keep_numbers_as_written_and_gather_all_keys(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        '{"id": 1.0, "text": "a\\nb", "ok": true}\n\n{"text": null, "n": 12345678901234567890, '
        '"list": [1, 2.50, "1"]}\n'
        '{"o": {"k": [true, 1e3]}, "id": "1.0"}',
    )
    table = open_table(path)
    assert table.format.kind == "jsonl"
    assert table.columns == ("id", "text", "ok", "n", "list", "o")
    assert list(table.rows()) == [
        ("1.0", "a\nb", "true", "", "", ""),
        ("", "", "", "12345678901234567890", '[1, 2.5, "1"]', ""),
        ("1.0", "", "", "", "", '{"k": [true, 1000.0]}'),
    ]


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b'{"a": 1}\n{"a": 2\n', "table.json_line", "line 2 is no JSON object"),
        (b'{"a": 1}\n[1]\n', "table.json_line", "line 2 is no JSON object: it is no object"),
        (b'{"a": 1}\n{"a": "\xff"}\n', "table.encoding", "not in utf-8"),
        (b"{}\n", "table.empty", "no keys"),
        (b'{"": 1}\n', "table.unnamed_column", "column 1 has no name"),
        (
            b'{"a": 1}\n{"a": "x\\ud800y"}\n',
            "table.half_character",
            'line 2: the key "a" holds half of a character (U+D800)',
        ),
        (
            b'{"a": [{"b": "\\udFFF"}]}\n',
            "table.half_character",
            'line 1: the key "a" holds half of a character (U+DFFF)',
        ),
        (b'{"a\\uDa00": 1}\n', "table.half_character", 'the key "a\\uda00" holds half of a character (U+DA00)'),
    ],
)
def test_faulty_json_lines_are_named(tmp_path: Path, raw: bytes, code: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        open_table(path).count()
    assert caught.value.code == code
    assert message in str(caught.value)


def test_halves_that_make_a_whole_character_are_one(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": "\\ud83d\\ude00 \\\\ud800"}\n')
    assert list(open_table(tmp_path / "t.jsonl").rows()) == [("\U0001f600 \\ud800",)]


def test_a_first_line_that_is_nested_too_deeply_makes_no_json_lines(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('{"a": ' + "[" * 60_000 + "\n1\n")
    assert sniff(tmp_path / "t.csv").kind == "csv"


def test_a_key_that_is_new_since_the_table_was_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n')
    fmt = sniff(path)
    path.write_text('{"a": 1}\n{"b": 1}\n')
    with pytest.raises(InputError, match="line 2: the key b was not there"):
        Table(path, fmt).count()


def test_a_csv_whose_first_cell_is_a_brace_stays_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("{a},b\n1,2\n")
    assert sniff(path).columns == ("{a}", "b")
    path.write_text('{"a": 1}\n{"b": 2}\n')
    assert sniff(path).kind == "jsonl"
    assert sniff(path, delimiter=";").kind == "csv"


@given(st.lists(st.fixed_dictionaries({"k": st.text(), "m": st.text(max_size=5)}), min_size=1, max_size=5))
def test_texts_come_back_from_json_lines_and_parquet(tmp_path_factory: pytest.TempPathFactory, rows: list) -> None:
    folder = tmp_path_factory.mktemp("kinds")
    lines = folder / "t.jsonl"
    lines.write_text("".join(json.dumps({"k": row["k"], "m": row["m"]}) + "\n" for row in rows), encoding="utf-8")
    expected = [(row["k"], row["m"]) for row in rows]
    assert list(open_table(lines).rows()) == expected
    parquet = folder / "t.parquet"
    pq.write_table(pa.Table.from_pylist(rows).select(["k", "m"]), parquet)
    assert list(open_table(parquet).rows()) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e15, "1e+15"),
        (123456789012345.0, "123456789012345"),
        (1 / 3, "0.333333333333333"),
        (float("inf"), "inf"),
        (dt.timedelta(days=1, hours=1, seconds=5), "25:00:05"),
        (dt.timedelta(seconds=-1.5), "-0:00:01.5"),
        (dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "2024-01-02 00:00:00+00:00"),
    ],
)
def test_values_as_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_pasted_cells_are_a_table_and_the_same_text_is_the_same_file(tmp_path: Path) -> None:
    copied = 'name\ttext\r\nJosé\t"two\nlines, and ""quotes"""\r\nb\t\r\n'
    path = save_pasted(copied, tmp_path)
    assert list(open_table(path).rows()) == [("José", 'two\nlines, and "quotes"'), ("b", "")]
    assert sniff(path).delimiter == "\t"
    assert save_pasted(copied + "\n", tmp_path) == path
    assert save_pasted(copied + "c\td\n", tmp_path) != path
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        {path.name, *(p.name for p in tmp_path.iterdir())}
    )
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(InputError, match="holds no text"):
        save_pasted(" \n", tmp_path)
    with pytest.raises(InputError, match="half of a character"):
        save_pasted("a\n\ud800", tmp_path)


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "jsonl", "cp1252", "utf-16", "utf-8-sig"])
def test_a_piped_table_is_the_table_of_its_file_whatever_its_kind(tmp_path: Path, kind: str) -> None:
    rows: list[list[object]] = [["text", "n"], ["Übel\r\nÄrger", "1"], ["ja", "2"]]
    path = tmp_path / "table"
    match kind:
        case "xlsx":
            workbook(path, ("One", rows))
        case "parquet":
            pq.write_table(pa.table({"text": [row[0] for row in rows[1:]], "n": ["1", "2"]}), path)
        case "jsonl":
            path.write_text("".join(json.dumps(dict(zip(("text", "n"), row, strict=True))) + "\n" for row in rows[1:]))
        case _:
            path.write_bytes('text,n\r\n"Übel\r\nÄrger",1\r\nja,2\r\n'.encode(kind))
    encoding = kind if kind == "cp1252" else None
    wanted = list(open_table(path, sniff(path, encoding=encoding)).rows())
    assert wanted[-1] == ("ja", "2")
    kept = save_piped(path.read_bytes(), tmp_path)
    assert list(open_table(kept, sniff(kept, encoding=encoding)).rows()) == wanted
    assert save_piped(path.read_bytes(), tmp_path) == kept


@pytest.mark.parametrize("raw", [b"", b" \n\n"])
def test_a_pipe_without_a_table_is_named(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(InputError, match="stdin holds no table"):
        save_piped(raw, tmp_path)


@pytest.mark.parametrize(
    "document",
    [
        '[{"text": "a"}, {"text": "b"}]',
        '[\n  {\n    "text": "a"\n  }\n]\n',
        '{\n  "rows": [{"text": "a"}]\n}\n',
        '\ufeff[{"text": "a,b", "n": 1}]',
    ],
)
def test_a_json_document_is_called_so(tmp_path: Path, document: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(document, encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.json is one JSON document, not JSON lines"):
        sniff(path)


@pytest.mark.parametrize("text", ["[text],n\na,1\n", "{text};n\na;1\n", '"[{",n\na,1\n'])
def test_brackets_in_a_header_make_no_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert sniff(path).kind == "csv"
    assert len(open_table(path).columns) == 2
