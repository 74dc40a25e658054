"""Reading a gold cell: the class that a person gave."""

from __future__ import annotations

from engine.domain.question import Choice, Noul, Question, Score

_YES, _NO = frozenset({"yes", "1", "true"}), frozenset({"no", "0", "false"})


def parse_gold(cell: str, question: Question) -> int | None:
    """The place of the gold answer in ``question.answers``; None when the cell names no answer.

    White space around it and case do not matter. noul: yes/no, 1/0, true/false. choice: the option's name. score:
    the level's name or its number from 0; the name counts first, so levels named "1" to "5" are meant by name.
    """
    text = cell.strip()
    match question:
        case Noul():
            word = text.casefold()
            return 0 if word in _YES else 1 if word in _NO else None
        case Choice(options=options):
            return _by_name(text, [option.name for option in options])
        case Score(levels=levels):
            named = _by_name(text, levels)
            return named if named is not None else _by_number(text, len(levels))


def _by_name(text: str, names: tuple[str, ...] | list[str]) -> int | None:
    for at, name in enumerate(names):
        if name.strip() == text:
            return at
    folded = [at for at, name in enumerate(names) if name.strip().casefold() == text.casefold()]
    return folded[0] if len(folded) == 1 else None


def _by_number(text: str, levels: int) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number < levels else None
