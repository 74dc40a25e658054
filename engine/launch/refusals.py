"""What is refused before any card is looked at: wishes outside the limits, and hosts that cannot run the engine."""

from __future__ import annotations

from engine.domain.hardware import Machine
from engine.domain.plan import Refusal, Wishes
from engine.hardware.findings import MIN_DRIVER, driver_version
from engine.hardware.findings_host import ENGINE_GLIBC
from engine.launch.shapes import CANVAS, MAX_CONTEXT, TENSOR_PARALLEL

MIN_CANVAS = 16  # what a read of one question takes
MIN_CONTEXT = 2048
UTILISATIONS = (0.5, 0.95)
MAX_SEQUENCES = 127
"""vLLM 0.33.0 takes 128 and more for its own default, and makes it 8 for this model (seen in its log)."""

USE_EMBEDDED = "use the embedded engine: a toy model on the CPU, enough to try everything out"
USE_ELSEWHERE = "use an engine on another machine: give its address in the settings"


def refused_wish(wishes: Wishes) -> Refusal | None:
    """The first wish that no machine could fulfil."""
    for check in (_never, _parallel, _numbers):
        refusal = check(wishes)
        if refusal:
            return refusal
    return None


def _never(wishes: Wishes) -> Refusal | None:
    if wishes.kv_cache not in (None, "auto"):
        return Refusal(
            "plan.kv_cache",
            f"a KV cache of type {wishes.kv_cache} cannot work: fp8_e4m3 is not supported on Ampere (sm_80, sm_86), "
            "and fp8_e5m2 is refused together with an FP8 checkpoint",
            ("leave the type at auto (bfloat16) and make the context shorter",),
        )
    if wishes.pipeline_parallel not in (None, 1):
        return Refusal(
            "plan.pipeline_parallel",
            "the engine cannot cut this model into layers that follow one another (pipeline parallel)",
            ("use tensor parallel 2 or 4 over like cards",),
        )
    return None


def _parallel(wishes: Wishes) -> Refusal | None:
    tp = wishes.tensor_parallel
    if tp is not None and tp not in TENSOR_PARALLEL:
        return Refusal(
            "plan.tensor_parallel",
            f"tensor parallel {tp} cannot work: 16 attention heads and experts of 704 divide by 1, 2, 4 and 8 only",
            ("ask for 2 or 4",),
        )
    if wishes.constrained_reads and tp is not None and tp > 1:
        return constrained_reads(tp)
    return None


def constrained_reads(tp: int) -> Refusal:
    return Refusal(
        "plan.constrained_reads",
        f"a constrained read ends an engine that runs over {tp} cards",
        ("read unconstrained: it also shows how much probability the labels have", "use one card that holds the model"),
    )


def _numbers(wishes: Wishes) -> Refusal | None:
    low, high = UTILISATIONS
    limits: tuple[tuple[str, str, float | None, float, float], ...] = (
        ("context", "a context of {} tokens", wishes.context, MIN_CONTEXT, MAX_CONTEXT),
        ("canvas", "a canvas of {} slots", wishes.canvas, MIN_CANVAS, CANVAS),
        ("sequences", "{} requests at once", wishes.sequences, 1, MAX_SEQUENCES),
        ("utilisation", "a utilisation of {}", wishes.utilisation, low, high),
    )
    for name, what, value, least, most in limits:
        if value is not None and not least <= value <= most:
            return Refusal(
                f"plan.{name}",
                f"{what.format(value)} is outside of {least:g} to {most:g}",
                (f"ask for {least:g} to {most:g}",),
            )
    return None


def refused_host(machine: Machine) -> Refusal | None:
    """What is wrong around the cards. A machine without any card is no fault."""
    host, driver = machine.host, machine.driver
    if driver.status in _DRIVER and not (driver.status == "no_driver" and not host.nvidia_devices):
        code, reason, way = _DRIVER[driver.status]
        return Refusal(code, reason + (f" ({driver.detail})" if driver.detail else ""), (way, *_OTHERWISE))
    if not machine.gpus:
        return None
    version = driver_version(driver.version)
    if version and version < MIN_DRIVER:
        return Refusal(
            "plan.driver_old",
            f"driver {driver.version} is too old: the engine's CUDA 13.0 needs 580.65 or newer",
            ("install driver 580.65 or newer from your distribution, then restart", *_OTHERWISE),
        )
    if host.system != "Linux":
        return Refusal("plan.system", f"the engine runs on Linux, this is {host.system}", ("use WSL2", *_OTHERWISE))
    if host.glibc is not None and host.glibc < ENGINE_GLIBC:
        have, needed = (".".join(map(str, version)) for version in (host.glibc, ENGINE_GLIBC))
        return Refusal(
            "plan.glibc",
            f"glibc {have} is too old: the engine needs {needed} ({host.distribution or 'this distribution'})",
            ("use a distribution of 2020 or later, or a container of one", *_OTHERWISE),
        )
    return None


_OTHERWISE = (USE_ELSEWHERE, USE_EMBEDDED)
_DRIVER = {
    "no_driver": (
        "plan.no_driver",
        "there is an NVIDIA card, but no driver answers for it",
        "install the driver (580.65 or newer) and restart; with Secure Boot its module must be signed or enrolled",
    ),
    "mismatch": (
        "plan.driver_mismatch",
        "the driver was updated, and its old kernel module is still loaded",
        "restart the machine",
    ),
    "no_permission": (
        "plan.no_permission",
        "this user may not open the NVIDIA devices",
        "check the permissions of /dev/nvidia*, often the group video or render",
    ),
    "error": (
        "plan.driver_error",
        "the driver answers with an error",
        "nvidia-smi may say more; a restart often helps",
    ),
}
