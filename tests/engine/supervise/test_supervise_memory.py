"""The memory of the cards around a start: back, not back by our doing, not back by others', unknown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from engine.domain.hardware import GIB, Gpu, GpuProcess
from engine.errors import UserError
from engine.supervise import memory
from engine.supervise.memory import MemoryWatch

sys.path.insert(0, str(Path(__file__).parents[2] / "fakes"))
import stand_in_window as window  # the folder is no package


def card(used: int | None, *processes: GpuProcess, uuid: str = "GPU-1") -> Gpu:
    return Gpu(0, "RTX 3090", uuid, memory_total=24 * GIB, memory_used=used, processes=processes)


def cards(*looks: Gpu) -> Callable[[], list[Gpu]]:
    """A driver that answers one look after the other, and then stays with the last."""
    left = list(looks)
    return lambda: [left.pop(0) if len(left) > 1 else left[0], card(5 * GIB, uuid="GPU-not-in-the-plan")]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LOOK_S", 0.0)


async def left(looks: Iterable[Gpu], pids: Iterable[int] = (4711,), settle_s: float = 0.2) -> memory.CardAfter:
    watch = MemoryWatch(["GPU-1"], cards(*looks), settle_s=settle_s)
    await watch.note()
    (found,) = await watch.after(frozenset(pids))
    return found


XORG, FIREFOX = GpuProcess(900, "Xorg", GIB), GpuProcess(901, "firefox", 2 * GIB)
WORKER = GpuProcess(4711, "python", 20 * GIB)


async def test_memory_that_comes_back_a_moment_later_is_back() -> None:
    looks = [card(GIB, XORG), card(21 * GIB, XORG, WORKER), card(21 * GIB, XORG), card(GIB + 1000, XORG)]
    found = await left(looks, settle_s=3600.0)
    assert found.back
    assert str(found) == "RTX 3090: memory is back"


async def test_a_process_of_ours_that_stays_is_named() -> None:
    found = await left([card(GIB, XORG), card(21 * GIB, XORG, WORKER)])
    assert not found.back
    assert found.ours == (WORKER,)
    assert str(found) == "RTX 3090: 20.0 GiB more in use than before the start, by the engine's own python (pid 4711)"


async def test_what_others_took_meanwhile_is_said_to_be_theirs_and_not_waited_for() -> None:
    watch = MemoryWatch(["GPU-1"], cards(card(GIB, XORG), card(3 * GIB, XORG, FIREFOX)), settle_s=3600.0)
    await watch.note()
    (found,) = await watch.after({4711})
    assert not found.back
    assert found.ours == ()
    assert str(found) == (
        "RTX 3090: 2.0 GiB more in use than before the start; not the engine's, but there since: firefox (pid 901)"
    )


async def test_what_nobody_holds_is_said_so() -> None:
    found = await left([card(GIB), card(13 * GIB)])
    assert str(found) == "RTX 3090: 12.0 GiB more in use than before the start; the driver does not say by whom"


async def test_a_driver_that_tells_no_amounts_is_believed_unless_it_names_one_of_ours() -> None:
    assert (await left([card(None), card(None)])).back
    assert not (await left([card(None), card(None, GpuProcess(4711, "python", None))])).back


async def test_a_card_that_is_gone_is_not_called_back() -> None:
    looks = [[card(GIB)], []]
    watch = MemoryWatch(["GPU-1"], lambda: looks.pop(0) if len(looks) > 1 else looks[0], settle_s=0.0)
    await watch.note()
    (found,) = await watch.after({4711})
    assert str(found) == "RTX 3090: the driver does not tell any more how much of its memory is in use"


async def test_without_a_card_there_is_nothing_to_say() -> None:
    watch = MemoryWatch(["GPU-1"], lambda: [])
    await watch.note()
    assert await watch.after({1}) == ()


async def test_an_engine_tells_how_it_left_the_cards(tmp_path: Path) -> None:
    looks: list[Gpu] = [card(GIB)]
    watch = MemoryWatch(["GPU-1"], lambda: looks, settle_s=0.0)
    engine = window.make_engine(window.Spec(str(tmp_path), "ready", []), memory=watch)
    await engine.start(timeout_s=240)
    assert engine.group is not None
    worker = max(member.pid for member in engine.group.members())
    looks[:] = [card(13 * GIB, GpuProcess(worker, "python", 12 * GIB))]
    outcome = await engine.stop(grace_s=0.2)
    assert outcome.clean
    assert f"by the engine's own python (pid {worker})" in outcome.left
    assert engine.state.phase == "stopped"
    assert engine.state.reason == outcome.left, "whoever shows the state shows it"

    looks[:] = [card(GIB)]
    await engine.start(timeout_s=240)
    again = await engine.stop(grace_s=0.2)
    assert (again.left, engine.state.reason) == ("", "")


async def test_a_failed_start_looks_at_the_cards_too(tmp_path: Path) -> None:
    watch = MemoryWatch(["GPU-1"], lambda: [card(GIB)])
    engine = window.make_engine(window.Spec(str(tmp_path), "boot", []), memory=watch)
    with pytest.raises(UserError, match="not ready within"):
        await engine.start(timeout_s=0.5)
    assert [found.back for found in engine.cards] == [True]
