"""The CSV export: the contract of the columns, cells equal to the input, formulas guarded, whole files only."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from batch_helpers import CHOICE, NOUL, SCORE, form_of_store, make_run, numbered, ok_readings, read_csv
from hypothesis import given
from hypothesis import strategies as st

from engine.batch import export_rows
from engine.batch.columns import input_names
from engine.batch.export import check_target, export_csv
from engine.batch.export_rows import quoted
from engine.batch.formulas import guarded
from engine.domain.reading import Reading
from engine.domain.run import Totals
from engine.errors import InputError, UserError
from engine.store.runs import RunStore


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.csv"


def answered(folder: Path, rows: list[tuple[str, str]]) -> Path:
    with make_run(folder, rows) as store:
        for row in range(1, len(rows) + 1):
            store.add_answers(row, ok_readings(form_of_store(store)))
        return store.path


def test_the_columns_are_the_contract(tmp_path: Path, out: Path) -> None:
    header = ("row_id", "text")
    with make_run(tmp_path, [("x7", "hello"), ("x8", "")], NOUL, CHOICE, SCORE, header=header) as store:
        noul, choice, score = ok_readings(form_of_store(store))
        store.add_answers(
            1,
            (
                Reading("q", "ok", 1 / 3, (1 / 3, 2 / 3), 0.9, True, 0.25, 0.8, 4, 0.01, 0.75, "joint/canvas"),
                Reading("team", "unreadable", None, (), 0.02, False, 0.7, 0.3, 4, method="joint/canvas"),
                score,
            ),
        )
        skipped = {"method": "alone/canvas", "error": "the state is empty"}
        store.add_answers(2, [Reading(name, "skipped", **skipped) for name in ("q", "team", "size")])  # type: ignore[arg-type]
        path = store.path
    summary = export_csv(path, out)
    assert out.read_bytes().startswith(b"row_id,row_id_in,text,q,q.status,")
    diagnostics = ["label_mass", "argmax_is_label", "entropy", "draws", "stderr", "agreement", "method", "error"]
    expected = ["row_id", "row_id_in", "text"]
    for name, answers in (("q", ["yes", "no"]), ("team", ["a", "b"]), ("size", ["0", "1", "2"])):
        expected += [name, f"{name}.status", *(f"{name}.p.{each}" for each in answers)]
        expected += [f"{name}.{each}" for each in diagnostics]
    first, second = read_csv(out)
    assert list(first) == expected
    assert first["row_id"] == "1"
    assert first["row_id_in"] == "x7"
    assert float(first["q"]) == 1 / 3
    assert float(first["q.p.no"]) == 2 / 3
    assert first["q.stderr"] == "0.01"
    assert first["q.method"] == "joint/canvas"
    assert (first["q.argmax_is_label"], first["team.argmax_is_label"]) == ("true", "false")
    assert (first["team"], first["team.status"], first["team.p.a"], first["team.label_mass"]) == (
        "",
        "unreadable",
        "",
        "0.02",
    )
    assert first["team.draws"] == "4"
    assert first["size"] == repr(score.value)
    assert [second[name] for name in ("q", "q.status", "q.p.yes", "q.label_mass")] == ["", "skipped", "", ""]
    assert second["q.error"] == "the state is empty"
    assert summary.totals["team"] == Totals(unreadable=1, skipped=1)
    assert summary.rows == 2
    assert summary.renamed == (("row_id", "row_id_in"),)
    assert summary.unanswered == 0
    assert noul.value != choice.value


def test_an_option_is_given_by_its_name_and_guarded(tmp_path: Path, out: Path) -> None:
    choice = {**CHOICE, "id": "=team", "criteria": ["=a", "b"]}
    with make_run(tmp_path, [("1", "x")], choice) as store:
        store.add_answers(1, ok_readings(form_of_store(store)))
    export_csv(store.path, out)
    (row,) = read_csv(out)
    assert row["'=team"] == "'=a"
    assert "'=team.p.=a" in row
    export_csv(store.path, out, raw=True, overwrite=True)
    (row,) = read_csv(out)
    assert row["=team"] == "=a"


def test_rows_that_are_not_answered_yet_are_there_without_a_status(tmp_path: Path, out: Path) -> None:
    with make_run(tmp_path, numbered(3)) as store:
        store.add_answers(2, ok_readings(form_of_store(store)))
        summary = export_csv(store.path, out)  # while a worker has the run
    assert [row["q.status"] for row in read_csv(out)] == ["", "ok", ""]
    assert [row["row_id"] for row in read_csv(out)] == ["1", "2", "3"]
    assert (summary.rows, summary.unanswered) == (3, 2)


def test_utf8_with_and_without_a_mark_and_lines_as_rfc_4180_has_them(tmp_path: Path, out: Path) -> None:
    path = answered(tmp_path, [("é", "a\nb"), ("2", "c\r\nd")])
    export_csv(path, out)
    raw = out.read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert raw.endswith(b"\r\n")
    assert b'"a\nb"' in raw
    assert b'"c\r\nd"' in raw
    export_csv(path, out, overwrite=True, bom=True)
    assert out.read_bytes() == b"\xef\xbb\xbf" + raw


cells = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
formulas = st.builds(str.__add__, st.sampled_from(["=", "+", "-", "@", "\t", "\r", "\u200b="]), cells)


@given(rows=st.lists(st.tuples(cells | formulas, cells | formulas), min_size=1, max_size=6), raw=st.booleans())
def test_input_cells_come_out_equal_but_for_the_guard(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], raw: bool
) -> None:
    folder = tmp_path_factory.mktemp("run")
    with make_run(folder, rows, header=("n", "=text"), state="{{ n }}") as store:
        pass
    summary = export_csv(store.path, folder / "out.csv", raw=raw)
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file, strict=True))
    assert found[0][1:3] == (["n", "=text"] if raw else ["n", "'=text"])
    wanted = [[cell if raw else guarded(cell) for cell in row] for row in rows]
    assert [row[1:3] for row in found[1:]] == wanted
    assert all(len(row) == len(found[0]) for row in found)
    assert summary.guarded == (0 if raw else 1 + sum(guarded(cell) != cell for row in rows for cell in row))


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["a", "b"], ("a", "b")),
        (["row_id"], ("row_id_in",)),
        (["row_id_in", "row_id"], ("row_id_in_in", "row_id_in")),
        (["q", "q.status", "q_in"], ("q_in_in", "q.status_in", "q_in")),
        (["q.p.yes", "q.p.maybe"], ("q.p.yes_in", "q.p.maybe")),
    ],
)
def test_an_input_column_yields_to_the_contract(columns: list[str], names: tuple[str, ...]) -> None:
    assert input_names(columns, ["row_id", "q", "q.status", "q.p.yes", "q.p.no"]) == names


@given(st.lists(st.sampled_from(["row_id", "row_id_in", "q", "q_in", "q_in_in", "x"]), max_size=6, unique=True))
def test_names_of_the_export_never_repeat(columns: list[str]) -> None:
    taken = ["row_id", "q", "q.status"]
    names = input_names(columns, taken)
    assert len({*names, *taken}) == len(names) + len(taken)
    assert len(names) == len(columns)
    if "row_id" in columns:
        assert names[columns.index("row_id")] == "row_id_in"


def test_names_made_equal_by_the_apostrophe_are_told_apart(tmp_path: Path, out: Path) -> None:
    with make_run(tmp_path, [("1", "2")], header=("=a", "'=a"), state='{{ row["=a"] }}') as store:
        pass
    export_csv(store.path, out)
    assert out.read_bytes().startswith(b"row_id,'=a,'=a_in,")


def test_a_file_that_exists_is_only_replaced_when_that_is_said(tmp_path: Path, out: Path) -> None:
    path = answered(tmp_path, numbered(1))
    out.write_text("mine")
    with pytest.raises(InputError, match="exists; choose another file") as caught:
        export_csv(path, out)
    assert caught.value.code == "export.exists"
    assert out.read_text() == "mine"
    export_csv(path, out, overwrite=True)
    assert out.read_bytes().startswith(b"row_id")
    assert sorted(each.name for each in tmp_path.iterdir() if "out" in each.name or "part" in each.name) == ["out.csv"]


def test_targets_that_cannot_be_written(tmp_path: Path, out: Path) -> None:
    path = answered(tmp_path, numbered(1))
    table = tmp_path / "table.csv"
    before = table.read_bytes()
    for target, code in (
        (tmp_path, "export.folder"),
        (tmp_path / "none" / "out.csv", "export.no_folder"),
        (table, "export.own_table"),
        (Path(os.devnull), "export.not_a_file"),
    ):
        with pytest.raises(InputError) as caught:
            export_csv(path, target, overwrite=True)
        assert caught.value.code == code
        assert str(target) in str(caught.value) or code == "export.no_folder"
    assert table.read_bytes() == before
    check_target(out)


def test_a_link_is_followed_when_its_file_is_replaced(tmp_path: Path, out: Path) -> None:
    path = answered(tmp_path, numbered(1))
    real = tmp_path / "real.csv"
    real.write_text("old")
    out.symlink_to(real)
    export_csv(path, out, overwrite=True)
    assert out.is_symlink()
    assert real.read_bytes().startswith(b"row_id")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, out: Path) -> None:
    path = answered(tmp_path, numbered(3000))
    out.write_text("old")
    child = textwrap.dedent(f"""
        import resource
        from pathlib import Path
        from engine.batch.export import export_csv
        from engine.errors import UserError
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        try:
            export_csv(Path({str(path)!r}), Path({str(out)!r}), overwrite=True)
        except UserError as error:
            print(error.code, error)
    """)
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"disk.full no space left for {out}")
    assert out.read_text() == "old"
    assert list(tmp_path.glob(".*part")) == []


def test_a_run_that_is_gone_is_named(tmp_path: Path, out: Path) -> None:
    with pytest.raises(UserError, match="there is no run file"):
        export_csv(tmp_path / "none.sqlite", out)
    assert not out.exists()


def test_a_run_is_exported_after_its_table_is_gone(tmp_path: Path, out: Path) -> None:
    path = answered(tmp_path, [("1", "kept")])
    (tmp_path / "table.csv").unlink()
    (tmp_path / "form.json").unlink()
    export_csv(path, out)
    assert read_csv(out)[0]["text"] == "kept"
    with RunStore.open(path) as store:
        assert store.info().done == 1


@given(st.lists(st.text(st.sampled_from(',"\n\r a=;\t\x85\u2028é'), max_size=6), min_size=1))
def test_fields_are_quoted_as_the_csv_module_does(column: list[str]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\r\n").writerows(("1", cell) for cell in column)
    assert "".join(f"1,{field}\r\n" for field in quoted(column)) == file.getvalue()


def test_pages_with_and_without_holes_are_written_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is answered as a whole is written column by column, any other answer by answer."""
    rows = [(str(number), f'say, "{number}"\r\n') for number in range(1, 8)]
    with make_run(tmp_path, rows, NOUL, CHOICE) as store:
        readings = ok_readings(form_of_store(store))
        failed = tuple(Reading(each.question_id, "error", method="alone/canvas", error='no, "x"') for each in readings)
        for row in (1, 2, 3, 4, 6):
            store.add_answers(row, failed if row == 3 else readings)
        path = store.path
    written = []
    for page in (1, 2, 7):
        monkeypatch.setattr(export_rows, "PAGE", page)
        export_csv(path, tmp_path / f"{page}.csv")
        written.append((tmp_path / f"{page}.csv").read_bytes())
    assert written[0] == written[1] == written[2]
    found = read_csv(tmp_path / "1.csv")
    assert [row["text"] for row in found] == [text for _, text in rows]
    assert [row["q.status"] for row in found] == ["ok", "ok", "error", "ok", "", "ok", ""]
    assert found[2]["team.error"] == 'no, "x"'
