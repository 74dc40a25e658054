"""Workbooks, Parquet, JSON lines, manifest and report: the same cells as the CSV, typed, whole files only."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from batch_helpers import CHOICE, NOUL, SCORE, form_of_store, make_run, ok_readings, read_csv
from python_calamine import CalamineWorkbook

from engine.batch import export_xlsx
from engine.batch.export import export_csv, export_run, kind_of
from engine.batch.export_parquet import METADATA
from engine.batch.manifest import manifest_of, read_manifest
from engine.batch.svg import Plot, thinned
from engine.domain.reading import Method, Reading
from engine.domain.run import Totals
from engine.errors import InputError
from engine.store.reviews import ReviewStore
from engine.store.runs import RunStore, RunView

DIRTY = ["=1+1", "'quoted", " 007", "-0.5", "a\nb", "é\u200b=x", '=HYPERLINK("http://x")', "http://example.org/", ""]
THIRD = Reading("q", "ok", 1 / 3, (1 / 3, 2 / 3), 0.9, True, 0.25, 0.8, 4, 0.01, 0.75, "joint/canvas")
LOST = Reading("team", "unreadable", None, (), 0.02, False, 0.7, 0.3, 4, method="joint/canvas")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Nine rows with odd cells; the last one unanswered."""
    rows = [(cell, f"text {at}") for at, cell in enumerate(DIRTY)]
    with make_run(tmp_path, rows, NOUL, CHOICE, SCORE, header=("=n", "text")) as store:
        noul, choice, score = ok_readings(form_of_store(store))
        store.add_answers(1, (THIRD, LOST, score))
        store.add_answers(2, tuple(Reading(name, "error", error="=refused") for name in ("q", "team", "size")))
        for row in range(3, 9):
            store.add_answers(row, (noul, choice, score))
        return store.path


def matrix(path: Path, out: Path) -> tuple[list[str], list[list[str]]]:
    export_csv(path, out, raw=True)
    with out.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def as_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case _:
            return str(value)


def test_json_lines_and_parquet_hold_the_cells_of_the_raw_csv_typed(path: Path, tmp_path: Path) -> None:
    header, rows = matrix(path, tmp_path / "out.csv")
    lines = export_run(path, tmp_path / "out.jsonl")
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [list(record) for record in found] == [header] * len(rows)
    assert [[as_text(value) for value in record.values()] for record in found] == rows
    assert found[0]["q"] == 1 / 3
    assert found[0]["q.argmax_is_label"] is True
    assert found[0]["row_id"] == 1
    assert found[8]["q"] is None
    assert found[8]["q.status"] is None
    assert (lines.rows, lines.unanswered, lines.guarded) == (9, 1, 0)
    assert lines.totals["team"] == Totals(ok=6, unreadable=1, error=1)
    export_run(path, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == header
    assert [[as_text(value) for value in record.values()] for record in table.to_pylist()] == rows
    assert str(table.schema.field("q").type) == "double"
    assert str(table.schema.field("q.argmax_is_label").type) == "bool"
    assert json.loads(table.schema.metadata[METADATA])["kind"] == "diffusion-desk run manifest"


def test_a_workbook_holds_texts_that_nothing_runs_and_numbers_as_numbers(path: Path, tmp_path: Path) -> None:
    header, rows = matrix(path, tmp_path / "out.csv")
    export_run(path, tmp_path / "out.xlsx")
    with CalamineWorkbook.from_path(tmp_path / "out.xlsx") as book:
        assert book.sheet_names == ["answers", "about"]
        names, *found = book.get_sheet_by_name("answers").to_python()
        about = dict(row[:2] for row in book.get_sheet_by_name("about").to_python())
    assert names == header
    assert [row[1] for row in found] == DIRTY  # "=1+1" came back as a text: a formula would have no value
    place = header.index("q")
    assert found[0][place] == pytest.approx(1 / 3, abs=1e-15)
    assert found[0][header.index("q.argmax_is_label")] is True
    assert [row[0] for row in found] == [float(number) for number in range(1, 10)]
    assert [as_text(row[header.index("q.status")]) for row in found] == [row[header.index("q.status")] for row in rows]
    assert about["table.columns.1"] == "=n"
    assert about["method.draws"] == "auto"


def test_a_workbook_refuses_what_a_sheet_cannot_hold(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.xlsx"
    monkeypatch.setattr(export_xlsx, "MAX_ROWS", 9)
    with pytest.raises(InputError, match=r"a sheet holds 9 rows .* needs 10; export as CSV, Parquet or JSON lines"):
        export_run(path, out)
    monkeypatch.setattr(export_xlsx, "MAX_ROWS", 10)
    monkeypatch.setattr(export_xlsx, "MAX_COLUMNS", 30)
    with pytest.raises(InputError, match="a sheet holds 30 columns"):
        export_run(path, out)
    monkeypatch.undo()
    folder = tmp_path / "long"
    folder.mkdir()
    with make_run(folder, [("1", "x" * 32_768)]) as store:
        long = store.path
    with pytest.raises(InputError, match=r"row 1, column text: 32768 characters; a cell of a sheet holds 32767"):
        export_run(long, out)
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith((".", "out"))) == []


def test_the_kind_follows_the_name() -> None:
    names = {"a.csv": "csv", "a.TXT": "csv", "a": "csv", "a.XLSX": "xlsx", "a.ndjson": "jsonl", "a.json": "manifest"}
    assert {name: kind_of(Path(name)) for name in names} == names


def test_every_kind_refuses_a_file_that_exists_and_leaves_nothing_behind(path: Path, tmp_path: Path) -> None:
    for suffix in ("csv", "xlsx", "parquet", "jsonl", "json", "html"):
        out = tmp_path / f"there.{suffix}"
        out.write_text("mine")
        with pytest.raises(InputError, match="exists"):
            export_run(path, out)
        assert out.read_text() == "mine"
        export_run(path, out, overwrite=True)
        assert out.read_bytes() != b"mine"
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def reread(path: Path) -> None:
    """Answers the last row, then reads again: a failure goes well, an unreadable answer gets worse."""
    with RunStore.open(path) as store:
        store.add_answers(9, ok_readings(form_of_store(store)))
        store.set_state("finished")
        store.begin_round("retry", Method(draws=2), "other")
        store.add_answers(2, tuple(replace(each, draws=2) for each in ok_readings(form_of_store(store))))
        store.set_state("finished")


def test_later_rounds_and_reviews_stand_in_columns_behind_the_contract(path: Path, tmp_path: Path) -> None:
    before, _ = matrix(path, tmp_path / "before.csv")
    reread(path)
    with ReviewStore(path) as reviews:
        reviews.add(1, 0, "yes", "Ann")
        reviews.add(1, 0, "no", "=Bob")
        reviews.add(1, 1, None, "Ann")
        reviews.add(2, 2, "1", "Ann")
        assert reviews.undo() is not None
    export_csv(path, tmp_path / "out.csv")
    first, second, *_ = read_csv(tmp_path / "out.csv")
    guarded = ["'=n" if name == "=n" else name for name in before]
    extra = [f"{name}.{kind}" for name in ("q", "team", "size") for kind in ("round", "label", "label_by", "label_at")]
    assert list(first) == guarded + extra
    assert (first["q.round"], second["q.round"]) == ("1", "2")
    assert (first["q.label"], first["q.label_by"]) == ("no", "'=Bob")
    assert (first["team.label"], first["team.label_by"]) == ("", "Ann")
    assert second["size.label_by"] == ""
    export_run(path, tmp_path / "out.jsonl")
    _, record, *_ = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert [(each["question"], each["status"], each["error"]) for each in record["_earlier"]] == [
        (name, "error", "=refused") for name in ("q", "team", "size")
    ]


def test_an_extra_column_gives_way_to_a_question_of_that_name(tmp_path: Path) -> None:
    with make_run(tmp_path, [("1", "a")], NOUL, {**NOUL, "id": "q.label"}) as store:
        store.add_answers(1, ok_readings(form_of_store(store)))
        path = store.path
    with ReviewStore(path) as reviews:
        reviews.add(1, 0, "no", "Ann")
    export_csv(path, tmp_path / "out.csv")
    (row,) = read_csv(tmp_path / "out.csv")
    assert (row["q.label"], row["q.label_"]) == ("0.75", "no")


def test_a_file_without_end_is_no_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.batch.manifest.MAX_BYTES", 1000)
    with pytest.raises(InputError, match="it has more than 1000 bytes"):
        read_manifest(Path("/dev/zero"))


def test_a_manifest_says_how_to_repeat_the_run_and_names_no_place(path: Path, tmp_path: Path) -> None:
    reread(path)
    export_run(path, tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    assert str(tmp_path) not in json.dumps(found)
    assert [each["kind"] for each in found["rounds"]] == ["run", "retry"]
    assert found["totals"]["q"] == {"ok": 9, "unreadable": 0, "error": 0, "skipped": 0}
    manifest = read_manifest(tmp_path / "m.json")
    with RunView(path) as view:
        assert manifest_of(view) == found
        assert (manifest.method, manifest.table_sha256) == (view.spec.method, view.spec.table_sha256)
        assert manifest.form == form_of_store(view)  # type: ignore[arg-type]
        assert manifest.table_format.columns == view.spec.columns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is no JSON"),
        ("[]", "does not say that it is one"),
        ("[" * 100_000, "it is no JSON"),
        ('{"kind": "diffusion-desk run manifest", "version": 9}', "its version is 9"),
        ('{"kind": "diffusion-desk run manifest", "version": 1}', "a part is missing"),
    ],
)
def test_what_is_no_manifest_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_manifest(tmp_path / "m.json")


class Page(HTMLParser):
    """Which tags there are, whether they close, and what they point at."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_is_one_page_that_loads_nothing_and_shows_what_stood_in_the_form(tmp_path: Path) -> None:
    question = {**NOUL, "instructions": "<script>alert(1)</script>?", "gold": "n"}
    rows = [("yes" if at % 3 else "no", f"text {at}") for at in range(40)]
    with make_run(tmp_path, rows, question, CHOICE, SCORE, group="n", name="A & B") as store:
        form = form_of_store(store)
        for at in range(40):
            store.add_answers(at + 1, ok_readings(form, 0.3 + 0.4 * (at % 3 > 0) + at / 1000))
        path = store.path
    export_run(path, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.links == []
    assert "script" not in page.seen
    assert "&lt;script&gt;alert(1)&lt;/script&gt;?" in text
    assert "<title>A &amp; B</title>" in text
    plots = re.findall(r"<svg.*?</svg>", text)
    titles = [ElementTree.fromstring(plot)[0].text for plot in plots]
    assert titles == ["Histogram", "ROC", "Reliability", "Histogram", "Histogram"]
    assert "<th>AUC</th><td>1.000" in text
    assert not re.search(r"url\(|@import", text)


def test_lines_of_many_points_are_thinned_and_bars_stand_on_the_axis() -> None:
    points = [(at / 10_000, at / 10_000) for at in range(10_001)]
    kept = thinned(points)
    assert len(kept) <= 400
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    plot = Plot("<t>", "x", "y", (0.0, 2.0), (0.0, 4.0))
    plot.bars([0.0, 1.0, 2.0], [4.0, 0.0])
    plot.dots([(1.0, 2.0)], [(1.0, 3.0)])
    root = ElementTree.fromstring(plot.svg())
    full, none = (each for each in root if each.tag.endswith("rect"))
    assert math.isclose(float(full.get("height", "")), 240.0)
    assert float(none.get("height", "")) == 0.0
    assert root[0].text == "<t>"
