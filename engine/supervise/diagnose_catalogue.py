"""``resources/failures.json``, checked strictly when it is read: the failures that the program knows.

Its rules are tried in the order of the file; the first that fits a line has it. docs/failures.md says how to add one.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.domain.diagnosis import Action, FailureKind
from engine.errors import InputError
from engine.paths import resources_dir

VERSION = 1
FACTS = frozenset({"cards", "driver", "holders", "largest"})
"""What a text may say about the machine, beside what the rule's pattern found: see ``diagnose_explain``."""

_ID = r"^[a-z][a-z0-9_]{1,39}$"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Remedy(_Strict):
    action: Action
    text: str = Field(min_length=1, max_length=300)


class _Failure(_Strict):
    id: str = Field(pattern=_ID)
    phase: Literal["install", "download", "start", "load", "warm-up", "serving", "any"]
    kind: FailureKind
    patterns: tuple[str, ...] = Field(min_length=1)
    cause: str = Field(min_length=1, max_length=500)
    remedies: tuple[_Remedy, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)
    sample: str = Field(min_length=1)
    timeout_s: float | None = Field(default=None, gt=0)


class _File(_Strict):
    version: int
    failures: tuple[_Failure, ...]


@dataclass(frozen=True, slots=True)
class RemedyText:
    """A remedy whose text has places for parameters."""

    action: Action
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A known failure.

    Attributes:
        timeout_s: for a hang: seconds without another line after which it is a fault.
        sample: a line that it must fit, and no rule before it.
    """

    id: str
    phase: str
    kind: FailureKind
    patterns: tuple[re.Pattern[str], ...]
    cause: str
    remedies: tuple[RemedyText, ...]
    sources: tuple[str, ...]
    sample: str
    timeout_s: float | None = None

    def match(self, text: str) -> re.Match[str] | None:
        """The first of its patterns that fits."""
        return next((found for pattern in self.patterns if (found := pattern.search(text))), None)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All rules, in order."""

    rules: tuple[Rule, ...]

    def find(self, text: str, kinds: frozenset[FailureKind] | None = None) -> tuple[Rule, re.Match[str]] | None:
        """The first rule that fits a line.

        Args:
            kinds: only rules of these kinds; None for all.
        """
        for rule in self.rules:
            if kinds is None or rule.kind in kinds:
                found = rule.match(text)
                if found:
                    return rule, found
        return None

    def rule(self, name: str) -> Rule:
        """The rule with this id. Raises KeyError."""
        for rule in self.rules:
            if rule.id == name:
                return rule
        raise KeyError(name)


@cache
def catalogue() -> Catalogue:
    """The one that comes with the program. Raises InputError when it was damaged."""
    return load_catalogue(resources_dir() / "failures.json")


def load_catalogue(path: Path) -> Catalogue:
    """Read a catalogue.

    Raises:
        InputError: cannot be read, is of another version, or an entry is wrong; the message names file and entry.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            "failures.unreadable", "cannot read {path}: {why}", path=path, why=error.strerror or error
        ) from error
    return parse_catalogue(raw, str(path))


def parse_catalogue(raw: bytes, source: str) -> Catalogue:
    """Read a catalogue from its bytes; ``source`` names it in messages. Raises InputError."""
    try:
        file = _File.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            "failures.field", "{source}: {place}: {problem}", source=source, place=place, problem=first["msg"]
        ) from error
    if file.version != VERSION:
        raise InputError(
            "failures.version",
            "{source}: version is {version}, this program reads {known}",
            source=source,
            version=file.version,
            known=VERSION,
        )
    rules = tuple(_rule(entry, source) for entry in file.failures)
    for name, problem in _contradictions(rules):
        raise InputError("failures.rule", "{source}: {name}: {problem}", source=source, name=name, problem=problem)
    return Catalogue(rules)


def _rule(entry: _Failure, source: str) -> Rule:
    try:
        patterns = tuple(re.compile(pattern) for pattern in entry.patterns)
    except re.error as error:
        raise InputError(
            "failures.pattern",
            "{source}: {name}: pattern {pattern!r}: {why}",
            source=source,
            name=entry.id,
            pattern=error.pattern,
            why=error.msg,
        ) from error
    return Rule(
        entry.id,
        entry.phase,
        entry.kind,
        patterns,
        entry.cause,
        tuple(RemedyText(remedy.action, remedy.text) for remedy in entry.remedies),
        entry.sources,
        entry.sample,
        entry.timeout_s,
    )


def _contradictions(rules: tuple[Rule, ...]) -> Iterator[tuple[str, str]]:
    """Id and problem of what the types alone do not catch."""
    seen: set[str] = set()
    for number, rule in enumerate(rules):
        if rule.id in seen or rule.id == "unknown":
            yield rule.id, "the id is taken"
        seen.add(rule.id)
        if (rule.kind == "hang") != (rule.timeout_s is not None):
            yield rule.id, "a hang, and nothing else, has a timeout_s"
        if rule.kind in ("fault", "echo", "hang") and not rule.remedies:
            yield rule.id, "it has no remedy"
        for text in (rule.cause, *(remedy.text for remedy in rule.remedies)):
            unknown = _fields(text) - FACTS - _groups(rule)
            if unknown:
                yield rule.id, f"{{{min(unknown)}}} is neither a group of every pattern nor a fact of the machine"
        if not rule.match(rule.sample):
            yield rule.id, "it does not fit its own sample"
        for earlier in rules[:number]:
            if earlier.match(rule.sample):
                yield rule.id, f"its sample goes to {earlier.id}"


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _groups(rule: Rule) -> set[str]:
    """Names that every pattern of a rule gives (what did not take part in the match is shown as a question mark)."""
    named = set.intersection(*(set(pattern.groupindex) for pattern in rule.patterns))
    return named | {"seconds"} if rule.kind == "hang" else named
