"""Machines for the planner's tests (recorded ones, changed where a test needs it), and a small installed engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.domain.hardware import Gpu, GpuLink, Machine
from engine.domain.plan import LaunchPlan, Refusal, Wishes
from engine.hardware.record import load_machine, recorded_machines
from engine.launch.planner import plan

UTILS = "model_executor/layers/quantization/utils"
MODEL = "model_executor/models/diffusion_gemma.py"
FILES = {
    "__init__.py": "raise RuntimeError('an installed engine is read, never imported')\n",
    f"{UTILS}/marlin_utils.py": "def marlin_padded_nk(n, k):\n    return n, k\n\n\n"
    "def marlin_moe_padded_intermediate(n):\n    return n\n",
    f"{UTILS}/marlin_utils_fp8.py": "def prepare_fp8_layer_for_marlin(layer):\n"
    "    return marlin_padded_nk(layer.n, layer.k)\n\n\n"
    "def prepare_fp8_moe_layer_for_marlin(layer):\n    return marlin_moe_padded_intermediate(layer.n)\n",
    "model_executor/models/registry.py": "MODELS = {'DiffusionGemmaForBlockDiffusion': 1}\n",
    MODEL: "class DiffusionGemmaForConditionalGeneration:\n"
    "    def custom_sampler(self):\n        return get_tp_group()\n\n\n"
    "def step(soft, sc_embeds):\n    soft = torch.ops.vllm.all_reduce(soft)\n"
    "    sc_embeds[0] = (soft * 2).to(sc_embeds.dtype)\n",
    "utils/diffusion.py": "KEYS = ['diffusion_seed_canvas', 'diffusion_read_only']\n",
    "entrypoints/generate/structured_decisions/api_router.py": "@router.post('/v1/systemone')\ndef ask(): ...\n",
}


def install(folder: Path, version: str = "0.33.0", transformers: str = "5.17.0") -> Path:
    """A site-packages folder with an engine in it."""
    for name, text in FILES.items():
        path = folder / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, number in (("vllm", version), ("transformers", transformers)):
        info = folder / f"{name}-{number}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {number}\n\nVersion: 9.9 text\n")
    return folder


def machine(name: str) -> Machine:
    return load_machine(recorded_machines()[name])


def with_gpus(base: Machine, change: Callable[[Gpu], Gpu]) -> Machine:
    return replace(base, gpus=tuple(change(gpu) for gpu in base.gpus))


def copies(base: Machine, count: int, *, nvlinked: tuple[tuple[int, int], ...] = ()) -> Machine:
    """``count`` cards like the first one; pairs of indexes with a bridge."""
    gpus = tuple(replace(base.gpus[0], index=i, uuid=f"GPU-{i:08d}", display=False) for i in range(count))
    links = tuple(GpuLink(gpus[a].uuid, gpus[b].uuid, nvlinks=4, p2p=True) for a, b in nvlinked)
    return replace(base, gpus=gpus, links=links)


def planned(base: Machine, **wishes: Any) -> LaunchPlan:
    result = plan(base, Wishes(**wishes))
    assert isinstance(result, LaunchPlan), result
    return result


def refused(base: Machine, **wishes: Any) -> Refusal:
    result = plan(base, Wishes(**wishes))
    assert isinstance(result, Refusal), result
    assert result.ways_out, "a refusal names what would make a plan possible"
    return result


def flag(found: LaunchPlan, name: str) -> str | None:
    """The value of a flag; "" for a switch; None when it is not there."""
    return next((entry.value or "" for entry in found.flags if entry.name == name), None)


def env(found: LaunchPlan) -> dict[str, str | None]:
    return {entry.name: entry.value for entry in found.env}
