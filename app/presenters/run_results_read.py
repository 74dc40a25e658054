"""What the results show, read from a run's file. Runs in threads; no Qt objects here."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.models.results import AnswerRow
from app.models.results_detail import AnswerDetail
from engine.batch.prepare import form_of
from engine.batch.review import CANNOT_TELL
from engine.batch.row_state import RowStates
from engine.batch.template import RowTemplate
from engine.domain.form import Form
from engine.domain.picture import paths_of
from engine.domain.question import Question
from engine.domain.run import Label, RunInfo, Totals
from engine.errors import InputError, UserError
from engine.reads.prompt import alone_prompt, joint_prompt
from engine.store.run_browse import Browse, RunBrowser, StoredAnswer

TEXT_LIMIT = 200  # characters of a row's cells in the table


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What came out of one question.

    Attributes:
        histogram: counts of the values in equal parts of ``low`` to ``high``; empty for a choice.
        named: how often each option was given, for a choice.
        metrics: (name, value or None, why there is none) against the gold column.
        groups: which values of the group column have more unreadable answers than luck explains, in a sentence.
    """

    question: Question
    totals: Totals
    histogram: tuple[int, ...] = ()
    low: float = 0.0
    high: float = 1.0
    named: tuple[tuple[str, int], ...] = ()
    metrics: tuple[tuple[str, float | None, str], ...] = ()
    groups: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What takes a pass over the whole run: see ``QuestionOutcome``."""

    metrics: tuple[tuple[str, float | None, str], ...] = ()
    groups: str = ""


def open_run(path: Path) -> tuple[RunBrowser, Form, RunInfo]:
    """A run that can be browsed, its form and its facts."""
    browser = RunBrowser(path)
    try:
        return browser, form_of(browser), browser.info()
    except BaseException:
        browser.close()
        raise


def outcomes_of(browser: RunBrowser, form: Form, measured: dict[str, Measured]) -> list[QuestionOutcome]:
    """Counts and pictures of every question."""
    totals = browser.totals()
    found = []
    for place, question in enumerate(form.questions):
        counts, extra = totals[question.id], measured.get(question.id, Measured())
        outcome = QuestionOutcome(question, counts, metrics=extra.metrics, groups=extra.groups)
        if question.type == "choice":
            by_name = browser.value_counts(place)
            outcome = replace(outcome, named=tuple((answer, by_name.get(answer, 0)) for answer in question.answers))
        else:
            high = 1.0 if question.type == "noul" else float(len(question.answers) - 1)
            outcome = replace(outcome, histogram=browser.histogram(place, 0.0, high), high=high)
        found.append(outcome)
    return found


def measured_of(browser: RunBrowser) -> dict[str, Measured]:
    """What takes a pass over the whole run, by question."""
    from engine.batch.analysis.groups import sentence, standing_out  # numpy, only when there is something to measure
    from engine.batch.analysis.summary import summarise

    found = {}
    for summary in summarise(browser):
        counts = {name: (each.ok + each.unreadable, each.unreadable) for name, each in summary.groups.items()}
        metrics = tuple((metric.name, metric.value, metric.why_not) for metric in summary.metrics)
        found[summary.question_id] = Measured(metrics, sentence(standing_out(counts)) if counts else "")
    return found


def changed_keys(browser: RunBrowser, browse: Browse, old: array[int]) -> tuple[array[int], int]:
    """The keys now, and the first line that differs; -1 when none does."""
    keys = browser.keys(browse)
    if keys == old:
        return keys, -1
    low, high = 0, min(len(keys), len(old))
    while low < high:  # the longest common beginning: all lines before ``low`` are equal
        middle = (low + high + 1) // 2
        if keys[low:middle] == old[low:middle]:
            low = middle
        else:
            high = middle - 1
    return keys, low


def page_of(browser: RunBrowser, keys: Sequence[int]) -> list[AnswerRow]:
    """The answers of these keys with what reviewers said, ready to be painted."""
    answers = browser.answers(keys)
    labels = labels_of(browser, answers)
    return [_row_of(answer, labels.get((answer.row, answer.question))) for answer in answers]


def labels_of(browser: RunBrowser, answers: Sequence[StoredAnswer]) -> dict[tuple[int, int], Label]:
    """The reviewers' labels of these answers by (row, question); rows far apart are not read over."""
    if not browser.has_labels():
        return {}
    found: dict[tuple[int, int], Label] = {}
    for row in sorted({answer.row for answer in answers}):
        found |= browser.labels(row, row)
    return found


def detail_of(browser: RunBrowser, form: Form, key: int) -> AnswerDetail | None:
    """One answer with its prompt, what it replaced and what a reviewer said; None when it is not there."""
    answers = browser.answers([key])
    if not answers:
        return None
    answer = answers[0]
    question, place = form.questions[answer.question], (answer.row, answer.question)
    cells = tuple(zip(browser.spec.columns, answer.cells, strict=True))
    return AnswerDetail(
        question,
        answer.reading,
        answer.row,
        cells,
        _prompt(browser, form, answer),
        tuple(browser.earlier(answer.row, answer.row).get(place, ())),
        browser.labels(answer.row, answer.row).get(place),
        _pictures(browser, form, dict(cells)),
    )


def _pictures(browser: RunBrowser, form: Form, row: dict[str, str]) -> tuple[str, ...]:
    """Where the row's pictures lie; empty when it names none that could."""
    spec = browser.spec
    try:
        states = RowStates.of_pictures(form, spec.columns, spec.table_path)
        return tuple(paths_of(states.render(row)))
    except UserError:  # the answer's error says why
        return ()


def _prompt(browser: RunBrowser, form: Form, answer: StoredAnswer) -> str:
    try:
        state = RowTemplate(form.state, browser.spec.columns, f"run {browser.id}: state").render(
            dict(zip(browser.spec.columns, answer.cells, strict=True))
        )
    except InputError:  # such a row was skipped, and its error says why
        return ""
    if not answer.reading.method.startswith("joint"):
        return alone_prompt(state, form.questions[answer.question])
    asked = next(each.questions for each in browser.rounds() if each.number == answer.reading.round)
    return joint_prompt(state, [form.questions[place] for place in asked])


def _row_of(answer: StoredAnswer, label: Label | None) -> AnswerRow:
    reading = answer.reading
    value = "" if reading.value is None else reading.value
    return AnswerRow(
        row=answer.row,
        question=answer.question,
        question_id=reading.question_id,
        status=reading.status,
        value=value if isinstance(value, str) else f"{value:.3f}",
        shares=reading.shares,
        mass=_number(reading.label_mass),
        entropy=_number(reading.entropy),
        text=_line(answer.cells),
        label="" if label is None else label_text(label),
    )


def label_text(label: Label) -> str:
    """What a reviewer said, in a word; ``?`` when it cannot be told."""
    return CANNOT_TELL if label.value is None else label.value


def _line(cells: Sequence[str]) -> str:
    return " · ".join(cell for cell in cells if cell)[:TEXT_LIMIT].replace("\n", " ")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
