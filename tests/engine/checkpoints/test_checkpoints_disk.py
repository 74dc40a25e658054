"""Disks that are too small, and disks that get full in the middle: numbers, and nothing lost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_helpers import ENTRY, Heard, HubProcess, cli, same_files, source

from engine.checkpoints.download import download
from engine.checkpoints.progress import DownloadProgress
from engine.errors import UserError

MB = 1_000_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, 12 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


async def test_too_small_is_said_before_the_first_byte(hub: HubProcess, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * 8 * MB)
    heard = Heard()
    with pytest.raises(UserError, match=r"has [34]\.\d MB free, and 5\.1 MB are still to come") as caught:
        await download(ENTRY, small_disk / "model", source(hub), heard.control, heard)
    assert caught.value.code == "download.no_space"
    assert hub.served() == 0
    (small_disk / "filler").unlink()
    result = await download(ENTRY, small_disk / "model", source(hub), heard.control, heard)
    assert result.state == "finished"
    assert same_files(small_disk / "model", hub.repo)


class Fills(Heard):
    """Somebody else fills the disk once bytes come."""

    disk: Path

    def progress(self, progress: DownloadProgress) -> None:
        super().progress(progress)
        if progress.fetched_bytes and not (self.disk / "filler").exists():
            free = os.statvfs(self.disk)
            with (self.disk / "filler").open("wb") as filler:
                filler.write(b"x" * (free.f_bavail * free.f_frsize - MB))


async def test_full_in_the_middle_keeps_what_is_there(hub: HubProcess, small_disk: Path) -> None:
    heard = Fills()
    heard.disk = small_disk
    hub.settings(rate=1 * MB)
    with pytest.raises(UserError, match=r"is full: .* are free, .* are still to come") as caught:
        await download(ENTRY, small_disk / "model", source(hub), heard.control, heard)
    assert caught.value.code == "download.disk_full"
    (small_disk / "filler").unlink()
    hub.settings(rate=None)
    heard = Heard()
    result = await download(ENTRY, small_disk / "model", source(hub), heard.control, heard)
    assert same_files(small_disk / "model", hub.repo)
    assert result.progress.fetched_bytes < result.progress.total_bytes


def test_a_file_size_limit_is_a_full_disk(hub: HubProcess, tmp_path: Path) -> None:
    arguments = cli("--endpoint", hub.url, "--to", str(tmp_path / "model"), "--json", "--no-cache")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MB, MB))

    done = subprocess.run(arguments, capture_output=True, preexec_fn=limit, check=False)
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["code"] == "download.disk_full"
    done = subprocess.run(arguments, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert same_files(tmp_path / "model", hub.repo)
    assert json.loads(done.stdout.splitlines()[-1])["fetched_bytes"] < 4 * MB, "the first megabyte of each was kept"


def test_a_folder_that_cannot_be_written_is_named(hub: HubProcess, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    arguments = cli("--endpoint", hub.url, "--to", str(tmp_path / "file" / "model"), "--json")
    done = subprocess.run(arguments, capture_output=True, check=False)
    assert done.returncode == 2
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["code"] == "download.disk"
    assert str(tmp_path / "file") in last["message"]
