"""The numeric self-test as the launch runs it: real children that play its exit codes; passes are kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from local_world import make_checkpoint, make_environment

from engine import paths
from engine.checkpoints.catalogue import entry
from engine.errors import UserError
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.planner import plan
from engine.local.disk import MACHINE_VARIABLE
from engine.local.kernels import FAILED_CODE, NOT_RUN_CODE, KernelProgress, ensure_tested, ledger_of, waive
from engine.local.launch import Launch, stored_launch
from engine.local.stored import Memory, Wished
from engine.local.tested import cases_of, ledger_file, wanted
from engine.supervise.pidfile import PATTERN


class World:
    """Two 3090s, a stand-in engine, and a file that notes each run of the test."""

    def __init__(self, log: Path) -> None:
        self.log = log
        make_environment()
        make_checkpoint(entry("fp8").folder)
        self.launch = stored_launch()
        self.seen: list[KernelProgress] = []

    @property
    def runs(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    async def test(self, launch: Launch | None = None, quiet_s: float = 60.0) -> UserError | None:
        try:
            await ensure_tested(launch or self.launch, self.seen.append, quiet_s=quiet_s)
        except UserError as error:
            return error
        finally:
            assert not list(paths.runtime_dir().glob(PATTERN)), "it has ended, and so has its note"
        return None


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["2x3090-pcie"]))
    monkeypatch.setenv("STAND_IN_SELFTEST_LOG", str(tmp_path / "runs"))
    return World(tmp_path / "runs")


async def test_each_card_once_with_progress(world: World) -> None:
    assert await world.test() is None
    assert world.runs == ["0", "1"]
    shares = [progress.fraction for progress in world.seen]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert world.seen[-1].done == world.seen[-1].total == len(cases_of(world.launch.plan))
    assert "1056" in " ".join(progress.detail for progress in world.seen)
    assert await world.test() is None
    assert world.runs == ["0", "1"], "a pass is remembered"


async def test_another_driver_environment_card_or_shape_is_tested_anew(world: World) -> None:
    launch = world.launch
    assert await world.test() is None
    driver = replace(launch.machine, driver=replace(launch.machine.driver, version="999.1"))
    for other in (
        replace(launch, machine=driver),
        replace(launch, environment=replace(launch.environment, mark=replace(launch.environment.mark, id="another"))),
        replace(launch, plan=replace(launch.plan, tensor_parallel=4)),
    ):
        assert len(ledger_of(other).open()) == 2
    second = replace(launch.plan.cards[1], uuid="GPU-other")
    other = replace(launch, plan=replace(launch.plan, cards=(launch.plan.cards[0], second)))
    assert ledger_of(other).open() == ("GPU-other",)
    assert await world.test(other) is None
    assert world.runs == ["0", "1", "1"]
    assert not ledger_of(launch).open(), "and what has passed stays so"


async def test_wrong_numbers_refuse_and_are_not_remembered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_SELFTEST", "wrong")
    for _ in range(2):
        error = await world.test()
        assert error is not None
        assert error.code == FAILED_CODE
        assert error.remedy
        assert "down, 2816 x 1056" in error.message
        assert "RTX 3090" in error.message
    assert world.runs == ["0", "0"], "the first bad card is enough; the next attempt tests it again"
    monkeypatch.setenv("STAND_IN_SELFTEST", "")
    assert await world.test() is None


@pytest.mark.parametrize(
    ("mode", "why"),
    [("none", "torch sees no CUDA card"), ("die", "SIGKILL"), ("gone", "libcuda.so.1"), ("quiet", "said nothing")],
)
async def test_what_cannot_run_says_why_and_the_user_may_start_without_it(
    world: World, monkeypatch: pytest.MonkeyPatch, mode: str, why: str
) -> None:
    monkeypatch.setenv("STAND_IN_SELFTEST", mode)
    error = await world.test(quiet_s=3.0 if mode == "quiet" else 60.0)
    assert error is not None
    assert error.code == NOT_RUN_CODE
    assert error.remedy
    assert why in error.message
    waive(world.launch)
    assert await world.test() is None
    assert world.runs == ["0"]
    assert {ledger_of(world.launch).verdict(card.uuid) for card in world.launch.plan.cards} == {"waived"}
    ledger_of(world.launch).forget()
    monkeypatch.setenv("STAND_IN_SELFTEST", "")
    assert await world.test() is None
    assert {ledger_of(world.launch).verdict(card.uuid) for card in world.launch.plan.cards} == {"passed"}


async def test_cancelled_it_ends_and_what_has_passed_stays(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAND_IN_SELFTEST", f"hold={tmp_path / 'gate'}")
    reached = asyncio.Event()

    def show(progress: KernelProgress) -> None:
        if (progress.card, progress.done) == (1, 10):
            reached.set()

    async with asyncio.TaskGroup() as tasks:
        testing = tasks.create_task(ensure_tested(world.launch, show))
        await asyncio.wait_for(reached.wait(), 240)
        tree = psutil.Process().children(recursive=True)
        (child,) = [child for child in tree if "selftest.py" in " ".join(child.cmdline())]
        testing.cancel()
    assert not child.is_running()
    assert not list(paths.runtime_dir().glob(PATTERN))
    assert ledger_of(world.launch).open() == (world.launch.plan.cards[1].uuid,)
    (tmp_path / "gate").touch()
    assert await world.test() is None
    assert world.runs == ["0", "1", "1"]


async def test_a_damaged_ledger_means_testing_again(world: World) -> None:
    ledger_file().write_text("{")
    assert await world.test() is None
    assert world.runs == ["0", "1"]


def test_only_padded_marlin_weights_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for name in ("2x3090-pcie", "4xa4000", "h100", "1x4090", "8xh100"):
        result = plan(load_machine(recorded_machines()[name]), Memory(wished=Wished()).wished.as_wishes())
        found[name] = wanted(result)  # type: ignore[arg-type]
    assert found == {"2x3090-pcie": True, "4xa4000": True, "h100": False, "1x4090": False, "8xh100": False}
