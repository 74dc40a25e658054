"""The checklist of fixes against small trees that look like an installed engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from launch_helpers import MODEL, UTILS, install, machine, planned

from engine.domain.plan import Flag
from engine.errors import InputError, UserError
from engine.launch.fixes import FixResult, check_fixes, needed, require
from engine.launch.proof import Evidence, InstalledEngine, parse_version


def change(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / "vllm" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def checklist(folder: Path, name: str = "2x3090-pcie") -> dict[str, FixResult]:
    return {result.id: result for result in check_fixes(planned(machine(name)), InstalledEngine(folder))}


def missing(results: dict[str, FixResult]) -> set[str]:
    return {result.id for result in results.values() if result.status == "missing"}


def test_a_whole_engine_proves_everything(tmp_path: Path) -> None:
    results = checklist(install(tmp_path))
    assert {result.id for result in results.values() if result.status == "proven"} == {
        "architecture",
        "dense-pad",
        "moe-pad",
        "sharded-self-conditioning",
        "self-conditioning-dtype",
        "seeded-reads",
        "logprob-race",
        "systemone",
        "transformers",
        "humming",
        "one-sequence",
        "like-cards",
        "constrained-reads",
    }
    assert results["nvfp4-one-card"].status == "not needed"
    assert "0.33.0" in results["dense-pad"].detail
    assert "prepare_fp8_layer_for_marlin" in results["dense-pad"].detail
    require(tuple(results.values()))


def test_every_line_says_what_breaks_and_since_when(tmp_path: Path) -> None:
    results = checklist(install(tmp_path))
    assert all(result.breaks and result.title and result.detail for result in results.values())
    assert results["moe-pad"].first_release == "0.25.0"
    assert "#45703" in results["moe-pad"].upstream


@pytest.mark.parametrize(
    ("file", "old", "new", "lost"),
    [
        (f"{UTILS}/marlin_utils.py", "def marlin_padded_nk", "def other", "dense-pad"),
        (f"{UTILS}/marlin_utils_fp8.py", "return marlin_padded_nk(layer.n, layer.k)", "return None", "dense-pad"),
        (f"{UTILS}/marlin_utils_fp8.py", "return marlin_moe_padded_intermediate(layer.n)", "return None", "moe-pad"),
        (MODEL, "torch.ops.vllm.all_reduce(soft)", "soft", "sharded-self-conditioning"),
        (MODEL, ".to(sc_embeds.dtype)", "  # .to(sc_embeds.dtype)", "self-conditioning-dtype"),
        (MODEL, "class DiffusionGemmaFor", "class Gemma4For", "architecture"),
        ("utils/diffusion.py", "'diffusion_read_only'", "'x'", "seeded-reads"),
        ("entrypoints/generate/structured_decisions/api_router.py", "/v1/systemone", "/v1/other", "systemone"),
    ],
)
def test_a_copy_without_a_fix_is_refused(tmp_path: Path, file: str, old: str, new: str, lost: str) -> None:
    change(install(tmp_path), file, old, new)
    results = checklist(tmp_path)
    assert missing(results) == {lost}
    assert "should have it" in results[lost].detail
    with pytest.raises(UserError) as raised:
        require(tuple(results.values()))
    assert raised.value.code == "launch.fix_missing"
    assert results[lost].title in str(raised.value)


def test_an_old_engine(tmp_path: Path) -> None:
    """0.24.0 as it was: the dense pad, and nothing of what came later."""
    install(tmp_path, version="0.24.0")
    change(tmp_path, f"{UTILS}/marlin_utils.py", "def marlin_moe_padded_intermediate", "def other")
    change(tmp_path, MODEL, "torch.ops.vllm.all_reduce(soft)", "soft")
    change(tmp_path, MODEL, ".to(sc_embeds.dtype)", "")
    (tmp_path / "vllm/utils/diffusion.py").unlink()
    (tmp_path / "vllm/entrypoints/generate/structured_decisions/api_router.py").unlink()
    results = checklist(tmp_path)
    assert missing(results) == {
        *("moe-pad", "sharded-self-conditioning", "self-conditioning-dtype"),
        *("seeded-reads", "logprob-race", "systemone"),
    }
    assert "0.24.0 is older than 0.25.0" in results["moe-pad"].detail
    with pytest.raises(UserError, match="5 more"):
        require(tuple(results.values()))


def test_a_patched_old_engine_counts_by_its_files(tmp_path: Path) -> None:
    assert missing(checklist(install(tmp_path, version="0.24.0"))) == {"logprob-race"}  # only its version could tell


def test_what_a_plan_does_not_need_is_not_asked_for(tmp_path: Path) -> None:
    change(install(tmp_path), f"{UTILS}/marlin_utils.py", "def marlin_", "def other_")
    change(tmp_path, MODEL, "torch.ops.vllm.all_reduce(soft)", "soft")
    assert missing(checklist(tmp_path)) == {"dense-pad", "moe-pad", "sharded-self-conditioning"}
    assert missing(checklist(tmp_path, "2x4090")) == {"sharded-self-conditioning"}  # no Marlin
    assert missing(checklist(tmp_path, "a6000")) == set()  # Marlin, but no shard is padded at one card
    assert missing(checklist(tmp_path, "h100")) == set()


def test_a_mention_in_a_comment_or_docstring_is_no_proof(tmp_path: Path) -> None:
    install(tmp_path)
    (tmp_path / "vllm/utils/diffusion.py").write_text('"""diffusion_seed_canvas"""\n# diffusion_read_only\n')
    engine = InstalledEngine(tmp_path)
    assert not engine.proves(Evidence("utils/diffusion.py", "text", "diffusion_seed_canvas"))
    assert not engine.proves(Evidence("utils/diffusion.py", "text", "diffusion_read_only"))


@pytest.mark.parametrize("content", [b"def broken(:\n", b"\xff\xfe\x00", b"x = '\x00'\n"])
def test_a_damaged_file_proves_nothing(tmp_path: Path, content: bytes) -> None:
    install(tmp_path)
    (tmp_path / "vllm" / MODEL).write_bytes(content)
    assert missing(checklist(tmp_path)) == {"architecture", "sharded-self-conditioning", "self-conditioning-dtype"}


def test_rules_are_read_from_the_plan(tmp_path: Path) -> None:
    engine = InstalledEngine(install(tmp_path))
    found = planned(machine("2x3090-pcie"))

    def broken(**changes: object) -> set[str]:
        changed = replace(found, **changes)  # type: ignore[arg-type]
        return {result.id for result in check_fixes(changed, engine) if result.status == "missing"}

    without = tuple(flag for flag in found.flags if flag.name != "--linear-backend")
    assert broken(flags=without) == {"humming"}
    assert broken(sequences=2) == {"one-sequence"}
    more = tuple(Flag("--max-num-seqs", "4", "") if flag.name == "--max-num-seqs" else flag for flag in found.flags)
    assert broken(flags=more) == {"one-sequence"}
    assert broken(cards=(found.cards[0], replace(found.cards[1], name="NVIDIA RTX A5000"))) == {"like-cards"}
    assert broken(checkpoint="nvfp4") == {"nvfp4-one-card"}


@pytest.mark.parametrize(
    ("version", "status"), [("5.16.0", "missing"), ("5.16.1", "proven"), ("5.20.3", "proven"), ("5.24.0", "missing")]
)
def test_bounds_of_transformers(tmp_path: Path, version: str, status: str) -> None:
    assert checklist(install(tmp_path, transformers=version))["transformers"].status == status


def test_what_vllm_needs_may_lie_elsewhere_on_the_interpreters_path(tmp_path: Path) -> None:
    folder = install(tmp_path / "own", transformers="5.16.1")
    elsewhere = tmp_path / "image"
    elsewhere.mkdir()
    (folder / "transformers-5.16.1.dist-info").rename(elsewhere / "transformers-5.16.1.dist-info")

    def status(engine: InstalledEngine) -> str:
        found = check_fixes(planned(machine("2x3090-pcie")), engine)
        return next(result.status for result in found if result.id == "transformers")

    assert status(InstalledEngine(folder)) == "missing"
    assert status(InstalledEngine(folder, [tmp_path / "gone", elsewhere])) == "proven"


def test_the_embedded_engine_needs_nothing(tmp_path: Path) -> None:
    engine = InstalledEngine(install(tmp_path, version="0.1.0"))
    results = check_fixes(planned(machine("no-gpu")), engine)
    assert list(needed(results)) == []
    require(results)


def test_no_engine_and_no_version(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        InstalledEngine(tmp_path)
    assert str(tmp_path) in str(raised.value)
    install(tmp_path)
    (tmp_path / "vllm-0.33.0.dist-info" / "METADATA").unlink()
    with pytest.raises(InputError, match="version"):
        check_fixes(planned(machine("2x3090-pcie")), InstalledEngine(tmp_path))
    (tmp_path / "vllm" / "_version.py").write_text("__version__ = version = '0.33.1+cu130'\n")
    assert InstalledEngine(tmp_path).version == (0, 33, 1)


def test_versions() -> None:
    assert parse_version("0.33.0+cu130") == (0, 33, 0)
    assert parse_version("0.9.2") < parse_version("0.31.0")
    assert parse_version("unknown") == ()
