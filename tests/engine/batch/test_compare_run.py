"""A comparison read through the embedded engine: every kind of cell, progress, stopping and going on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from batch_helpers import NOUL, write_form, write_table

from engine.batch.compare import BASE, Cell, load_comparison
from engine.batch.compare_figures import figures
from engine.batch.compare_run import CompareProgress, Plan, compare_methods, open_comparison, plan
from engine.batch.tables import open_table
from engine.client.http import EngineClient
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import create_app
from engine.errors import EngineUnreachable, InputError, UserError
from engine.paths import demo_model_dir
from engine.reads.reader import Reader
from engine.reads.rows_together import about, numbered

CLASH = {"id": "clash", "type": "noul", "instructions": "Do the two contradict each other?", "gold": "gold"}
PAIRS = [("1", f"Fee {n} euros. Fee {n + n % 2} euros.", "yes" if n % 2 else "no") for n in range(2, 14)]
CELLS = (BASE, Cell(draws=1), Cell(draws=1, steps=2), Cell(draws=1, layout="joint"), Cell(draws=1, layout="rows"))
DOCUMENT = Cell(draws=1, state="document")


@pytest.fixture
async def client() -> AsyncIterator[EngineClient]:
    engine = await asyncio.to_thread(EmbeddedEngine.load, demo_model_dir())
    runner = web.AppRunner(create_app(engine), handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with EngineClient(f"http://{host}:{port}") as made:
        yield made
    await runner.cleanup()


def planned(folder: Path, sample: int = 12, **fields: object) -> Plan:
    form = write_form(folder / "form.json", CLASH, NOUL, method={"min_mass": 0.0}, **fields)
    table = write_table(folder / "table.csv", ("n", "text", "gold"), PAIRS)
    return plan(form, open_table(table), sample=sample)


async def test_every_kind_of_cell_is_read_twice(client: EngineClient, tmp_path: Path) -> None:
    what, path = planned(tmp_path, document="The price list."), tmp_path / "c.json"
    told: list[CompareProgress] = []
    found = await compare_methods(
        client, what, (*CELLS, DOCUMENT), open_comparison(path, what, "toy"), path, progress=told.append
    )
    assert [result.cell for result in found.results] == [*CELLS, DOCUMENT]
    for result in found.results:
        assert result.refusal == ""
        assert [len(seed) for seed in result.answers] == [12, 12]
        assert all(answer.status in ("ok", "unreadable") for seed in result.answers for answer in seed)
    by_cell = {each.cell: each for each in figures(found)}
    assert by_cell[CELLS[1]].spread == 0.0  # draw 0 is a function of the prompt, not of the seed
    assert all(each.per_s is not None and each.per_s > 0 for each in by_cell.values())
    assert load_comparison(path) == found
    assert (told[0].done, told[-1].done, told[-1].total, told[-1].number) == (0, 144, 144, 6)
    assert told[-1].eta_s == pytest.approx(0.0, abs=1e-9)
    assert [each.done for each in told] == sorted(each.done for each in told)


async def test_a_cell_holds_what_a_reader_gives(client: EngineClient, tmp_path: Path) -> None:
    what, path = planned(tmp_path), tmp_path / "c.json"
    found = await compare_methods(client, what, CELLS[1:2], open_comparison(path, what, "toy"), path)
    method = CELLS[1].method(what.base, 0)
    reader = await Reader.open(client, what.form.questions[:1], method)
    for row, answer in zip(what.sample.rows, found.results[0].answers[0], strict=True):
        (reading,) = await reader.read(row.state, row_key=row.key)
        assert answer.value == pytest.approx(reading.value)


async def test_a_stopped_comparison_goes_on_with_what_is_missing(client: EngineClient, tmp_path: Path) -> None:
    what, path = planned(tmp_path), tmp_path / "c.json"

    def stop(now: CompareProgress) -> None:
        if now.number == 3 and now.done > 48:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await compare_methods(client, what, CELLS, open_comparison(path, what, "toy"), path, progress=stop)
    kept = load_comparison(path)
    assert kept is not None
    assert [result.cell for result in kept.results] == list(CELLS[:2])
    told: list[CompareProgress] = []
    begun = open_comparison(path, what, "toy")
    found = await compare_methods(client, what, CELLS, begun, path, progress=told.append)
    assert found.results[:2] == kept.results
    assert [result.cell for result in found.results] == list(CELLS)
    assert told[-1].cells == 3
    assert await compare_methods(client, what, CELLS, found, path) == found


async def test_the_comparison_of_something_else_is_not_gone_on_with(client: EngineClient, tmp_path: Path) -> None:
    what, path = planned(tmp_path), tmp_path / "c.json"
    await compare_methods(client, what, CELLS[1:2], open_comparison(path, what, "toy"), path)
    with pytest.raises(InputError, match=r"something else \(engine\)"):
        open_comparison(path, what, "another")
    other = replace(what, form_sha256="x", seeds=(5, 6))
    with pytest.raises(InputError, match=r"\(form_sha256, seeds\)"):
        open_comparison(path, other, "toy")
    assert open_comparison(path, other, "toy", overwrite=True).results == ()


async def test_what_cannot_be_read_is_said_and_tried_again(client: EngineClient, tmp_path: Path) -> None:
    form = write_form(tmp_path / "one.json", CLASH)
    table = open_table(write_table(tmp_path / "table.csv", ("n", "text", "gold"), PAIRS))
    what, path = plan(form, table, sample=4), tmp_path / "c.json"
    cells = (Cell(draws=1, layout="joint"), DOCUMENT, Cell(draws=1))
    found = await compare_methods(client, what, cells, open_comparison(path, what, "toy"), path)
    assert ["one question" in found.results[0].refusal, "no document" in found.results[1].refusal] == [True, True]
    assert found.results[2].refusal == ""
    again = await compare_methods(client, what, cells, found, path)
    assert {result.cell for result in again.results} == set(cells)


async def test_an_engine_that_is_gone_ends_it_with_what_was_read(client: EngineClient, tmp_path: Path) -> None:
    what, path = planned(tmp_path), tmp_path / "c.json"
    await compare_methods(client, what, CELLS[:1], open_comparison(path, what, "toy"), path)
    async with EngineClient("http://127.0.0.1:9") as nobody:
        with pytest.raises(EngineUnreachable):
            await compare_methods(nobody, what, CELLS, open_comparison(path, what, "toy"), path)
    kept = load_comparison(path)
    assert kept is not None
    assert len(kept.results) == 1


async def test_a_place_that_takes_no_file_is_told_before_anything_is_read(tmp_path: Path) -> None:
    what, path = planned(tmp_path), tmp_path / "none" / "c.json"
    begun = open_comparison(path, what, "toy")
    async with EngineClient("http://127.0.0.1:9") as nobody:
        with pytest.raises(UserError, match="--out names another place"):
            await compare_methods(nobody, what, CELLS, begun, path)


def test_a_question_must_be_there_and_have_gold(tmp_path: Path) -> None:
    form = write_form(tmp_path / "form.json", NOUL, CLASH)
    table = open_table(write_table(tmp_path / "table.csv", ("n", "text", "gold"), PAIRS))
    assert plan(form, table).sample.question.id == "clash"
    with pytest.raises(InputError, match="no question is called x"):
        plan(form, table, question="x")
    with pytest.raises(InputError, match="has no gold column"):
        plan(form, table, question="q")
    with pytest.raises(InputError, match="no question has a gold column"):
        plan(write_form(tmp_path / "g.json", NOUL), table)


def test_texts_on_one_canvas_are_numbered_as_they_are_asked_about(tmp_path: Path) -> None:
    assert numbered(["one", "two"]) == "Text 1:\none\n\nText 2:\ntwo"
    question = planned(tmp_path).form.questions[0]
    assert about(question, 2).instructions == "About text 2: Do the two contradict each other?"
    assert about(question, 2).id == "2"
