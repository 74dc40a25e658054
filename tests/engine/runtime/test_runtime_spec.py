"""Locks: what they must hold; and the real one, which is resolved anew and, when asked for, installed in full."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from runtime_helpers import Heard, StandIn, refused

from engine.hardware.findings_host import ENGINE_GLIBC
from engine.runtime.create import Order, create
from engine.runtime.places import default_places
from engine.runtime.progress import tree_bytes
from engine.runtime.remove import remove
from engine.runtime.spec import default_lock, load_spec
from engine.runtime.verify import verify


def test_every_pin_of_the_real_lock_has_hashes_and_no_host_is_named() -> None:
    text = default_lock().read_text()
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert len(blocks) == len(load_spec().pins) == 199
    for block in blocks:
        assert re.match(r"[a-z0-9-]+==\S+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\\n|$))+$", block), block[:80]
    assert "://" not in text


def test_the_real_lock_and_its_facts_belong_together() -> None:
    spec = load_spec()
    assert spec.id.startswith("vllm-0.33.0-")
    assert (spec.pins["vllm"], spec.pins["torch"]) == ("0.33.0", "2.14.0")
    assert spec.pythons == ("3.12", "3.13")
    assert spec.glibc == (2, 31) == ENGINE_GLIBC  # the finding before the download says the same
    assert spec.download_bytes is not None
    assert spec.unpacked_bytes is not None
    assert 4e9 < spec.download_bytes < spec.unpacked_bytes < 12e9
    assert len(spec.exceptions) == 4


def test_the_lock_meets_what_it_is_made_from(root: Path) -> None:
    wanted = [line for line in (root / "packaging/engine.in").read_text().splitlines() if not line.startswith("#")]
    pins = load_spec().pins
    for line in wanted:
        name, operator, version = re.split(r"(==|>=)", line)
        found = pins[name]
        assert found == version if operator == "==" else int(found.split(".")[0]) >= int(version), line


def test_facts_of_another_lock_do_not_count(stand_in: StandIn) -> None:
    assert stand_in.spec.id.startswith("stand-in-")
    stand_in.lock.write_text(stand_in.lock.read_text() + "# a comment\n")
    assert stand_in.spec.id.startswith("engine-")
    assert stand_in.spec.unpacked_bytes is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("torch==2.14.0\n", "env.lock_line"),
        ("torch>=2 --hash=sha256:" + "0" * 64, "env.lock_line"),
        ("--index-url somewhere\n", "env.lock_line"),
        ("torch==2.14.0 --hash=sha256:12\n", "env.lock_line"),
        ("# nothing\n\n", "env.lock_empty"),
    ],
)
def test_a_lock_without_hashes_is_none(tmp_path: Path, text: str, code: str) -> None:
    lock = tmp_path / "engine.lock"
    lock.write_text(text)
    with refused(code):
        load_spec(lock)


def test_a_lock_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused("env.lock_unreadable") as caught:
        load_spec(tmp_path / "nothing.lock")
    assert "nothing.lock" in caught.value.message


@pytest.mark.network
@pytest.mark.parametrize("minor", ["3.12", "3.13"])
def test_the_real_lock_resolves_to_itself(root: Path, tmp_path: Path, minor: str) -> None:
    uv = shutil.which("uv") or str(root / ".desk/uv/bin/uv")
    if not Path(uv).exists():
        pytest.skip("uv is not here")
    constraints = tmp_path / "pins"
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in load_spec().pins.items()))
    done = subprocess.run(
        [
            *(uv, "pip", "compile", "-q", "--generate-hashes", "--no-emit-index-url", "--no-annotate", "--no-header"),
            *("--only-binary", ":all:", "--python-version", minor, "--python-platform", "x86_64-manylinux_2_31"),
            *("-c", constraints, root / "packaging/engine.in"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and re.search(r"dns|connect|offline|timed? out", done.stderr, re.IGNORECASE):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    locked = dict(re.findall(r"^(\S+)==(\S+)", default_lock().read_text(), re.MULTILINE))
    assert dict(re.findall(r"^(\S+)==(\S+)", done.stdout, re.MULTILINE)) == locked


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.timeout(7200)
@pytest.mark.usefixtures("uv_on_path")
async def test_the_real_environment_is_made_in_full(heard: Heard) -> None:
    """4.3 GB over the network, 9.3 GB on the disk; on a machine without a GPU too."""
    spec, places = load_spec(), default_places()
    made = await create(Order(spec, places), heard)
    assert spec.unpacked_bytes is not None
    assert made.mark.bytes == pytest.approx(spec.unpacked_bytes, rel=0.01)
    assert tree_bytes(made.path) < spec.unpacked_bytes + 1_000_000_000  # what the check of the disk allows for
    seen = await verify(made, spec, contents=True)
    assert seen.good, seen.findings
    assert seen.versions["vllm"] == "0.33.0"
    assert heard.phases == ["checks", "uv", "python", "fetch", "install", "files", "verify"]
    remove(places, made.path.name)
