"""One row a recorded machine: the verdict, what it takes of a card, and why."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

import pytest

from engine.domain.hardware import GIB
from engine.domain.plan import LaunchPlan, Profile, Refusal, Wishes
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.planner import plan


@dataclass(frozen=True)
class Fits:
    """GiB a card; ``context`` in thousands; ``source``: where the verdict comes from."""

    card_class: str
    tp: int
    utilisation: float
    weights: float
    kv: float
    context: int
    sequences: int
    source: str
    left_out: int = 0


@dataclass(frozen=True)
class Refused:
    code: str
    says: str
    way_out: str


@dataclass(frozen=True)
class Embedded:
    """No card holds the model; ``left_out`` is a piece of the reason given for the first card."""

    left_out: str = ""


PAIR = Fits("ampere-pcie", 2, 0.82, 14.6, 4.4, 262, 1, "two 3090: field log, 4.4 GiB of cache at 0.82")
SINGLE = Fits("nvfp4-marlin", 1, 0.85, 14.6, 5.0, 16, 1, "one 24 GB card: NVFP4, 16K, a user's report")

TABLE: dict[str, Fits | Refused | Embedded] = {
    "1x3090": SINGLE,
    "1x4090": SINGLE,
    "1x5090": Fits("blackwell-32", 1, 0.91, 24.7, 3.15, 114, 1, "0.91 x 31.36 - 24.7 - 0.7, without pictures"),
    "2x2080ti": Embedded("compute capability 7.5"),
    "2x3090-display-quadro": Fits("ampere-pcie", 2, 0.82, 14.6, 4.4, 262, 1, "the Quadro keeps the display", 1),
    "2x3090-nvlink": Fits("ampere-nvlink", 2, 0.82, 14.6, 4.4, 262, 1, "as on PCIe, over the bridge"),
    "2x3090-pcie": PAIR,
    "2x4060ti-16": Fits("ada-16", 2, 0.88, 12.6, 0.75, 29, 1, "two 16 GB with FP8 units: borderline, may not start"),
    "2x4090": Fits("ada-pair", 2, 0.84, 13.6, 5.7, 262, 1, "two 4090: 0.84, native FP8, x1.9"),
    "2x5090": Fits("blackwell-pair", 2, 0.88, 13.6, 13.3, 262, 1, "0.88 x 31.4 - 13.6 - 0.7"),
    "2xa4000": Embedded("too little"),
    "2xa5000": Fits("ampere-pcie", 2, 0.82, 14.6, 4.5, 262, 1, "as two 3090, 0.1 GiB more a card"),
    "3090-3080": Fits("nvfp4-marlin", 1, 0.85, 14.6, 5.0, 16, 1, "unlike cards: the 3090 alone", 1),
    "3090-pair-browser": Fits("ampere-pcie", 2, 0.71, 14.6, 1.8, 137, 1, "what the browser leaves: 0.71"),
    "3x3090-display-quadro": Fits("ampere-pcie", 2, 0.82, 14.6, 4.4, 262, 1, "two of the three", 2),
    "4xa4000": Fits(
        "ampere-pcie-16", 4, 0.82, 7.0, 5.5, 262, 1, "four 16 GB without pictures: 0.82 x 15.7 - 7.0 - 0.35"
    ),
    "8xh100": Fits("hopper", 1, 0.90, 25.7, 43.5, 262, 8, "one card holds it", 7),
    "a100-80": Fits("ampere-large", 1, 0.90, 25.7, 45.1, 262, 4, "0.90 x 79.25 - 25.7 - 0.5"),
    "a6000": Fits(
        "ampere-large", 1, 0.89, 25.7, 16.1, 262, 4, "0.89 x 47.5 - 25.7 - 0.5, x2.7: four canvases take 3.5"
    ),
    "b200": Fits("blackwell-server", 1, 0.90, 25.7, 132.9, 262, 8, "as H100: 0.90 x 178.4 - 25.7 - 1.9"),
    "container-2x3090": PAIR,
    "driver-550": Refused("plan.driver_old", "550.163.01", "580.65"),
    "exclusive-mode": Refused("plan.compute_mode", "compute mode", "default"),
    "gb10": Fits("unified", 1, 0.60, 25.7, 46.0, 262, 4, "unified memory: no row, 0.60 x 121 - 25.7 - 0.7"),
    "h100": Fits("hopper", 1, 0.90, 25.7, 43.5, 262, 8, "the log of an H100: 43.52 GiB"),
    "h100-mig-slice": Fits("hopper", 1, 0.88, 25.7, 7.0, 192, 8, "a slice of 39.3 GiB, the card itself is out", 1),
    "h200": Fits("hopper", 1, 0.90, 25.7, 98.2, 262, 8, "as H100: 0.90 x 139.8 - 25.7 - 1.9"),
    "l40s": Fits("ada-large", 1, 0.88, 25.7, 12.8, 262, 4, "48 GB with ECC: 0.88 x 44.4 - 25.7 - 0.5, x2.1"),
    "laptop": Embedded("too little"),
    "mismatch": Refused("plan.driver_mismatch", "kernel module", "restart"),
    "no-driver": Refused("plan.no_driver", "no driver answers", "580.65"),
    "no-gpu": Embedded(),
    "no-permission": Refused("plan.no_permission", "may not open", "/dev/nvidia"),
    "old-glibc": Refused("plan.glibc", "2.31", "2020"),
    "rtx-pro-6000": Fits("blackwell-large", 1, 0.90, 25.7, 59.0, 262, 4, "0.90 x 95 - 25.7 - 0.7"),
    "small-disk": PAIR,
    "v100-32": Embedded("compute capability 7.0"),
    "wsl2-2x3090": Fits("ampere-pcie", 2, 0.82, 14.6, 3.35, 262, 1, "1.31 GiB of each card are Windows'"),
}


def test_every_recorded_machine_has_a_row() -> None:
    assert set(TABLE) == set(recorded_machines())


@pytest.mark.parametrize("name", sorted(TABLE))
def test_verdict(name: str) -> None:
    result = plan(load_machine(recorded_machines()[name]))
    row = TABLE[name]
    if isinstance(row, Refused):
        assert isinstance(result, Refusal)
        assert result.code == row.code
        assert row.says in result.reason + " ".join(left.reason for left in result.left_out)
        assert row.way_out in result.ways_out[0]
        return
    assert isinstance(result, LaunchPlan)
    if isinstance(row, Embedded):
        assert result.checkpoint == "embedded"
        assert row.left_out in " ".join(left.reason for left in result.left_out)
        return
    check_fit(result, row)


def check_fit(result: LaunchPlan, row: Fits) -> None:
    assert (result.card_class, result.tensor_parallel, result.utilisation, result.sequences) == (
        row.card_class,
        row.tp,
        row.utilisation,
        row.sequences,
    )
    assert result.data_parallel == 1
    assert len(result.left_out) == row.left_out
    for card in result.cards:
        assert card.weights / GIB == pytest.approx(row.weights, rel=0.01)
        assert card.needed <= card.free_now
    smallest = min(card.kv_cache for card in result.cards)
    assert smallest / GIB == pytest.approx(row.kv, rel=0.03, abs=0.05)
    assert result.context // 1000 == row.context
    assert result.concurrency >= 1


@pytest.mark.parametrize(
    ("name", "tp", "dp", "context", "sequences"),
    [
        ("2x3090-pcie", 2, 1, 32_768, 6),
        ("2x5090", 1, 2, 32_768, 1),
        ("8xh100", 1, 8, 32_768, 93),
        ("h200", 1, 1, 32_768, 120),
        ("a6000", 1, 1, 32_768, 7),
        ("1x3090", 1, 1, 16_384, 1),
    ],
)
def test_decisions_take_short_reads_and_every_card_that_holds_the_model(
    name: str, tp: int, dp: int, context: int, sequences: int
) -> None:
    result = plan(load_machine(recorded_machines()[name]), Wishes(profile="decisions"))
    assert isinstance(result, LaunchPlan)
    assert (result.tensor_parallel, result.data_parallel) == (tp, dp)
    assert (result.context, result.sequences, result.text_only) == (context, sequences, True)
    assert all(card.reserve >= 0.019 * card.total for card in result.cards), "full canvases of all of them fit"


@pytest.mark.parametrize("profile", ["chat", "decisions"])
@pytest.mark.parametrize("name", sorted(name for name, row in TABLE.items() if isinstance(row, Fits)))
def test_a_card_holds_what_its_process_takes_before_vllm_looks(name: str, profile: Profile) -> None:
    """0.71 GiB outside the utilisation, of each card, also where every card has an engine of its own."""
    result = plan(load_machine(recorded_machines()[name]), Wishes(profile=profile))
    assert isinstance(result, LaunchPlan)
    for card in result.cards:
        assert card.cuda_context / GIB == pytest.approx(0.71)
        assert card.needed == pytest.approx(
            int(result.utilisation * card.total) + card.cuda_context + card.canvas_buffers, abs=1
        )
        assert card.reserve >= 0.019 * card.total
        # What vLLM demands at its start is free once the context is made.
        assert card.free_now - card.cuda_context >= result.utilisation * card.total


@pytest.mark.parametrize("profile", ["chat", "decisions"])
@pytest.mark.parametrize("name", sorted(recorded_machines()))
def test_every_canvas_fits_into_a_step_whole(name: str, profile: Profile) -> None:
    """vLLM cuts short what does not, and the end of an answer, or a label, is lost."""
    machine = load_machine(recorded_machines()[name])
    for sequences, canvas in itertools.product((None, 2, 16, 127), (None, 64, 256)):
        found = plan(machine, Wishes(profile=profile, sequences=sequences, canvas=canvas))
        if not isinstance(found, LaunchPlan) or not found.cards:
            continue
        said = {flag.name: flag.value for flag in found.flags}
        batched = int(said["--max-num-batched-tokens"] or "")
        assert batched >= max(2048, int(said["--max-num-seqs"] or "") * found.canvas)


def test_what_was_seen_of_a_3090s_plan_on_cards_of_its_size() -> None:
    """21.07 of 23.56 GiB in use with the chat profile, one request: little less than planned, and no more."""
    result = plan(load_machine(recorded_machines()["2x3090-pcie"]))
    assert isinstance(result, LaunchPlan)
    assert 21.07 <= result.cards[0].needed / GIB <= 21.07 + 0.3


def test_what_a_user_reports_of_nvfp4_on_one_24_gb_card() -> None:
    """Within 21.5 of 24 GB, 16,384 tokens, canvases of 64 slots."""
    result = plan(load_machine(recorded_machines()["1x3090"]), Wishes(canvas=64))
    assert isinstance(result, LaunchPlan)
    assert (result.checkpoint, result.context) == ("nvfp4", 16_384)
    assert 20.5 <= result.cards[0].needed / GIB <= 21.5


def test_decisions_as_they_were_measured_on_an_h200() -> None:
    found = plan(load_machine(recorded_machines()["h200"]), Wishes(profile="decisions"))
    chat = plan(load_machine(recorded_machines()["h200"]), Wishes())
    assert isinstance(found, LaunchPlan)
    assert isinstance(chat, LaunchPlan)
    said = {flag.name: flag.value for flag in found.flags}
    assert (said["--max-num-seqs"], said["--max-num-batched-tokens"], said["--api-server-count"]) == (
        "120",
        "15360",  # measured with 8192, which cuts canvases short when more than 64 full ones are in a step
        "4",
    )
    assert json.loads(said["--diffusion-config"] or "") == {"canvas_length": 128}
    graphs = json.loads(said["--compilation-config"] or "")
    assert (graphs["mode"], graphs["cudagraph_mode"]) == (3, "FULL_AND_PIECEWISE")
    assert max(graphs["cudagraph_capture_sizes"]) == 4096
    assert not {"--api-server-count", "--compilation-config"} & {flag.name for flag in chat.flags}
    eight = plan(load_machine(recorded_machines()["8xh100"]), Wishes(profile="decisions"))
    assert isinstance(eight, LaunchPlan)
    assert "--api-server-count" not in {flag.name for flag in eight.flags}, "vLLM starts one for each engine by itself"


def test_what_was_measured_on_two_capped_cards() -> None:
    """Two ranks, Marlin forced, 22.4 GiB a card: 13.56 GiB of weights and 7.57 of cache, 262,144 tokens at x2.53."""
    from engine.launch import fit

    weights = fit.weights("fp8", 2, marlin=True, vision=False).total
    kv = 22.4 * GIB - weights - fit.activations(1.27 * GIB, 2048)
    assert weights / GIB == pytest.approx(13.56, rel=0.01)
    assert kv / GIB == pytest.approx(7.57, rel=0.02)
    assert fit.kv_pool(kv, 262_144, 2, 2048).concurrency == pytest.approx(2.53, rel=0.02)
