"""Whether an environment works: its modules are imported in a child, its files compared, its compiler tried."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.domain.hardware import Finding
from engine.errors import UserError
from engine.runtime.files import Damage, Scan, find_damage, public
from engine.runtime.places import Environment
from engine.runtime.progress import EnvironmentProgress, Listener, Quiet
from engine.runtime.spec import EnvironmentSpec
from engine.supervise.program import ProgramEnd, run_program

MODULES = ("torch", "transformers", "vllm")  # vllm last: it imports the others
IMPORT_S = 900.0  # the first import compiles bytecode; from a slow disk that takes minutes
COMPILE_S = 60.0
TICK_S = 0.5
# Only what the import itself must not do: ask the hub, tell its vendor, claim a card.
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "VLLM_LOGGING_LEVEL": "ERROR",
}
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        versions: of the modules that could be imported.
        errors: of those that could not.
        cuda: that torch was built for.
        headers: Python.h is there.
        gcc: first line of its version, or "".
        compiles: gcc compiled a file that includes Python.h; None without one of the two.
        damage: of files and packages.
    """

    environment: Path
    python: str
    versions: Mapping[str, str]
    errors: Mapping[str, str]
    cuda: str
    headers: bool
    gcc: str
    compiles: bool | None
    damage: tuple[Damage, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def good(self) -> bool:
        """Nothing is wrong with the environment itself; a compiler that is missing is the machine's."""
        return not any(finding.severity == "blocker" for finding in self.findings)


async def verify(
    environment: Environment, spec: EnvironmentSpec, *, contents: bool = False, listener: Listener | None = None
) -> Verification:
    """Look at an environment. Call from the main thread.

    Args:
        contents: compare the hash of every file, else sizes only.
        listener: hears of the progress; warnings come to it as notes.

    Raises:
        UserError: the child does not end.
    """
    heard = listener or Quiet()
    damage = await compare(environment, spec, contents=contents, listener=heard)
    count = len(spec.pins)
    heard.progress(EnvironmentProgress("verify", count, count, spec.unpacked_bytes or 0, spec.unpacked_bytes))
    told = await _imports(environment, spec)
    gcc, compiles = await _compiler(told["include"])
    seen = Verification(
        environment=environment.path,
        python=told["python"],
        versions=told["versions"],
        errors=told["errors"],
        cuda=told["cuda"],
        headers=bool(told["include"]),
        gcc=gcc,
        compiles=compiles,
        damage=damage,
    )
    findings = tuple(_findings(seen, spec))
    for finding in findings:
        if finding.severity == "warning":
            heard.note(f"{finding.text}; {finding.remedy}")
    return replace(seen, findings=findings)


async def compare(
    environment: Environment, spec: EnvironmentSpec, *, contents: bool, listener: Listener
) -> tuple[Damage, ...]:
    """:func:`find_damage` in threads, with progress; cancelling ends it soon."""
    scan = Scan()
    try:
        async with asyncio.TaskGroup() as tasks:
            ticking = tasks.create_task(_tick(scan, len(spec.pins), listener))
            damage = await asyncio.to_thread(
                find_damage, environment.path, environment.site_packages, spec, contents=contents, scan=scan
            )
            ticking.cancel()
        return damage
    finally:
        scan.stopped = True


async def _tick(scan: Scan, packages: int, listener: Listener) -> None:
    began = time.monotonic()
    while True:
        elapsed = time.monotonic() - began
        rate = scan.done / elapsed if elapsed > 0 else 0.0
        eta = (scan.total - scan.done) / rate if rate > 0 else None
        listener.progress(EnvironmentProgress("files", 0, packages, scan.done, scan.total or None, rate, eta, elapsed))
        await asyncio.sleep(TICK_S)


async def _imports(environment: Environment, spec: EnvironmentSpec) -> dict[str, Any]:
    modules = [name for name in MODULES if name in spec.pins]
    script = Path(__file__).with_name("probe_script.py")
    end = await run_program([str(environment.python), "-I", str(script), *modules], timeout_s=IMPORT_S, env=_QUIET)
    told = _last_json(end)
    if told is None:
        lines = (end.errors.strip() or end.output.strip()).splitlines()[-3:]
        why = f"the import ended with code {end.code}" + (f": {' / '.join(lines)}" if lines else "")
        return {"python": "", "include": "", "versions": {}, "errors": {"python": why}, "cuda": ""}
    return told


def _last_json(end: ProgramEnd) -> dict[str, Any] | None:
    lines = end.output.strip().splitlines()
    try:
        told = json.loads(lines[-1])
    except (IndexError, ValueError):
        return None
    return told if isinstance(told, dict) and "versions" in told else None


async def _compiler(include: str) -> tuple[str, bool | None]:
    """gcc's version, and whether it compiles against the headers, as Triton lets it do."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return "", None
    end = await run_program([gcc, "--version"], timeout_s=COMPILE_S)
    version = end.output.splitlines()[0] if end.code == 0 and end.output else ""
    if not version or not include:
        return version, None
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "probe.c", Path(scratch) / "probe.so"
        source.write_text("#include <Python.h>\nint probe(void) { return PY_MAJOR_VERSION; }\n")
        end = await run_program(
            [gcc, "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(target)], timeout_s=COMPILE_S
        )
    return version, end.code == 0


def _findings(seen: Verification, spec: EnvironmentSpec) -> Iterator[Finding]:
    for name, why in seen.errors.items():
        yield Finding("env.import", "blocker", f"{name} cannot be imported: {why}", "repair the environment")
    for name, version in seen.versions.items():
        if public(version) != public(spec.pins[name]):
            text = f"{name} is {version or 'of no version'}, the lock says {spec.pins[name]}"
            yield Finding("env.version", "blocker", text, "repair the environment")
    for damage in seen.damage[:_SHOWN]:
        yield Finding("env.damaged", "blocker", str(damage), "repair the environment")
    if len(seen.damage) > _SHOWN:
        more = len(seen.damage) - _SHOWN
        yield Finding("env.damaged", "blocker", f"{more} more files or packages", "repair the environment")
    yield from _machine_findings(seen)


def _machine_findings(seen: Verification) -> Iterator[Finding]:
    if seen.python and not seen.headers:
        minor = ".".join(seen.python.split(".")[:2])
        text = f"Python.h of Python {seen.python} is missing; the engine compiles a helper against it when it starts"
        yield Finding("env.headers", "warning", text, f"install it (on Debian and Ubuntu: python{minor}-dev)")
    if not seen.gcc:
        text = "there is no gcc; the engine compiles a helper with it when it starts"
        yield Finding("env.gcc", "warning", text, "install it (on Debian and Ubuntu: gcc and libc6-dev)")
    elif seen.compiles is False:
        text = f"gcc ({seen.gcc}) cannot compile a file that includes Python.h"
        yield Finding("env.compile", "warning", text, "install the C library's headers (Debian, Ubuntu: libc6-dev)")


def unusable(seen: Verification, remedy: str) -> UserError:
    """The error of an environment that does not work."""
    blockers = [finding.text for finding in seen.findings if finding.severity == "blocker"]
    return UserError(
        "env.not_right",
        "the engine's environment in {folder} does not work: {what}",
        remedy=remedy,
        folder=seen.environment,
        what="; ".join(blockers),
    )
