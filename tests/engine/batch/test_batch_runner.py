"""The runner: every row once, whatever the engine, the disk and the owner do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from batch_helpers import CHOICE, NOUL, FakeReader, form_of_store, make_run, numbered, ok_readings
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.batch.control import RunControl
from engine.batch.runner import Callbacks, RunResult, run
from engine.domain.reading import Reading
from engine.domain.run import Progress, Totals
from engine.errors import BugError, EngineRefused, EngineUnreachable, InputError
from engine.rate import RateMeter
from engine.store.runs import RunStore, RunView

GONE = EngineUnreachable("engine.unreachable", "no engine answers at http://x")
SLOW = EngineUnreachable("engine.timeout", "the engine did not answer in time")
REFUSED = EngineRefused("engine.refused", "the engine answered with status 400: too long", status=400)


def reader_of(store: RunStore, script: Callable[[str, str], object] | None = None) -> FakeReader:
    return FakeReader(form_of_store(store), script)


def check_complete(store: RunStore, result: RunResult) -> None:
    """in = ok + unreadable + error + skipped, for every question."""
    assert result.state == "finished"
    assert result.done == result.total == store.rows * len(store.spec.questions)
    assert all(totals.answers == store.rows for totals in store.totals().values())
    assert store.pending(0, 1) == []
    assert store.info().state == "finished"


async def test_every_row_is_asked_once_in_order_by_a_fixed_number_of_tasks(tmp_path: Path) -> None:
    most_tasks = 0

    def count(row: str, state: str) -> None:
        nonlocal most_tasks
        most_tasks = max(most_tasks, len(asyncio.all_tasks()))
        assert state == f"text {row}"

    with make_run(tmp_path, numbered(1000), NOUL, CHOICE) as store:
        reader = reader_of(store, count)
        before = len(asyncio.all_tasks())
        result = await run(store, reader, concurrency=8)
        check_complete(store, result)
        assert reader.asked == [str(number) for number in range(1, 1001)]
        assert reader.most == 8
        assert most_tasks <= before + 8 + 10
        assert [each.readings for each in store.page(999)] == [ok_readings(form_of_store(store))]


async def test_an_empty_state_is_skipped_and_a_refusal_or_a_bad_row_is_an_error(tmp_path: Path) -> None:
    rows = [("1", "a"), ("2", " \n"), ("3", "refuse"), ("0", "d")]
    state = "{% if 12 / n|int > 0 %}{{ text }}{% endif %}"
    with make_run(tmp_path, rows, NOUL, CHOICE, state=state) as store:
        reader = reader_of(store, lambda row, text: REFUSED if text == "refuse" else None)
        result = await run(store, reader)
        check_complete(store, result)
        first, second, third, fourth = store.page()
        assert reader.asked == ["1", "3"]
        assert result.totals == {"q": Totals(ok=1, skipped=1, error=2), "team": Totals(ok=1, skipped=1, error=2)}
        assert first.readings[0].status == "ok"
        assert second.readings[1].error == "the state is empty"
        assert "status 400: too long" in third.readings[0].error
        assert third.readings[0].method == "alone/canvas"
        assert "division by zero" in fourth.readings[0].error


async def test_a_dead_engine_pauses_the_run_and_nothing_is_lost(tmp_path: Path) -> None:
    control, dead, seen = RunControl(), False, []

    def script(row: str, state: str) -> object:
        nonlocal dead
        dead = dead or row == "20"
        return GONE if dead else None

    with make_run(tmp_path, numbered(100)) as store:
        reader = reader_of(store, script)

        def paused(reason: str) -> None:
            nonlocal dead
            with RunView(store.path) as view:
                seen.append((reason, view.info().state, view.reason()))
            reader.script, dead = None, False
            control.resume()

        resumed: list[bool] = []
        callbacks = Callbacks(paused=paused, resumed=lambda: resumed.append(True))
        result = await run(store, reader, concurrency=7, control=control, callbacks=callbacks)
        check_complete(store, result)
        assert result.totals == {"q": Totals(ok=100)}
        assert seen == [(str(GONE), "paused", str(GONE))]
        assert resumed == [True]


async def test_without_an_owner_a_dead_engine_ends_the_run_and_the_next_call_goes_on(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(100)) as store:
        reader = reader_of(store, lambda row, state: GONE if int(row) > 40 else None)
        result = await run(store, reader, concurrency=4, wait_when_stuck=False)
        assert (result.state, result.error, result.cancelled) == ("unfinished", GONE, False)
        assert result.done == 40
        assert store.reason() == str(GONE)
        path = store.path
    with RunStore.open(path) as store:
        again = reader_of(store)
        check_complete(store, await run(store, again))
        assert again.asked == [str(number) for number in range(41, 101)]


async def test_a_row_that_times_out_while_others_are_read_is_an_error(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(50)) as store:
        reader = reader_of(store, lambda row, state: SLOW if row == "7" else None)
        result = await run(store, reader, concurrency=4)
        check_complete(store, result)
        assert result.totals == {"q": Totals(ok=49, error=1)}
        assert reader.asked.count("7") == 2
        assert "did not answer in time" in store.page(6, 1)[0].readings[0].error


async def test_an_engine_that_only_times_out_pauses_the_run(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(50)) as store:
        result = await run(store, reader_of(store, lambda row, state: SLOW), concurrency=4, wait_when_stuck=False)
        assert (result.state, result.done, result.error) == ("unfinished", 0, SLOW)


async def test_a_failure_from_before_the_resumption_does_not_pause_again(tmp_path: Path) -> None:
    control, hold, pauses = RunControl(), asyncio.Event(), []

    async def late() -> object:
        await hold.wait()
        raise GONE

    def script(row: str, state: str) -> object:
        if row == "1" and reader.asked.count("1") == 1:
            return late()
        return GONE if row == "2" and reader.asked.count("2") == 1 else None

    def paused(reason: str) -> None:
        pauses.append(reason)
        control.resume()
        hold.set()

    with make_run(tmp_path, numbered(20)) as store:
        reader = reader_of(store, script)
        callbacks = Callbacks(paused=paused)
        check_complete(store, await run(store, reader, concurrency=2, control=control, callbacks=callbacks))
        assert len(pauses) == 1
        assert reader.asked.count("1") == 2


async def test_a_pause_lets_reads_end_and_stores_them(tmp_path: Path) -> None:
    control = RunControl()
    with make_run(tmp_path, numbered(60)) as store:
        reader = reader_of(store, lambda row, state: control.pause() if row == "30" else None)

        def paused(reason: str) -> None:
            assert reason == ""
            asyncio.get_running_loop().call_later(0.01, look)

        def look() -> None:
            seen.append(len(reader.asked))
            control.resume()

        seen: list[int] = []
        result = await run(store, reader, concurrency=4, control=control, callbacks=Callbacks(paused=paused))
        check_complete(store, result)
        assert 30 <= seen[0] <= 33
        assert sorted(map(int, reader.asked)) == list(range(1, 61))


@pytest.mark.parametrize("pause_first", [False, True])
async def test_cancelling_drops_what_is_under_way_and_keeps_what_is_stored(tmp_path: Path, pause_first: bool) -> None:
    control = RunControl()
    for_ever = asyncio.Event()

    def script(row: str, state: str) -> object:
        if row != "30":
            return None
        if pause_first:
            control.pause()
        asyncio.get_running_loop().call_soon(control.cancel)
        return for_ever.wait()

    with make_run(tmp_path, numbered(60)) as store:
        result = await run(store, reader_of(store, script), concurrency=1, control=control)
        assert (result.state, result.cancelled, result.done) == ("unfinished", True, 29)
        assert store.reason() == "cancelled"
        check_complete(store, await run(store, reader_of(store)))


def limit_pages(store: RunStore, more: int | None) -> None:
    """A real full disk to SQLite: the file may not grow (https://sqlite.org/pragma.html#pragma_max_page_count)."""

    def limit(connection: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[attr-defined]
        connection.execute(f"PRAGMA max_page_count = {pages + more if more is not None else 2**30}")  # type: ignore[attr-defined]

    store._database.write(limit)


async def test_a_full_disk_pauses_the_run_and_holds_the_answers(tmp_path: Path) -> None:
    control, reasons = RunControl(), []

    def paused(reason: str) -> None:
        reasons.append(reason)
        limit_pages(store, None)
        control.resume()

    with make_run(tmp_path, numbered(3000)) as store:
        limit_pages(store, 3)
        reader = reader_of(store)
        callbacks = Callbacks(paused=paused)
        check_complete(store, await run(store, reader, control=control, callbacks=callbacks))
        assert len(reasons) == 1
        assert reasons[0].startswith("no space left for ")
        assert len(reader.asked) == 3000  # held, not asked again


async def test_a_full_disk_without_an_owner_ends_the_run_and_it_can_be_resumed(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(3000)) as store:
        limit_pages(store, 3)
        result = await run(store, reader_of(store), wait_when_stuck=False)
        assert result.state == "unfinished"
        assert result.error is not None
        assert result.error.code == "disk.full"
        assert 0 < result.done < 3000
        path = store.path
    with RunStore.open(path) as store:
        check_complete(store, await run(store, reader_of(store)))


async def test_a_bug_in_the_reader_ends_the_run_with_the_bug_and_keeps_the_answers(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(300)) as store:
        with pytest.raises(KeyError, match="oops"):
            await run(
                store, reader_of(store, lambda row, state: KeyError("oops") if row == "200" else None), concurrency=1
            )
        path = store.path
    with RunStore.open(path) as store:
        assert store.done_rows() == 199
        wrong = (Reading("other", "ok", 0.5),)
        with pytest.raises(BugError, match="do not match"):
            await run(store, reader_of(store, lambda row, state: wrong))
        check_complete(store, await run(store, reader_of(store)))


async def test_a_cancelled_task_keeps_what_was_read(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(300)) as store:
        reached, for_ever = asyncio.Event(), asyncio.Event()

        def script(row: str, state: str) -> object:
            if row != "100":
                return None
            reached.set()
            return for_ever.wait()

        reader = reader_of(store, script)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(run(store, reader, concurrency=1))
            await reached.wait()
            task.cancel()
        path = store.path
    with RunStore.open(path) as store:
        assert store.done_rows() == 99


async def test_progress_counts_stored_answers_and_adds_up(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(500), NOUL, CHOICE) as store:
        seen: list[Progress] = []

        def progress(now: Progress) -> None:
            with RunView(store.path) as view:
                assert now.done <= view.info().done
            seen.append(now)

        await run(store, reader_of(store), callbacks=Callbacks(progress=progress))
        assert [each.done for each in seen] == sorted(each.done for each in seen)
        assert all(each.totals.answers == each.done for each in seen)
        assert (seen[-1].done, seen[-1].total, seen[-1].totals) == (1000, 1000, Totals(ok=1000))


async def test_a_finished_run_has_nothing_to_do(tmp_path: Path) -> None:
    with make_run(tmp_path, numbered(3)) as store:
        await run(store, reader_of(store))
        again = reader_of(store)
        check_complete(store, await run(store, again))
        assert again.asked == []


@pytest.mark.parametrize("concurrency", [0, -1, 1025])
async def test_a_concurrency_out_of_range_is_named(tmp_path: Path, concurrency: int) -> None:
    message = f"concurrency is {concurrency}; allowed are 1 to 1024"
    with make_run(tmp_path, numbered(1)) as store, pytest.raises(InputError, match=message):
        await run(store, reader_of(store), concurrency=concurrency)


def test_the_rate_looks_at_the_last_half_minute() -> None:
    meter = RateMeter()
    meter.restart(0.0, 100)
    assert meter.rate(0.0, 100) == 0.0
    assert meter.rate(10.0, 200) == pytest.approx(10.0)
    for second in range(11, 101):
        rate = meter.rate(float(second), 200)
    assert rate == 0.0
    meter.restart(200.0, 200)
    assert meter.rate(201.0, 205) == pytest.approx(5.0)


outcomes = st.sampled_from(
    ["ok", "ok", "ok", "empty", "refused", "gone once", "slow once", "cancel once", "unreadable"]
)


@settings(max_examples=40)
@given(plan=st.lists(outcomes, min_size=1, max_size=80), concurrency=st.integers(1, 9), questions=st.integers(1, 3))
def test_whatever_happens_every_row_ends_with_one_status(
    tmp_path_factory: pytest.TempPathFactory, plan: list[str], concurrency: int, questions: int
) -> None:
    folder = tmp_path_factory.mktemp("run")
    rows = [(str(at), "" if outcome == "empty" else "text") for at, outcome in enumerate(plan, start=1)]
    asked = [{**NOUL, "id": f"q{number}"} for number in range(questions)]

    async def scenario() -> None:
        store = make_run(folder, rows, *asked)
        form = form_of_store(store)
        unreadable = tuple(Reading(question.id, "unreadable", label_mass=0.1) for question in form.questions)
        met: set[str] = set()

        def script(row: str, state: str) -> object:
            outcome = plan[int(row) - 1]
            first = row not in met
            met.add(row)
            if outcome == "cancel once" and first:
                control.cancel()
            once = {"gone once": GONE, "slow once": SLOW} if first else {}
            return {"refused": REFUSED, "unreadable": unreadable, **once}.get(outcome)

        result = None
        while result is None or result.state != "finished":
            control = RunControl()
            callbacks = Callbacks(paused=lambda reason, control=control: control.resume())
            result = await run(
                store, FakeReader(form, script), concurrency=concurrency, control=control, callbacks=callbacks
            )
            path = store.path
            store.close()
            store = RunStore.open(path)
        with store:
            check_complete(store, result)
            for row, outcome in zip(store.iter_rows(), plan, strict=True):
                expected = {"empty": "skipped", "refused": "error", "unreadable": "unreadable"}.get(outcome, "ok")
                assert [reading.status for reading in row.readings] == [expected] * questions

    asyncio.run(scenario())
