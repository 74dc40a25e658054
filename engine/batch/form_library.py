"""The forms that come with the program, each with a small table that it runs on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine import paths
from engine.batch.form import load_form
from engine.domain.form import Form
from engine.errors import InputError

TEMPLATES = ("contradiction", "triage", "routing", "rubric", "moderation", "relevance")


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """A form to begin with.

    Attributes:
        id: the name of its folder.
        path, table: the form file, and a CSV with the columns that it uses.
    """

    id: str
    form: Form
    path: Path
    table: Path


def templates() -> tuple[FormTemplate, ...]:
    """All of them, in the order in which they are offered."""
    return tuple(template(name) for name in TEMPLATES)


def template(name: str) -> FormTemplate:
    """One by its name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in TEMPLATES:
        raise InputError(
            "form.no_template", "there is no template {name}; there are {names}", name=name, names=", ".join(TEMPLATES)
        )
    folder = paths.resources_dir() / "forms" / name
    return FormTemplate(name, load_form(folder / "form.json"), folder / "form.json", folder / "table.csv")
