"""What a failed start has taught is remembered: wishes and overrides of the next try are in every later plan."""

from __future__ import annotations

from engine.domain.diagnosis import Retry
from engine.domain.plan import EnvVar, Flag, LaunchPlan, Wishes
from engine.hardware.record import load_machine, recorded_machines
from engine.local.stored import Memory, Override, load_memory, memory_file, save_memory

MACHINE = load_machine(recorded_machines()["2x3090-nvlink"])
P2P = (
    EnvVar("NCCL_P2P_DISABLE", "1", "it hung"),
    EnvVar("NCCL_P2P_LEVEL", None, "it hung"),
    Flag("--disable-custom-all-reduce", None, "it hung"),
)


def planned(memory: Memory) -> LaunchPlan:
    found = memory.plan(MACHINE)
    assert isinstance(found, LaunchPlan)
    return found


def test_the_next_try_is_in_the_plan_of_the_next_window() -> None:
    before = planned(Memory())
    assert "NCCL_P2P_DISABLE" not in {variable.name for variable in before.env}
    wishes = Wishes(utilisation=0.78, tensor_parallel=2)
    save_memory(memory_file(), Memory(port=9_000).after(Retry("p2p_off", wishes, P2P)))
    memory = load_memory(memory_file())
    assert memory.port == 9_000
    after = planned(memory)
    assert after.utilisation == 0.78
    env = {variable.name: variable for variable in after.env}
    assert (env["NCCL_P2P_DISABLE"].value, env["NCCL_P2P_LEVEL"].value) == ("1", None)
    assert env["NCCL_P2P_DISABLE"].reason == "it hung"
    assert ("--disable-custom-all-reduce", None) in {(flag.name, flag.value) for flag in after.flags}


def test_a_later_try_replaces_by_name_and_keeps_the_rest() -> None:
    memory = Memory().after(Retry("p2p_off", Wishes(), P2P))
    memory = memory.after(Retry("nccl_log", Wishes(), (EnvVar("NCCL_P2P_DISABLE", "0", "again"),)))
    assert [override.name for override in memory.overrides] == [
        "NCCL_P2P_LEVEL",
        "--disable-custom-all-reduce",
        "NCCL_P2P_DISABLE",
    ]
    assert memory.overrides[-1] == Override(name="NCCL_P2P_DISABLE", value="0", reason="again")


def test_overrides_do_not_touch_a_refusal_or_the_toy() -> None:
    toy = load_machine(recorded_machines()["no-gpu"])
    memory = Memory().after(Retry("p2p_off", Wishes(), P2P))
    found = memory.plan(toy)
    assert isinstance(found, LaunchPlan)
    assert found.env == ()
    assert not isinstance(memory.plan(MACHINE, Wishes(sequences=100)), LaunchPlan)
