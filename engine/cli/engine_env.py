"""``engine-env``: the environment that vLLM runs in: install, verify, repair, remove, status."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from engine.batch.control import RunControl
from engine.checkpoints.steer import Cancelled, alone, steered
from engine.cli.commands import obey
from engine.cli.engine_env_reporting import JsonReporter, Reporter, TerminalReporter, gigabytes
from engine.cli.main import BAD_INPUT, INTERRUPTED, OK
from engine.cli.steering import signals_cancel
from engine.errors import UserError
from engine.runtime.create import Order, create
from engine.runtime.places import Environment, default_places
from engine.runtime.progress import tree_bytes
from engine.runtime.remove import remove, remove_helpers
from engine.runtime.repair import repair
from engine.runtime.spec import EnvironmentSpec, load_spec
from engine.runtime.status import environment_at, find_environment, list_environments
from engine.runtime.uv import Source
from engine.runtime.verify import verify

_PATH = click.Path(path_type=Path)
_lock = click.option("--lock", type=_PATH, help="Another lock than the one that came with the program.")
_json = click.option("--json", "as_json", is_flag=True, help="JSON, one object a line.")
_index = click.option(
    "--index", "index_url", metavar="URL", envvar="DIFFUSION_DESK_INDEX", help="A package index; else uv's own choice."
)
_wheels = click.option("--wheels", type=_PATH, metavar="DIR", help="A folder of wheels; no network is asked.")
_python = click.option("--python", type=_PATH, metavar="PROGRAM", help="The Python to take; else uv's, or one found.")


@click.group("engine-env")
def command() -> None:
    """The environment that vLLM runs in, apart from this program's own."""


@command.command("install")
@_lock
@_index
@_wheels
@_python
@_json
@click.option("--worker", is_flag=True, hidden=True, help="As --json, with commands on stdin; its end cancels.")
def install(
    lock: Path | None, index_url: str | None, wheels: Path | None, python: Path | None, as_json: bool, worker: bool
) -> int:
    """Make it, or go on with one that was begun. Ctrl-C and even a kill keep what is there."""
    order = _order(lock, index_url, wheels, python)
    reporter = _reporter(as_json or worker)
    try:
        environment = asyncio.run(_steered(order, reporter) if worker else _make(order, reporter))
    except (KeyboardInterrupt, Cancelled):
        reporter.stopped()
        return INTERRUPTED
    finally:
        reporter.close()
    reporter.ready(environment)
    return OK


async def _steered(order: Order, reporter: Reporter) -> Environment:
    """As :func:`_make`; a pause ends uv and its downloads, and the resumption goes on from what is in its cache.

    Raises:
        Cancelled: told so, or nobody listens any more.
    """
    control = RunControl()

    async def work() -> Environment:
        async with asyncio.TaskGroup() as tasks:
            obeying = tasks.create_task(obey(control, reporter.note))
            try:
                return await steered(lambda: _make(order, reporter), control, reporter)
            finally:
                obeying.cancel()

    with signals_cancel(control):
        return await alone(work)


async def _make(order: Order, reporter: Reporter) -> Environment:
    """Make it, or finish the repair that was begun."""
    there = environment_at(order.places.complete(order.spec.id))
    if there is not None and there.mark.state == "repairing":
        reporter.note("going on with a repair that was begun")
        return (await repair(order, reporter)).environment
    return await create(order, reporter)


@command.command("repair")
@_lock
@_index
@_wheels
@_python
@_json
def repair_command(
    lock: Path | None, index_url: str | None, wheels: Path | None, python: Path | None, as_json: bool
) -> int:
    """Read every byte of it and fetch again the packages that are not as they were installed."""
    order = _order(lock, index_url, wheels, python)
    reporter = _reporter(as_json)
    try:
        done = asyncio.run(repair(order, reporter))
    except KeyboardInterrupt:
        reporter.stopped()
        return INTERRUPTED
    finally:
        reporter.close()
    reporter.note({"whole": "nothing was wrong", "packages": "repaired", "rebuilt": "made anew"}[done.how])
    reporter.ready(done.environment)
    return OK


@command.command("verify")
@_lock
@_json
@click.option("--contents", is_flag=True, help="Compare the hash of every file, not its size only.")
def verify_command(lock: Path | None, as_json: bool, contents: bool) -> int:
    """Import it in a child, compare its files with the lock, and try the compiler."""
    spec = load_spec(lock)
    environment = find_environment(spec, default_places())
    if environment is None:
        raise UserError("env.none", "there is no complete engine environment", remedy="make it: engine-env install")
    seen = asyncio.run(verify(environment, spec, contents=contents))
    if as_json:
        fields = {**asdict(seen), "environment": str(seen.environment), "good": seen.good}
        print(json.dumps(fields))
        return OK if seen.good else BAD_INPUT
    versions = ", ".join(f"{name} {version}" for name, version in seen.versions.items())
    click.echo(f"{seen.environment}\nPython {seen.python}; {versions}; CUDA {seen.cuda or 'unknown'}; {seen.gcc}")
    for finding in seen.findings:
        click.echo(f"{finding.severity}: {finding.text}\n  {finding.remedy}")
    click.echo("it works" if seen.good else "it does not work")
    return OK if seen.good else BAD_INPUT


@command.command("remove")
@click.argument("name", required=False)
@click.option(
    "--all", "everything", is_flag=True, help="All environments, the cache, and the Pythons fetched for them."
)
@_lock
def remove_command(name: str | None, everything: bool, lock: Path | None) -> int:
    """Remove the environment of the lock, or the one that is named (status lists them)."""
    places = default_places()
    there = [found.path.name for found in list_environments(places)]
    spec_id = load_spec(lock).id
    names = there if everything else [name] if name else [found for found in there if found.startswith(spec_id)]
    if not names and not everything:
        raise UserError("env.none", "there is no environment to remove in {folder}", folder=places.root)
    for one in names:
        click.echo(f"{one}: {gigabytes(remove(places, one))} freed")
    if everything and places.root.is_dir():
        remove_helpers(places)
    return OK


@command.command("status")
@_lock
@_json
def status(lock: Path | None, as_json: bool) -> int:
    """What there is, how much it takes, and whether it is the one that this program wants."""
    spec, places = load_spec(lock), default_places()
    found = list_environments(places)
    if as_json:
        print(json.dumps(_status(spec, found, places.root, tree_bytes(places.cache))))
        return OK
    click.echo(f"{places.root}: wants {spec.id}, {len(spec.pins)} packages")
    for environment in found:
        mark = environment.mark
        wanted = " (the one that is wanted)" if mark.id == spec.id and mark.state == "complete" else ""
        size = f", {gigabytes(mark.bytes)}" if mark.bytes else ""
        click.echo(f"  {environment.path.name}: {mark.state}, Python {mark.python}{size}{wanted}")
    if not found:
        click.echo("  none; engine-env install makes it")
    return OK


def _status(spec: EnvironmentSpec, found: list[Environment], root: Path, cache: int) -> dict[str, Any]:
    ready = next((one for one in found if one.mark.id == spec.id and one.mark.state == "complete"), None)
    return {
        "folder": str(root),
        "wanted": spec.id,
        "packages": len(spec.pins),
        "download_bytes": spec.download_bytes,
        "unpacked_bytes": spec.unpacked_bytes,
        "python": str(ready.python) if ready else None,
        "cache_bytes": cache,
        "environments": [{"name": one.path.name, **asdict(one.mark)} for one in found],
    }


def _order(lock: Path | None, index_url: str | None, wheels: Path | None, python: Path | None) -> Order:
    return Order(load_spec(lock), default_places(), Source(index_url, wheels), python)


def _reporter(as_json: bool) -> Reporter:
    return JsonReporter() if as_json else TerminalReporter()
