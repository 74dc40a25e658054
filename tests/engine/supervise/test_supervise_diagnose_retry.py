"""What the next try is: other wishes for the planner, or overrides, and never the same want of memory twice."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from diagnose_helpers import MACHINES, TP0, beginning, info, loaded, plan_of, traceback

from engine.domain.diagnosis import Action, Diagnosis, Retry
from engine.domain.plan import EnvVar, Flag, LaunchPlan, Wishes
from engine.hardware.record import load_machine
from engine.launch.planner import plan as make_plan
from engine.supervise.diagnose import diagnose
from engine.supervise.diagnose_catalogue import catalogue
from engine.supervise.diagnose_retry import amended, lighter, next_start, next_try, offered

TWO_3090 = "2x3090-pcie"


def after(text: str, *, stage: str = "warm-up") -> Diagnosis:
    before = {"start": [], "load": beginning(), "warm-up": [*beginning(), *loaded()]}[stage]
    return diagnose(["".join([*before, *traceback(TP0, text)]).encode()])


def sample(rule: str, *, stage: str = "start") -> Diagnosis:
    return after(catalogue().rule(rule).sample, stage=stage)


OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 23.56 GiB"
)


def tries(diagnosis: Diagnosis, machine: str) -> list[tuple[Retry, LaunchPlan]]:
    """All starts after the same failure again and again."""
    planner = partial(make_plan, load_machine(MACHINES / f"{machine}.json"))
    wishes, plan = Wishes(), plan_of(machine)
    made: list[tuple[Retry, LaunchPlan]] = []
    failed: list[tuple[Diagnosis, LaunchPlan]] = []
    while found := next_start(diagnosis, plan, wishes, planner, tried=[retry for retry, _ in made], failed=failed):
        failed.append((diagnosis, plan))
        made.append(found)
        wishes, plan = found[0].wishes, found[1]
        assert len(made) < 30
    return made


def peak(plan: LaunchPlan) -> int:
    return max(int(plan.utilisation * card.total) + card.cuda_context + card.canvas_buffers for card in plan.cards)


@pytest.mark.parametrize("machine", [TWO_3090, "1x5090", "a100-80", "1x3090", "4xa4000", "h100", "2x4090"])
def test_out_of_memory_is_never_followed_by_a_plan_that_takes_as_much(machine: str) -> None:
    peaks = [peak(plan_of(machine)), *(peak(plan) for _, plan in tries(after(OOM), machine))]
    assert peaks == sorted(set(peaks), reverse=True)
    assert len(peaks) > 1


def test_out_of_memory_steps_the_utilisation_down_then_the_canvas_and_ends() -> None:
    made = tries(after(OOM), TWO_3090)
    assert [retry.action for retry, _ in made] == ["lower_utilisation"] * (len(made) - 1) + ["smaller_canvas"]
    assert all(plan.utilisation >= 0.74 for _, plan in made)


def test_a_try_that_the_machine_has_no_plan_for_is_passed_over() -> None:
    """One 3090 holds NVFP4 only just: where a lower utilisation leaves no cache, a smaller canvas is next."""
    for retry, plan in tries(after(OOM), "1x3090"):
        assert plan.context >= 8192, retry


def test_out_of_memory_with_several_sequences_first_takes_one() -> None:
    plan = plan_of("a100-80")
    assert plan.sequences > 1
    retry = next_try(after(OOM), plan, Wishes())
    assert retry is not None
    assert retry.wishes.sequences == 1


def test_out_of_memory_while_loading_does_not_lower_the_utilisation() -> None:
    retry = next_try(after(OOM, stage="load"), plan_of(TWO_3090), Wishes())
    assert retry is not None
    assert retry.action == "text_only"


def test_a_plan_is_not_lighter_than_itself() -> None:
    plan, oom = plan_of(TWO_3090), after(OOM)
    less = plan_of(TWO_3090, Wishes(utilisation=round(plan.utilisation - 0.04, 2)))
    assert not lighter(plan, [(oom, plan)])
    assert lighter(plan, [])
    assert lighter(plan, [(sample("cuda_async"), plan)])
    assert lighter(less, [(oom, plan)])
    assert not lighter(less, [(after(OOM, stage="load"), plan)])
    assert lighter(plan_of(TWO_3090, Wishes(text_only=True)), [(after(OOM, stage="load"), plan)])


def test_too_little_free_memory_asks_for_what_is_free() -> None:
    plan = plan_of(TWO_3090)
    retry = next_try(sample("free_lt_util"), plan, Wishes())
    assert retry is not None
    assert retry.wishes.utilisation == min(0.83, round(plan.utilisation - 0.04, 2))  # 19.82 of 23.56 GiB, less 0.01


def test_a_context_that_does_not_fit_becomes_the_one_that_does() -> None:
    plan = replace(plan_of(TWO_3090), context=262_144)
    retry = next_try(sample("kv_small"), plan, Wishes(context=262_144))
    assert retry is not None
    assert retry.wishes.context == 81_920
    assert "81,920" in retry.changes[0]


def test_an_nccl_hang_switches_reads_between_cards_off_then_asks_nccl() -> None:
    plan = plan_of("2x3090-nvlink")
    hang = diagnose(["".join([info(TP0, "vLLM is using nccl==2.30.7")]).encode()], silent_s=200)
    assert hang.rule == "nccl_hang"
    retry = next_try(hang, plan, Wishes())
    assert retry is not None
    assert retry.action == "p2p_off"
    after_it = amended(plan, retry.overrides)
    env = {variable.name: variable.value for variable in after_it.env}
    assert (env["NCCL_P2P_DISABLE"], env["NCCL_P2P_LEVEL"]) == ("1", None)
    assert "--disable-custom-all-reduce" in {flag.name for flag in after_it.flags}
    again = next_try(sample("nccl_err"), after_it, Wishes())
    assert again is not None
    assert again.action == "nccl_log"
    assert next_try(hang, plan_of("h100"), Wishes()) is None


@pytest.mark.parametrize(
    ("rule", "machine", "action"),
    [
        ("humming_jit", "2x4090", "marlin"),
        ("deepgemm", "h100", "no_deep_gemm"),
        ("cuda_async", "h100", "restart"),
        ("port", "h100", "other_port"),
        ("ready_timeout", "h100", "longer_start"),
        ("marlin_thread", TWO_3090, "other_checkpoint"),
        ("tp_gt_gpus", TWO_3090, "fewer_cards"),
        ("custom_all_reduce", "2x3090-nvlink", "p2p_off"),
        ("nvml_mismatch", "h100", None),
        ("gpu_lost", TWO_3090, None),
        ("no_cc", TWO_3090, None),
    ],
)
def test_each_failure_has_its_next_try(rule: str, machine: str, action: Action | None) -> None:
    retry = next_try(sample(rule), plan_of(machine), Wishes())
    assert (retry.action if retry else None) == action
    if retry and retry.overrides:
        assert next_try(sample(rule), amended(plan_of(machine), retry.overrides), retry.wishes, [retry]) != retry


def test_nothing_is_tried_twice() -> None:
    again = sample("cuda_async")
    plan, wishes = plan_of("h100"), Wishes()
    first = next_try(again, plan, wishes)
    assert first is not None
    second = next_try(again, plan, wishes, [first])
    assert second is not None
    assert second.action == "eager"
    assert next_try(again, amended(plan, second.overrides), wishes, [first, second]) is None


def test_overrides_replace_by_name_and_keep_the_rest() -> None:
    plan = plan_of(TWO_3090)
    new = amended(plan, [Flag("--max-num-seqs", "2", "x"), Flag("--new", None, "x"), EnvVar("NEW", "1", "x")])
    assert {flag.name: flag.value for flag in new.flags} == {
        **{flag.name: flag.value for flag in plan.flags},
        "--max-num-seqs": "2",
        "--new": None,
    }
    assert len(new.env) == len(plan.env) + 1


def test_the_embedded_engine_has_no_next_try() -> None:
    assert next_try(after(OOM), plan_of("no-gpu"), Wishes()) is None


def test_what_is_so_already_is_not_offered() -> None:
    plan = plan_of(TWO_3090)
    assert [remedy.action for remedy in offered(after(OOM), plan, Wishes())] == [
        "lower_utilisation",
        "smaller_canvas",
        "free_memory",
    ]
