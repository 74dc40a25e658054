"""The decision form: what is asked about every row of a table."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.domain.picture import PictureColumn
from engine.domain.question import Question
from engine.domain.reading import Method


@dataclass(frozen=True, slots=True)
class Form:
    """A form as its file describes it (format version 3, see docs/form-file.md).

    Attributes:
        name: shown to the user.
        state: a template over the table's columns; its result is the text that the questions are about.
        questions: in the order in which they are asked and exported.
        group: a column by which unreadable answers are counted, or None.
        method: how the questions are read unless the caller says otherwise.
        pictures: the column that names pictures of a row, or None.
        document: a template of the whole document that a row's text comes from, or None; a method comparison can put
            it before the state.
    """

    name: str
    state: str
    questions: tuple[Question, ...]
    group: str | None = None
    method: Method = field(default_factory=Method)
    document: str | None = None
    pictures: PictureColumn | None = None
