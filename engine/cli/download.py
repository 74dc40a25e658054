"""``download``: a checkpoint from the hub, from a mirror, or from files on this machine, and whether it is right."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from engine.batch.control import RunControl
from engine.checkpoints.adopt import adopt, choose
from engine.checkpoints.catalogue import CatalogueEntry, catalogue, entry
from engine.checkpoints.download import DownloadResult, Source, download
from engine.checkpoints.hf_home import default_endpoint, hub_cache, token_for
from engine.checkpoints.part import gigabytes
from engine.checkpoints.steer import alone
from engine.checkpoints.verify import GOOD, VerifyReport, distrust, verify
from engine.cli.commands import obey
from engine.cli.download_reporting import JsonReporter, Reporter, TerminalReporter
from engine.cli.main import INTERRUPTED, OK
from engine.cli.steering import signals_cancel
from engine.errors import UserError

_PATH = click.Path(path_type=Path)


@click.command("download")
@click.option("--checkpoint", "kind", default="fp8", show_default=True, type=click.Choice(list(catalogue())))
@click.option("--to", "folder", type=_PATH, help="The folder to fill; else one in the data folder.")
@click.option("--endpoint", metavar="URL", help="A mirror of the hub; else HF_ENDPOINT, else the hub itself.")
@click.option("--adopt", "adopted", type=_PATH, metavar="DIR", help="Take files that lie in DIR; asks no network.")
@click.option("--verify", "verifying", is_flag=True, help="Read every byte of what is there and say what is wrong.")
@click.option("--no-cache", is_flag=True, help="Do not look for files in the hub cache of this machine.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; see docs/architecture.md.")
@click.option("--worker", is_flag=True, hidden=True, help="As --json, with commands on stdin; its end cancels.")
def command(
    kind: str,
    folder: Path | None,
    endpoint: str | None,
    adopted: Path | None,
    verifying: bool,
    no_cache: bool,
    as_json: bool,
    worker: bool,
) -> int:
    """Fetch a checkpoint, or go on with one that was begun.

    Ctrl-C and even a kill keep what is there; the same command goes on.
    """
    chosen = entry(kind)
    target = (folder or chosen.folder).absolute()
    reporter: Reporter = JsonReporter(chosen, target) if as_json or worker else TerminalReporter(chosen, target)
    try:
        if verifying:
            return _verify(target, reporter)
        if adopted is not None:
            return _adopt(adopted, chosen, target, reporter)
        source = _source(endpoint or default_endpoint(), cache=not no_cache)
        return asyncio.run(_download(chosen, target, source, reporter, worker=worker))
    finally:
        reporter.close()


def _source(endpoint: str, *, cache: bool) -> Source:
    return Source(endpoint, token_for(endpoint), hub_cache() if cache else None)


async def _download(chosen: CatalogueEntry, target: Path, source: Source, reporter: Reporter, *, worker: bool) -> int:
    control = RunControl()

    async def steered() -> DownloadResult:
        async with asyncio.TaskGroup() as tasks:
            steering = tasks.create_task(obey(control, reporter.note)) if worker else None
            try:
                return await download(chosen, target, source, control, reporter)
            finally:
                if steering is not None:
                    steering.cancel()

    with signals_cancel(control):
        result = await alone(steered)
    if result.state == "cancelled":
        reporter.cancelled(result)
        return INTERRUPTED
    reporter.finished(result)
    return OK


def _adopt(source: Path, chosen: CatalogueEntry, target: Path, reporter: Reporter) -> int:
    found = choose(source.absolute(), chosen)
    reporter.note(f"found {found.folder}: {len(found.files)} files, {gigabytes(found.total_bytes)}")
    result = asyncio.run(adopt(found, chosen, target, note=reporter.note, progress=reporter.reading))
    reporter.adopted(result.manifest)
    return OK


def _verify(target: Path, reporter: Reporter) -> int:
    report = asyncio.run(verify(target, reporter.reading))
    if not report.good:
        distrust(report)
        raise _not_right(report, reporter)
    reporter.verified(report)
    return OK


def _not_right(report: VerifyReport, reporter: Reporter) -> UserError:
    bad = [file for file in report.files if file.verdict not in GOOD]
    for file in bad:
        reporter.note(f"{file.path}: {file.verdict} ({file.detail})")
    for problem in report.problems:
        reporter.note(problem)
    return UserError(
        "checkpoint.not_right",
        "{folder} is not right: {what}",
        remedy="run `download` again: it fetches what is wrong or missing and keeps the rest",
        folder=report.folder,
        what=", ".join(file.path for file in bad) or "; ".join(report.problems),
    )
