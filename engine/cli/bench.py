"""``bench``: measure one thing and say whether it is good enough."""

from __future__ import annotations

import asyncio
import importlib
import json

import click

from engine.bench.result import BenchResult
from engine.cli.main import BUG, OK

NAMES = ("startup", "gui", "chat", "runner", "tables", "memory", "peers", "engine", "demo-model", "reads")


@click.command("bench")
@click.argument("name", type=click.Choice(NAMES))
@click.argument("options", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(name: str, options: tuple[str, ...], as_json: bool) -> int:
    """Run a benchmark; exit code 0 only if every figure reaches its target.

    "reads" takes options of its own behind --; "bench reads -- --help" lists them.
    """
    module = importlib.import_module(f"engine.bench.{name.replace('-', '_')}")
    if options and not hasattr(module, "measure_with"):
        raise click.UsageError(f"bench {name} takes no further options")
    run = module.measure_with(options) if hasattr(module, "measure_with") else module.measure()
    result: BenchResult = asyncio.run(run)
    print(json.dumps(result.as_json()) if as_json else result.as_table())
    return OK if result.passed else BUG
