"""Downloads that are paused and cancelled, in every moment: what is on disk counts, and is not fetched again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hub_helpers import COMMIT, Heard, HubProcess, fetch, same_files, shard_names

from engine.checkpoints.journal import boot_id
from engine.checkpoints.manifest import Folder
from engine.checkpoints.part import PartFile
from engine.checkpoints.progress import DownloadProgress
from engine.checkpoints.status import status

BIG = shard_names(2)[0]
MB = 1_000_000
HOLD = 3 * MB  # of the 5


class Pauses(Heard):
    """Pauses at the first bytes, goes on at once, and cancels at a later mark when told to.

    The hub sends no more than ``HOLD`` bytes before: the download cannot be done before it is paused and cancelled.
    """

    def __init__(self, hub: HubProcess, cancel_at: int | None = None) -> None:
        super().__init__()
        self.hub, self.cancel_at = hub, cancel_at
        hub.settings(rate=2 * MB, hold=HOLD)

    def progress(self, progress: DownloadProgress) -> None:
        super().progress(progress)
        if progress.fetched_bytes and "paused" not in self.steps:
            self.control.pause()
        if self.cancel_at is not None and progress.fetched_bytes >= self.cancel_at:
            self.control.cancel()

    def paused(self, reason: str) -> None:
        super().paused(reason)
        if self.cancel_at is None:
            self.hub.settings(hold=None)
        self.control.resume()


async def test_pause_and_resume_fetch_nothing_twice(hub: HubProcess, tmp_path: Path) -> None:
    heard = Pauses(hub)
    result = await fetch(hub, tmp_path / "model", heard)
    assert heard.steps == ["started", "paused", "resumed"]
    assert result.state == "finished"
    assert same_files(tmp_path / "model", hub.repo)
    assert result.progress.fetched_bytes == result.progress.total_bytes, "what came while it was paused counts"
    assert result.progress.checked_bytes == 0, "a pause keeps the hash of what is there"
    assert hub.served() <= result.progress.total_bytes + 8 * MB


async def test_cancel_keeps_what_is_there(hub: HubProcess, tmp_path: Path) -> None:
    heard = Pauses(hub, cancel_at=MB // 2)
    result = await fetch(hub, tmp_path / "model", heard)
    assert result.state == "cancelled"
    there = result.progress.done_bytes
    assert 0 < there < result.progress.total_bytes
    hub.settings(rate=None, hold=None)
    after = await fetch(hub, tmp_path / "model")
    assert after.progress.fetched_bytes == after.progress.total_bytes - there
    assert same_files(tmp_path / "model", hub.repo)


async def test_after_a_power_cut_only_synced_bytes_are_believed(hub: HubProcess, tmp_path: Path) -> None:
    heard, at = Pauses(hub, cancel_at=MB // 2), Folder(tmp_path / "model")
    cut = await fetch(hub, at.root, heard)
    assert cut.progress.done_bytes > 0
    for part in at.parts.iterdir():
        part.write_bytes(bytes(part.stat().st_size))  # the length had reached the disk, the bytes had not
    at.journal.write_text(at.journal.read_text().replace(boot_id(), "the boot before"))
    hub.settings(rate=None, hold=None)
    heard = Heard()
    await fetch(hub, at.root, heard)
    assert same_files(at.root, hub.repo)
    assert not any("wrong bytes" in note for note in heard.notes)


async def test_status_at_a_glance(hub: HubProcess, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    assert status(folder).state == "absent"
    heard = Pauses(hub, cancel_at=MB // 2)
    cut = await fetch(hub, folder, heard)
    seen = status(folder)
    assert (seen.state, seen.total_bytes) == ("partial", cut.progress.total_bytes)
    assert seen.done_bytes == cut.progress.done_bytes
    hub.settings(rate=None, hold=None)
    await fetch(hub, folder)
    assert (status(folder).state, status(folder).proven, status(folder).commit) == ("complete", True, COMMIT)
    os.utime(folder / BIG)
    assert status(folder).state == "unchecked"
    (folder / BIG).write_bytes(b"?")
    assert (status(folder).state, status(folder).proven) == ("partial", False)


def steer_within(
    monkeypatch: pytest.MonkeyPatch, step: str, steer: Callable[[], None], of: Callable[[PartFile], bool]
) -> None:
    """Steers once a thread has done a step of a file, and lets it come back only when everybody has heard of it."""
    loop, done = asyncio.get_running_loop(), getattr(PartFile, step)
    steered: list[PartFile] = []

    async def tell() -> None:
        steer()
        for _ in range(20):  # turns of the loop, in which the task that waits for the thread is cancelled
            await asyncio.sleep(0)

    def then(part: PartFile, *given: Any) -> None:
        done(part, *given)
        if not steered and of(part):
            steered.append(part)
            asyncio.run_coroutine_threadsafe(tell(), loop).result()

    monkeypatch.setattr(PartFile, step, then)


@pytest.mark.parametrize("step", ["append", "finish"])
async def test_what_a_thread_writes_when_it_is_cancelled_counts(
    hub: HubProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    heard = Heard()
    steer_within(monkeypatch, step, heard.control.cancel, lambda part: part.file.path == BIG)
    result = await fetch(hub, tmp_path / "model", heard)
    assert result.state == "cancelled"
    assert 0 < result.progress.done_bytes == status(tmp_path / "model").done_bytes
    assert result.progress.fetched_bytes == result.progress.done_bytes
    after = await fetch(hub, tmp_path / "model")
    assert after.progress.fetched_bytes == after.progress.total_bytes - result.progress.done_bytes
    assert same_files(tmp_path / "model", hub.repo)


@pytest.mark.parametrize("step", ["append", "finish"])
async def test_what_a_thread_writes_when_it_is_paused_counts(
    hub: HubProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Resumes(Heard):
        def paused(self, reason: str) -> None:
            super().paused(reason)
            self.control.resume()

    heard = Resumes()
    steer_within(monkeypatch, step, heard.control.pause, lambda part: part.file.path == BIG)
    result = await fetch(hub, tmp_path / "model", heard)
    assert heard.steps == ["started", "paused", "resumed"]
    assert (result.state, result.progress.files_done) == ("finished", 6)
    assert result.progress.fetched_bytes == result.progress.total_bytes, "nothing is fetched twice or forgotten"
    assert same_files(tmp_path / "model", hub.repo)
