"""Reads clause topics written one a line: wordings separated by bars, sides by two bars."""

from __future__ import annotations


def frames(text: str) -> list[str]:
    """The wordings of one side, each a sentence."""
    return [f"{frame.strip()}." for frame in text.split(" | ")]


def valued(text: str) -> list[tuple[str, list[str]]]:
    """(kind of value, wordings) of each line "kind: wordings"."""
    return [(line.partition(": ")[0], frames(line.partition(": ")[2])) for line in text.strip().splitlines()]


def polar(text: str) -> list[tuple[list[str], list[str]]]:
    """(wordings of the yes side, of the no side) of each line."""
    parts = (line.partition(" || ") for line in text.strip().splitlines())
    return [(frames(yes), frames(no)) for yes, _, no in parts]


def roles(text: str) -> list[list[str]]:
    """The wordings of each line."""
    return [frames(line) for line in text.strip().splitlines()]
