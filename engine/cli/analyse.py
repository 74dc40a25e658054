"""``analyse``: what a stored run's answers are worth, in numbers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine import paths
from engine.batch.analysis.bootstrap import Interval
from engine.batch.analysis.groups import sentence
from engine.batch.analysis.report import Analysis, Choices, Levels, YesNo, analyse_run
from engine.batch.analysis.tables import as_json, check_folder, write_tables
from engine.batch.analysis.thresholds import Aim, Goal
from engine.store.runs import RunView, run_path

GROUPS_SHOWN = 8


@click.command("analyse")
@click.argument("run")
@click.option("--json", "as_json_", is_flag=True, help="One JSON array, an object per question; no curves.")
@click.option(
    "--csv",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for one CSV per figure, curves and all.",
)
@click.option("--overwrite", is_flag=True, help="Write into a --csv folder that holds figures already.")
@click.option(
    "--goal",
    type=click.Choice(["f1", "accuracy", "precision", "recall"]),
    default="f1",
    show_default=True,
    help="What the threshold of a yes/no question is chosen for; precision and recall: the other at --least.",
)
@click.option("--least", type=click.FloatRange(0.0, 1.0), help="The precision or recall that must be reached.")
def command(run: str, as_json_: bool, folder: Path | None, overwrite: bool, goal: Goal, least: float | None) -> None:
    """Say how good the answers of RUN (an id that `runs` lists) are.

    With a gold column: AUC with its interval, recall, calibration, a threshold with its noise floor; confusion or
    kappa for choices and scores. With a group column: the groups whose unreadable answers stand out first.
    """
    if goal in ("precision", "recall") and least is None:
        raise click.UsageError(f"--goal {goal} needs --least")
    if folder is not None and not overwrite:
        check_folder(folder)
    with RunView(run_path(paths.runs_dir(), run)) as view:
        analyses = analyse_run(view, Aim(goal, least))
    written = write_tables(analyses, folder) if folder is not None else []
    if as_json_:
        click.echo(json.dumps([as_json(analysis) for analysis in analyses]))
        return
    for analysis in analyses:
        for line in lines_of(analysis):
            click.echo(line)
    if folder is not None:
        click.echo(f"wrote {len(written)} files to {folder}")


def lines_of(analysis: Analysis) -> list[str]:
    """One question in words."""
    totals = analysis.totals
    lines = [
        f"{analysis.question.id}: {totals.answers} answers: {totals.ok} ok, {totals.unreadable} unreadable, "
        f"{totals.error} error, {totals.skipped} skipped"
    ]
    lines += [f"  {caution}" for caution in analysis.cautions]
    if analysis.question.gold is None:
        lines.append("  no gold column: nothing to hold the answers against")
    elif not analysis.measured:
        lines.append("  no ok answer has gold")
    for part in (analysis.yes_no, analysis.choices, analysis.levels):
        match part:
            case YesNo():
                lines += _yes_no(part, analysis.measured)
            case Choices():
                lines.append(f"  accuracy {_figure(part.accuracy, part.accuracy_interval)}, {analysis.measured} rows")
            case Levels():
                lines.append(f"  mean absolute error {_figure(part.mae, part.mae_interval)}, {analysis.measured} rows")
                lines.append(f"  weighted kappa {_figure(part.kappa)}, Spearman correlation {_figure(part.spearman)}")
    return lines + _groups(analysis)


def _yes_no(found: YesNo, rows: int) -> list[str]:
    lines = [f"  AUC {_figure(found.auc, found.auc_interval)}, {found.positives} yes of {rows} rows"]
    if found.precision_recall is not None:
        lines[0] += f"; average precision {found.precision_recall.average_precision:.3f}"
    recalls = [f"{value:.3f} above {at:.2f}" for at, value in found.recall_above.items() if value is not None]
    tops = [f"{value:.3f} in the top {share:.0%}" for share, value in found.recall_top.items() if value is not None]
    if recalls:
        lines.append(f"  recall {', '.join(recalls)}; {', '.join(tops)}")
    if found.ranks is not None:
        lines.append(f"  rank of a yes: median {found.ranks.median:.2%} from the top, worst {found.ranks.worst:.2%}")
    if found.reliability is not None:
        lines.append(f"  Brier score {found.reliability.brier:.3f}, calibration error {found.reliability.ece:.3f}")
        if found.reliability.caution:
            lines[-1] += f" ({found.reliability.caution})"
    cut = found.at_threshold
    if cut is not None:
        lines.append(
            f"  at the form's threshold {cut.threshold:g}: precision {_figure(cut.precision)}, recall "
            f"{_figure(cut.recall)}, {cut.yes_share:.1%} yes"
        )
    if found.positives in (0, rows):
        lines.append("  threshold: none, gold has one class only")
    elif found.pick is None:
        lines.append("  threshold: no threshold reaches what is demanded")
    else:
        lines.append(f"  threshold: {found.pick.sentence}")
    return lines


def _groups(analysis: Analysis) -> list[str]:
    if not analysis.groups:
        return []
    lines = [f"  {sentence([group.test for group in analysis.groups])}"]
    for group in analysis.groups[:GROUPS_SHOWN]:
        line = f"    {group.name}: {group.totals.answers} answers, {group.totals.unreadable} unreadable"
        if group.auc is not None:
            line += f", AUC {group.auc:.3f}, recall {_figure(group.recall_030)} above 0.30"
            line += f", {_figure(group.recall_top5)} in the top 5%, median rank {group.median_rank:.2%}"
        lines.append(line)
    if len(analysis.groups) > GROUPS_SHOWN:
        lines.append(f"    and {len(analysis.groups) - GROUPS_SHOWN} groups more")
    return lines


def _figure(value: float | None, interval: Interval | None = None) -> str:
    if value is None:
        return "none"
    return f"{value:.3f}" + (f" ({interval.low:.3f} to {interval.high:.3f})" if interval is not None else "")
