"""Reading what a command with ``--json`` says while it runs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any


def engine_pid(events: list[dict[str, Any]]) -> int:
    """From the note that tells of the engine's start."""
    notes = [event["text"] for event in events if event["event"] == "note" and "pid" in event["text"]]
    return int(notes[0].split("(pid ")[1].split(")")[0])


def read_until(process: subprocess.Popen[str], wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """The events of a ``--json`` command up to the wanted one."""
    assert process.stdout is not None
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if wanted(events[-1]):
            return events
    raise AssertionError(f"the command ended too soon: {events}")
