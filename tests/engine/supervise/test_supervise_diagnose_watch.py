"""A start beside which somebody reads the log: real processes that write what vLLM writes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from diagnose_helpers import MACHINES, TP0, bar, beginning, ending, info, interleaved, plan_of, traceback

from engine.domain.diagnosis import Diagnosis
from engine.hardware.record import load_machine
from engine.supervise.diagnose_watch import PATIENCE, EngineFailed, LogWatch, failed, start_watched
from engine.supervise.ports import bind_port
from engine.supervise.vllm import VllmEngine

MACHINE = "2x3090-pcie"
OOM = interleaved(
    traceback(
        TP0, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity"
    ),
    [bar(2).rstrip("\n"), *traceback("(Worker_TP1 pid=9)", "NCCL error: ncclRemoteError: remote process exited")],
)


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def engine_that_writes(text: str, tmp_path: Path, *, then: str = "sys.exit(1)", port: int = 0) -> VllmEngine:
    """Writes a log in two pieces cut in the middle of a line, then does something."""
    (tmp_path / "said").write_text(text)
    script = (
        "import signal, sys\nfrom pathlib import Path\n"
        f"text = Path({str(tmp_path / 'said')!r}).read_bytes().decode()\n"
        "for part in (text[:len(text) // 2], text[len(text) // 2:]):\n"
        "    sys.stdout.write(part)\n    sys.stdout.flush()\n"
        f"{then}\n"
    )
    return VllmEngine(
        lambda chosen: [sys.executable, "-c", script], {}, model="m", phases=plan_of(MACHINE).phases, port=port
    )


def watch_of(engine: VllmEngine, clock: Clock | None = None) -> LogWatch:
    machine, plan = load_machine(MACHINES / f"{MACHINE}.json"), plan_of(MACHINE)
    return LogWatch(engine, machine=machine, plan=plan, clock=clock or Clock())


async def test_a_failed_start_raises_its_diagnosis(tmp_path: Path) -> None:
    engine = engine_that_writes("".join([*beginning(), *OOM, *ending(dead=True)]).rstrip("\n"), tmp_path)
    with pytest.raises(EngineFailed) as caught:
        await start_watched(engine, watch_of(engine))
    error = caught.value
    assert (error.code, error.during, error.diagnosis.rule) == ("engine.died_at_start", "start", "oom")
    assert error.message == error.diagnosis.cause
    assert "2x NVIDIA GeForce RTX 3090" in error.message
    assert error.remedy == error.diagnosis.remedies[0].text
    assert "one_sequence" not in {remedy.action for remedy in error.diagnosis.remedies}
    assert engine.group is None


async def test_an_engine_that_dies_at_once_is_diagnosed_by_its_own_log_not_the_one_before(tmp_path: Path) -> None:
    first = engine_that_writes("".join([*beginning(), *OOM]), tmp_path)
    with pytest.raises(EngineFailed):
        await start_watched(first, watch_of(first))
    second = engine_that_writes("something odd\nflux.CapacitorError: 1.21 gigawatts\n", tmp_path)
    with pytest.raises(EngineFailed) as caught:
        await start_watched(second, watch_of(second))
    found = caught.value.diagnosis
    assert (found.rule, found.known) == ("unknown", False)
    assert [line.text for line in found.tail if line.likely] == ["flux.CapacitorError: 1.21 gigawatts"]
    assert "ended at its start" in caught.value.message, "what the log does not explain keeps our words"
    assert "gigawatts" not in caught.value.message


async def test_a_hang_is_told_while_it_lasts_and_ends_the_start_at_last(tmp_path: Path) -> None:
    clock = Clock()
    log = "".join([*beginning()[:5], info(TP0, "vLLM is using nccl==2.30.7")])
    engine = engine_that_writes(log, tmp_path, then="signal.pause()")
    watch = watch_of(engine, clock)
    told: list[Diagnosis | None] = []
    heard = asyncio.Event()

    def on_hang(found: Diagnosis | None) -> None:
        told.append(found)
        heard.set()

    async def read() -> None:
        while engine.group is None or "nccl==2.30.7" not in engine.group.log_tail():  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(_value(start_watched(engine, watch, on_hang=on_hang)))
        await asyncio.wait_for(read(), 240)
        await asyncio.sleep(0)
        while not told:  # the watch has read the line when it is silent by its clock
            clock.now += 130
            await asyncio.sleep(0.3)
        assert told[0] is not None
        assert told[0].rule == "nccl_hang"
        assert {remedy.action for remedy in told[0].remedies} == {"advice"}, "this plan has the reads off already"
        assert not starting.done(), "the user may wait on"
        clock.now += 120 * PATIENCE
    error = starting.result()
    assert isinstance(error, EngineFailed)
    assert (error.code, error.diagnosis.rule) == ("engine.hangs", "nccl_hang")
    assert engine.group is None


async def test_a_taken_port_is_the_rule_of_a_taken_port(tmp_path: Path) -> None:
    with bind_port() as taken:
        engine = engine_that_writes("", tmp_path, port=taken.getsockname()[1])
        with pytest.raises(EngineFailed) as caught:
            await start_watched(engine, watch_of(engine))
    assert caught.value.code == "port.in_use"
    assert caught.value.diagnosis.rule == "port"
    assert "other_port" in {remedy.action for remedy in caught.value.diagnosis.remedies}


async def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    engine = engine_that_writes("".join(beginning()), tmp_path, then="signal.pause()")
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(start_watched(engine, watch_of(engine)))
        while engine.group is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        group = engine.group
        starting.cancel()
    assert starting.cancelled()
    assert group.members() == []


def test_a_notice_or_a_refused_request_does_not_explain_an_end() -> None:
    refused = Diagnosis("ctx_400", "request", "serving", "serving", "a request was too long", ())
    error = failed(refused, "engine.died", "serving", "it ended (signal 9)", "restart it")
    assert (error.message, error.remedy) == ("it ended (signal 9)", "restart it")


async def _value(work: object) -> object:
    try:
        return await work  # type: ignore[misc]
    except EngineFailed as error:
        return error
