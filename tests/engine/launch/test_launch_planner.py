"""The planner: which cards, which wishes, which refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from launch_helpers import copies, env, flag, machine, planned, refused, with_gpus

from engine.domain.hardware import GIB, GpuProcess
from engine.domain.plan import LaunchPlan, Refusal, Wishes
from engine.hardware.record import recorded_machines
from engine.launch.planner import plan


def test_cards_are_named_by_uuid_in_their_order() -> None:
    base = machine("2x3090-display-quadro")
    found = planned(base)
    pair = [gpu.uuid for gpu in base.gpus if "3090" in gpu.name]
    assert [card.uuid for card in found.cards] == pair
    assert env(found)["CUDA_VISIBLE_DEVICES"] == ",".join(pair)
    assert [left.name for left in found.left_out] == ["Quadro P620"]
    assert "6.1" in found.left_out[0].reason


def test_a_bridged_pair_is_preferred() -> None:
    base = copies(machine("2x3090-pcie"), 4, nvlinked=((1, 3),))
    found = planned(base)
    assert [card.uuid for card in found.cards] == ["GPU-00000001", "GPU-00000003"]
    assert (found.link, found.card_class) == ("nvlink", "ampere-nvlink")
    assert env(found)["NCCL_P2P_LEVEL"] == "NVL"
    assert "PYTORCH_CUDA_ALLOC_CONF" not in env(found)
    assert flag(found, "--disable-custom-all-reduce") is None


def test_a_card_without_display_is_preferred_then_the_freest() -> None:
    base = copies(machine("2x3090-pcie"), 3)
    shown = replace(base, gpus=(replace(base.gpus[0], display=True), *base.gpus[1:]))
    assert [card.uuid for card in planned(shown).cards] == ["GPU-00000001", "GPU-00000002"]
    busy = replace(base, gpus=(base.gpus[0], replace(base.gpus[1], memory_free=12 * GIB), base.gpus[2]))
    assert [card.uuid for card in planned(busy).cards] == ["GPU-00000000", "GPU-00000002"]


def test_pcie_reads_count_only_where_bar1_shows_the_whole_card() -> None:
    assert planned(machine("4xa4000")).link == "off"  # the driver grants reads, BAR1 shows 256 MiB
    granted = replace(machine("2xa5000"), links=tuple(replace(x, p2p=True) for x in machine("2xa5000").links))
    assert planned(granted).link == "off"
    whole = with_gpus(granted, lambda gpu: replace(gpu, bar1_total=32 * GIB))
    found = planned(whole)
    assert (found.link, found.card_class) == ("p2p", "ampere-p2p")
    assert env(found)["NCCL_P2P_LEVEL"] == "SYS"
    assert "NCCL_P2P_DISABLE" not in env(found)


def test_a_granted_read_between_4090s_is_not_believed() -> None:
    base = machine("2x4090")
    patched = replace(base, links=tuple(replace(link, p2p=True) for link in base.links))
    found = planned(with_gpus(patched, lambda gpu: replace(gpu, bar1_total=32 * GIB)))
    assert found.link == "off"
    assert env(found)["NCCL_P2P_DISABLE"] == "1"


def test_four_cards_where_two_are_enough() -> None:
    found = planned(copies(machine("2x3090-pcie"), 4))
    assert (found.tensor_parallel, len(found.left_out)) == (2, 2)
    wider = planned(copies(machine("2x3090-pcie"), 4), tensor_parallel=4)
    assert wider.tensor_parallel == 4
    assert wider.concurrency > found.concurrency


def test_marlin_flags_stand_only_where_marlin_works() -> None:
    ampere, ada = planned(machine("2x3090-pcie")), planned(machine("2x4090"))
    assert (flag(ampere, "--linear-backend"), flag(ampere, "--moe-backend")) == ("marlin", "marlin")
    assert (flag(ada, "--linear-backend"), flag(ada, "--moe-backend")) == (None, None)
    assert (ampere.marlin, ada.marlin) == (True, False)
    int8 = planned(machine("2x3090-pcie"), checkpoint="int8")
    assert (flag(int8, "--linear-backend"), flag(int8, "--moe-backend"), int8.marlin) == (None, None, False)
    assert int8.cards[0].weights < ampere.cards[0].weights  # nothing is padded
    four_bit = planned(machine("1x3090"))
    assert (flag(four_bit, "--linear-backend"), flag(four_bit, "--moe-backend")) == (None, "marlin")


def test_hopper_keeps_vllms_own_choices() -> None:
    found = planned(machine("h100"))
    assert flag(found, "--attention-backend") is None
    assert flag(found, "--enforce-eager") is None
    assert flag(found, "--max-num-batched-tokens") == "8192"
    assert "TORCHDYNAMO_DISABLE" not in env(found)
    memory, compiling, cache, warm_up, capturing = found.phases[-7:-2]
    assert (compiling, capturing) == ("Compiling the model", "Capturing CUDA graphs")
    assert (memory, cache, warm_up) == ("Measuring memory", "Making the KV cache", "Warming up")


def test_data_parallel_keeps_the_experts_whole() -> None:
    found = planned(machine("8xh100"), profile="decisions")
    assert flag(found, "--data-parallel-size") == "8"
    assert flag(found, "--enable-expert-parallel") == ""
    assert found.cards[0].weights / GIB == pytest.approx(25.7 - 1.06 - 21.27 * 7 / 8, abs=0.1)
    pair = planned(machine("2x5090"), profile="decisions")
    assert env(pair)["NCCL_P2P_DISABLE"] == "1"


def test_fast_sampler_lets_torch_compile() -> None:
    assert env(planned(machine("2x3090-pcie")))["TORCHDYNAMO_DISABLE"] == "1"
    fast = planned(machine("2x3090-pcie"), fast_sampler=True)
    assert "TORCHDYNAMO_DISABLE" not in env(fast)
    assert flag(fast, "--enforce-eager") == ""


def test_everything_has_a_reason() -> None:
    for name in recorded_machines():
        for profile in ("chat", "decisions"):
            found = plan(machine(name), Wishes(profile=profile))  # type: ignore[arg-type]
            if isinstance(found, LaunchPlan):
                assert all(len(entry.reason) > 10 for entry in (*found.flags, *found.env))
                names = [entry.name for entry in found.flags]
                assert len(names) == len(set(names))


def test_consequences_of_wishes() -> None:
    base = machine("2x3090-pcie")
    usual = planned(base)
    assert usual.largest_context == 262_144
    less = planned(base, utilisation=0.75)
    assert less.cards[0].kv_cache < usual.cards[0].kv_cache
    assert less.context < usual.context
    assert flag(less, "--max-model-len") == "auto"
    more = planned(base, utilisation=0.88)
    assert any("0.88" in note and "warm-up" in note for note in more.notes)
    text = planned(base, text_only=True)
    assert usual.cards[0].weights - text.cards[0].weights == pytest.approx(1.06 * GIB, rel=1e-3)
    assert flag(text, "--limit-mm-per-prompt") == '{"image":0,"video":0}'
    short = planned(base, context=8192)
    assert (flag(short, "--max-model-len"), short.context) == ("8192", 8192)
    assert short.concurrency > 7
    narrow = planned(base, canvas=64)
    assert flag(narrow, "--diffusion-config") == '{"canvas_length":64}'
    assert narrow.cards[0].canvas_buffers * 4 == pytest.approx(usual.cards[0].canvas_buffers, rel=1e-6)


def test_pictures_on_32_gb_cost_context() -> None:
    assert planned(machine("1x5090"), text_only=False).context == pytest.approx(58_000, rel=0.02)
    assert planned(machine("1x5090")).context == pytest.approx(114_000, rel=0.02)


@pytest.mark.parametrize(
    ("wishes", "code", "says"),
    [
        ({"kv_cache": "fp8"}, "plan.kv_cache", "Ampere"),
        ({"kv_cache": "fp8_e5m2"}, "plan.kv_cache", "FP8 checkpoint"),
        ({"pipeline_parallel": 2}, "plan.pipeline_parallel", "pipeline parallel"),
        ({"tensor_parallel": 3}, "plan.tensor_parallel", "704"),
        ({"sequences": 128}, "plan.sequences", "1 to 127"),
        ({"sequences": 65}, "plan.wish", "65 requests at once take 56.9 GiB of canvases of 256 slots"),
        ({"constrained_reads": True}, "plan.constrained_reads", "ends an engine"),
        ({"context": 300_000}, "plan.context", "262144"),
        ({"context": 100}, "plan.context", "2048"),
        ({"canvas": 8}, "plan.canvas", "16 to 256"),
        ({"canvas": 512}, "plan.canvas", "16 to 256"),
        ({"utilisation": 0.99}, "plan.utilisation", "0.95"),
        ({"utilisation": 0.90}, "plan.wish", "canvases take 1.3 GiB and the CUDA context 0.7; 23.6 GiB are free"),
        ({"utilisation": 0.93}, "plan.wish", "ask for 0.89 or less"),
        ({"context": 262_144, "utilisation": 0.7}, "plan.wish", "262,144"),
        ({"checkpoint": "nvfp4", "tensor_parallel": 2}, "plan.size", "No card"),
        ({"cards": ("GPU-none",)}, "plan.cards_unknown", "GPU-none"),
    ],
)
def test_wishes_outside_the_limits(wishes: dict[str, Any], code: str, says: str) -> None:
    result = refused(machine("2x3090-pcie"), **wishes)
    assert result.code == code
    assert says in result.reason + " ".join(result.ways_out)


def test_kv_cache_auto_and_one_stage_are_no_wishes() -> None:
    assert planned(machine("2x3090-pcie"), kv_cache="auto", pipeline_parallel=1).tensor_parallel == 2


def test_unlike_cards_are_not_put_together() -> None:
    base = machine("3090-3080")
    result = refused(base, cards=tuple(gpu.uuid for gpu in base.gpus))
    assert result.code == "plan.cards_unlike"
    assert "3080" in result.reason


def test_three_chosen_cards() -> None:
    base = copies(machine("2x3090-pcie"), 3)
    result = refused(base, cards=tuple(gpu.uuid for gpu in base.gpus))
    assert (result.code, result.ways_out[0]) == ("plan.cards_count", "choose 2 of them")


def test_chosen_cards_are_used() -> None:
    base = copies(machine("2x3090-pcie"), 3)
    found = planned(base, cards=(base.gpus[0].uuid, base.gpus[2].uuid))
    assert [card.uuid for card in found.cards] == [base.gpus[0].uuid, base.gpus[2].uuid]
    assert [left.reason for left in found.left_out] == ["you chose other cards"]
    both = planned(copies(machine("a6000"), 2), cards=("GPU-00000000", "GPU-00000001"))
    assert (both.tensor_parallel, both.sequences) == (2, 1)


def test_a_busy_card_is_named_with_the_largest_safe_utilisation() -> None:
    base = machine("3090-pair-browser")
    lowered = planned(base)
    assert lowered.utilisation == lowered.largest_utilisation == 0.71
    assert any("firefox (pid 5127)" in note for note in lowered.notes)
    result = refused(base, utilisation=0.82)
    assert result.code == "plan.wish"
    assert "firefox (pid 5127) 3.4 GiB" in result.reason
    assert "0.71" in result.ways_out[0]


@pytest.mark.parametrize(
    ("name", "wishes", "utilisation", "said"),
    [
        ("a6000", {}, 0.89, "0.90 would be usual; canvases take 3.5 GiB beside it and the CUDA context 0.7"),
        ("a6000", {"sequences": 1}, 0.90, "a large card keeps several GiB free"),
        ("2x3090-pcie", {"sequences": 4}, 0.80, "0.82 would be usual; canvases take 3.5 GiB"),
    ],
)
def test_a_plans_own_canvases_are_not_laid_to_others(
    name: str, wishes: dict[str, Any], utilisation: float, said: str
) -> None:
    found = planned(machine(name), **wishes)
    assert found.utilisation == utilisation
    assert not any("are held by" in note for note in found.notes)
    (reason,) = [entry.reason for entry in found.flags if entry.name == "--gpu-memory-utilization"]
    assert reason.startswith(said)


def test_two_cards_of_16_gb_take_half_a_canvas_and_four_a_whole_one() -> None:
    base = machine("2x4060ti-16")
    pair, four = planned(base), planned(copies(base, 4))
    assert (pair.card_class, pair.canvas, pair.context) == ("ada-16", 128, 29_632)
    assert any("128 slots" in note for note in pair.notes)
    assert (four.card_class, four.canvas, four.context) == ("ada-16-four", 256, 262_144)
    result = refused(base, canvas=256)
    assert result.code == "plan.wish"
    assert result.reason.startswith("one request takes 1.3 GiB of canvases of 256 slots a card")
    assert result.ways_out[0] == "ask for a shorter canvas"


def test_a_card_that_is_too_busy_refuses_and_offers_smaller_weights() -> None:
    base = machine("2x3090-pcie")
    game = replace(
        base.gpus[0], memory_free=9 * GIB, memory_used=14 * GIB, processes=(GpuProcess(77, "game", 14 * GIB),)
    )
    result = refused(replace(base, gpus=(game, base.gpus[1])))
    assert result.code == "plan.memory"
    assert "game (pid 77)" in result.reason
    assert "close game" in result.ways_out[0]
    assert any("NVFP4" in way for way in result.ways_out)
    asked = planned(replace(base, gpus=(game, base.gpus[1])), checkpoint="nvfp4")
    assert [card.uuid for card in asked.cards] == [base.gpus[1].uuid]


def test_a_process_without_known_memory_is_named_too() -> None:
    base = machine("2x3090-pcie")
    game = replace(base.gpus[0], memory_free=9 * GIB, processes=(GpuProcess(77, "game", None),))
    assert "close game (pid 77)" in refused(replace(base, gpus=(game, base.gpus[1]))).ways_out[0]


def test_one_exclusive_card_leaves_the_other() -> None:
    base = machine("2x3090-pcie")
    found = planned(replace(base, gpus=(replace(base.gpus[0], compute_mode="exclusive_process"), base.gpus[1])))
    assert (found.checkpoint, len(found.cards)) == ("nvfp4", 1)
    assert "nvidia-smi -c DEFAULT -i 0" in found.left_out[0].reason


def test_mig() -> None:
    base = machine("h100-mig-slice")
    found = planned(base)
    assert found.cards[0].uuid.startswith("MIG-")
    assert "MIG is on" in found.left_out[0].reason
    whole = refused(replace(base, gpus=base.gpus[:1]))
    assert whole.code == "plan.mig"
    slices = tuple(replace(base.gpus[1], uuid=f"MIG-{i}") for i in range(2))
    two = planned(replace(base, gpus=slices), profile="decisions")
    assert (len(two.cards), two.left_out[0].reason) == (1, "a process sees one MIG slice only")


def test_a_newer_driver_keeps_more_for_itself() -> None:
    base = machine("2x3090-pcie")
    found = planned(replace(base, driver=replace(base.driver, version="595.10")))
    assert found.utilisation == 0.80


def test_windows_and_mac_are_refused_with_a_way() -> None:
    base = machine("2x3090-pcie")
    result = refused(replace(base, host=replace(base.host, system="Windows")))
    assert (result.code, result.ways_out[0]) == ("plan.system", "use WSL2")


def test_embedded_by_choice_and_for_want_of_cards() -> None:
    assert planned(machine("2x3090-pcie"), checkpoint="embedded").flags == ()
    assert planned(machine("no-gpu")).checkpoint == "embedded"
    assert refused(machine("laptop"), checkpoint="fp8").code == "plan.size"
    assert refused(machine("no-gpu"), checkpoint="fp8").code == "plan.size"


def test_memory_that_the_driver_does_not_tell_is_no_guess() -> None:
    base = with_gpus(machine("2x3090-pcie"), lambda gpu: replace(gpu, memory_total=None, memory_free=None))
    found = planned(base)
    assert found.checkpoint == "embedded"
    assert "does not say how much memory" in found.left_out[0].reason


@settings(max_examples=150)
@given(
    name=st.sampled_from(sorted(recorded_machines())),
    profile=st.sampled_from(("chat", "decisions")),
    checkpoint=st.sampled_from((None, "fp8", "int8", "nvfp4", "embedded")),
    tp=st.sampled_from((None, 1, 2, 4, 8)),
    context=st.one_of(st.none(), st.integers(2048, 262_144)),
    utilisation=st.one_of(st.none(), st.floats(0.5, 0.95)),
    sequences=st.one_of(st.none(), st.integers(1, 127)),
    canvas=st.one_of(st.none(), st.integers(16, 256)),
    text_only=st.sampled_from((None, True, False)),
)
def test_every_answer_is_sound(name: str, **wishes: Any) -> None:
    """Whatever is asked: a plan fits into what is free now and into its own utilisation, or there is a way out."""
    asked = Wishes(**{"tensor_parallel" if key == "tp" else key: value for key, value in wishes.items()})
    result = plan(machine(name), asked)
    if isinstance(result, Refusal):
        assert result.reason
        assert result.ways_out
        return
    assert result == plan(machine(name), asked)  # pure
    for card in result.cards:
        inside = card.weights + card.kv_cache + card.activations
        assert inside <= result.utilisation * card.total
        assert card.needed <= card.free_now
        assert card.kv_cache > 0
    if result.checkpoint == "embedded":
        return
    assert len(result.cards) == result.tensor_parallel * result.data_parallel
    assert len({card.name for card in result.cards}) == 1
    assert 2048 <= result.context <= 262_144
    assert asked.context in (None, result.context)
    assert asked.sequences in (None, result.sequences)
    assert result.sequences == 1 or result.tensor_parallel == 1 or asked.sequences or asked.profile == "decisions"
    assert result.utilisation <= result.largest_utilisation
