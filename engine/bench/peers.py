"""``bench peers``: the best batch peer that we know beside ours, each as its user starts it, on the same stand-in.

The peer is jev-col (the command ``jcol``), which reads a table through ``/v1/systemone``, keeps every answer and
resumes. It is installed into an environment of the benchmark's own, which goes with it, and is no dependency of ours;
where it cannot be had the benchmark says so and measures ours alone. Both read the same rows, ask one yes/no question
with 32 in flight, keep every answer on disk and write the table at the end. The time is the whole command's, from its
start to its end, and the memory the most that the command and its children ever had. Ours is measured on both wires:
the native one makes the peer's own request, the canvas one (the default) two requests a row.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.bench.memory import MB, ROWS_VARIABLE, loop_time
from engine.bench.result import BenchResult, Figure
from engine.bench.runner import FORM, stand_in, write_input
from engine.errors import UserError
from engine.supervise import processes
from engine.supervise.program import run_program

PEER = "jev-col==0.7.1"
ROWS = 20_000
WIDTH = 32
INSTALL_S, LOOK_S = 300.0, 0.05


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a command took."""

    seconds: float
    peak_mb: float


async def measure(rows: int | None = None) -> BenchResult:
    """Rows a second and the most memory of each.

    Args:
        rows: of the table; None: as the environment says.

    Raises:
        UserError: a run of ours did not end.
    """
    count = rows or int(os.environ.get(ROWS_VARIABLE, ROWS))
    figures = {"rows": Figure(count, "")}
    with tempfile.TemporaryDirectory(prefix="desk") as folder:
        home = Path(folder)
        await asyncio.to_thread(write_input, home, count)
        async with stand_in(home) as url:
            for wire in ("canvas", "native"):
                figures |= _figures(f"ours_{wire}", count, await _ours(home, url, wire))
            try:
                figures |= _figures("jev_col", count, await _peer(home, url))
            except UserError as error:
                print(f"{PEER} is left out: {error}", file=sys.stderr)
                figures["jev_col_left_out"] = Figure(1, "", detail=str(error))
    return BenchResult("peers", figures)


def _figures(name: str, rows: int, taken: _Taken) -> dict[str, Figure]:
    return {
        f"{name}_rows_per_s": Figure(rows / taken.seconds, "rows/s"),
        f"{name}_peak": Figure(taken.peak_mb, "MB"),
    }


async def _ours(home: Path, url: str, wire: str) -> _Taken:
    files = [str(home / "form.json"), str(home / "table.csv"), "--out", str(home / f"{wire}.csv")]
    argv = [sys.executable, "-m", "engine.cli", "decide", *files, "--engine", url, "--wire", wire, "--json"]
    return await _watched([*argv, "--concurrency", str(WIDTH)], {"DIFFUSION_DESK_HOME": str(home / f"home_{wire}")})


async def _peer(home: Path, url: str) -> _Taken:
    """The peer's own command over the same rows.

    Raises:
        UserError: it cannot be installed, or did not answer every row.
    """
    python = await _install(home / "peer")
    (home / "codebook.json").write_text(json.dumps(_codebook()), encoding="utf-8")
    report = home / "report.json"
    argv = [
        *(str(python), "-I", "-m", "jcol", "run", str(home / "table.csv")),
        *("--codebook", str(home / "codebook.json"), "--api", "diffusiongemma", "--concurrency", str(WIDTH)),
        *("--no-cache", "--output", str(home / "peer.csv"), "--report", str(report), "--quiet"),
    ]
    given = {"JEV_DIFFUSIONGEMMA_URL": f"{url}/v1/systemone", "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    taken = await _watched(argv, given)
    if not json.loads(report.read_bytes())["run"].get("complete"):
        raise UserError("bench.peer", "it did not answer every row")
    return taken


def _codebook() -> dict[str, object]:
    """Our form in the peer's words."""
    (question,) = FORM["questions"]
    column = {"name": question["id"], "kind": "binary", "definition": question["instructions"]}
    return {"version": 1, "inputs": ["number", "text"], "columns": [column]}


async def _install(folder: Path) -> Path:
    """The interpreter of a new environment that has the peer.

    Raises:
        UserError: no network, no such package, or none for this Python.
    """
    python = folder / "bin" / "python"
    uv = shutil.which("uv")
    if uv is not None:
        steps = [
            [uv, "venv", "-q", str(folder), "--python", sys.executable],
            [uv, "pip", "install", "-q", "--python", str(python), PEER],
        ]
    else:
        steps = [
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", PEER],
        ]
    for step in steps:
        end = await run_program(step, timeout_s=INSTALL_S)
        if end.code != 0:
            why = (end.errors or end.output).strip().splitlines()
            raise UserError("bench.peer", "it cannot be installed: {why}", why=why[-1] if why else f"code {end.code}")
    return python


async def _watched(argv: Sequence[str], given: Mapping[str, str]) -> _Taken:
    """Run a command to its end and look at its memory all the time.

    Raises:
        UserError: it failed.
    """
    began = loop_time()
    with tempfile.TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            *argv, stdout=said, stderr=said, env=processes.child_environment(given)
        )
        peak = 0.0
        while process.returncode is None:
            peak = max(peak, _resident(process.pid))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await process.wait()
        seconds = loop_time() - began
        if process.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            message = "it ended with {status}: {why}"
            raise UserError("bench.run", message, status=process.returncode, why=" ".join(lines[-1:]))
    return _Taken(seconds, peak)


def _resident(pid: int) -> float:
    """MB of a process and its children."""
    try:
        process = psutil.Process(pid)
        return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)]) / MB
    except psutil.Error:
        return 0.0
