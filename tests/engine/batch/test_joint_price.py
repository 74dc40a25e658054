"""The price of joint reading: said before a joint run and kept with it; nothing for a run that reads alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from batch_helpers import CHOICE, NOUL, numbered, write_form, write_table

from engine import paths
from engine.batch.joint_price import FACT, price_in, price_of_joint
from engine.batch.prepare import PreparedRun, prepare
from engine.client.http import EngineClient
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import create_app
from engine.store.runs import RunView


@pytest.fixture
async def client() -> AsyncIterator[EngineClient]:
    engine = await asyncio.to_thread(EmbeddedEngine.load, paths.demo_model_dir())
    runner = web.AppRunner(create_app(engine), handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with EngineClient(f"http://{host}:{port}") as made:
        yield made
    await runner.cleanup()


def prepared(folder: Path, *questions: dict[str, object], joint: bool) -> PreparedRun:
    form = write_form(folder / "form.json", *questions, method={"joint": joint, "draws": 1, "min_mass": 0.0})
    table = write_table(folder / "table.csv", ("n", "text"), numbered(6))
    return prepare(form, table, engine="toy")


async def test_a_joint_run_is_told_its_price_and_keeps_it(client: EngineClient, tmp_path: Path) -> None:
    run, said = prepared(tmp_path, NOUL, CHOICE, joint=True), []  # type: ignore[var-annotated]
    facts = await price_of_joint(client, run, said.append)
    assert said[0].startswith("6 rows are read alone and jointly first")
    assert said[1].startswith("On 6 rows joint reading moved the answers by")
    assert len(said) == 3
    store = replace(run, spec=replace(run.spec, facts=facts)).create(paths.runs_dir())
    store.close()
    with RunView(store.path) as view:
        kept = price_in(view.spec)
    assert kept is not None
    assert kept.to_json() == facts[FACT]
    assert [kept.sentence, kept.advice] == said[1:]


async def test_a_sample_without_a_text_is_no_reason_against_the_run(client: EngineClient, tmp_path: Path) -> None:
    run, said = prepared(tmp_path, NOUL, CHOICE, joint=True), []  # type: ignore[var-annotated]
    write_table(tmp_path / "table.csv", ("n", "text"), [("1", " "), ("2", "")])
    assert await price_of_joint(client, run, said.append) == {}
    assert len(said) == 1
    assert said[0].startswith("what joint reading does is not looked at: ")


@pytest.mark.parametrize(("questions", "joint"), [((NOUL, CHOICE), False), ((NOUL,), True)])
async def test_a_run_that_reads_alone_has_no_price(
    client: EngineClient, tmp_path: Path, questions: tuple[dict[str, object], ...], joint: bool
) -> None:
    run = prepared(tmp_path, *questions, joint=joint)
    assert await price_of_joint(client, run, pytest.fail) == {}
    assert price_in(run.spec) is None
