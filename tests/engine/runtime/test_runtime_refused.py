"""What stands in the way of an environment: system, disk, Python, uv, and everything that uv may meet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from index_helpers import served
from runtime_helpers import HOST, MINOR, Heard, StandIn, refused
from wheel_helpers import STAND_INS, Wheel, build

from engine.domain.hardware import Host
from engine.errors import UserError
from engine.runtime.checks import check_host
from engine.runtime.create import create
from engine.runtime.failures import failure
from engine.runtime.places import Places
from engine.runtime.python import look_at
from engine.runtime.status import find_environment
from engine.runtime.uv import UV_VERSION, Source, find_uv


async def test_a_disk_that_is_too_small_is_refused_before_the_first_byte(stand_in: StandIn, heard: Heard) -> None:
    stand_in.relock(unpacked_bytes=10**17)
    with refused("env.disk") as caught:
        await create(stand_in.order(), heard)
    assert heard.phases == ["checks"]
    assert caught.value.params["needed"] == 10**17 + 1_000_000_000
    assert "100000001.0 GB more" in caught.value.message
    assert not stand_in.places.partial(stand_in.spec.id).exists()


async def test_what_is_there_already_counts_as_room(stand_in: StandIn) -> None:
    stand_in.relock(unpacked_bytes=10**17)
    stand_in.places.cache.mkdir(parents=True)
    (stand_in.places.cache / "wheel").write_bytes(bytes(1000))
    with refused("env.disk") as caught:
        await create(stand_in.order())
    assert caught.value.params["needed"] == 10**17 + 1_000_000_000 - 1000


@pytest.mark.parametrize(
    ("host", "code"),
    [
        (Host(architecture="aarch64", glibc=(2, 36)), "env.architecture"),
        (Host(system="Darwin", architecture="x86_64"), "env.architecture"),
        (Host(architecture="x86_64", glibc=None), "env.no_glibc"),
        (Host(architecture="x86_64", glibc=(2, 28)), "env.glibc"),
    ],
)
async def test_a_system_that_the_wheels_do_not_run_on(stand_in: StandIn, host: Host, code: str) -> None:
    stand_in.relock(glibc=[2, 31])
    with refused(code):
        await create(stand_in.order(host=host))


def test_a_system_that_is_just_new_enough(stand_in: StandIn) -> None:
    stand_in.relock(glibc=[2, 31])
    check_host(stand_in.spec, Host(architecture="x86_64", glibc=(2, 31)))
    check_host(stand_in.spec, HOST)


async def test_a_file_that_is_not_the_one_in_the_lock_is_not_installed(stand_in: StandIn) -> None:
    build(Wheel("torch", "2.14.0", {"torch/__init__.py": b"import os  # something else\n"}), stand_in.wheels)
    with refused("env.hash_mismatch") as caught:
        await create(stand_in.order())
    assert "torch==2.14.0" in caught.value.message
    assert find_environment(stand_in.spec, stand_in.places) is None


async def test_a_wheel_that_the_folder_lacks_is_named(stand_in: StandIn) -> None:
    (stand_in.wheels / STAND_INS[2].file_name).unlink()
    with refused("env.package_missing") as caught:
        await create(stand_in.order())
    assert "transformers" in caught.value.message


async def test_a_wheel_that_the_index_lacks_is_named(stand_in: StandIn) -> None:
    (stand_in.wheels / STAND_INS[2].file_name).unlink()
    async with served(stand_in.wheels) as index:
        with refused("env.package_missing") as caught:
            await create(stand_in.order(source=Source(index.url), python=Path(sys.executable)))
    assert "transformers" in caught.value.message


async def test_a_damaged_wheel_is_named(stand_in: StandIn) -> None:
    wheel = stand_in.wheels / STAND_INS[3].file_name
    wheel.write_bytes(wheel.read_bytes()[:2000])
    with refused("env.wheel_broken"):
        await create(stand_in.order())


async def test_an_index_that_does_not_answer(stand_in: StandIn, free_port: int) -> None:
    url = f"http://me:secret@127.0.0.1:{free_port}/simple"
    with refused("env.network") as caught:
        await create(stand_in.order(source=Source(url), python=Path(sys.executable)))
    assert "secret" not in repr(caught.value.params)


async def test_credentials_of_an_index_are_on_no_command_line_and_in_no_file(
    stand_in: StandIn, desk_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(stand_in.wheels) as index:
        url = index.url.replace("http://", "http://me:secret@")
        source = Source(url)
        assert not any("secret" in word for word in source.arguments())
        await create(stand_in.order(source=source, python=Path(sys.executable)))
    files = ours(desk_home)
    assert files
    assert not [path for path in files if b"secret" in path.read_bytes()]


def ours(folder: Path) -> list[Path]:
    """Files below that are not those of packages."""
    return [path for path in folder.rglob("*") if path.is_file() and "site-packages" not in path.parts]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
async def test_a_disk_that_fills_up_in_the_middle(stand_in: StandIn, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", small], check=False)  # noqa: ASYNC221
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        with refused("env.disk_full"):
            await create(stand_in.order(places=Places(small)))
        # Room is made, and it goes on.
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)  # noqa: ASYNC221
        assert (await create(stand_in.order(places=Places(small)))).mark.state == "complete"
    finally:
        subprocess.run(["umount", small], check=True)  # noqa: ASYNC221


@pytest.mark.parametrize(
    ("log", "code"),
    [
        ("error: x\n  cause: No space left on device (os error 28)", "env.disk_full"),
        ("error: Failed to download `a==1`\n  cause: Hash mismatch for `a==1`", "env.hash_mismatch"),
        (
            "error: Failed to fetch: u\n  cause: HTTP status client error (403 Forbidden) for url (u)",
            "env.index_refused",
        ),
        ("error: Failed to fetch: u\n  cause: dns error", "env.network"),
        ("  cause: Because a was not found in the package registry and you require a==1", "env.package_missing"),
        ("  cause: Because there is no version of a==1 and you require a==1", "env.package_missing"),
        ("error: failed to create file `f`: Permission denied (os error 13)", "env.not_writable"),
        ("error: something new", "env.uv_failed"),
        ("", "env.uv_failed"),
    ],
)
def test_every_end_of_uv_has_a_name_and_a_remedy(log: str, code: str) -> None:
    error = failure(log, "exit code 1", folder=Path("/data"))
    assert error.code == code
    assert error.remedy
    assert "{" not in error.message + error.remedy


async def test_a_python_of_another_version_is_refused(stand_in: StandIn) -> None:
    stand_in.relock(pythons=["3.7"])
    with refused("env.wrong_python") as caught:
        await create(stand_in.order(python=Path(sys.executable)))
    assert "the lock is for Python 3.7" in caught.value.message


async def test_a_program_that_is_no_python_is_refused(stand_in: StandIn) -> None:
    with refused("env.wrong_python"):
        await create(stand_in.order(python=Path("/bin/true")))


async def test_without_any_python_of_the_lock(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.relock(pythons=["3.7"])
    monkeypatch.setenv("HOME", str(stand_in.wheels))
    with refused("env.no_python") as caught:
        await create(stand_in.order())
    assert "python3.7-dev" in caught.value.remedy


async def test_a_python_without_headers_is_refused(stand_in: StandIn, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    answer = f'{{"implementation": "cpython", "version": "{MINOR}.0", "executable": "{bare}", '
    bare.write_text(f'#!/bin/sh\necho \'{answer}"headers": false, "free_threaded": false}}\'\n')
    bare.chmod(0o755)
    with refused("env.no_headers") as caught:
        await create(stand_in.order(python=bare))
    assert f"python{MINOR}-dev" in caught.value.remedy


async def test_a_virtual_environment_is_seen_through(stand_in: StandIn) -> None:
    python = await look_at(Path(sys.executable))
    assert python is not None
    assert python.minor == MINOR
    assert python.executable.is_relative_to(sys.base_prefix)


async def test_a_python_that_uv_brought_is_taken_first(stand_in: StandIn, heard: Heard) -> None:
    base = await look_at(Path(sys.executable))
    assert base is not None
    folder = stand_in.places.pythons / f"cpython-{base.version}-linux-x86_64-gnu"
    folder.parent.mkdir(parents=True)
    os.symlink(base.executable.parents[1], folder)
    made = await create(stand_in.order(), heard)
    assert made.mark.managed
    assert made.mark.base_python.startswith(str(folder))
    assert heard.notes == []


async def test_another_python_begins_anew(stand_in: StandIn) -> None:
    """What was begun with a Python that is gone is not gone on with."""
    made = await create(stand_in.order())
    partial = stand_in.places.partial(stand_in.spec.id)
    made.path.rename(partial)
    mark = partial / "desk-environment.json"
    mark.write_text(mark.read_text().replace('"complete"', '"partial"').replace(made.mark.base_python, "/gone/python3"))
    (partial / "old").touch()
    again = await create(stand_in.order())
    assert not (again.path / "old").exists()
    assert again.mark.base_python == made.mark.base_python


async def test_uv_is_installed_when_it_is_missing(
    stand_in: StandIn, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real pip, from a wheel folder, which here holds a stand-in that only knows its version."""
    code = f"def main():\n    print('uv {UV_VERSION} (stand-in)')\n".encode()
    build(Wheel("uv", UV_VERSION, {"uvmain.py": code}, {"uv": "uvmain:main"}), stand_in.wheels)
    broken = tmp_path / "uv"
    broken.write_text("#!/bin/sh\nexit 127\n")  # as a shim whose version is not set does
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    uv = await find_uv(stand_in.places, Source(wheels=stand_in.wheels), heard)
    assert (uv.version, uv.program) == (UV_VERSION, str(stand_in.places.own_uv / "bin/uv"))
    assert len(heard.notes) == 1
    await find_uv(stand_in.places, Source(wheels=stand_in.wheels), heard)
    assert len(heard.notes) == 1


async def test_uv_that_cannot_be_installed_is_asked_for(
    stand_in: StandIn, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("env.no_uv") as caught:
        await find_uv(stand_in.places, Source(wheels=stand_in.wheels), heard)
    assert "PATH" in caught.value.remedy


def test_a_wheel_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Source(wheels=tmp_path / "nothing")
    assert caught.value.code == "env.no_wheel_folder"
