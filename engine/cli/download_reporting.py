"""What ``download`` says: a bar and lines for people, the worker protocol for programs."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import click
from tqdm import tqdm

from engine.checkpoints.catalogue import CatalogueEntry
from engine.checkpoints.download import DownloadResult
from engine.checkpoints.manifest import Manifest
from engine.checkpoints.part import gigabytes
from engine.checkpoints.progress import DownloadProgress, Listener
from engine.checkpoints.verify import VerifyReport
from engine.supervise import protocol
from engine.supervise.protocol import (
    DownloadCancelled,
    DownloadFinished,
    DownloadStarted,
    Note,
    RunPaused,
    RunResumed,
    WorkerEvent,
)


class Reporter(Listener, Protocol):
    """Hears of everything that ``download`` does."""

    def reading(self, done: int, total: int) -> None: ...
    def finished(self, result: DownloadResult) -> None: ...
    def cancelled(self, result: DownloadResult) -> None: ...
    def adopted(self, manifest: Manifest) -> None: ...
    def verified(self, report: VerifyReport) -> None: ...
    def close(self) -> None: ...


@dataclass
class JsonReporter:
    """The worker protocol on stdout."""

    chosen: CatalogueEntry
    folder: Path

    def started(self, progress: DownloadProgress) -> None:
        self._say(
            DownloadStarted(
                checkpoint=self.chosen.kind,
                folder=str(self.folder),
                files=progress.files,
                done_bytes=progress.done_bytes,
                total_bytes=progress.total_bytes,
            )
        )

    def progress(self, progress: DownloadProgress) -> None:
        self._say(
            protocol.DownloadProgress(
                done_bytes=progress.done_bytes,
                total_bytes=progress.total_bytes,
                checked_bytes=progress.checked_bytes,
                files_done=progress.files_done,
                files=progress.files,
                rate=round(progress.rate),
                eta_s=progress.eta_s,
            )
        )

    def reading(self, done: int, total: int) -> None:
        self._say(
            protocol.DownloadProgress(
                done_bytes=total, total_bytes=total, checked_bytes=done, files_done=0, files=0, rate=0, eta_s=None
            )
        )

    def paused(self, reason: str) -> None:
        self._say(RunPaused(reason=reason))

    def resumed(self) -> None:
        self._say(RunResumed())

    def note(self, text: str) -> None:
        self._say(Note(text=text))

    def finished(self, result: DownloadResult) -> None:
        progress = result.progress
        self._finished(result.commit, progress.files, progress.total_bytes, progress.fetched_bytes)

    def cancelled(self, result: DownloadResult) -> None:
        done, total = result.progress.done_bytes, result.progress.total_bytes
        self._say(
            DownloadCancelled(checkpoint=self.chosen.kind, folder=str(self.folder), done_bytes=done, total_bytes=total)
        )

    def adopted(self, manifest: Manifest) -> None:
        self._finished(manifest.commit, len(manifest.files), manifest.total_bytes, 0)

    def verified(self, report: VerifyReport) -> None:
        for file in report.files:
            if file.verdict != "right":
                self.note(f"{file.path}: {file.verdict}")
        self._finished(report.commit, len(report.files), report.total_bytes, 0)

    def close(self) -> None:
        pass

    def _finished(self, commit: str, files: int, total: int, fetched: int) -> None:
        self._say(
            DownloadFinished(
                checkpoint=self.chosen.kind,
                folder=str(self.folder),
                commit=commit,
                files=files,
                total_bytes=total,
                fetched_bytes=fetched,
            )
        )

    def _say(self, event: WorkerEvent) -> None:
        with suppress(BrokenPipeError):  # the window is gone; the end of stdin cancels
            print(event.line(), flush=True)


class TerminalReporter:
    """Lines on stderr, a bar there when it is a terminal, the folder on stdout at the end."""

    def __init__(self, chosen: CatalogueEntry, folder: Path) -> None:
        self._chosen, self._folder = chosen, folder
        self._bar: tqdm[Any] | None = None

    def started(self, progress: DownloadProgress) -> None:
        there = f", {gigabytes(progress.done_bytes)} there" if progress.done_bytes else ""
        size = gigabytes(progress.total_bytes)
        self.note(f"{self._chosen.repo}: {progress.files} files, {size}{there}, into {self._folder}")
        self._bar = self._new_bar(progress.total_bytes, progress.done_bytes)

    def progress(self, progress: DownloadProgress) -> None:
        if self._bar is None:
            return
        if progress.checked_bytes and not progress.fetched_bytes:
            self._bar.set_postfix_str(f"{gigabytes(progress.checked_bytes)} checked", refresh=False)
        else:
            self._bar.set_postfix_str(f"{progress.files_done}/{progress.files} files", refresh=False)
        self._bar.update(progress.done_bytes - self._bar.n)

    def reading(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._new_bar(total, 0)
        self._bar.update(done - self._bar.n)

    def paused(self, reason: str) -> None:
        self.note(f"paused: {reason}")

    def resumed(self) -> None:
        self.note("resumed")

    def note(self, text: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            click.echo(text, err=True)

    def finished(self, result: DownloadResult) -> None:
        self.close()
        progress = result.progress
        self.note(f"{progress.files} files, {gigabytes(progress.total_bytes)}, every hash is right")
        click.echo(str(result.folder))

    def cancelled(self, result: DownloadResult) -> None:
        self.close()
        done, total = gigabytes(result.progress.done_bytes), gigabytes(result.progress.total_bytes)
        self.note(f"stopped: {done} of {total} are there; the same command goes on")

    def adopted(self, manifest: Manifest) -> None:
        self.close()
        self.note(f"adopted {len(manifest.files)} files, {gigabytes(manifest.total_bytes)}")
        click.echo(str(self._folder))

    def verified(self, report: VerifyReport) -> None:
        self.close()
        for file in report.files:
            click.echo(f"{file.verdict:<10} {file.path}")
        self.note("every file is right" if report.proven else "every file is as it was when it was adopted")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _new_bar(self, total: int, there: int) -> tqdm[Any]:
        # disable=None: no bar where stderr is a file or a pipe
        return tqdm(total=total, initial=there, unit="B", unit_scale=True, disable=None, dynamic_ncols=True)
