"""``serve``: the embedded engine over HTTP in this process, or a look at a server that runs elsewhere."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import secrets
import socket
import sys

import click

from engine import paths
from engine.cli.engines import EMBEDDED, HELP, check_choice, open_engine
from engine.errors import InputError
from engine.supervise.lifecycle import KEY_VARIABLE
from engine.supervise.ports import bind_port

# An engine on the CPU takes all of it; whoever started it (a window, a run) is to stay quick.
NICENESS = 5


@click.command("serve")
@click.option("--engine", "choice", default=EMBEDDED, show_default=True, help=HELP)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=0, help="Where to listen; a free port unless given.")
@click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="What clients must send; random unless given.")
@click.option("--fd", type=int, hidden=True, help="An inherited listening socket.")
def command(choice: str, host: str, port: int, api_key: str | None, fd: int | None) -> None:
    """Serve an engine over HTTP until SIGINT or SIGTERM; with a URL, say what answers there."""
    check_choice(choice)
    if choice != EMBEDDED:
        asyncio.run(_look(choice, api_key))
        return
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if fd is not None:
        os.nice(NICENESS)
    with _inherited(fd) if fd is not None else bind_port(host, port) as listener:
        shown = fd is None
        key = api_key or secrets.token_urlsafe(32)
        if shown and not _is_loopback(listener):
            click.echo(f"warning: {host} can be reached from other machines, and this is plain HTTP", err=True)
        asyncio.run(_serve(listener, key, announce=shown, new_key=not api_key))


async def _serve(listener: socket.socket, key: str, *, announce: bool, new_key: bool) -> None:
    # The only command that brings numpy, onnxruntime and tokenizers into its process.
    from engine.embedded.engine import EmbeddedEngine
    from engine.embedded.server import run_server

    engine = EmbeddedEngine.load(paths.demo_model_dir())

    def ready(address: str) -> None:
        if announce:
            _announce(address, key if new_key else None)

    await run_server(engine, sock=listener, api_key=key, on_ready=ready)


def _announce(address: str, new_key: str | None) -> None:
    click.echo(f"the embedded engine (a toy of a few million parameters) answers at {address}")
    if new_key is None:
        return
    if sys.stdout.isatty():
        click.echo(f"API key: {new_key}")
    else:  # a log file keeps what it gets
        click.echo(f"its API key is not written into a file or pipe; set {KEY_VARIABLE} to choose one")


async def _look(url: str, api_key: str | None) -> None:
    async with open_engine(url, api_key, click.echo) as engine:
        for card in await engine.client.models():
            length = f", {card.max_model_len} tokens of context" if card.max_model_len else ""
            click.echo(f"{engine.client.address} serves {card.id}{length} ({card.owned_by or 'owner not given'})")


def _inherited(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        return socket.socket(fileno=descriptor)
    except OSError as error:
        raise InputError(
            "serve.fd", "--fd {fd} is not a socket: {why}", fd=descriptor, why=error.strerror or str(error)
        ) from error


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback
