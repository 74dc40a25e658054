"""``serve``: the embedded engine over HTTP in this process, vLLM beside it, or a look at a server elsewhere."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import secrets
import socket
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from engine import paths
from engine.cli.engines import EMBEDDED, HELP, VLLM, check_choice, open_engine
from engine.cli.key import announce_key
from engine.cli.main import OK
from engine.cli.wishes import NAMES, wish_options
from engine.errors import InputError
from engine.supervise.lifecycle import KEY_VARIABLE
from engine.supervise.ports import bind_port

# An engine on the CPU takes all of it; whoever started it (a window, a run) is to stay quick.
NICENESS = 5
SKIPS = frozenset({"skip_fixes", "skip_preflight", "skip_selftest"})
_VLLM_ONLY = NAMES | {"record", "checkpoint", "python", "variables", "as_json", "restarts", "extra"} | SKIPS


@click.command("serve")
@click.option("--engine", "choice", default=EMBEDDED, show_default=True, help=HELP)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=int, help="Where to listen; a free port unless given, with vllm the setup's.")
@click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="What clients must send; random unless given.")
@click.option("--fd", type=int, hidden=True, help="An inherited listening socket.")
@click.option("--checkpoint", metavar="KIND|DIR", help="vllm: fp8, int8, nvfp4, or a folder that holds one.")
@click.option("--python", type=click.Path(path_type=Path), help="vllm: an interpreter that has it. Else the setup's.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="vllm: set; NAME alone removes.")
@click.option("--skip-fixes-check", "skip_fixes", is_flag=True, help="vllm: start an engine that lacks a fix.")
@click.option("--skip-preflight", is_flag=True, help="vllm: start although something is in the way.")
@click.option("--skip-self-test", "skip_selftest", is_flag=True, help="vllm: start without the numeric self-test.")
@click.option("--restarts", type=click.IntRange(0), default=2, show_default=True, help="vllm: within ten minutes.")
@click.option("--json", "as_json", is_flag=True, help="vllm: one JSON object a line; see docs/cli.md.")
@wish_options
@click.argument("extra", nargs=-1, type=click.UNPROCESSED, metavar="[-- VLLM_ARGUMENT ...]")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    choice: str,
    host: str,
    port: int | None,
    api_key: str | None,
    fd: int | None,
    **vllm: Any,
) -> int:
    """Serve an engine over HTTP until SIGINT or SIGTERM; with a URL, say what answers there.

    With --engine vllm the setup's plan is started, or what the options name: with --python and a checkpoint's folder
    neither setup nor network is needed. Arguments behind -- go to vLLM as they are.
    """
    check_choice(choice)
    if choice == VLLM:
        _check_extra(vllm["extra"])
        return _vllm(host, port, api_key, **vllm)
    _refuse_vllm_options(ctx)
    if choice != EMBEDDED:
        asyncio.run(_look(choice, api_key))
        return OK
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if fd is not None:
        os.nice(NICENESS)
    with _inherited(fd) if fd is not None else bind_port(host, port or 0) as listener:
        shown = fd is None
        key = api_key or secrets.token_urlsafe(32)
        if shown and not _is_loopback(listener):
            click.echo(f"warning: {host} can be reached from other machines, and this is plain HTTP", err=True)
        asyncio.run(_serve(listener, key, announce=shown, new_key=not api_key))
    return OK


def _vllm(host: str, port: int | None, api_key: str | None, **given: Any) -> int:
    # Planner, client and catalogue are loaded for this engine only: the embedded one is to start at once.
    from engine.cli.vllm_launch import VllmOptions
    from engine.cli.vllm_reporting import JsonServe, TextServe
    from engine.cli.vllm_serve import serve_vllm

    options = VllmOptions(
        host=host,
        port=port,
        api_key=api_key,
        record=given["record"],
        checkpoint=given["checkpoint"],
        python=given["python"],
        variables=given["variables"],
        extra=given["extra"],
        wished=given,
    )
    report = JsonServe() if given["as_json"] else TextServe()
    skips = {name: given[name] for name in SKIPS}
    return asyncio.run(serve_vllm(options, report, restarts=given["restarts"], **skips))


def _check_extra(extra: tuple[str, ...]) -> None:
    if extra and not extra[0].startswith("-"):
        raise click.UsageError(f"unexpected argument {extra[0]}: arguments for vLLM stand behind --")


def _refuse_vllm_options(ctx: click.Context) -> None:
    """What only vLLM knows must not be passed over in silence."""
    for parameter in ctx.command.params:
        given = parameter.name and ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
        if given and parameter.name in _VLLM_ONLY:
            raise click.UsageError(f"{max(parameter.opts, key=len)} is for --engine vllm")


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
    if new_key is not None:
        announce_key(new_key)


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
