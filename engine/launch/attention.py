"""Whether the installed engine has what its own choice of an attention backend needs; else the backend is named.

On Hopper and on Blackwell for servers the plan leaves the choice to vLLM, which takes FlashAttention 4 for heads of 256
and 512 as soon as one source file of it is there (vLLM 0.33.0, ``model_executor/models/config.py``, ``Gemma4Config``,
and ``vllm_flash_attn/flash_attn_interface.py``, ``_is_fa4_supported``). The compiled extension and the two packages
that the kernels are written with are looked at only when a layer is built: without them the start ends without any
backend. Seen on an H200 with an engine that lacked the extension; with Triton named it was ready in 60 s.
"""

from __future__ import annotations

from dataclasses import replace

from engine.domain.plan import Flag, LaunchPlan
from engine.launch.proof import Evidence, InstalledEngine

FLAG = "--attention-backend"
FALLBACK = "TRITON_ATTN"
_FOLDER = "vllm_flash_attn"
_SOURCE = Evidence(f"{_FOLDER}/cute/interface.py")
_EXTENSIONS = ("_vllm_fa2_C*.so", "_vllm_fa3_C*.so")  # either: vLLM refuses the package without both
_PACKAGES = {"nvidia-cutlass-dsl": "nvidia_cutlass_dsl", "quack-kernels": "quack_kernels"}


def lacking(engine: InstalledEngine) -> tuple[str, ...]:
    """What FlashAttention 4 needs and the installed engine does not have; in words, empty when all is there."""
    found = [] if engine.proves(_SOURCE) else [_SOURCE.file]
    if not any(any((engine.root / _FOLDER).glob(pattern)) for pattern in _EXTENSIONS):
        found.append("the compiled FlashAttention extension")
    found += [f"the package {name}" for name, folder in _PACKAGES.items() if not engine.distribution_version(folder)]
    return tuple(found)


def fitted(plan: LaunchPlan, engine: InstalledEngine) -> LaunchPlan:
    """The plan for this very engine: a backend is named where vLLM's own choice could not work."""
    if plan.checkpoint == "embedded" or any(flag.name == FLAG for flag in plan.flags):
        return plan
    missing = lacking(engine)
    if not missing:
        return plan
    reason = f"the engine lacks {', '.join(missing)}: its own choice, FlashAttention 4, would end the start"
    note = f"attention by Triton instead of FlashAttention, which is slower in long contexts: {reason}"
    return replace(plan, flags=(*plan.flags, Flag(FLAG, FALLBACK, reason)), notes=(*plan.notes, note))
