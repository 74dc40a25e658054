"""``--picture-column`` and ``--picture-separator``: which column names a row's pictures, instead of the form's."""

from __future__ import annotations

from dataclasses import replace

import click

from engine.domain.form import Form
from engine.domain.picture import PictureColumn
from engine.errors import InputError

column_option = click.option(
    "--picture-column",
    metavar="COLUMN",
    help="Its cells name the pictures of a row (paths of local files); else as the form says.",
)
separator_option = click.option(
    "--picture-separator", metavar="TEXT", help="Between several pictures of a cell; with --picture-column."
)


def with_pictures(form: Form, column: str | None, separator: str | None) -> Form:
    """The form with the column of pictures that the command line names.

    Raises:
        InputError: as ``chosen``.
    """
    return replace(form, pictures=chosen(form.pictures, column, separator))


def chosen(base: PictureColumn | None, column: str | None, separator: str | None) -> PictureColumn | None:
    """The column of pictures: what the command line says, else the form's.

    Raises:
        InputError: a separator without a column to separate.
    """
    if column is not None:
        return PictureColumn(column, separator or "")
    if separator is None:
        return base
    if base is None:
        raise InputError(
            "pictures.no_column",
            "--picture-separator is given, and no column of pictures",
            remedy="give --picture-column too",
        )
    return PictureColumn(base.column, separator)
