"""``plan``: which cards, which checkpoint, which flags and why; or what would make a plan possible."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from engine.cli.main import BAD_INPUT, OK
from engine.cli.wishes import wish_options, wishes_of
from engine.domain.hardware import GIB, Machine
from engine.domain.plan import CardBudget, CheckpointKind, LaunchPlan, LeftOut, PlanResult, Refusal, Wishes
from engine.launch.attention import fitted
from engine.launch.command import argv, environment, shell_line
from engine.launch.fixes import FixResult, check_fixes
from engine.launch.planner import plan
from engine.launch.plugin import with_parts
from engine.launch.proof import InstalledEngine

BAR = 48  # characters
PARTS = (
    ("weights", "█"),
    ("KV cache", "▓"),
    ("activations", "▒"),
    ("CUDA context", "▚"),
    ("canvases", "░"),
    ("others", "×"),
)


@click.command("plan")
@wish_options
@click.option("--checkpoint", type=click.Choice(get_args(CheckpointKind)), help="Left out: what fits best.")
@click.option("--python", default="python", help="Interpreter of the engine's environment, for the command line.")
@click.option("--model-dir", default="diffusiongemma", help="Folder of the checkpoint, for the command line.")
@click.option("--port", type=int, default=8042, show_default=True)
@click.option("--engine", type=click.Path(path_type=Path), help="site-packages of an installed engine: its fixes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
def command(
    record: Path | None,
    checkpoint: CheckpointKind | None,
    python: str,
    model_dir: str,
    port: int,
    engine: Path | None,
    as_json: bool,
    **wished: Any,
) -> int:
    """Plan the engine for this machine, or for a recorded one. Starts nothing."""
    machine = _machine(record)
    wishes = wishes_of(machine, wished, Wishes(checkpoint=checkpoint))
    result = plan(machine, wishes)
    checklist: tuple[FixResult, ...] = ()
    if engine is not None and isinstance(result, LaunchPlan):
        installed = InstalledEngine(engine)
        result = with_parts(fitted(result, installed), installed)
        checklist = check_fixes(result, installed)
    if as_json:
        fixes = [asdict(line) for line in checklist]
        print(json.dumps({**_fields(machine, wishes, result, python, model_dir, port), "fixes": fixes}))
    elif isinstance(result, Refusal):
        _show_refusal(result)
    else:
        _show_plan(result, python, model_dir, port)
        _show_fixes(checklist)
    lacking = any(line.status == "missing" for line in checklist)
    return BAD_INPUT if lacking or isinstance(result, Refusal) else OK


def _machine(record: Path | None) -> Machine:
    if record is not None:
        from engine.hardware.record import load_machine

        return load_machine(record)
    from engine.hardware.machine import probe_machine

    return probe_machine()


def _fields(
    machine: Machine, wishes: Wishes, result: PlanResult, python: str, model_dir: str, port: int
) -> dict[str, Any]:
    fields: dict[str, Any] = {"machine": machine.name, "wishes": asdict(wishes)}
    if isinstance(result, Refusal):
        return {**fields, "refusal": asdict(result)}
    shown = asdict(result)
    for card, budget in zip(shown["cards"], result.cards, strict=True):
        card |= {"needed": budget.needed, "reserve": budget.reserve}
    fields["plan"] = shown
    if result.checkpoint == "embedded":
        return fields
    return {
        **fields,
        "argv": argv(result, python, model_dir, port),
        "environment": environment(result),
        "shell": shell_line(result, python, model_dir, port),
    }


def _show_refusal(refusal: Refusal) -> None:
    click.echo(f"{click.style('no plan:', fg='red')} {refusal.reason}")
    for way in refusal.ways_out:
        click.echo(f"  - {way}")
    _show_left_out(refusal.left_out)


def _show_plan(found: LaunchPlan, python: str, model_dir: str, port: int) -> None:
    click.echo(click.style(found.title, bold=True))
    if found.cards:
        click.echo(
            f"{found.context:,} tokens of context, {found.concurrency:.2f} such sequences in the cache; "
            f"{found.sequences} at once; speed: {found.speed}"
        )
        click.echo()
        for card in found.cards:
            _show_card(card)
        click.echo("  " + "  ".join(f"{sign} {name}" for name, sign in PARTS) + "  · free")
    _show_left_out(found.left_out)
    for note in found.notes:
        click.echo(f"  note: {note}")
    if found.checkpoint != "embedded":
        _show_command(found, python, model_dir, port)


def _show_card(card: CardBudget) -> None:
    click.echo(f"{card.name}  {card.uuid}")
    click.echo(f"  [{bar(card)}] {card.needed / GIB:.1f} of {card.total / GIB:.1f} GiB, {card.reserve / GIB:.1f} left")
    click.echo(
        f"  weights {card.weights / GIB:.2f}, KV cache {card.kv_cache / GIB:.2f}, activations "
        f"{card.activations / GIB:.2f}, CUDA context {card.cuda_context / GIB:.2f}, canvases "
        f"{card.canvas_buffers / GIB:.2f}, others {card.others / GIB:.2f} GiB; free now {card.free_now / GIB:.2f}"
    )


def bar(card: CardBudget) -> str:
    """The card to scale: what will live in it, and what others hold."""
    sizes = (card.weights, card.kv_cache, card.activations, card.cuda_context, card.canvas_buffers, card.others)
    drawn = ""
    filled = 0
    for size, (_, sign) in zip(sizes, PARTS, strict=True):
        filled += size
        drawn += sign * (min(BAR, round(filled / card.total * BAR)) - len(drawn))
    return drawn.ljust(BAR, "·")


def _show_left_out(left_out: tuple[LeftOut, ...]) -> None:
    for left in left_out:
        click.echo(f"  not used: {left.name}: {left.reason}")


def _show_command(found: LaunchPlan, python: str, model_dir: str, port: int) -> None:
    click.echo("\nFlags")
    for flag in found.flags:
        click.echo(f"  {flag.name}{'' if flag.value is None else ' ' + shlex.quote(flag.value)}\n      {flag.reason}")
    click.echo("\nEnvironment")
    for variable in found.env:
        value = " (removed)" if variable.value is None else f"={variable.value}"
        click.echo(f"  {variable.name}{value}\n      {variable.reason}")
    click.echo("\nThe command line\n" + shell_line(found, python, model_dir, port))


def _show_fixes(checklist: tuple[FixResult, ...]) -> None:
    """The fixes that the plan depends on, one line and its proof; what is missing says what breaks."""
    if checklist:
        click.echo("\nFixes")
    colours = {"proven": "green", "missing": "red", "not needed": "bright_black"}
    for line in checklist:
        click.echo(f"  {click.style(f'{line.status:<10}', fg=colours[line.status])} {line.title}: {line.detail}")
        if line.status == "missing":
            click.echo(f"             without it {line.breaks}")
