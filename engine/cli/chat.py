"""``chat``: one answer, canvas by canvas."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from engine.cli.engines import EMBEDDED, HELP, OpenEngine, open_engine
from engine.cli.main import OK, UNFINISHED
from engine.client.wire import DiffusionMetrics
from engine.domain.chat import CanvasCommitted, Failed, Finished, Message, Usage
from engine.errors import UserError
from engine.pictures import check_count, locate, read_picture
from engine.supervise.lifecycle import KEY_VARIABLE


@click.command("chat")
@click.argument("text")
@click.option("--engine", "choice", default=EMBEDDED, show_default=True, help=HELP)
@click.option("--system", default="", help="A system message to stand before the text.")
@click.option(
    "--picture",
    "pictures",
    metavar="PATH",
    multiple=True,
    help="A picture file that TEXT is about; may be given again. For engines that see.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="End the answer after so many tokens.")
@click.option("--api-key", envvar=KEY_VARIABLE, show_envvar=True, help="Of a server given by its URL.")
def command(
    text: str, choice: str, system: str, pictures: tuple[str, ...], max_tokens: int | None, api_key: str | None
) -> int:
    """Answer TEXT. The answer goes to stdout as its canvases are committed, the figures to stderr."""
    check_count(len(pictures))
    messages = [Message("user", text, tuple(read_picture(locate(name, Path())) for name in pictures))]
    if system:
        messages.insert(0, Message("system", system))
    return asyncio.run(_chat(choice, api_key, messages, max_tokens))


async def _chat(choice: str, api_key: str | None, messages: list[Message], max_tokens: int | None) -> int:
    pictured = any(message.pictures for message in messages)
    async with open_engine(choice, api_key, lambda line: click.echo(line, err=True), sees=pictured) as engine:
        before = await _metrics(engine)
        tokens = 0
        async for event in engine.client.chat(messages, max_tokens=max_tokens):
            match event:
                case CanvasCommitted(text=piece):
                    click.echo(piece, nl=False)
                case Usage(completion_tokens=count):
                    tokens = count
                case Failed(message=message):
                    click.echo()
                    click.echo(f"{click.style('error:', fg='red')} {message}", err=True)
                    return UNFINISHED
                case Finished():
                    click.echo()
                    click.echo(await _figures(engine, before, event, tokens), err=True)
                case _:
                    pass
    return OK


async def _figures(engine: OpenEngine, before: DiffusionMetrics | None, end: Finished, tokens: int) -> str:
    """Wall tokens/s, canvases, denoise steps per canvas. The step counter is the server's: exact while we are alone."""
    after = await _metrics(engine)
    steps = after.denoise_steps - before.denoise_steps if after and before else 0
    parts = [f"{tokens} tokens in {end.seconds:.2f} s: {tokens / end.seconds:.0f} tokens/s wall" if end.seconds else ""]
    parts.append(f"{end.canvases} canvases")
    if end.canvases and steps > 0:
        parts.append(f"{steps / end.canvases:.1f} denoise steps per canvas")
    if end.reason == "length":
        parts.append("cut off by --max-tokens or the context")
    return ", ".join(filter(None, parts))


async def _metrics(engine: OpenEngine) -> DiffusionMetrics | None:
    """The counters; None from a server that keeps them to itself. An answer is worth more than its figures."""
    try:
        return await engine.client.metrics()
    except UserError:
        return None
