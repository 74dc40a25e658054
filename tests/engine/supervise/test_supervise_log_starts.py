"""The starts whose logs are kept: when each began, whether it became ready, why it ended."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from engine.supervise.log_starts import LogStart, LogStarts
from engine.supervise.logs import rotate

LINE = "(APIServer pid=7) INFO {time} [api_server.py:1] {text}\n"
READY = "Application startup complete."
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n"


def written(path: Path, text: str, changed: datetime) -> None:
    rotate(path)
    path.write_text(text)
    os.utime(path, (changed.timestamp(), changed.timestamp()))


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


def test_every_kept_start_says_when_it_began_and_how_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "engine-vllm.log"
    first = LINE.format(time="12-31 23:59:58", text="Resolved architecture: X")
    written(log, first + OOM, local("2027-01-01 00:03"))
    second = LINE.format(time="01-01 08:00:00", text="Resolved architecture: X")
    written(log, second + LINE.format(time="01-01 08:01:00", text=READY), local("2027-01-01 09:00"))
    written(log, second.replace("08:00:00", "10:00:00"), local("2027-01-01 10:01"))
    third, ready, failed = LogStarts().look(log, running=False)
    assert [start.path.name for start in (third, ready, failed)] == [f"{log.name}{end}" for end in ("", ".1", ".2")]
    assert failed.began == local("2026-12-31 23:59:58"), "vLLM writes no year"
    assert (failed.end, ready.end, third.end) == ("not_ready", "ready", "not_ready")
    assert "ran out of memory" in failed.cause
    assert (ready.cause, third.cause) == ("", "")
    assert ready.began == local("2027-01-01 08:00:00")


@pytest.mark.parametrize(
    ("text", "began", "end"),
    [
        ("2026-11-29 18:30:07,123 INFO engine.embedded.server: embedded engine at http://x\n", "18:30:07", "ready"),
        ("no time at all\n", "20:00:00", "not_ready"),
        ("INFO 99-99 10:00:00 looks like one\n", "20:00:00", "not_ready"),
        ("", "20:00:00", "not_ready"),
    ],
)
def test_other_logs(tmp_path: Path, text: str, began: str, end: str) -> None:
    log = tmp_path / "engine-embedded.log"
    written(log, text, local("2026-11-29 20:00:00"))
    (start,) = LogStarts().look(log, running=False)
    assert (start.began, start.end) == (local(f"2026-11-29 {began}"), end)


def test_a_start_keeps_its_number_while_its_file_is_renamed(tmp_path: Path) -> None:
    log, starts = tmp_path / "engine-vllm.log", LogStarts()
    written(log, LINE.format(time="11-29 18:30:00", text=READY), local("2026-11-29 20:00:00"))
    (running,) = starts.look(log, running=True)
    assert (running.end, running.cause) == ("running", "")
    with log.open("a") as file:
        file.write(OOM)
    assert starts.look(log, running=True) == (running,), "what grows is not read again"
    written(log, "", local("2026-11-29 21:00:00"))
    new, old = starts.look(log, running=True)
    assert isinstance(new, LogStart)
    assert (old.inode, old.end, old.path.name) == (running.inode, "ready", f"{log.name}.1")
    assert "ran out of memory" in old.cause
    assert LogStarts().look(tmp_path / "nothing.log", running=False) == ()
