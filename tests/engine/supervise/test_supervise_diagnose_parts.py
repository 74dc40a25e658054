"""An error in our own parts inside vLLM: found below what others make of it, told from vLLM's, and a way without."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from diagnose_helpers import API, CORE, TP0, TP1, beginning, ending, error, info, interleaved, loaded, plan_of

from engine.domain.diagnosis import Diagnosis
from engine.domain.plan import EnvVar, Flag, LaunchPlan, Wishes
from engine.supervise.diagnose import diagnose
from engine.supervise.diagnose_retry import amended, has_parts, next_start, next_try, offered
from engine.supervise.diagnose_watch import EngineFailed, LogWatch, start_watched
from engine.supervise.vllm import VllmEngine
from engine.vllm_plugin.protocol import ARCHITECTURE, MODEL_CLASS, PARTS_VARIABLE

SITE = "/home/somebody/vllm/env/lib/python3.12/site-packages"
RUNNER = f"{SITE}/vllm/v1/worker/gpu/model_runner.py"
SAMPLER = f"{SITE}/vllm/model_executor/models/diffusion_gemma.py"
TORCH = f"{SITE}/torch/cuda/streams.py"
MODEL = "/opt/diffusion-desk/engine/vllm_plugin/model.py"
LIVE = "/opt/diffusion-desk/engine/vllm_plugin/live.py"
SERVING = [*beginning(), *loaded(), info(API, "Application startup complete.")]
PEER = "torch.distributed.DistBackendError: NCCL error: ncclRemoteError: remote process exited"


def raised(process: str, last: str, *files: str, first: str = "EngineCore encountered a fatal error.") -> list[str]:
    """A traceback with these files, the outermost first."""
    lines = [first, "Traceback (most recent call last):"]
    for number, file in enumerate(files):
        lines += [
            f'  File "{file}", line {number + 40}, in execute',
            "    made = self.step(logits, batch)",
            "    ^^^^^^",
        ]
    return [error(process, line, "core.py:1112") for line in (*lines, last)]


def read(*lines: str) -> Diagnosis:
    return diagnose(["".join(lines).encode()])


def with_parts(plan: LaunchPlan) -> LaunchPlan:
    """As ``engine.launch.plugin`` makes it, without an installed engine."""
    flag = Flag("--model-class-overrides", f'{{"{ARCHITECTURE}":"{MODEL_CLASS}"}}', "")
    return replace(plan, flags=(*plan.flags, flag), env=(*plan.env, EnvVar(PARTS_VARIABLE, "live", "")))


def test_an_error_in_a_part_is_ours_below_its_wrappers() -> None:
    last = "AttributeError: 'DiffusionSampler' object has no attribute '_entropies'"
    dead = f"{API} vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.\n"
    found = read(*SERVING, *raised(CORE, last, RUNNER, MODEL, LIVE), dead, *ending())
    assert (found.rule, found.stage, found.known) == ("desk_parts", "serving", True)
    assert found.params["what"] == last
    assert last in found.cause
    assert found.line is not None
    assert (found.line.process, found.line.text) == ("EngineCore", last)
    assert [remedy.action for remedy in found.remedies] == ["without_parts"]
    assert {"engine_dead", "engine_init"} <= set(found.also)


@pytest.mark.parametrize("ours_first", [True, False])
def test_of_two_workers_in_turns_the_one_whose_part_failed_is_named(ours_first: bool) -> None:
    """The other is in the same wrapper of ours when it loses its peer, and that is an echo as ever."""
    own = raised(TP0, "triton.compiler.errors.CompilationError: at 12:8:", RUNNER, MODEL, LIVE, TORCH)
    peer = raised(TP1, PEER, RUNNER, MODEL, SAMPLER, TORCH)
    found = read(*SERVING, *(interleaved(own, peer) if ours_first else interleaved(peer, own)), *ending(dead=True))
    assert (found.rule, found.line and found.line.process) == ("desk_parts", "Worker_TP0")
    assert "peer_gone" in found.also
    assert read(*SERVING, *peer, *ending(dead=True)).rule == "peer_gone"


def test_a_part_of_tensors_that_reached_vllm_is_ours_where_no_rule_knows_the_error() -> None:
    last = "RuntimeError: The size of tensor a (256) must match the size of tensor b (128)"
    assert read(*SERVING, *raised(CORE, last, RUNNER, MODEL, LIVE, SAMPLER, TORCH)).rule == "desk_parts"
    assert not read(*SERVING, *raised(CORE, last, RUNNER, SAMPLER, TORCH)).known


LOST = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
CAPTURED = "torch.AcceleratorError: CUDA error: operation not permitted when stream is capturing"


@pytest.mark.parametrize(
    ("last", "deep", "rule"),
    [
        (LOST, True, "desk_parts"),
        (LOST, False, "cuda_async"),
        (CAPTURED, True, "desk_parts"),
        (CAPTURED, False, "stream_capture"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB.", True, "oom"),
        ("KeyboardInterrupt", True, "engine_dead"),
    ],
)
def test_a_known_error_is_ours_only_where_it_arose_in_ours(last: str, deep: bool, rule: str) -> None:
    """The wrapper stands in every traceback of the sampler; want of memory has remedies of its own."""
    files = (RUNNER, MODEL, LIVE, TORCH) if deep else (RUNNER, MODEL, LIVE, SAMPLER, TORCH)
    assert read(*SERVING, *raised(CORE, last, *files)).rule == rule


def test_a_class_that_cannot_be_imported_is_ours() -> None:
    """vLLM looks at the class in a process of its own and quotes what that has written."""
    place = "registry.py:1164"
    quoted = [
        "Error in inspecting model architecture 'DiffusionGemmaForBlockDiffusion'",
        "Traceback (most recent call last):",
        f'  File "{SITE}/vllm/model_executor/models/registry.py", line 1162, in _try_inspect_model_cls',
        "    return model.inspect_model_cls()",
        "RuntimeError: Error raised in subprocess:",
        "<frozen runpy>:128: RuntimeWarning: 'vllm.model_executor.models.registry' found in sys.modules",
        "Traceback (most recent call last):",
        f'  File "{SITE}/vllm/model_executor/models/registry.py", line 1003, in load_model_cls',
        "    mod = importlib.import_module(self.module_name)",
        '  File "/usr/lib/python3.12/importlib/__init__.py", line 90, in import_module',
        f'  File "{MODEL}", line 12, in <module>',
        "    from vllm.model_executor.models.diffusion_gemma import (",
        f"ImportError: cannot import name 'DiffusionGemmaModelState' from '{SAMPLER.replace('/', '.')}'",
    ]
    lines = [error(API, line, place) for line in quoted]
    refused = "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig"
    after = [f"{API} {refused}\n", f"{API}   Value error, Model architectures ['X'] failed to be inspected.\n"]
    assert read(*lines, *after).rule == "desk_parts"
    for name in ("engine", "engine.vllm_plugin", "engine.vllm_plugin.model"):
        found = read(*lines[:-3], error(API, f"ModuleNotFoundError: No module named '{name}'", place), *after)
        assert (found.rule, found.params["what"]) == ("desk_parts", f"No module named '{name}'")
    assert read(error(API, "ModuleNotFoundError: No module named 'engineering'")).rule == "package_missing"


def test_a_part_that_refuses_the_start_is_ours() -> None:
    last = "engine.vllm_plugin.parts.PartRequired: part tiles cannot be hung in: start with --max-num-seqs 1"
    assert read(*beginning(), *raised(TP0, last, RUNNER, MODEL), *ending()).rule == "desk_parts"
    asked = "ValueError: DESK_VLLM_PARTS: there is no part lve; there are tiles, reads, live"
    assert read(*beginning(), *raised(TP0, asked, RUNNER, MODEL), *ending()).rule == "desk_parts"


def test_what_a_part_has_caught_itself_ends_nothing() -> None:
    """Its traceback stands in the log at an error's level, and the engine lives on to die of something else."""
    off = "Diffusion Desk's part live is left out"
    cause = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
    caught = raised(CORE, "KeyError: 'entropies'", MODEL, LIVE, first=off)
    chained = [error(CORE, "During handling of the above exception, another exception occurred:")]
    caught += [*chained, *raised(CORE, cause, MODEL, LIVE)[1:]]
    assert read(*beginning(), *caught, *loaded()).rule == "desk_part_off"
    later = raised(CORE, "RuntimeError: a thing of vLLM that nobody has met", RUNNER)
    assert not read(*SERVING, *caught, *later).known
    ours = raised(CORE, "RuntimeError: a thing of ours that nobody has met", RUNNER, MODEL, LIVE)
    assert read(*SERVING, *caught, info(CORE, "on it goes"), *ours).rule == "desk_parts"


def test_the_next_try_is_vllm_as_it_is() -> None:
    found = read(*SERVING, *raised(CORE, "KeyError: 'entropies'", RUNNER, MODEL, LIVE))
    bare = plan_of("2x3090-pcie")
    plan = with_parts(bare)
    assert (has_parts(plan), has_parts(bare)) == (True, False)
    retry = next_try(found, plan, Wishes())
    assert retry is not None
    assert (retry.action, retry.wishes) == ("without_parts", Wishes())
    assert [(change.name, change.value) for change in retry.overrides] == [(PARTS_VARIABLE, None)]
    assert not has_parts(amended(plan, retry.overrides))
    made = next_start(found, plan, Wishes(), lambda wishes: bare)
    assert made is not None
    assert not has_parts(made[1])
    assert offered(found, bare, Wishes()) == ()
    assert next_try(found, amended(plan, retry.overrides), Wishes()) is None


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize(
    ("last", "first", "before"),
    [
        ("flux.CapacitorError: 1.21 gigawatts", "it ends", []),
        ("flux.CapacitorError: 1.21 gigawatts", "EngineCore encountered a fatal error.", ["restart"]),
        (LOST, "EngineCore encountered a fatal error.", ["restart", "eager", "advice"]),
    ],
)
async def test_an_end_that_may_be_ours_offers_the_way_without_parts_last(
    parts: bool, last: str, first: str, before: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "said"
    log.write_text("".join([*SERVING, *raised(CORE, last, RUNNER, first=first)]))
    script = f"import sys; from pathlib import Path; print(Path({str(log)!r}).read_text()); sys.exit(1)"
    plan = plan_of("h100")
    plan = with_parts(plan) if parts else plan
    engine = VllmEngine(lambda port: [sys.executable, "-c", script], {}, model="m", phases=plan.phases)
    with pytest.raises(EngineFailed) as caught:
        await start_watched(engine, LogWatch(engine, plan=plan))
    actions = [remedy.action for remedy in caught.value.diagnosis.remedies]
    assert actions == [*before, *(["without_parts"] if parts else [])]
