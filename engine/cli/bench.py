"""``bench``: measure one thing and say whether it is good enough."""

from __future__ import annotations

import asyncio
import importlib
import json

import click

from engine.bench.result import BenchResult
from engine.cli.main import BUG, OK

NAMES = ("startup", "gui", "chat", "runner", "tables", "memory", "engine", "demo-model")


@click.command("bench")
@click.argument("name", type=click.Choice(NAMES))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(name: str, as_json: bool) -> int:
    """Run a benchmark; exit code 0 only if every figure reaches its target."""
    result: BenchResult = asyncio.run(importlib.import_module(f"engine.bench.{name.replace('-', '_')}").measure())
    print(json.dumps(result.as_json()) if as_json else result.as_table())
    return OK if result.passed else BUG
