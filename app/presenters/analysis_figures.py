"""From an analysis to the figures and the sentences of the window. The numbers are those of ``analyse``, untouched."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.models.results_figures import Figure, Matrix, Series
from engine.batch.analysis.agreement import Confusion
from engine.batch.analysis.bootstrap import Interval
from engine.batch.analysis.groups import sentence
from engine.batch.analysis.report import Analysis, Choices, GroupFigures, Levels, YesNo
from engine.domain.question import Choice, Noul, Score

GROUPS_SHOWN = 12
DIAGONAL = (0.0, 1.0)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Analysis", text)


def figures_of(analysis: Analysis) -> tuple[Figure, ...]:
    """Every figure that the question has, the most telling first."""
    found: list[Figure] = []
    if analysis.yes_no is not None:
        found += _yes_no(analysis.yes_no, analysis)
    for part in (analysis.choices, analysis.levels):
        if part is not None and part.confusion is not None:
            found.append(_confusion(part.confusion))
    found.append(_histogram(analysis))
    if analysis.coverage is not None:
        found.append(_coverage(analysis))
    return tuple(found)


def facts_of(analysis: Analysis) -> list[tuple[str, str]]:
    """(name, value with its interval) of every figure against gold."""
    found: list[tuple[str, str]] = []
    for part in (analysis.yes_no, analysis.choices, analysis.levels):
        match part:
            case YesNo():
                found += _yes_no_facts(part)
            case Choices():
                found.append((_tr("Accuracy"), figure_text(part.accuracy, part.accuracy_interval)))
            case Levels():
                found.append((_tr("Mean absolute error"), figure_text(part.mae, part.mae_interval)))
                found.append((_tr("Weighted kappa"), figure_text(part.kappa)))
                found.append((_tr("Spearman correlation"), figure_text(part.spearman)))
    if analysis.noise_floor is not None:
        found.append((_tr("Noise floor"), figure_text(analysis.noise_floor)))
    return found


def sentences_of(analysis: Analysis) -> list[str]:
    """What must be known before the figures are believed."""
    found = list(analysis.cautions)
    if analysis.question.gold is None:
        found.append(
            _tr(
                "No gold column: shown is how the answers spread and which groups stand out. With a column of right "
                "answers (step 1, gold) there are also accuracy, calibration and a threshold."
            )
        )
    elif not analysis.measured:
        found.append(_tr("No ok answer has gold, so nothing can be held against it."))
    else:
        text = _tr("Measured on {rows} rows with an ok answer and gold. Differences under {floor} are luck.")
        floor = 0.0 if analysis.noise_floor is None else analysis.noise_floor
        found.append(text.format(rows=f"{analysis.measured:,}", floor=f"{floor:.3f}"))
    if analysis.yes_no is not None and analysis.yes_no.reliability is not None:
        found.append(analysis.yes_no.reliability.caution)
    if analysis.groups:
        found.append(sentence([group.test for group in analysis.groups]))
    return [each for each in found if each]


def group_heads(analysis: Analysis) -> list[str]:
    """The columns of ``group_rows``."""
    heads = [_tr("Group"), _tr("Answers"), _tr("Unreadable"), _tr("Share"), _tr("p")]
    if _measured_by_group(analysis):
        heads += [_tr("AUC"), _tr("Recall above 0.3"), _tr("In the top 5%"), _tr("Median rank")]
    return heads


def group_rows(analysis: Analysis) -> list[tuple[list[str], bool]]:
    """(cells, stands out) of the groups, those that stand out first; against gold only for yes/no questions."""
    return [(_group_cells(group, analysis), group.test.stands_out) for group in analysis.groups[:GROUPS_SHOWN]]


def _group_cells(group: GroupFigures, analysis: Analysis) -> list[str]:
    test = group.test
    counts = [f"{group.totals.answers:,}", f"{group.totals.unreadable:,}", f"{test.share:.1%}", f"{test.corrected:.2g}"]
    if not _measured_by_group(analysis):
        return [group.name, *counts]
    rank = "–" if group.median_rank is None else f"{group.median_rank:.2%}"
    against = [figure_text(value) for value in (group.auc, group.recall_030, group.recall_top5)]
    return [group.name, *counts, *against, rank]


def _measured_by_group(analysis: Analysis) -> bool:
    return any(group.auc is not None for group in analysis.groups)


def threshold_sentence(found: YesNo, at: float) -> str:
    """What a threshold gives on the labelled rows; empty with one class only."""
    table = found.table
    if table is None:
        return ""
    place = int((table.threshold >= at).sum()) - 1
    if place < 0:
        return _tr("No row scores so high: none counts as yes.")
    text = _tr("{at}: precision {precision}, recall {recall}, accuracy {accuracy}; {share} of the rows count as yes.")
    return text.format(
        at=f"{at:.3f}",
        precision=f"{table.precision[place]:.3f}",
        recall=f"{table.recall[place]:.3f}",
        accuracy=f"{table.accuracy[place]:.3f}",
        share=f"{table.yes_share[place]:.1%}",
    )


def figure_text(value: float | None, interval: Interval | None = None) -> str:
    """``0.812 (0.760 to 0.861)``; a dash for none."""
    if value is None:
        return "–"
    return f"{value:.3f}" + (f" ({interval.low:.3f} – {interval.high:.3f})" if interval is not None else "")


def _yes_no_facts(found: YesNo) -> list[tuple[str, str]]:
    facts = [(_tr("AUC"), figure_text(found.auc, found.auc_interval))]
    if found.precision_recall is not None:
        facts.append((_tr("Average precision"), figure_text(found.precision_recall.average_precision)))
    if found.reliability is not None:
        facts.append((_tr("Brier score"), figure_text(found.reliability.brier)))
        facts.append((_tr("Calibration error (ECE)"), figure_text(found.reliability.ece)))
    above, top = _tr("Recall above {at}"), _tr("Recall in the top {n}")
    facts += [(above.format(at=f"{at:g}"), figure_text(value)) for at, value in found.recall_above.items()]
    facts += [(top.format(n=f"{share:.0%}"), figure_text(value)) for share, value in found.recall_top.items()]
    if found.ranks is not None:
        facts.append((_tr("Median rank of a yes"), f"{found.ranks.median:.2%}"))
    if found.at_threshold is not None:
        cut = found.at_threshold
        name = _tr("Precision, recall at the form's {at}").format(at=f"{cut.threshold:g}")
        facts.append((name, f"{figure_text(cut.precision)}, {figure_text(cut.recall)}"))
    return facts


def _yes_no(found: YesNo, analysis: Analysis) -> list[Figure]:
    figures = []
    if found.roc is not None:
        roc = Series(_tr("answers"), found.roc.false_positive_rate.tolist(), found.roc.true_positive_rate.tolist())
        note = _tr("AUC {auc}. The dashed line is guessing.").format(auc=figure_text(found.auc, found.auc_interval))
        luck = Series(_tr("guessing"), DIAGONAL, DIAGONAL, "muted", "dash")
        figures.append(Figure("roc", _tr("ROC"), note, _tr("false positives"), _tr("true positives"), (luck, roc)))
    if found.precision_recall is not None:
        pr, base = found.precision_recall, found.positives / max(analysis.measured, 1)
        curve = Series(_tr("answers"), pr.recall.tolist(), pr.precision.tolist())
        luck = Series(_tr("guessing"), DIAGONAL, (base, base), "muted", "dash")
        note = _tr("Average precision {ap}; guessing gives {base}.")
        note = note.format(ap=figure_text(pr.average_precision), base=figure_text(base))
        title = _tr("Precision and recall")
        figures.append(Figure("precision_recall", title, note, _tr("recall"), _tr("precision"), (luck, curve)))
    if found.reliability is not None:
        r = found.reliability
        points = Series(
            _tr("answers"), r.predicted.tolist(), r.observed.tolist(), "accent", "points",
            r.observed_low.tolist(), r.observed_high.tolist(),
        )  # fmt: skip
        perfect = Series(_tr("calibrated"), DIAGONAL, DIAGONAL, "muted", "dash")
        note = _tr("Brier {brier}, calibration error {ece}. On the dashed line 0.8 means right in 80 of 100.")
        note = note.format(brier=figure_text(r.brier), ece=figure_text(r.ece))
        shown = (perfect, points)
        title = _tr("Reliability")
        figures.append(Figure("reliability", title, note, _tr("predicted"), _tr("observed"), shown))
    if found.table is not None:
        t = found.table
        x = t.threshold.tolist()
        lines = (
            Series(_tr("precision"), x, t.precision.tolist()),
            Series(_tr("recall"), x, t.recall.tolist(), "warning", "dash"),
            Series(_tr("yes"), x, t.yes_share.tolist(), "muted"),
        )
        mark = found.pick.threshold if found.pick is not None else None
        note = _tr("The upright line is the threshold chosen.") if mark is not None else ""
        title = _tr("Thresholds")
        figures.append(Figure("thresholds", title, note, _tr("threshold"), "", lines, mark=mark))
    return figures


def _histogram(analysis: Analysis) -> Figure:
    found, question = analysis.histogram, analysis.question
    edges = found.edges.tolist()
    middles = ((found.edges[:-1] + found.edges[1:]) / 2).tolist()
    series = [Series(_tr("all"), edges, found.all.tolist(), "border_strong", "bars")]
    if found.positive.any() or found.negative.any():
        names = (_tr("gold yes"), _tr("gold no")) if isinstance(question, Noul) else (_tr("right"), _tr("wrong"))
        series.append(Series(names[0], middles, found.positive.tolist()))
        series.append(Series(names[1], middles, found.negative.tolist(), "warning", "dash"))
    what = {
        Noul: _tr("probability of yes"),
        Choice: _tr("share of the likeliest option"),
        Score: _tr("expected level"),
    }[type(question)]
    note = _tr("{n} ok answers.").format(n=f"{int(found.all.sum()):,}")
    span = (edges[0], edges[-1])
    return Figure("histogram", _tr("Histogram"), note, what, _tr("answers"), tuple(series), span, None)


def _coverage(analysis: Analysis) -> Figure:
    assert analysis.coverage is not None
    curve = analysis.coverage
    x = curve.least_share.tolist()
    lines = (
        Series(_tr("coverage"), x, curve.coverage.tolist(), "muted"),
        Series(_tr("accuracy"), x, curve.accuracy.tolist()),
    )
    note = _tr("What is left when only answers with at least this share are taken, and how many of them are right.")
    return Figure("coverage", _tr("Coverage"), note, _tr("least share"), "", lines)


def _confusion(found: Confusion) -> Figure:
    note = _tr("Rows: gold, columns: answers. {accuracy} are on the diagonal.")
    matrix = Matrix(found.names, found.counts.tolist())
    return Figure("confusion", _tr("Confusion"), note.format(accuracy=f"{found.accuracy:.1%}"), matrix=matrix)
