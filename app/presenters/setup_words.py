"""How the setup's steps stand, in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.models.notice import as_sentence
from app.models.setup import Step
from engine.checkpoints.catalogue import CatalogueEntry
from engine.domain.hardware import Finding, Machine
from engine.domain.plan import LaunchPlan, PlanResult, Refusal
from engine.local.disk import EngineOnDisk


def tr(text: str) -> str:
    return QCoreApplication.translate("setup", text)


def detected(machine: Machine, findings: tuple[Finding, ...]) -> Step:
    """The machine in one line; the worst that is wrong with it, when something keeps vLLM from running."""
    blocker = next((finding for finding in findings if finding.severity == "blocker"), None)
    if blocker is not None:
        return Step("failed", as_sentence(blocker.text) + ".", as_sentence(blocker.remedy) + ".")
    if not machine.gpus:
        return Step("done", tr("There is no NVIDIA card: the embedded engine runs on the CPU."))
    counts = Counter(gpu.name.removeprefix("NVIDIA ").removeprefix("GeForce ") for gpu in machine.gpus)
    cards = ", ".join(f"{count}× {name}" if count > 1 else name for name, count in counts.items())
    parts = [cards, tr("driver {version}").format(version=machine.driver.version), machine.host.distribution]
    return Step("done", " · ".join(part for part in parts if part))


def planned(result: PlanResult) -> Step:
    """The plan's title, or why there is none and the most promising way out."""
    if isinstance(result, Refusal):
        return Step("failed", as_sentence(result.reason) + ".", as_sentence(next(iter(result.ways_out), "")))
    return Step("done", result.title)


def engine_step(disk: EngineOnDisk) -> Step:
    """Whether the engine is installed, and whether it has what the plan needs."""
    if disk.found is None:
        size = disk.spec.unpacked_bytes
        room = tr(" It takes {gb:.0f} GB.").format(gb=size / 1e9) if size else ""
        return Step("open", tr("vLLM is not installed yet.") + room, tr("Install it."))
    missing = disk.missing
    if missing:
        text = tr("The installed engine lacks: {title}; without it {breaks}.")
        return Step("failed", text.format(title=missing[0].title, breaks=missing[0].breaks), tr("Install it again."))
    version = disk.spec.pins.get("vllm", "")
    return Step("done", tr("vLLM {version} is installed.").format(version=version))


def checkpoint_step(entry: CatalogueEntry, folder: Path, *, there: bool) -> Step:
    if there:
        return Step("done", tr("{title} is there: {folder}").format(title=entry.title, folder=folder))
    text = tr("{title} is not there yet: {gb:.1f} GB from {repo}.")
    return Step("open", text.format(title=entry.title, gb=entry.bytes / 1e9, repo=entry.repo), tr("Fetch it."))


def not_needed() -> Step:
    return Step("done", tr("Not needed: the embedded engine is part of the program."))


def is_embedded(result: PlanResult | None) -> bool:
    return isinstance(result, LaunchPlan) and result.checkpoint == "embedded"
