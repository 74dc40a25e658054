"""The columns of the export: their names, and who yields when two are equal (docs/export.md)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.domain.question import Question

ROW_ID = "row_id"
KEPT = "_in"  # what is added to an input column whose name the export needs


def question_columns(question: Question) -> tuple[str, ...]:
    """The columns of one question, in the order of the contract."""
    own = question.id
    shares = (f"p.{answer}" for answer in question.answers)
    rest = ("label_mass", "argmax_is_label", "entropy", "draws", "stderr", "agreement", "method", "error")
    return (own, *(f"{own}.{name}" for name in ("status", *shares, *rest)))


def input_names(columns: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Names of the input's columns in the export.

    A column keeps its name unless the export itself has one of that name; then it gets ``_in``, once or more often.
    ``row_id`` is served first, so that it is ``row_id_in`` whatever else the table holds.

    Args:
        taken: names of the export's own columns, ``row_id`` among them.
    """
    used = set(taken)
    free = [column for column in columns if column not in used]
    clashing = [column for column in columns if column in used]
    names: dict[str, str] = {}
    for column in sorted(clashing, key=lambda column: column != ROW_ID) + free:
        name = column
        while name in used:
            name += KEPT
        names[column] = name
        used.add(name)
    return tuple(names[column] for column in columns)
