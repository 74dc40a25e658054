"""Older form files: each version is turned into the next until it is the present one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from engine.batch.form_wire import FORMAT_VERSION
from engine.errors import InputError

FormObject = Mapping[str, Any]


def migrated(obj: FormObject, source: str) -> FormObject:
    """The form file's content as the present version has it; what is present already stays as it is.

    Raises:
        InputError: no version, or one that this program does not know.
    """
    version = obj.get("version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise InputError(
            "form.version",
            "{source}: version is {value}; this program reads versions 1 to {limit}",
            remedy="a newer program wrote this form: update Diffusion Desk"
            if type(version) is int and version > FORMAT_VERSION
            else "",
            source=source,
            value=json.dumps(version, default=str)[:60],
            limit=FORMAT_VERSION,
        )
    while version < FORMAT_VERSION:
        obj, version = _STEPS[version](obj), version + 1
    return obj


def _from_1(obj: FormObject) -> FormObject:
    """Version 2 added ``threshold``, ``document``, ``method.steps`` and ``method.rotate``, all optional."""
    return {**obj, "version": 2}


def _from_2(obj: FormObject) -> FormObject:
    """Version 3 added ``pictures``, optional."""
    return {**obj, "version": 3}


_STEPS: Mapping[int, Callable[[FormObject], FormObject]] = {1: _from_1, 2: _from_2}
