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


def extra_columns(questions: Sequence[Question], kinds: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Columns that stand behind all others and only when there is something to say: ``<id>.round``, ``<id>.label``.

    Args:
        kinds: the part behind the point, for each question in turn.
        taken: the other names of the export; an extra that meets one of them gets ``_`` behind it.
    """
    used, names = set(taken), []
    for question in questions:
        for kind in kinds:
            name = f"{question.id}.{kind}"
            while name in used:
                name += "_"
            used.add(name)
            names.append(name)
    return tuple(names)


def input_names(columns: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Names of the input's columns in the export.

    A column keeps its name unless the export itself has one of that name; then it gets ``_in``, once or more often.
    ``row_id`` is served first, so that it is ``row_id_in`` whatever else the table holds; then those that keep theirs.

    Args:
        taken: names of the export's own columns, ``row_id`` among them.
    """
    used = set(taken)

    def rank(at: int) -> tuple[bool, bool, int]:
        return (columns[at] != ROW_ID, columns[at] in taken, at)

    names = list(columns)
    for at in sorted(range(len(columns)), key=rank):
        while names[at] in used:
            names[at] += KEPT
        used.add(names[at])
    return tuple(names)
