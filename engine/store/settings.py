"""The user's settings: one JSON file, declared once, replaced in one step.

A file that cannot be read is set aside and the defaults are used; a file of a newer program is refused, and kept as
a copy should the settings be saved all the same.
"""

from __future__ import annotations

import filecmp
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import InputError, UserError

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1


class Settings(BaseModel):
    """What the user has set. Secrets do not belong here.

    Attributes:
        font_scale: 1 is the desktop's own size.
        engine_url: counts when ``engine`` is ``url``.
        concurrency: rows of a run that are read at the same time.
        enter_sends: a message in the chat; else Enter begins a new line and Ctrl+Enter sends.
        draws: of a new form.
        canvas: whether the chat shows the canvas while it denoises.
        notifications: messages on the desktop about long work that ended while another window was in front.
        tray: an icon in the desktop's tray, where there is one.
        on_close: what closing the window does while a run, a download or a loaded model is going: ask, go on in the
            tray, or quit.
        last_form, last_table, last_folder: where file dialogs begin; empty at first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    theme: Literal["system", "light", "dark"] = "system"
    font_scale: Annotated[float, Field(ge=0.5, le=3.0)] = 1.0
    engine: Literal["embedded", "url", "vllm"] = "embedded"
    engine_url: Annotated[str, Field(max_length=2000)] = ""
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 32
    enter_sends: bool = True
    draws: Literal["auto"] | Annotated[int, Field(ge=1, le=32)] = "auto"
    canvas: bool = True
    notifications: bool = True
    tray: bool = True
    on_close: Literal["ask", "tray", "quit"] = "ask"
    last_form: str = ""
    last_table: str = ""
    last_folder: str = ""


def load_settings(path: Path, note: Callable[[str], None] = log.warning) -> Settings:
    """Read the settings; the defaults when there is no file.

    Args:
        note: told, in words, when a damaged file was set aside or a value was not taken over.

    Raises:
        UserError: a newer program wrote the file, or it cannot be read at all. It is left as it is.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise UserError(
            "settings.unreadable", "cannot read {path}: {detail}", path=str(path), detail=error.strerror
        ) from error
    try:
        stored = json.loads(raw)
        version = stored.pop("schema_version")
        if not isinstance(version, int):
            raise TypeError("schema_version is no number")  # noqa: TRY301 - one way out for all damage
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        aside = _set_aside(path, "damaged", move=True)
        note(f"{path} is damaged ({error}); it was moved to {aside.name} and the defaults are used")
        return Settings()
    if version > SCHEMA_VERSION:
        raise UserError(
            "settings.newer",
            "{path} has version {version}, and this program knows versions up to {known}",
            remedy="use the newer Diffusion Desk, or save the settings again: a copy of the newer file is kept",
            path=str(path),
            version=version,
            known=SCHEMA_VERSION,
        )
    return _valid_part(stored, path, note)


def save_settings(path: Path, settings: Settings) -> None:
    """Replace the file in one step.

    Raises:
        InputError: a value out of its range; names it.
        UserError: the file cannot be written; the old one stays.
    """
    try:
        checked = Settings.model_validate(settings.model_dump())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(
            "settings.value",
            "{field}: {detail}; got {value}",
            field=first["loc"][0],
            detail=first["msg"],
            value=repr(first["input"]),
        ) from error
    text = json.dumps({"schema_version": SCHEMA_VERSION, **checked.model_dump()}, indent=2, ensure_ascii=False)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_newer(path):
            _set_aside(path, "newer", move=False)
        with part.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise UserError(
            "settings.unwritable", "cannot write {path}: {detail}", path=str(path), detail=error.strerror
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _valid_part(stored: dict[str, Any], path: Path, note: Callable[[str], None]) -> Settings:
    """The settings without the values that are unknown or out of range; those are noted, and the file is kept."""
    try:
        return Settings.model_validate(stored)
    except ValidationError as error:
        faulty = {str(each["loc"][0]) for each in error.errors(include_url=False)}
    aside = _set_aside(path, "damaged", move=False)
    note(f"{path}: not taken over: {', '.join(sorted(faulty))}; a copy is kept as {aside.name}")
    return Settings.model_validate({name: value for name, value in stored.items() if name not in faulty})


def _is_newer(path: Path) -> bool:
    try:
        version = json.loads(path.read_bytes())["schema_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return isinstance(version, int) and version > SCHEMA_VERSION


def _set_aside(path: Path, why: str, *, move: bool) -> Path:
    """Keep the file under another name, never over another file; an equal copy is not made twice."""
    number = 1
    try:
        while (aside := path.with_name(f"{path.name}.{why}-{number}")).exists():
            if not move and filecmp.cmp(path, aside, shallow=False):
                return aside
            number += 1
        if move:
            path.rename(aside)
        else:
            shutil.copy2(path, aside)
    except OSError as error:
        message = "cannot keep a copy of {path}: {detail}"
        raise UserError("settings.unwritable", message, path=str(path), detail=error.strerror) from error
    return aside
