"""Small wheels and a lock of them: a stand-in for the gigabytes of the real engine, installed by the real uv."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Wheel:
    """A wheel to be built; ``files`` are relative to site-packages; ``recorded`` is what RECORD says instead."""

    name: str
    version: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}-py3-none-any.whl"


def module(name: str, version: str, code: str = "") -> Wheel:
    """A package of one module that knows its version."""
    return Wheel(name, version, {f"{name}/__init__.py": f"__version__ = {version!r}\n{code}".encode()})


STAND_INS = (
    module("vllm", "0.33.0", "import torch, transformers"),
    module("torch", "2.14.0", "class version: cuda = '13.0'"),
    module("transformers", "5.20.2"),
    Wheel("ballast", "1.0", {"ballast/__init__.py": b"", "ballast/data.bin": bytes(range(256)) * 4096}),
)


def build(wheel: Wheel, folder: Path) -> Path:
    """Write a wheel (PEP 427)."""
    info = f"{wheel.name}-{wheel.version}.dist-info"
    files = {
        **wheel.files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {wheel.name}\nVersion: {wheel.version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if wheel.scripts:
        lines = [f"{name} = {target}" for name, target in wheel.scripts.items()]
        files[f"{info}/entry_points.txt"] = "\n".join(["[console_scripts]", *lines, ""]).encode()
    told = {**files, **wheel.recorded}
    record = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in told.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / wheel.file_name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return path


def write_lock(wheels: Iterable[Wheel], folder: Path, lock: Path, *, facts: Mapping[str, object] | None = None) -> Path:
    """Build wheels into ``folder`` and write a lock of them, with the figures that ``facts`` gives."""
    lines = []
    for wheel in wheels:
        digest = hashlib.sha256(build(wheel, folder).read_bytes()).hexdigest()
        lines.append(f"{wheel.name}=={wheel.version} \\\n    --hash=sha256:{digest}\n")
    lock.write_text("".join(lines))
    known = {"lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest(), "title": "stand-in", **(facts or {})}
    lock.with_name("engine.json").write_text(json.dumps(known))
    return lock


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
