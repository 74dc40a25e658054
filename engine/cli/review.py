"""``review``: look at the least certain answers of a run and say what is right; one key an answer on a terminal."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from engine import paths
from engine.batch.review import CANNOT_TELL, Review, ReviewItem
from engine.domain.run import Label
from engine.errors import InputError, UserError
from engine.store.run_browse import KEY_BASE
from engine.store.runs import run_path

SHOWN = 600  # characters of a cell


@click.command("review")
@click.argument("run")
@click.option("--question", help="Only this question, by its id.")
@click.option("--author", default=getpass.getuser, show_default="the user's name", help="Stands beside every label.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines in and out, also on a terminal.")
def command(run: str, question: str | None, author: str, as_json: bool) -> int:
    """Review the answers of RUN, unreadable ones first, then the least certain.

    On a terminal: 1 yes, 2 no, 3 cannot tell (options and levels by the keys that are shown), s leaves an answer for
    later, u takes the last label back, q ends. Every label is on disk at once, and exports show it beside the model's.

    Otherwise JSON lines: each answer to review is a line {"row", "question", "value", "status", "top", "cells",
    "answers"}; say {"label": "yes"}, {"label": "?"}, {"row": 7, "question": "q", "label": "no"}, {"skip": true},
    {"undo": true} on stdin.
    """
    with Review(run_path(paths.runs_dir(), run), author, question) as review:
        if as_json or not sys.stdin.isatty():
            _lines(review)
        else:
            _keys(review)
    return 0


def _keys(review: Review) -> None:
    passed: set[int] = set()
    done = 0
    while (item := review.next(frozenset(passed))) is not None:
        _show(item)
        key = click.getchar().lower()
        if key in ("q", "\x03", "\x04"):
            break
        if key == "u":
            undone = review.undo()
            done -= undone is not None and done > 0
            click.echo(_undone(undone))
        elif key == "s":
            passed.add(_key_of(item))
        elif key in item.keys:
            review.say(item, item.keys[key])
            done += 1
        else:
            click.echo(f"{key!r} is no key here")
    else:
        click.echo("nothing is left to review" if not passed else f"{len(passed)} answers are left for later")
    click.echo(f"{done} answers reviewed")


def _show(item: ReviewItem) -> None:
    reading = item.answer.reading
    click.echo(f"\nrow {item.answer.row} \u00b7 {item.question.id} \u00b7 {_told(item)}")
    for name, cell in zip(item.names, item.answer.cells, strict=True):
        click.echo(f"  {_plain(name)}: {_plain(cell)}")
    click.echo(_plain(item.question.instructions))
    if reading.error:
        click.echo(f"  {_plain(reading.error)}")
    choices = "  ".join(
        f"[{key}] {'cannot tell' if value == CANNOT_TELL else _plain(value)}" for key, value in item.keys.items()
    )
    click.echo(f"{choices}  [s] later  [u] undo  [q] end")


def _told(item: ReviewItem) -> str:
    reading = item.answer.reading
    if reading.status != "ok":
        return f"{reading.status}, label mass {reading.label_mass or 0.0:.2f}"
    shares = ", ".join(
        f"{_plain(answer)} {share:.2f}" for answer, share in zip(item.question.answers, reading.shares, strict=True)
    )
    return f"the model: {shares}"


def _lines(review: Review) -> None:
    """One answer out, one word in. Ends with stdin, or when nothing is left."""
    passed: set[int] = set()
    said = _words()
    while (item := review.next(frozenset(passed))) is not None:
        print(json.dumps(_as_json(item)), flush=True)
        word = next(said, None)
        if word is None:
            return
        try:
            answer = _obey(review, item, word, passed)
        except UserError as error:
            answer = {"error": error.code, "message": str(error)}
        print(json.dumps(answer), flush=True)
    print(json.dumps({"left": 0, "skipped": len(passed)}), flush=True)


def _obey(review: Review, item: ReviewItem, word: dict[str, Any], passed: set[int]) -> dict[str, Any]:
    match word:
        case {"undo": True}:
            undone = review.undo()
            return {"undone": None if undone is None else _label_json(undone)}
        case {"skip": True}:
            passed.add(_key_of(item))
            return {"skipped": {"row": item.answer.row, "question": item.question.id}}
        case {"row": int(row), "question": str(question), "label": str(label)}:
            return {"labelled": _label_json(review.say(review.item(row, question), label))}
        case {"label": str(label)}:
            return {"labelled": _label_json(review.say(item, label))}
        case _:
            raise InputError("review.word", "say label, skip or undo", remedy="see `review --help`")


def _words() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        if line.strip():
            try:
                word = json.loads(line)
            except ValueError:
                word = None
            yield word if isinstance(word, dict) else {}


def _as_json(item: ReviewItem) -> dict[str, Any]:
    reading = item.answer.reading
    return {
        "row": item.answer.row,
        "question": item.question.id,
        "instructions": item.question.instructions,
        "status": reading.status,
        "value": reading.value,
        "top": max(reading.shares, default=None),
        "label_mass": reading.label_mass,
        "error": reading.error,
        "cells": dict(zip(item.names, item.answer.cells, strict=True)),
        "answers": list(item.question.answers),
    }


def _label_json(label: Label) -> dict[str, Any]:
    return {"row": label.row, "label": label.value, "author": label.author, "at": label.at}


def _undone(label: Label | None) -> str:
    return "there is nothing to take back" if label is None else f"taken back: row {label.row}"


def _key_of(item: ReviewItem) -> int:
    return item.answer.row * KEY_BASE + item.answer.question


def _plain(text: str) -> str:
    """On one line, not too long, and nothing that a terminal would obey."""
    kept = "".join(char if char.isprintable() else " " for char in text[:SHOWN])
    return kept + ("\u2026" if len(text) > SHOWN else "")
