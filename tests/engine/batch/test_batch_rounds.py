"""Rounds through the runner: only what is due is asked, by readers of just those questions; counts always add up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from batch_helpers import CHOICE, NOUL, FakeReader, form_of_store, make_run, numbered, ok_readings, read_csv, write_form

from engine.batch.export import export_csv
from engine.batch.prepare import prepare
from engine.batch.rounds import add_questions, reread, retry
from engine.batch.runner import Callbacks, run
from engine.batch.selection import Selection
from engine.domain.form import Form
from engine.domain.reading import Method, Reading
from engine.domain.run import Progress, Totals
from engine.errors import BugError, InputError
from engine.store.runs import RunStore, RunView


def part(form: Form, ids: tuple[str, ...]) -> Form:
    return Form(form.name, form.state, tuple(each for each in form.questions if each.id in ids))


class Readers:
    """Makes readers of some questions and notes which, and what they were asked."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.made: list[tuple[str, ...]] = []
        self.asked: Counter[tuple[tuple[str, ...], str]] = Counter()

    async def __call__(self, ids: tuple[str, ...]) -> FakeReader:
        self.made.append(ids)
        return FakeReader(part(self.form, ids), lambda row, state: self.asked.update([(ids, row)]))


async def first_run(store: RunStore) -> None:
    """Row 2 fails, the choice of row 3 fails, the noul of row 4 is unreadable; row 5 has an empty text."""
    form = form_of_store(store)
    noul, choice = ok_readings(form)

    def script(row: str, state: str) -> object:
        failed = [Reading(name, "error", method="alone/canvas", error="refused") for name in ("q", "team")]
        lost = Reading("q", "unreadable", None, (), 0.1, False, 0.2, 0.1, 1, method="alone/canvas")
        return {"2": tuple(failed), "3": (noul, failed[1]), "4": (lost, choice)}.get(row)

    assert (await run(store, FakeReader(form, script))).state == "finished"


@pytest.fixture
def rows() -> list[tuple[str, str]]:
    return [*numbered(4), ("5", " ")]


async def test_a_retry_asks_for_failed_answers_only(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    with make_run(tmp_path, rows, NOUL, CHOICE) as store:
        await first_run(store)
        form = form_of_store(store)
        retry(store, "toy")
        seen: list[Progress] = []
        readers = Readers(form)
        every = FakeReader(form, lambda row, state: readers.asked.update([(("q", "team"), row)]))
        result = await run(store, every, reader_of=readers, callbacks=Callbacks(progress=seen.append))
        assert (result.state, result.done, result.total) == ("finished", 10, 10)
        assert readers.asked == {(("q", "team"), "2"): 1, (("team",), "3"): 1}
        assert result.totals == {"q": Totals(ok=3, unreadable=1, skipped=1), "team": Totals(ok=4, skipped=1)}
        assert seen[-1].totals == Totals(ok=7, unreadable=1, skipped=2)
        assert all(each.totals.answers == each.total == 10 for each in seen)
        with pytest.raises(InputError, match="no answer of this run has the status error"):
            retry(store, "toy")


async def test_what_was_unreadable_is_read_again_with_more_draws_and_the_old_answer_stays(
    tmp_path: Path, rows: list[tuple[str, str]]
) -> None:
    with make_run(tmp_path, rows, NOUL, CHOICE) as store:
        await first_run(store)
        assert reread(store, "toy").method == Method(draws=8)
        readers = Readers(form_of_store(store))
        result = await run(store, FakeReader(form_of_store(store)), reader_of=readers)
        assert readers.asked == {(("q",), "4"): 1}
        assert result.totals["q"] == Totals(ok=3, error=1, skipped=1)
        assert store.earlier(4, 4)[4, 0][0].label_mass == 0.1
        export_csv(store.path, tmp_path / "o.csv")
        found = read_csv(tmp_path / "o.csv")
        assert [row["q.round"] for row in found] == ["1", "1", "1", "2", "1"]


async def test_the_native_wire_reads_nothing_again(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    with make_run(tmp_path, rows, NOUL, CHOICE, method={"wire": "native"}) as store:
        await first_run(store)
        with pytest.raises(InputError, match="one draw"):
            reread(store, "toy")


async def test_questions_are_added_to_a_finished_run(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    with make_run(tmp_path, rows, NOUL, CHOICE) as store:
        await first_run(store)
        new = {**NOUL, "id": "new"}
        with pytest.raises(InputError, match="its state is not the run's"):
            add_questions(store, write_form(tmp_path / "b.json", new, state="{{ n }}"), "toy")
        with pytest.raises(InputError, match="'q' is in the run already, and was another"):
            add_questions(store, write_form(tmp_path / "c.json", {**NOUL, "instructions": "Was it?"}, new), "toy")
        with pytest.raises(InputError, match="no column"):
            add_questions(store, write_form(tmp_path / "d.json", {**new, "gold": "gold"}), "toy")
        path = write_form(tmp_path / "e.json", new)
        add_questions(store, path, "toy")
        form = form_of_store(store)
        assert [each.id for each in form.questions] == ["q", "team", "new"]
        reader = FakeReader(part(form, ("new",)))
        result = await run(store, reader)
        assert result.totals["new"] == Totals(ok=4, skipped=1)
        assert reader.asked == ["1", "2", "3", "4"]
        with pytest.raises(InputError, match="in the run already"):
            add_questions(store, path, "toy")


async def test_a_round_needs_a_reader_for_single_questions(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    with make_run(tmp_path, rows, NOUL, CHOICE) as store:
        await first_run(store)
        retry(store, "toy")
        with pytest.raises(BugError, match="nothing reads"):
            await run(store, FakeReader(form_of_store(store)))


async def test_a_selection_is_stored_with_the_run_and_its_rows_are_skipped(tmp_path: Path) -> None:
    form = write_form(tmp_path / "f.json")
    table = tmp_path / "t.csv"
    table.write_text("n,text\n" + "".join(f"{n},text {n}\n" for n in range(1, 21)))
    selection = Selection("n|int > 5", sample=4, seed=3)
    with prepare(form, table, engine="toy", selection=selection).create(tmp_path) as store:
        reader = FakeReader(form_of_store(store))
        result = await run(store, reader)
        assert result.totals == {"q": Totals(ok=4, skipped=16)}
        path, asked = store.path, list(reader.asked)
    table.unlink()
    with RunView(path) as view:
        assert Selection(**view.spec.selection) == selection
        why = Counter(row.readings[0].error for row in view.iter_rows())
        assert why == {"": 4, "left out by the filter": 5, "not in the sample": 11}
        assert [str(row.row) for row in view.iter_rows() if row.readings[0].status == "ok"] == asked


def test_a_filter_that_passes_nothing_leaves_no_run_behind(tmp_path: Path) -> None:
    form = write_form(tmp_path / "f.json")
    table = tmp_path / "t.csv"
    table.write_text("n,text\n1,a\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    with pytest.raises(InputError, match="no row of"):
        prepare(form, table, engine="toy", selection=Selection("n == '2'")).create(runs)
    assert list(runs.iterdir()) == []
    with pytest.raises(InputError, match="no column"):
        prepare(form, table, engine="toy", selection=Selection("m == '2'"))
