"""``review`` on a real terminal: one key an answer, undo, later, end."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path

from engine import paths
from engine.domain.reading import Method, Reading
from engine.store.runs import RunSpec, RunStore, RunView
from engine.supervise import processes

FORM = {
    "version": 1,
    "name": "keys",
    "state": "{{ text }}",
    "questions": [{"id": "q", "type": "noul", "instructions": "Is \x1b[31m it?"}],
}
SPEC = RunSpec("keys", FORM, "f", "f" * 64, ("q",), Method(), 1, "t.csv", "t" * 64, {}, ("text",), "toy")
OK = Reading("q", "ok", 0.5, (0.5, 0.5), 0.9, True, 0.3, 0.9, 1, method="alone/canvas")


def answered() -> Path:
    with RunStore.create(paths.runs_dir(), SPEC, [(f"text {number}\x1b[2J",) for number in range(1, 5)]) as store:
        for row, yes in enumerate((0.9, 0.6, 0.5), start=1):
            store.add_answers(row, (replace(OK, value=yes, shares=(yes, 1 - yes)),))
        store.add_answers(4, (replace(OK, status="unreadable", value=None, shares=()),))
        return store.path


def press(run: str, keys: str) -> tuple[int, str]:
    """Starts the command on a terminal of its own, presses a key whenever it waits for one."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "review", run, "--author", "Ann"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=processes.child_environment({}),
    )
    os.close(slave)
    shown, left = "", list(keys)
    while True:
        ready, _, _ = select.select([master], [], [], 0.02)
        if ready:
            try:
                shown += os.read(master, 4096).decode(errors="replace")
            except OSError:  # the other end is closed
                break
        # A key that comes before the terminal is raw would be thrown away.
        waiting = not termios.tcgetattr(master)[3] & termios.ICANON
        if left and waiting and shown.count("[q] end") == len(keys) - len(left) + 1:
            os.write(master, left.pop(0).encode())
    os.close(master)
    return process.wait(), shown


def test_keys_label_undo_leave_for_later_and_end() -> None:
    path = answered()
    code, shown = press(path.stem, "2sx1u1q")
    assert code == 0, shown
    rows = [line.split()[1] for line in shown.splitlines() if line.startswith("row ")]
    # 4 (unreadable): no; 3: later; 2: no such key, then yes, taken back, yes again; 1: end
    assert rows == ["4", "3", "2", "2", "1", "2", "1"]
    assert "2 answers reviewed" in shown
    assert "\x1b[31m" not in shown
    assert "\x1b[2J" not in shown
    with RunView(path) as view:
        assert {key: label.value for key, label in view.labels().items()} == {(4, 0): "no", (2, 0): "yes"}
