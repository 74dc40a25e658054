"""Verifying, repairing and removing an environment."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtime_helpers import Heard, StandIn, refused
from wheel_helpers import STAND_INS, Wheel, build

from engine.runtime.create import create
from engine.runtime.files import find_damage
from engine.runtime.places import MARK, Environment, Mark, read_mark, set_state, write_mark
from engine.runtime.remove import remove, remove_helpers
from engine.runtime.repair import repair
from engine.runtime.spec import load_spec
from engine.runtime.status import find_environment, list_environments
from engine.runtime.verify import verify


@pytest.fixture
async def made(stand_in: StandIn) -> Environment:
    return await create(stand_in.order())


async def test_a_whole_environment_verifies(stand_in: StandIn, made: Environment) -> None:
    seen = await verify(made, stand_in.spec, contents=True)
    assert seen.good
    assert seen.versions == {"torch": "2.14.0", "transformers": "5.20.2", "vllm": "0.33.0"}
    assert seen.cuda == "13.0"
    assert seen.headers
    assert seen.damage == ()
    assert seen.compiles is not False


async def test_without_a_compiler_the_environment_is_good_and_says_so(
    stand_in: StandIn, made: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    seen = await verify(made, stand_in.spec)
    assert seen.good
    assert (seen.gcc, seen.compiles) == ("", None)
    assert [finding.code for finding in seen.findings] == ["env.gcc"]


async def test_a_compiler_that_fails_is_named(
    stand_in: StandIn, made: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = tmp_path / "gcc"
    gcc.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'gcc 99' && exit 0\nexit 1\n")
    gcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    seen = await verify(made, stand_in.spec)
    assert (seen.gcc, seen.compiles) == ("gcc 99", False)
    assert [finding.code for finding in seen.findings] == ["env.compile"]


async def test_sizes_are_compared_always_and_contents_when_asked(stand_in: StandIn, made: Environment) -> None:
    data = made.site_packages / "ballast/data.bin"
    content = data.read_bytes()
    data.write_bytes(b"\xff" + content[1:])
    assert (await verify(made, stand_in.spec)).damage == ()
    found = (await verify(made, stand_in.spec, contents=True)).damage
    assert [(one.package, one.what) for one in found] == [("ballast", "has other contents")]
    data.write_bytes(content[:-1])
    seen = await verify(made, stand_in.spec)
    assert "1,048,575 bytes instead of 1,048,576" in str(seen.damage[0])
    assert not seen.good


async def test_another_version_of_an_imported_module_is_not_right(stand_in: StandIn, made: Environment) -> None:
    (made.site_packages / "torch/__init__.py").write_text("__version__ = '2.13.0'\nclass version: cuda = '13.0'\n")
    seen = await verify(made, stand_in.spec)
    assert {finding.code for finding in seen.findings} == {"env.version", "env.damaged"}
    assert "torch is 2.13.0, the lock says 2.14.0" in {finding.text for finding in seen.findings}


async def test_a_module_that_prints_and_leaves_threads_does_not_disturb(stand_in: StandIn) -> None:
    code = b"import threading, time\nprint('hello {')\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
    noisy = Wheel("vllm", "0.33.0", {"vllm/__init__.py": b"__version__ = '0.33.0'\n" + code})
    stand_in.relock(*STAND_INS[1:], noisy)
    assert (await create(stand_in.order())).mark.versions["vllm"] == "0.33.0"


async def test_repair_of_a_whole_environment_changes_nothing(
    stand_in: StandIn, made: Environment, heard: Heard
) -> None:
    done = await repair(stand_in.order(), heard)
    assert (done.how, done.damage) == ("whole", ())
    assert heard.phases == ["files", "verify"]


async def test_repair_fetches_what_is_damaged_and_only_that(stand_in: StandIn, made: Environment) -> None:
    data, module = made.site_packages / "ballast/data.bin", made.site_packages / "torch/__init__.py"
    data.write_bytes(b"\xff" + data.read_bytes()[1:])
    module.unlink()
    untouched = (made.site_packages / "vllm/__init__.py").stat().st_ino
    done = await repair(stand_in.order())
    assert done.how == "packages"
    assert {one.package for one in done.damage} == {"ballast", "torch"}
    assert find_damage(made.path, made.site_packages, stand_in.spec, contents=True) == ()
    assert (made.site_packages / "vllm/__init__.py").stat().st_ino == untouched
    assert find_environment(stand_in.spec, stand_in.places) is not None
    assert not stand_in.places.cache.exists()


@pytest.mark.parametrize("lost", ["torch-2.14.0.dist-info", "torch-2.14.0.dist-info/RECORD", "vllm"])
async def test_repair_brings_back_what_was_removed(stand_in: StandIn, made: Environment, lost: str) -> None:
    target = made.site_packages / lost
    subprocess.run(["rm", "-r", target], check=True)  # noqa: ASYNC221
    assert (await repair(stand_in.order())).how == "packages"
    assert target.exists()
    assert (await verify(made, stand_in.spec, contents=True)).good


async def test_repair_does_not_take_damage_from_the_cache(stand_in: StandIn, made: Environment) -> None:
    """A cache that was kept holds the very file that is damaged, under another name."""
    data = made.site_packages / "ballast/data.bin"
    archive = stand_in.places.cache / "archive-v0/x/ballast"
    archive.mkdir(parents=True)
    os.link(data, archive / "data.bin")
    data.write_bytes(b"\xff" + data.read_bytes()[1:])
    await repair(stand_in.order())
    assert find_damage(made.path, made.site_packages, stand_in.spec, contents=True) == ()


async def test_a_repair_that_was_killed_is_begun_again(stand_in: StandIn, made: Environment) -> None:
    set_state(made.path, made.mark, "repairing")
    (made.site_packages / "torch/__init__.py").unlink()
    assert (await repair(stand_in.order())).environment.mark.state == "complete"


async def test_without_its_python_the_environment_is_made_anew(stand_in: StandIn, made: Environment) -> None:
    (made.path / "bin/python").unlink()
    done = await repair(stand_in.order())
    assert done.how == "rebuilt"
    assert (await verify(done.environment, stand_in.spec)).good


async def test_repair_and_removal_leave_a_running_engine_alone(stand_in: StandIn, made: Environment) -> None:
    running = await asyncio.create_subprocess_exec(
        str(made.python), "-c", "input()", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        with refused("env.in_use") as caught:
            await repair(stand_in.order())
        assert caught.value.params["pid"] == running.pid
        with refused("env.in_use"):
            remove(stand_in.places, made.path.name)
    finally:
        running.kill()
        await running.communicate()
    assert find_environment(stand_in.spec, stand_in.places) is not None


async def test_a_process_with_a_title_of_its_own_is_seen_by_its_libraries(stand_in: StandIn, made: Environment) -> None:
    """vLLM's workers overwrite their command lines."""
    code = f"import mmap; file = open({str(made.site_packages / 'ballast/data.bin')!r}, 'rb'); " + (
        "held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ); print(flush=True); input()"
    )
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert running.stdout is not None
    try:
        await running.stdout.readline()
        with refused("env.in_use"):
            remove(stand_in.places, made.path.name)
    finally:
        running.kill()
        await running.communicate()


async def test_there_must_be_something_to_repair(stand_in: StandIn) -> None:
    with refused("env.none"):
        await repair(stand_in.order())


async def test_removal_takes_the_environment_and_nothing_else(stand_in: StandIn, made: Environment) -> None:
    other = stand_in.places.root / "my-own-venv"
    other.mkdir()
    remove(stand_in.places, made.path.name)
    assert not made.path.exists()
    assert other.is_dir()
    assert list_environments(stand_in.places) == []


def marked(folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_mark(folder, Mark(folder.name, "complete", "0" * 64, "2026-01-01T00:00:00+00:00"))
    return folder


def test_only_folders_with_our_mark_are_removed(stand_in: StandIn) -> None:
    folder = stand_in.places.root / "my-own-venv"
    (folder / "bin").mkdir(parents=True)
    for mark in (None, "{}", "[1", json.dumps({"schema_version": 99})):
        if mark is not None:
            (folder / MARK).write_text(mark)
        with refused("env.not_ours"):
            remove(stand_in.places, "my-own-venv")
        assert (folder / "bin").is_dir()


def test_a_link_to_an_environment_is_not_followed(stand_in: StandIn, tmp_path: Path) -> None:
    elsewhere = marked(tmp_path / "elsewhere")
    stand_in.places.root.mkdir()
    (stand_in.places.root / "link").symlink_to(elsewhere)
    with refused("env.not_ours"):
        remove(stand_in.places, "link")
    assert read_mark(elsewhere) is not None


@pytest.mark.parametrize("name", ["", ".", "..", "../outside", "a/b", "nothing"])
def test_names_cannot_leave_the_folder(stand_in: StandIn, name: str) -> None:
    marked(stand_in.places.root.parent / "outside")
    marked(stand_in.places.root / "a" / "b")
    with refused("env.unknown"):
        remove(stand_in.places, name)


def test_links_inside_are_removed_not_followed(stand_in: StandIn, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    folder = marked(stand_in.places.root / "one")
    (folder / "link").symlink_to(precious)
    remove(stand_in.places, "one")
    assert (precious / "file").read_text() == "kept"


def test_a_removal_that_was_killed_can_be_finished(stand_in: StandIn) -> None:
    half = marked(stand_in.places.root / "one.removing")
    (half / "rest").write_text("")
    again = marked(stand_in.places.root / "one")
    assert [found.path.name for found in list_environments(stand_in.places)] == ["one", "one.removing"]
    remove(stand_in.places, "one")
    assert not half.exists()
    assert not again.exists()


def test_the_cache_stays_while_something_is_half_made(stand_in: StandIn) -> None:
    marked(stand_in.places.root / "one")
    half = marked(stand_in.places.root / "two.partial")
    mark = read_mark(half)
    assert mark is not None
    set_state(half, mark, "partial")
    stand_in.places.cache.mkdir()
    remove(stand_in.places, "one")
    assert stand_in.places.cache.is_dir()
    remove(stand_in.places, "two.partial")
    assert not stand_in.places.cache.exists()


def test_the_last_environment_takes_the_helpers_with_it(stand_in: StandIn) -> None:
    marked(stand_in.places.root / "one")
    for folder in (stand_in.places.cache, stand_in.places.pythons, stand_in.places.own_uv):
        folder.mkdir()
    remove_helpers(stand_in.places)
    assert stand_in.places.pythons.is_dir()
    assert not stand_in.places.cache.exists()
    remove(stand_in.places, "one")
    remove_helpers(stand_in.places)
    assert not stand_in.places.pythons.exists()
    assert not stand_in.places.own_uv.exists()


async def test_two_wheels_that_write_one_path_are_both_right(stand_in: StandIn) -> None:
    first = Wheel("first", "1.0", {"shared.py": b"1\n"})
    second = Wheel("second", "1.0", {"shared.py": b"22\n"})
    stand_in.relock(*STAND_INS, first, second)
    made = await create(stand_in.order())
    shared = made.site_packages / "shared.py"
    for content, harm in ((b"1\n", 0), (b"22\n", 0), (b"333\n", 1)):
        shared.write_bytes(content)
        assert len(find_damage(made.path, made.site_packages, stand_in.spec, contents=True)) == harm


async def test_a_record_that_lies_is_put_right_by_the_facts(stand_in: StandIn) -> None:
    """As one wheel of the real lock does: sizes of its own files are wrong in its RECORD."""
    lying = Wheel("lying", "1.0", {"lying.bin": b"abc"}, recorded={"lying.bin": b"abcdef"})
    build(lying, stand_in.wheels)
    stand_in.relock(*STAND_INS, lying)
    with refused("env.not_right"):
        await create(stand_in.order())
    truth = ["sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0", 3]
    stand_in.relock(*STAND_INS, lying, record_exceptions={"lying.bin": truth})
    made = await create(stand_in.order())
    spec = load_spec(stand_in.lock)
    assert find_damage(made.path, made.site_packages, spec, contents=True) == ()
