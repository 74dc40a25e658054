"""From a diagnosis and the plan that failed to the next try: other wishes, other flags, or none.

Pure: it starts nothing. :func:`next_start` gives the next try with its plan, which is shown before it is started;
:func:`next_try` is its part without a machine. A plan that ran out of memory is never followed by one that wants as
much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from engine.domain.diagnosis import Action, Diagnosis, Remedy, Retry
from engine.domain.plan import EnvVar, Flag, LaunchPlan, PlanResult, Wishes
from engine.vllm_plugin.protocol import MODEL_CLASS, PARTS_VARIABLE

STEP = 0.04  # of the utilisation; a canvas of 256 slots is about 0.05 of 24 GB
LEAST_UTILISATION = 0.74  # below it FP8 over two cards of 24 GB has no cache left worth a chat
LEAST_CANVAS, LEAST_CONTEXT = 64, 8192
SLOW_START_S = 1800

_LOADING = ("connect", "load")

_P2P_OFF = "reads between the cards hang or fail here"
_Maker = Callable[[Diagnosis, LaunchPlan, Wishes], Retry | None]


def next_try(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes, tried: Collection[Retry] = ()) -> Retry | None:
    """The first remedy that the program can follow and that changes something.

    Args:
        plan: the one that failed, overrides included.
        wishes: that it was planned by.
        tried: what was tried after this failure or others; none of it is offered again.

    Returns:
        None when only the user can help: the remedies that are left are advice or need another page.
    """
    if plan.checkpoint == "embedded":
        return None
    seen = {(retry.wishes, retry.overrides, retry.new_port) for retry in tried}
    for remedy in diagnosis.remedies:
        maker = _MAKERS.get(remedy.action)
        retry = maker(diagnosis, plan, wishes) if maker else None
        if retry is None or (diagnosis.out_of_memory and not retry.overrides and retry.wishes == wishes):
            continue
        if (retry.wishes, retry.overrides, retry.new_port) not in seen:
            return retry
    return None


def offered(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> tuple[Remedy, ...]:
    """The remedies that would change something: one request at a time is no advice where it is so already."""
    return tuple(
        remedy
        for remedy in diagnosis.remedies
        if remedy.action not in _MAKERS or _MAKERS[remedy.action](diagnosis, plan, wishes) is not None
    )


def amended(plan: LaunchPlan, overrides: Iterable[Flag | EnvVar]) -> LaunchPlan:
    """The plan with flags and variables replaced by name, or added."""
    flags = {flag.name: flag for flag in plan.flags}
    env = {variable.name: variable for variable in plan.env}
    for override in overrides:
        if isinstance(override, Flag):
            flags[override.name] = override
        else:
            env[override.name] = override
    return replace(plan, flags=tuple(flags.values()), env=tuple(env.values()))


def next_start(
    diagnosis: Diagnosis,
    plan: LaunchPlan,
    wishes: Wishes,
    planner: Callable[[Wishes], PlanResult],
    *,
    tried: Collection[Retry] = (),
    failed: Iterable[tuple[Diagnosis, LaunchPlan]] = (),
) -> tuple[Retry, LaunchPlan] | None:
    """The next try that this machine has a plan for, and that plan; to be shown before it is started.

    Args:
        planner: plans for the machine as it is.
        failed: earlier diagnoses and their plans; a plan that takes as much memory as one that ran out is passed over.
    """
    before = [*failed, (diagnosis, plan)]
    passed = list(tried)
    while (retry := next_try(diagnosis, plan, wishes, passed)) is not None:
        result = planner(retry.wishes)
        if isinstance(result, LaunchPlan) and result.checkpoint != "embedded":
            made = amended(result, retry.overrides)
            if lighter(made, before):
                return retry, made
        passed.append(retry)
    return None


def lighter(plan: LaunchPlan, failed: Iterable[tuple[Diagnosis, LaunchPlan]]) -> bool:
    """Whether a plan wants less than every plan that ran out of memory; failures of other kinds do not count.

    vLLM fills its utilisation, and CUDA context and canvases come on top: after the weights are loaded their sum must
    be smaller, before that the weights. Where the cache was too small, weights or context must be, or the utilisation
    larger.
    """
    return all(_lighter(plan, other, diagnosis) for diagnosis, other in failed if diagnosis.out_of_memory)


def _lighter(plan: LaunchPlan, other: LaunchPlan, diagnosis: Diagnosis) -> bool:
    weights = max(card.weights for card in plan.cards) < max(card.weights for card in other.cards)
    if diagnosis.rule in ("no_kv", "autofit", "kv_small"):
        return weights or plan.context < other.context or plan.utilisation > other.utilisation
    if diagnosis.rule == "free_lt_util":
        return plan.utilisation < other.utilisation
    if diagnosis.stage in _LOADING:
        return weights
    return max(_peaks(plan)) < max(_peaks(other))


def _peaks(plan: LaunchPlan) -> list[int]:
    return [card.needed for card in plan.cards]


def _lower_utilisation(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if diagnosis.rule != "free_lt_util" and diagnosis.stage in _LOADING:
        return None  # the weights themselves do not fit
    value, floor = round(plan.utilisation - STEP, 2), LEAST_UTILISATION
    if diagnosis.rule == "free_lt_util":
        free, total = (_number(diagnosis.params.get(name)) for name in ("free", "total"))
        if free and total:
            value, floor = min(math.floor((free / total - 0.01) * 100) / 100, value), 0.5
    if value < floor:
        return None
    change = f"utilisation {value:.2f} instead of {plan.utilisation:.2f}"
    return Retry("lower_utilisation", replace(wishes, utilisation=value), changes=(change,))


def _one_sequence(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.sequences <= 1:
        return None
    change = f"one request at a time instead of {plan.sequences}"
    return Retry("one_sequence", replace(wishes, sequences=1), changes=(change,))


def _smaller_canvas(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.canvas <= LEAST_CANVAS or (diagnosis.out_of_memory and diagnosis.stage in _LOADING):
        return None  # while weights are loaded there are no canvases yet
    change = f"a canvas of {LEAST_CANVAS} slots instead of {plan.canvas}"
    return Retry("smaller_canvas", replace(wishes, canvas=LEAST_CANVAS), changes=(change,))


def _shorter_context(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    fits = _number(diagnosis.params.get("fits"))
    value = int(fits) // 256 * 256 if fits else plan.context // 2
    if not LEAST_CONTEXT <= value < plan.context:
        return None
    change = f"{value:,} tokens of context instead of {plan.context:,}"
    return Retry("shorter_context", replace(wishes, context=value), changes=(change,))


def _text_only(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.text_only or (diagnosis.rule in ("oom", "oom_hidden") and diagnosis.stage not in _LOADING):
        return None  # what the tower leaves free goes to the cache: the card would be as full
    change = "no pictures: the vision tower is left out, 1.06 GiB more a card"
    return Retry("text_only", replace(wishes, text_only=True), changes=(change,))


def _other_checkpoint(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    """FP8 over several Ampere cards falls back on INT8; on one card on NVFP4; NVFP4 on FP8 when it is no memory."""
    if plan.checkpoint == "nvfp4":
        if diagnosis.out_of_memory:
            return None
        return _to_checkpoint(plan, replace(wishes, checkpoint="fp8"))
    if plan.tensor_parallel == plan.data_parallel == 1:
        return _to_checkpoint(plan, replace(wishes, checkpoint="nvfp4"))
    if plan.checkpoint == "fp8" and plan.marlin and not diagnosis.out_of_memory:
        return _to_checkpoint(plan, replace(wishes, checkpoint="int8"))
    return None


def _to_checkpoint(plan: LaunchPlan, wishes: Wishes) -> Retry:
    name = (wishes.checkpoint or "").upper()
    return Retry("other_checkpoint", wishes, changes=(f"the {name} checkpoint instead of {plan.checkpoint.upper()}",))


def _fewer_cards(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.tensor_parallel <= 1:
        return None
    size = plan.tensor_parallel // 2
    cards = wishes.cards[:size] if wishes.cards else None
    change = f"{size} card{'s' if size > 1 else ''} instead of {plan.tensor_parallel}"
    return Retry("fewer_cards", replace(wishes, tensor_parallel=size, cards=cards), changes=(change,))


def _marlin(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.checkpoint == "int8":
        return None  # there is no Marlin kernel for INT8 experts
    names = ("--moe-backend",) if plan.checkpoint == "nvfp4" else ("--linear-backend", "--moe-backend")
    flags = tuple(
        Flag(name, "marlin", "the backend that was picked by itself failed on this machine") for name in names
    )
    return _overriding("marlin", plan, wishes, flags)


def _p2p_off(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.tensor_parallel * plan.data_parallel <= 1:
        return None
    overrides = (
        EnvVar("NCCL_P2P_DISABLE", "1", _P2P_OFF),
        EnvVar("NCCL_CUMEM_ENABLE", "0", _P2P_OFF),
        EnvVar("NCCL_P2P_LEVEL", None, _P2P_OFF),
        Flag("--disable-custom-all-reduce", None, _P2P_OFF),
    )
    return _overriding("p2p_off", plan, wishes, overrides)


def _nccl_log(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    if plan.tensor_parallel * plan.data_parallel <= 1:
        return None
    return _overriding("nccl_log", plan, wishes, (EnvVar("NCCL_DEBUG", "INFO", "says where the connection fails"),))


def _no_deep_gemm(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    return _overriding("no_deep_gemm", plan, wishes, (EnvVar("VLLM_USE_DEEP_GEMM", "0", "it failed on this card"),))


def _eager(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    why = "compiling or capturing failed on this machine"
    overrides = (
        Flag("--enforce-eager", None, why),
        EnvVar("TORCHDYNAMO_DISABLE", "1", why),
        EnvVar("TORCH_COMPILE_DISABLE", "1", why),
    )
    return _overriding("eager", plan, replace(wishes, fast_sampler=False), overrides)


def _longer_start(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    limit = EnvVar("VLLM_ENGINE_READY_TIMEOUT_S", str(SLOW_START_S), "the weights come from a slow disk")
    return _overriding("longer_start", plan, wishes, (limit,))


def _without_parts(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    """Flag and path follow the variable: ``engine.launch.plugin.with_parts`` adds them to no plan that says stock."""
    if not has_parts(plan):
        return None
    stock = EnvVar(PARTS_VARIABLE, None, "Diffusion Desk's parts inside vLLM failed on this machine")
    lost = "live canvas, reads that share a step"
    if plan.tensor_parallel > 1 and plan.sequences > 1:
        lost += f", {plan.sequences} requests at once over {plan.tensor_parallel} cards"
    return Retry("without_parts", wishes, (stock,), (f"vLLM as it is, without Diffusion Desk's parts ({lost})",))


def has_parts(plan: LaunchPlan) -> bool:
    """Whether the plan loads our parts into vLLM (docs/plugin.md)."""
    named = any(variable.name == PARTS_VARIABLE and variable.value for variable in plan.env)
    return named and any(MODEL_CLASS in (flag.value or "") for flag in plan.flags)


def _overriding(action: Action, plan: LaunchPlan, wishes: Wishes, wanted: tuple[Flag | EnvVar, ...]) -> Retry | None:
    """What the plan does not say already; None when it says all of it."""
    said = {flag.name: flag.value for flag in plan.flags} | {variable.name: variable.value for variable in plan.env}
    new = tuple(
        item
        for item in wanted
        if (item.name not in said or said[item.name] != item.value)
        and not (isinstance(item, EnvVar) and item.value is None and item.name not in said)
    )
    if not new:
        return None
    return Retry(action, wishes, new, tuple(_in_words(item) for item in new))


def _in_words(item: Flag | EnvVar) -> str:
    if isinstance(item, Flag):
        return f"{item.name} {item.value}" if item.value is not None else item.name
    return f"{item.name} is removed" if item.value is None else f"{item.name}={item.value}"


def _other_port(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
    return Retry("other_port", wishes, changes=("the next free port",), new_port=True)


def _again(action: Action, what: str) -> _Maker:
    def maker(diagnosis: Diagnosis, plan: LaunchPlan, wishes: Wishes) -> Retry | None:
        return Retry(action, wishes, changes=(what,))

    return maker


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


_MAKERS: dict[Action, _Maker] = {
    "lower_utilisation": _lower_utilisation,
    "one_sequence": _one_sequence,
    "smaller_canvas": _smaller_canvas,
    "shorter_context": _shorter_context,
    "text_only": _text_only,
    "other_checkpoint": _other_checkpoint,
    "fewer_cards": _fewer_cards,
    "marlin": _marlin,
    "p2p_off": _p2p_off,
    "nccl_log": _nccl_log,
    "no_deep_gemm": _no_deep_gemm,
    "eager": _eager,
    "longer_start": _longer_start,
    "without_parts": _without_parts,
    "other_port": _other_port,
    "restart": _again("restart", "the same plan once more"),
}
"""Remedies that make another start; the rest is for other pages or for the user."""
