"""A run on one page of HTML: what was asked and how, what came out, how far to believe it. It loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from engine.batch.analysis.calibration import Reliability
from engine.batch.analysis.curves import Histogram, Roc
from engine.batch.analysis.groups import sentence
from engine.batch.analysis.report import Analysis, YesNo, analyse_run
from engine.batch.joint_price import FACT, price_in
from engine.batch.svg import Plot
from engine.domain.question import Noul
from engine.domain.run import Totals
from engine.store.runs import RunView

GROUPS_SHOWN = 20
Facts = Iterable[tuple[str, str]]

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1c1e; --dim: #5c6166; --paper: #fff; --line: #d4d7da; --blue: #0b62a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e8; --dim: #a0a6ac; --paper: #17191b; --line: #3b4045; --blue: #6db3f2; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; } th, td { text-align: left; padding: .15rem .9rem .15rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; } td.n { text-align: right; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; } svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; } svg .name { font-weight: 600; font-size: 12px; }
svg .tick, svg .axis-name { fill: var(--dim); } .axis { fill: none; stroke: var(--dim); }
.line { fill: none; stroke: var(--blue); stroke-width: 2; } .even { fill: none; stroke: var(--dim);
  stroke-dasharray: 4 4; } .bar { fill: var(--blue); opacity: .75; } .dot { fill: var(--blue); }
.interval { stroke: var(--blue); stroke-width: 1.5; } .caution { color: var(--dim); font-style: italic; }
pre { white-space: pre-wrap; border-left: 3px solid var(--line); padding-left: .8rem; }
"""


def html_report(view: RunView) -> str:
    """The page of a stored run, finished or not."""
    name = escape(view.spec.name)
    head = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
    )
    parts = [head, f"<h1>{name}</h1>", _about(view)]
    parts += [_question(analysis) for analysis in analyse_run(view)]
    parts += [_rounds(view), "</body></html>\n"]
    return "".join(parts)


def _about(view: RunView) -> str:
    spec, info, method, price = view.spec, view.info(), view.spec.method, price_in(view.spec)
    selection = ", ".join(f"{key} {value}" for key, value in spec.selection.items()) or "all rows"
    pictures = spec.form.get("pictures")
    facts = [
        ("Run", f"{view.id}, {info.state}, {view.created}"),
        ("Table", f"{Path(spec.table_path).name}, {view.rows} rows, SHA-256 {spec.table_sha256[:16]}…"),
        ("Rows read", selection),
        ("Form", f"{len(spec.questions)} question{'s' * (len(spec.questions) != 1)}, SHA-256 {spec.form_sha256[:16]}…"),
        *((("Pictures", f"of the column {pictures['column']}"),) if pictures else ()),
        ("Engine", spec.engine),
        *((str(key), _shown(value)) for key, value in spec.facts.items() if key != FACT),
        *((("Joint reading", f"{price.sentence} {price.advice}"),) if price is not None else ()),
        (
            "Method",
            f"{method.name}, draws {method.draws}, seed {method.seed}, readable from label mass {method.min_mass}",
        ),
    ]
    state = escape(str(spec.form.get("state", "")))
    return f"{_table(facts)}<p>The text that the questions are about:</p><pre>{state}</pre>"


def _question(analysis: Analysis) -> str:
    question = analysis.question
    parts = [f"<h2>{escape(question.id)}</h2><p>{escape(question.instructions)}</p>", _totals(analysis.totals)]
    plots = [_histogram(analysis.histogram, isinstance(question, Noul))]
    if analysis.yes_no is not None:
        parts.append(_table(_yes_no_facts(analysis.yes_no, analysis)))
        plots += [_roc(analysis.yes_no.roc), _reliability(analysis.yes_no.reliability)]
        if analysis.yes_no.reliability is not None and analysis.yes_no.reliability.caution:
            parts.append(f'<p class="caution">{escape(analysis.yes_no.reliability.caution)}</p>')
    elif analysis.choices is not None:
        accuracy = analysis.choices.accuracy
        parts.append(_table([("Accuracy", _number(accuracy)), ("Measured", f"{analysis.measured} rows")]))
    elif analysis.levels is not None:
        levels = analysis.levels
        facts = [("Mean absolute error", levels.mae), ("Weighted kappa", levels.kappa), ("Spearman", levels.spearman)]
        parts.append(_table([*((name, _number(value)) for name, value in facts), _measured(analysis)]))
    else:
        parts.append("<p>No gold column: the numbers rank the rows; whether they are right is not known.</p>")
    parts.append(f'<div class="plots">{"".join(plots)}</div>')
    if analysis.groups:
        parts.append(_groups(analysis))
    return "".join(parts)


def _yes_no_facts(found: YesNo, analysis: Analysis) -> list[tuple[str, str]]:
    interval = found.auc_interval
    around = f" (95 %: {interval.low:.3f} to {interval.high:.3f})" if interval is not None else ""
    facts = [
        ("AUC", _number(found.auc) + around),
        *((f"Recall above {cut:.2f}", _number(value)) for cut, value in found.recall_above.items()),
        *((f"Recall in the top {share:.0%}", _number(value)) for share, value in found.recall_top.items()),
    ]
    if found.ranks is not None:
        facts.append(("Median rank of the positives", f"top {found.ranks.median:.1%}"))
    if found.reliability is not None:
        facts += [
            ("Brier score", _number(found.reliability.brier)),
            ("Calibration error", _number(found.reliability.ece)),
        ]
    return [*facts, _measured(analysis)]


def _measured(analysis: Analysis) -> tuple[str, str]:
    floor = f"; differences under {analysis.noise_floor:.3f} are noise" if analysis.noise_floor is not None else ""
    return ("Measured", f"{analysis.measured} rows{floor}")


def _histogram(found: Histogram, yes: bool) -> str:
    edges, counts = found.edges.tolist(), found.all.tolist()
    plot = Plot(
        "Histogram",
        "probability of yes" if yes else "value",
        "answers",
        (edges[0], edges[-1]),
        (0.0, float(max(*counts, 1))),
    )
    plot.bars(edges, counts)
    return plot.svg()


def _roc(found: Roc | None) -> str:
    if found is None:
        return ""
    plot = Plot("ROC", "false positive rate", "true positive rate")
    plot.line([(0.0, 0.0), (1.0, 1.0)], "even")
    plot.line(list(zip(found.false_positive_rate.tolist(), found.true_positive_rate.tolist(), strict=True)))
    return plot.svg()


def _reliability(found: Reliability | None) -> str:
    if found is None:
        return ""
    plot = Plot("Reliability", "probability that was read", "share that is yes")
    plot.line([(0.0, 0.0), (1.0, 1.0)], "even")
    points = list(zip(found.predicted.tolist(), found.observed.tolist(), strict=True))
    plot.dots(points, list(zip(found.observed_low.tolist(), found.observed_high.tolist(), strict=True)))
    return plot.svg()


def _groups(analysis: Analysis) -> str:
    """Those that stand out first."""
    rows = [("group", "rows", "unreadable", "share", "AUC")]
    for each in analysis.groups[:GROUPS_SHOWN]:
        test = each.test
        rows.append(
            (each.name, str(each.totals.answers), str(test.unreadable), f"{test.share:.1%}", _number(each.auc, ""))
        )
    told = escape(sentence([each.test for each in analysis.groups]))
    more = len(analysis.groups) - GROUPS_SHOWN
    rest = f"<p>and {more} groups more</p>" if more > 0 else ""
    return f"<p>{told}</p>{_grid(rows)}{rest}"


def _rounds(view: RunView) -> str:
    rounds = view.rounds()
    if len(rounds) == 1:
        return ""
    rows = [("round", "kind", "answers", "method", "draws", "begun")]
    rows += [
        (str(each.number), each.kind, str(each.answers), each.method.name, str(each.method.draws), each.started)
        for each in rounds
    ]
    return f"<h2>How it was read</h2>{_grid(rows)}"


def _totals(totals: Totals) -> str:
    counts = (totals.answers, totals.ok, totals.unreadable, totals.error, totals.skipped)
    return _grid([("rows", "ok", "unreadable", "error", "skipped"), tuple(map(str, counts))])


def _table(facts: Facts) -> str:
    lines = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts)
    return f"<table>{''.join(lines)}</table>"


def _grid(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows[1:])
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"


def _number(value: float | None, nothing: str = "none") -> str:
    return nothing if value is None or value != value else f"{value:.3f}"  # NaN differs from itself


def _shown(value: object) -> str:
    return ", ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, dict) else str(value)
