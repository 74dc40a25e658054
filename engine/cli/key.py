"""A key that a command made: shown once, where only its user sees it."""

from __future__ import annotations

import sys

import click

from engine.supervise.lifecycle import KEY_VARIABLE


def announce_key(key: str) -> None:
    """Print it on a terminal; a file or pipe keeps what it gets, so there it says how to choose one."""
    if sys.stdout.isatty():
        click.echo(f"API key: {key}")
    else:
        click.echo(f"its API key is not written into a file or pipe; set {KEY_VARIABLE} to choose one")
