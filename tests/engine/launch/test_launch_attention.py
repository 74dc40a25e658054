"""The attention backend of a plan for an installed engine: its own choice where that can work, else Triton."""

from __future__ import annotations

from pathlib import Path

import pytest
from launch_helpers import flag, install, machine, planned

from engine.launch.attention import fitted, lacking
from engine.launch.proof import InstalledEngine

PARTS = {
    "vllm/vllm_flash_attn/cute/interface.py": "interface.py",
    "vllm/vllm_flash_attn/_vllm_fa2_C.abi3.so": "extension",
    "nvidia_cutlass_dsl-4.8.0.dist-info/METADATA": "nvidia-cutlass-dsl",
    "quack_kernels-0.6.5.dist-info/METADATA": "quack-kernels",
}


def engine(folder: Path, without: str = "") -> InstalledEngine:
    install(folder)
    for name in PARTS:
        path = folder / name
        if name == without:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        version = path.parent.name.removesuffix(".dist-info").rpartition("-")[2]
        path.write_text(f"Metadata-Version: 2.4\nVersion: {version}\n")
    return InstalledEngine(folder)


@pytest.mark.parametrize("name", ["h100", "h200", "8xh100", "b200"])
def test_a_whole_engine_chooses_itself(tmp_path: Path, name: str) -> None:
    found = planned(machine(name))
    assert flag(found, "--attention-backend") is None
    assert lacking(engine(tmp_path)) == ()
    assert fitted(found, engine(tmp_path / "again")) == found


@pytest.mark.parametrize("part", PARTS)
def test_without_any_part_triton_is_named_with_its_reason(tmp_path: Path, part: str) -> None:
    found = fitted(planned(machine("h200")), engine(tmp_path, without=part))
    assert flag(found, "--attention-backend") == "TRITON_ATTN"
    (chosen,) = (entry for entry in found.flags if entry.name == "--attention-backend")
    assert PARTS[part] in chosen.reason
    assert any("Triton" in note for note in found.notes)
    assert fitted(found, engine(tmp_path / "again", without=part)) == found


def test_either_extension_will_do(tmp_path: Path) -> None:
    found = engine(tmp_path, without="vllm/vllm_flash_attn/_vllm_fa2_C.abi3.so")
    assert len(lacking(found)) == 1
    (found.root / "vllm_flash_attn" / "_vllm_fa3_C.abi3.so").write_text("")
    assert lacking(found) == ()


def test_a_plan_that_names_one_keeps_it(tmp_path: Path) -> None:
    found = planned(machine("2x3090-pcie"))
    assert flag(found, "--attention-backend") == "TRITON_ATTN"
    assert fitted(found, InstalledEngine(install(tmp_path))) == found
