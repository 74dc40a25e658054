"""Our parts in a plan: where they come in, where not, and that the engine's interpreter finds them and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from launch_helpers import flag, install, machine, planned

from engine.domain.plan import EnvVar, Flag, LaunchPlan
from engine.launch.command import environment, shell_line
from engine.launch.fixes import check_fixes
from engine.launch.plugin import FLAG, has_tiles, on_path, with_parts, without_parts
from engine.launch.proof import InstalledEngine
from engine.vllm_plugin.protocol import ARCHITECTURE, MODEL_CLASS, PARTS_VARIABLE


@pytest.fixture
def engine(tmp_path: Path) -> InstalledEngine:
    return InstalledEngine(install(tmp_path))


@pytest.fixture
def bare() -> LaunchPlan:
    return planned(machine("2x3090-pcie"))


def variable(plan: LaunchPlan, name: str) -> str | None:
    return next((entry.value for entry in plan.env if entry.name == name), None)


def test_a_plan_gets_the_flag_and_the_variables_with_their_reasons(bare: LaunchPlan, engine: InstalledEngine) -> None:
    plan = with_parts(bare, engine)
    assert json.loads(flag(plan, FLAG) or "") == {ARCHITECTURE: MODEL_CLASS}
    assert variable(plan, PARTS_VARIABLE) == "tiles,reads,live"
    assert variable(plan, "PYTHONPATH") == str(on_path())
    added = [entry for entry in (*plan.flags, *plan.env) if entry not in (*bare.flags, *bare.env)]
    assert len(added) == 3
    assert all(entry.reason for entry in added)
    assert with_parts(plan, engine) == plan
    assert FLAG in shell_line(plan, "python", "/models", 8042)
    assert environment(plan, base={"PYTHONPATH": "/theirs"})["PYTHONPATH"] == str(on_path())


def test_a_path_of_the_engine_stays_behind_ours(bare: LaunchPlan, engine: InstalledEngine) -> None:
    plan = with_parts(replace(bare, env=(*bare.env, EnvVar("PYTHONPATH", "/opt/site", ""))), engine)
    assert variable(plan, "PYTHONPATH") == f"{on_path()}{os.pathsep}/opt/site"
    assert [entry.name for entry in plan.env].count("PYTHONPATH") == 1


def test_the_user_names_the_parts(bare: LaunchPlan, engine: InstalledEngine) -> None:
    plan = with_parts(replace(bare, env=(*bare.env, EnvVar(PARTS_VARIABLE, "live,reads", ""))), engine)
    assert variable(plan, PARTS_VARIABLE) == "live,reads"
    assert flag(plan, FLAG)


@pytest.mark.parametrize("said", [None, ""])
def test_stock_stays_stock(bare: LaunchPlan, engine: InstalledEngine, said: str | None) -> None:
    plan = replace(bare, env=(*bare.env, EnvVar(PARTS_VARIABLE, said, "")))
    assert with_parts(plan, engine) == plan


def test_parts_are_taken_out_again_and_stay_out(bare: LaunchPlan, engine: InstalledEngine) -> None:
    stock = without_parts(with_parts(bare, engine), "they failed")
    assert (stock.flags, variable(stock, "PYTHONPATH")) == (bare.flags, None)
    assert EnvVar(PARTS_VARIABLE, None, "they failed") in stock.env
    assert PARTS_VARIABLE not in environment(stock, base={PARTS_VARIABLE: "live"})
    assert with_parts(stock, engine) == stock
    theirs = replace(bare, env=(*bare.env, EnvVar("PYTHONPATH", "/opt/site", "")))
    assert variable(without_parts(with_parts(theirs, engine), "they failed"), "PYTHONPATH") == "/opt/site"
    own = replace(bare, flags=(*bare.flags, Flag(FLAG, '{"X":"somebody:Class"}', "")))
    assert without_parts(own, "they failed").flags == own.flags


@pytest.mark.parametrize("parts", ["tiles", "reads, tiles ,live", None, "", "live,reads", "unset"])
def test_without_the_part_tiles_several_cards_take_one_request_at_a_time(
    engine: InstalledEngine, parts: str | None
) -> None:
    several = planned(machine("2x3090-pcie"), profile="decisions")
    assert several.sequences == 6
    named = () if parts == "unset" else (EnvVar(PARTS_VARIABLE, parts, "given"),)
    plan = with_parts(replace(several, env=(*several.env, *named)), engine)
    wanted = 6 if parts == "unset" or "tiles" in (parts or "") else 1
    assert (plan.sequences, flag(plan, "--max-num-seqs")) == (wanted, str(wanted))
    assert has_tiles(plan) == (wanted == 6)
    assert {result.status for result in check_fixes(plan, engine) if result.id == "one-sequence"} == {"proven"}
    stock = without_parts(plan, "they failed")
    assert (stock.sequences, flag(stock, "--max-num-seqs"), has_tiles(stock)) == (1, "1", False)


def test_somebodys_own_class_has_no_tiles_of_ours(engine: InstalledEngine) -> None:
    several = planned(machine("2x3090-pcie"), profile="decisions")
    own = replace(several, flags=(*several.flags, Flag(FLAG, '{"X":"somebody:Class"}', "")))
    assert with_parts(own, engine).sequences == 1
    assert with_parts(with_parts(several, engine), engine).sequences == 6


def test_one_card_takes_several_requests_whatever_the_parts(engine: InstalledEngine) -> None:
    one = planned(machine("a6000"), profile="decisions")
    stock = with_parts(replace(one, env=(*one.env, EnvVar(PARTS_VARIABLE, None, ""))), engine)
    assert stock.sequences == one.sequences == 7


@pytest.mark.parametrize("version", ["0.31.0", "0.34.0", "1.33.0"])
def test_another_release_runs_stock(bare: LaunchPlan, tmp_path: Path, version: str) -> None:
    site = install(tmp_path)
    for metadata in site.glob("vllm-*.dist-info"):
        renamed = metadata.rename(site / f"vllm-{version}.dist-info")
        (renamed / "METADATA").write_text(f"Metadata-Version: 2.4\nName: vllm\nVersion: {version}\n")
    (site / "vllm" / "_version.py").write_text(f"version = '{version}'\n")
    engine = InstalledEngine(site)
    assert engine.version_text == version
    assert with_parts(bare, engine) == bare
    assert with_parts(planned(machine("2x3090-pcie"), profile="decisions"), engine).sequences == 1


def test_the_path_shows_our_parts_and_none_of_our_libraries() -> None:
    """With ``-I -S`` and that folder alone: the package is found, its rooms are, our site-packages is not."""
    look = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import importlib.util as u; from engine.vllm_plugin import parts, protocol;"
        "print(protocol.MODEL_CLASS, u.find_spec('engine.vllm_plugin.model') is not None, u.find_spec('pydantic'),"
        "u.find_spec('app'), sorted(name for name in sys.modules if name.startswith('engine')))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", look, str(on_path())],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    modules = ["engine", "engine.vllm_plugin", "engine.vllm_plugin.parts", "engine.vllm_plugin.protocol"]
    assert ran.stdout.strip() == f"{MODEL_CLASS} True None None {modules}"
