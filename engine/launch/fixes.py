"""The fixes and rules that DiffusionGemma needs on Ampere and over several cards, and whether a launch has them.

Two kinds. A *fix* is a change inside vLLM: the installed copy proves it by its version and its files. A *rule* is
something that a launch must do or must not do: the plan proves it. A launch that lacks what it needs is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.domain.plan import LaunchPlan
from engine.errors import UserError
from engine.launch.plugin import has_tiles
from engine.launch.proof import Evidence, InstalledEngine, Version, parse_version
from engine.launch.shapes import needs_padding

FixStatus = Literal["proven", "missing", "not needed"]

TRANSFORMERS = ((5, 16, 1), (5, 21, 0))  # vLLM 0.33.0's own bounds; 5.24 is outside
_UTILS = "model_executor/layers/quantization/utils"
_MODEL = "model_executor/models/diffusion_gemma.py"


@dataclass(frozen=True, slots=True)
class Fix:
    """A change inside vLLM.

    Attributes:
        breaks: what happens without it.
        upstream: the pull requests; empty where none was found.
        first_release: the first stock release that has it.
        evidence: what the installed files must show; empty where only the version can tell.
        needed: whether a plan depends on it.
    """

    id: str
    title: str
    breaks: str
    upstream: str
    first_release: Version
    evidence: tuple[Evidence, ...]
    needed: Callable[[LaunchPlan], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that a launch must do, or must not.

    Attributes:
        kept: whether a plan keeps it.
        how: how the plan keeps it.
    """

    id: str
    title: str
    breaks: str
    upstream: str
    needed: Callable[[LaunchPlan], bool]
    kept: Callable[[LaunchPlan], bool]
    how: str


@dataclass(frozen=True, slots=True)
class FixResult:
    """One line of the checklist. ``first_release`` is empty for a rule."""

    id: str
    title: str
    breaks: str
    upstream: str
    first_release: str
    status: FixStatus
    detail: str


def _always(plan: LaunchPlan) -> bool:
    return plan.checkpoint != "embedded"


def _sharded(plan: LaunchPlan) -> bool:
    return plan.tensor_parallel > 1


def _fp8_marlin(plan: LaunchPlan) -> bool:
    return plan.marlin and plan.checkpoint == "fp8"


def _pads_dense(plan: LaunchPlan) -> bool:
    return _fp8_marlin(plan) and needs_padding(plan.tensor_parallel)[0]


def _pads_experts(plan: LaunchPlan) -> bool:
    return _fp8_marlin(plan) and needs_padding(plan.tensor_parallel)[1]


def _flag(plan: LaunchPlan, name: str) -> str | None:
    return next((flag.value for flag in plan.flags if flag.name == name), None)


FIXES: tuple[Fix, ...] = (
    Fix(
        "architecture",
        "The architecture itself",
        "the engine does not know DiffusionGemma and refuses the checkpoint",
        "#45163",
        (0, 24, 0),
        (
            Evidence(_MODEL, "defines", "DiffusionGemmaForConditionalGeneration"),
            Evidence("model_executor/models/registry.py", "text", "DiffusionGemmaForBlockDiffusion"),
        ),
        _always,
    ),
    Fix(
        "dense-pad",
        "Padding of dense FP8 shards for Marlin",
        'the start ends with "Invalid thread config": a shard of 1056 (TP=2) or 528 (TP=4) fits no Marlin tile',
        "#45295; before it #40361, #43910, #43806",
        (0, 24, 0),
        (
            Evidence(f"{_UTILS}/marlin_utils.py", "defines", "marlin_padded_nk"),
            Evidence(f"{_UTILS}/marlin_utils_fp8.py", "calls", "marlin_padded_nk", "prepare_fp8_layer_for_marlin"),
        ),
        _pads_dense,
    ),
    Fix(
        "moe-pad",
        "Padding of the experts' FP8 shards for Marlin",
        "the start ends, or experts compute garbage: a shard of 352 (TP=2) or 176 (TP=4) fits no Marlin tile",
        "#45703",
        (0, 25, 0),
        (
            Evidence(f"{_UTILS}/marlin_utils.py", "defines", "marlin_moe_padded_intermediate"),
            Evidence(
                f"{_UTILS}/marlin_utils_fp8.py",
                "calls",
                "marlin_moe_padded_intermediate",
                "prepare_fp8_moe_layer_for_marlin",
            ),
        ),
        _pads_experts,
    ),
    Fix(
        "sharded-self-conditioning",
        "Self-conditioning over a sharded vocabulary",
        "the first denoise step fails with a matrix mismatch: each card holds a part of the vocabulary only",
        "#46177",
        (0, 25, 0),
        (
            Evidence(_MODEL, "calls", "torch.ops.vllm.all_reduce"),
            Evidence(_MODEL, "calls", "get_tp_group", "custom_sampler"),
        ),
        _sharded,
    ),
    Fix(
        "self-conditioning-dtype",
        "Type of the self-conditioning in eager steps",
        "a step that is not compiled fails with a type mismatch, at once or when torch stops compiling",
        "#57462",
        (0, 31, 0),
        (Evidence(_MODEL, "calls", ".to(sc_embeds.dtype)"),),
        _always,
    ),
    Fix(
        "seeded-reads",
        "Seeded, pinned and read-only canvases",
        "a decision cannot be read: the canvas of a request cannot be given",
        "#57250",
        (0, 31, 0),
        (
            Evidence("utils/diffusion.py", "text", "diffusion_seed_canvas"),
            Evidence("utils/diffusion.py", "text", "diffusion_read_only"),
        ),
        _always,
    ),
    Fix(
        "logprob-race",
        "Label probabilities under concurrent reads",
        "reads that run together answer 500, or with the probabilities of another request",
        "#57414, #57417",
        (0, 31, 0),
        (),
        _always,
    ),
    Fix(
        "systemone",
        "The endpoint for decisions",
        "foreign programs and the native wire find no /v1/systemone",
        "",
        (0, 32, 0),
        (Evidence("entrypoints/generate/structured_decisions/api_router.py", "text", "/v1/systemone"),),
        _always,
    ),
)

RULES: tuple[Rule, ...] = (
    Rule(
        "humming",
        "Dense FP8 layers use Marlin, not Humming",
        "since 0.25 such cards pick Humming, compiled at run time and never reported with this model",
        "",
        _fp8_marlin,
        lambda plan: _flag(plan, "--linear-backend") == "marlin" and _flag(plan, "--moe-backend") == "marlin",
        "--linear-backend marlin and --moe-backend marlin are given",
    ),
    Rule(
        "one-sequence",
        "One request at a time over several cards, or ranks that cut a step alike",
        "ranks with unequal free memory cut a step differently around an all-reduce: a hang, or garbage",
        "",
        _sharded,
        lambda plan: has_tiles(plan) or (plan.sequences == 1 and _flag(plan, "--max-num-seqs") == "1"),
        "--max-num-seqs 1 is given, or Diffusion Desk's part tiles",
    ),
    Rule(
        "like-cards",
        "Cards of one kind share a model",
        "unlike cards round differently and pick different tokens, which no check inside the engine notices",
        "",
        _sharded,
        lambda plan: len({card.name for card in plan.cards}) == 1,
        "all cards of the plan are of one kind",
    ),
    Rule(
        "constrained-reads",
        "No constrained read over several cards",
        "the first one ends the engine",
        "#58216",
        _sharded,
        lambda plan: True,
        "this program never sends one",
    ),
    Rule(
        "nvfp4-one-card",
        "NVFP4 on one card only",
        "over two cards its answers are silently wrong",
        "#55649",
        lambda plan: plan.checkpoint == "nvfp4",
        lambda plan: plan.tensor_parallel == plan.data_parallel == 1,
        "the plan uses one card",
    ),
)


def check_fixes(plan: LaunchPlan, engine: InstalledEngine) -> tuple[FixResult, ...]:
    """The whole checklist for a plan and an installed engine. Raises InputError when its version cannot be read."""
    return (
        *(_check_fix(fix, plan, engine) for fix in FIXES),
        _check_transformers(plan, engine),
        *(_check_rule(rule, plan) for rule in RULES),
    )


def require(results: Sequence[FixResult]) -> None:
    """Refuse a launch that lacks something it needs.

    Raises:
        UserError: names the first missing fix, and how many there are.
    """
    missing = [result for result in results if result.status == "missing"]
    if not missing:
        return
    first = missing[0]
    raise UserError(
        "launch.fix_missing",
        "the engine lacks what this plan needs: {title} ({detail}); without it {breaks}",
        remedy="repair or update the engine's environment" + (", {more} more are missing" if len(missing) > 1 else ""),
        title=first.title,
        detail=first.detail,
        breaks=first.breaks,
        more=len(missing) - 1,
        ids=[result.id for result in missing],
    )


def _check_fix(fix: Fix, plan: LaunchPlan, engine: InstalledEngine) -> FixResult:
    unproven = [evidence for evidence in fix.evidence if not engine.proves(evidence)]
    old = engine.version < fix.first_release
    first = _dotted(fix.first_release)
    if fix.evidence and not unproven:
        found, detail = True, f"{engine.version_text}: {'; '.join(str(evidence) for evidence in fix.evidence)}"
    elif not fix.evidence and not old:
        found, detail = True, f"{engine.version_text} is not older than {first}"
    elif old:
        found, detail = False, f"vLLM {engine.version_text} is older than {first}"
    else:
        found = False
        detail = f"vLLM {engine.version_text} should have it, but this is not so: {'; '.join(map(str, unproven))}"
    status: FixStatus = "not needed" if not fix.needed(plan) else "proven" if found else "missing"
    return FixResult(fix.id, fix.title, fix.breaks, fix.upstream, first, status, detail)


def _check_transformers(plan: LaunchPlan, engine: InstalledEngine) -> FixResult:
    low, high = TRANSFORMERS
    text = engine.distribution_version("transformers")
    within = bool(text) and low <= parse_version(text) < high
    wanted = f"{_dotted(low)} or newer, below {_dotted(high)}"
    status: FixStatus = "not needed" if plan.checkpoint == "embedded" else "proven" if within else "missing"
    return FixResult(
        "transformers",
        "A transformers that fits",
        "the configuration or the tokenizer of the checkpoint is not read",
        "",
        "",
        status,
        f"{text or 'none is installed'}; {wanted} is needed",
    )


def _check_rule(rule: Rule, plan: LaunchPlan) -> FixResult:
    if not rule.needed(plan):
        status: FixStatus = "not needed"
        detail = "this plan does not depend on it"
    elif rule.kept(plan):
        status, detail = "proven", rule.how
    else:
        status, detail = "missing", f"not so: {rule.how}"
    return FixResult(rule.id, rule.title, rule.breaks, rule.upstream, "", status, detail)


def needed(results: Sequence[FixResult]) -> Iterator[FixResult]:
    """The lines that a plan depends on."""
    return (result for result in results if result.status != "not needed")


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
