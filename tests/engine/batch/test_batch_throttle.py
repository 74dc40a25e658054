"""The throttle: halves when the engine is busy, grows by one a round, waits as long as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web
from batch_helpers import FakeReader, form_of_store, make_run, numbered
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch import runner, throttle
from engine.batch.runner import run
from engine.batch.throttle import Throttle
from engine.client.http import EngineClient
from engine.domain.run import Totals
from engine.errors import EngineBusy, EngineRefused, EngineUnreachable
from engine.store.runs import RunStore

BUSY = EngineBusy("engine.busy", "too many", retry_after_s=0.0)
SLOW = EngineUnreachable("engine.timeout", "the engine did not answer in time")


def reader_of(store: RunStore, script: Callable[[str, str], object]) -> FakeReader:
    return FakeReader(form_of_store(store), script)


async def test_a_busy_engine_is_asked_less_and_no_row_is_lost(tmp_path: Path) -> None:
    async def script(row: str, state: str) -> object:
        full = reader._now > 5
        for _ in range(5):
            await asyncio.sleep(0)  # others come meanwhile
        return BUSY if full else None

    with make_run(tmp_path, numbered(400)) as store:
        reader = reader_of(store, script)
        result = await run(store, reader, concurrency=64)
        assert result.totals == {"q": Totals(ok=400)}
        turned_away = len(reader.asked) - 400
        assert 0 < turned_away < 200  # 59 at first, then fewer and fewer


@pytest.mark.parametrize("limit", [64, 10, 3])
async def test_a_cut_is_made_once_for_all_that_were_let_in_together(limit: int) -> None:
    gate = Throttle(limit, limit)
    marks = [await gate.enter() for _ in range(limit)]
    for mark in marks:
        gate.back_off(mark, 0.0)
    assert gate.limit == max(1, limit // 2)
    for _ in marks:
        gate.leave()
    let_in = 0
    async with asyncio.timeout(120):
        for _ in range(gate.limit):
            await gate.enter()
            let_in += 1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await gate.enter()
    assert let_in == gate.limit


async def test_it_grows_by_one_a_round_up_to_the_most_and_not_while_answers_get_slower() -> None:
    gate = Throttle(4, 6)
    limits = []
    for _ in range(4 + 5 + 6 + 6):
        await gate.enter()
        gate.answered(0.1)
        gate.leave()
        limits.append(gate.limit)
    assert limits[3:4] + limits[8:9] + limits[-1:] == [5, 6, 6]
    slow = Throttle(4, 100)
    for seconds in (0.1, 0.2, 0.2, 0.2):
        for _ in range(slow.limit):
            await slow.enter()
            slow.answered(seconds)
            slow.leave()
    assert slow.limit == 5


async def test_retry_after_holds_everybody_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds

    monkeypatch.setattr(throttle, "_now", lambda: now)
    monkeypatch.setattr(throttle.asyncio, "sleep", sleep)
    gate = Throttle(4, 4)
    mark = await gate.enter()
    gate.back_off(mark, 7.0)
    gate.leave()
    mark = await gate.enter()
    assert slept == [7.0]
    for expected in (0.5, 1.0, 2.0):  # without a time named it doubles; the first strike was above
        gate.back_off(mark)
        gate.leave()
        mark = await gate.enter()
        assert slept[-1] == expected
    gate.answered(0.1)
    gate.back_off(mark)
    gate.leave()
    await gate.enter()
    assert slept[-1] == throttle.FIRST_HOLD_S


async def test_an_engine_that_turns_everybody_away_for_long_is_as_good_as_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "BUSY_S", 0.02)
    with make_run(tmp_path, numbered(5)) as store:
        result = await run(store, reader_of(store, lambda row, state: BUSY), concurrency=2, wait_when_stuck=False)
        assert (result.state, result.error) == ("unfinished", BUSY)


@pytest.mark.parametrize("slow", [0, 8])
async def test_time_outs_halve_too(tmp_path: Path, slow: int) -> None:
    seen: list[int] = []

    async def script(row: str, state: str) -> object:
        seen.append(reader._now)
        first = reader.asked.count(row) == 1
        for _ in range(60):
            await asyncio.sleep(0)
        return SLOW if first and int(row) <= slow else None

    with make_run(tmp_path, numbered(120)) as store:
        reader = reader_of(store, script)
        result = await run(store, reader, concurrency=16)
        assert result.totals == {"q": Totals(ok=120)}
        most = max(seen[40:56])
        assert most <= 13 if slow else most == 16


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["enter", "leave", "cut", "good"]), max_size=60), st.integers(1, 8), st.integers(0, 8))
def test_places_always_add_up(steps: list[str], start: int, more: int) -> None:
    async def scenario() -> None:
        gate, inside = Throttle(start, start + more), []
        for step in steps:
            if step == "enter" and len(inside) < gate.limit:
                inside.append(await gate.enter())
            elif step == "leave" and inside:
                gate.leave()
                inside.pop()
            elif step == "cut" and inside:
                gate.back_off(inside[-1], 0.0)
            elif step == "good" and inside:
                gate.answered(0.1)
            assert gate.limit >= 1
        while inside:
            gate.leave()
            inside.pop()
        async with asyncio.timeout(120):
            for _ in range(gate.limit):
                await gate.enter()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await gate.enter()
        gate.leave()
        await gate.enter()  # the one that gave up took no place along

    asyncio.run(scenario())


async def answer(status: int, retry_after: str | None) -> Exception:
    """What an impatient client raises when a real server answers so."""

    async def serve(request: web.Request) -> web.Response:
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        return web.json_response({"error": {"message": "full"}}, status=status, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    server = web.AppRunner(app)
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", 0).start()
    try:
        async with EngineClient("http://{}:{}".format(*server.addresses[0][:2])) as client:
            client.leave_busy_to_caller()
            with pytest.raises((EngineBusy, EngineRefused)) as caught:
                await client.tokenize("x")
            return caught.value
    finally:
        await server.cleanup()


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "3", 3.0),
        (503, None, None),
        (529, "-1", 0.0),
        (429, "soon", None),
        (429, "nan", None),
        (503, "1e9", 3600.0),
    ],
)
async def test_the_client_says_that_the_engine_is_busy(status: int, header: str | None, seconds: float | None) -> None:
    error = await answer(status, header)
    assert isinstance(error, EngineBusy)
    assert error.retry_after_s == seconds


async def test_a_date_counts_too_and_other_refusals_stay_refusals() -> None:
    error = await answer(429, "Wed, 21 Oct 2015 07:28:00 GMT")
    assert isinstance(error, EngineBusy)
    assert error.retry_after_s == 0.0
    assert not isinstance(await answer(400, "3"), EngineBusy)
