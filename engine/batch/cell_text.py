"""Typed cells as the texts that a user sees: of workbooks, Parquet and JSON alike."""

from __future__ import annotations

import datetime
import json
import math

_DIGITS = 15  # a spreadsheet shows and compares this many; 0.1 + 0.2 is 0.3 there


def cell_text(value: object) -> str:
    """The text of a cell: 1 for 1.0, ISO dates, TRUE and FALSE, nothing for a missing value.

    Lists and records become JSON. A day without a time is the day alone.
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return number_text(value)
        case datetime.datetime():
            return _moment(value)
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return _duration(value)
        case dict() | list() | tuple():
            return json.dumps(value, ensure_ascii=False, default=cell_text)
        case _:
            return str(value)


def number_text(value: float) -> str:
    """A number as a spreadsheet shows it: 15 digits, whole numbers without a point; nothing for "not a number"."""
    if math.isnan(value):
        return ""
    if value.is_integer() and abs(value) < 10**_DIGITS:
        return str(int(value))
    return format(value, f".{_DIGITS}g")


def _moment(value: datetime.datetime) -> str:
    if value.time() == datetime.time() and value.tzinfo is None:
        return value.date().isoformat()
    return value.isoformat(sep=" ")


def _duration(value: datetime.timedelta) -> str:
    """Hours may be more than a day's, as [h]:mm:ss shows them."""
    seconds, sign = value.total_seconds(), ""
    if seconds < 0:
        seconds, sign = -seconds, "-"
    whole = int(seconds)
    rest = f"{seconds - whole:.6f}".strip("0").rstrip(".") if seconds != whole else ""
    return f"{sign}{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}{rest}"
