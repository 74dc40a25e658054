"""A report of a failure as one zip: the log's end, the plan, the machine and versions, without what names a person.

Nothing is sent anywhere: the user reads the file and decides.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from engine.domain.diagnosis import Diagnosis
from engine.domain.hardware import Machine
from engine.domain.plan import LaunchPlan
from engine.errors import UserError
from engine.hardware.record import anonymous, dump_machine

LOG_BYTES = 512 * 1024  # of the log's end
HIDDEN = "<hidden>"
SHORTEST = 3  # a name of fewer letters is part of too many words

_COMMON = frozenset({"root", "user", "localhost", "home", "admin", "ubuntu", "debian", "nobody"})
_UUID = re.compile(r"\b(GPU|MIG)-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){0,3}(?:-[0-9a-fA-F]{1,12})?(?![\w-])")
_SECRETS = (
    re.compile(r"\b(?:hf|sk|ghp|gho|github_pat|glpat)[_-][A-Za-z0-9_-]{12,}"),
    re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{6,}"),
    re.compile(r"(?<=://)[^/\s:@'\"]+:[^/\s@'\"]+(?=@)"),
    re.compile(
        r"(?i)(?P<keep>(?<![\w-])[\w-]*(?:api[_-]?key|token|secret|password|passwd)['\"]?\s*[:=]\s*\[?['\"]?)"
        r"(?P<hide>(?!<hidden>)[^\s'\",\]}]{3,})"
    ),
    re.compile(
        r"(?i)(?P<keep>(?<![\w-])--[\w-]*(?:api-key|token|secret|password)['\"]?[\s,=]+['\"]?)(?P<hide>(?!<hidden>)[^\s'\",\]}]+)"
    ),
    re.compile(r"(?<=[\s'\"<(])[\w.+-]+@[\w-]+\.[\w.-]+\b"),
)
_KEY_NAME = re.compile(r"(?i)(?:key|token|secret|password)$")
_NUMBERS = re.compile(r"(?i)^(?:\d+|none|null|true|false|ids?|length|embeddings?)$")
_HOMES = re.compile(r"(?P<before>(?:/home|/Users|/mnt/[a-z]/Users|[A-Z]:\\+Users)[/\\]+)(?P<name>[^/\\\s'\":,]+)")
_ADDRESS = re.compile(r"(?<![\d.])(?!127\.|0\.0\.0\.0)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])")
_MORE_THAN_LOOPBACK = re.compile(r"(?i)(?<![\w:.])(?:[0-9a-f]{1,4}:){5,7}[0-9a-f]{1,4}(?![\w:])")


class Redactor:
    """Takes keys, tokens, names, paths and addresses out of text. The same card keeps the same name throughout.

    Args:
        secrets: known ones: the engine's key.
        home, user, host: of this machine; given in tests.
    """

    def __init__(
        self,
        secrets: Iterable[str] = (),
        *,
        home: str | None = None,
        user: str | None = None,
        host: str | None = None,
    ) -> None:
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
        self._home = (home if home is not None else str(Path.home())).rstrip("/")
        self._user = user if user is not None else _user()
        self._host = host if host is not None else socket.gethostname()
        self._cards: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """The text without them."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        for pattern in _SECRETS:
            text = pattern.sub(_hidden, text)
        if len(self._home) > 1:
            text = re.sub(re.escape(self._home) + r"(?=[/\\\s'\":,)\]]|$)", "~", text)
        text = _HOMES.sub(r"\g<before>[user]", text)
        for name, word in ((self._user, "[user]"), (self._host, "[host]"), (self._host.split(".")[0], "[host]")):
            if len(name) >= SHORTEST and name.lower() not in _COMMON:
                text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", word, text)
        text = _MORE_THAN_LOOPBACK.sub("[address]", _ADDRESS.sub("[address]", text))
        return _UUID.sub(self._card, text)

    def _card(self, found: re.Match[str]) -> str:
        key = found[0].lower()
        return self._cards.setdefault(key, f"{found[1]}-{len(self._cards) + 1}")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name for this user id, as in some containers
        return ""


def _hidden(found: re.Match[str]) -> str:
    groups = found.groupdict()
    if "hide" not in groups:
        return HIDDEN
    return found[0] if _NUMBERS.match(groups["hide"]) else groups["keep"] + HIDDEN


def write_report(
    path: Path,
    *,
    log: Path,
    diagnosis: Diagnosis,
    versions: Mapping[str, str],
    plan: LaunchPlan | None = None,
    machine: Machine | None = None,
    redact: Callable[[str], str] | None = None,
) -> Path:
    """Write the zip; an existing file is kept.

    Args:
        versions: of the program and the engine, by name.
        redact: the default knows this machine, but no key.

    Raises:
        UserError: the file exists or cannot be written, or the log cannot be read.
    """
    redact = redact or Redactor()
    said: dict[str, object] = {
        "report.json": {"versions": dict(versions), "diagnosis": {**asdict(diagnosis), "known": diagnosis.known}}
    }
    if plan is not None:
        said["plan.json"] = asdict(plan)
    if machine is not None:
        said["machine.json"] = json.loads(dump_machine(_nameless(machine)))
    # Redacted before it is JSON: a hidden word may end at a quotation mark that JSON escapes.
    files = {name: json.dumps(_clean(value, redact), indent=1, ensure_ascii=False) for name, value in said.items()}
    try:
        files["log.txt"] = redact(_end(log))
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    except FileExistsError as error:
        raise UserError(
            "report.exists", "{path} exists", remedy="name a file that is not there yet", path=path
        ) from error
    except OSError as error:
        raise UserError(
            "report.failed",
            "cannot write the report {path}: {why}",
            path=path,
            why=f"{error.filename or log}: {error.strerror or error}",
        ) from error
    return path


def _nameless(machine: Machine) -> Machine:
    """The UUIDs stay here: the redactor gives a card the same name as in the plan."""
    return replace(machine, name="", host=anonymous(machine).host)


def _clean(value: object, redact: Callable[[str], str]) -> object:
    """The same with every text redacted, and hidden values of flags and variables that are keys by their name."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [_clean(item, redact) for item in value]
    if not isinstance(value, dict):
        return value
    if "value" in value and _KEY_NAME.search(str(value.get("name"))):
        value = {**value, "value": HIDDEN}
    return {name: _clean(item, redact) for name, item in value.items()}


def _end(log: Path) -> str:
    """The last part of the log, from a line's beginning."""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LOG_BYTES))
        data = file.read()
    if size > LOG_BYTES:
        data = data[data.find(b"\n") + 1 :]
    return data.decode("utf-8", "replace")
