"""Which Python an environment is made with.

Best is one that uv brings: it has its headers and belongs to nobody else. Where none can be fetched, a Python of this
machine will do, if it has headers: Triton compiles a helper against Python.h when the engine starts.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.runtime.places import Places
from engine.runtime.progress import Listener
from engine.runtime.spec import EnvironmentSpec
from engine.runtime.uv import Source, Uv
from engine.supervise.program import run_program

ASK_S, FETCH_S = 30.0, 900.0
_QUESTION = """
import json, os, sys, sysconfig
print(json.dumps({
    "implementation": sys.implementation.name,
    "version": "%d.%d.%d" % sys.version_info[:3],
    "executable": getattr(sys, "_base_executable", None) or sys.executable,
    "headers": os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
}))
"""


@dataclass(frozen=True, slots=True)
class Python:
    """A Python that an environment can be made with.

    Attributes:
        executable: the interpreter itself, not one of a virtual environment.
        version: ``3.12.16``.
        headers: Python.h is there.
        managed: uv brought it.
    """

    executable: Path
    version: str
    headers: bool
    managed: bool = False

    @property
    def minor(self) -> str:
        """``3.12``."""
        return ".".join(self.version.split(".")[:2])


async def choose_python(
    uv: Uv, spec: EnvironmentSpec, source: Source, listener: Listener, wanted: Path | None = None
) -> Python:
    """The Python to take: the wanted one, else uv's own, else one that is found.

    Raises:
        UserError: ``env.wrong_python`` (the wanted one cannot be used), ``env.no_headers``, ``env.no_python``.
    """
    if wanted is not None:
        return _usable(await look_at(wanted), spec, wanted)
    version = spec.pythons[0]
    managed = await _managed(uv.places, version)
    if managed is None and not source.offline:
        listener.note(f"fetching Python {version}")
        end = await uv.ask(["python", "install", "--no-bin", version], source, timeout_s=FETCH_S)
        managed = await _managed(uv.places, version)
        if managed is None:
            listener.note(f"Python {version} cannot be fetched ({_first_line(end.errors)}); looking for one here")
    return managed or await _found(spec)


async def look_at(program: Path) -> Python | None:
    """What an interpreter says about itself; None when it does not start or is no ordinary CPython."""
    try:
        end = await run_program([str(program), "-I", "-c", _QUESTION], timeout_s=ASK_S)
        answer = json.loads(end.output) if end.code == 0 else {}
        if answer.get("implementation") != "cpython" or answer["free_threaded"]:
            return None
        return Python(Path(answer["executable"]), answer["version"], answer["headers"])
    except (UserError, ValueError, KeyError):
        return None


def candidates(versions: Sequence[str], home: Path) -> Iterator[Path]:
    """Programs that may be a Python of these versions, best first."""
    for version in versions:
        name = f"python{version}"
        found = shutil.which(name)
        if found is not None:
            yield Path(found)
        yield from (Path(folder) / name for folder in ("/usr/bin", "/usr/local/bin"))
        yield from sorted((home / ".pyenv/versions").glob(f"{version}.*/bin/python"))
        yield from sorted((home / ".local/share/uv/python").glob(f"cpython-{version}.*/bin/{name}"))
    yield Path(sys.executable)


async def _found(spec: EnvironmentSpec) -> Python:
    bare: Python | None = None
    for program in dict.fromkeys(candidates(spec.pythons, Path.home())):
        python = await look_at(program) if os.access(program, os.X_OK) else None
        if python is None or python.minor not in spec.pythons:
            continue
        if python.headers:
            return python
        bare = bare or python
    if bare is not None:
        raise _no_headers(bare)
    raise UserError(
        "env.no_python",
        "there is no Python {versions} on this machine, and none could be fetched",
        remedy="install one with its headers (on Debian and Ubuntu: python{first} and python{first}-dev)",
        versions=" or ".join(spec.pythons),
        first=spec.pythons[0],
    )


def _usable(python: Python | None, spec: EnvironmentSpec, program: Path) -> Python:
    if python is None or python.minor not in spec.pythons:
        raise UserError(
            "env.wrong_python",
            "{program} is {what}; the lock is for Python {versions}",
            remedy="name another Python, or none: then one is fetched or found",
            program=program,
            what=f"Python {python.version}" if python else "no CPython that starts",
            versions=" or ".join(spec.pythons),
        )
    if not python.headers:
        raise _no_headers(python)
    return python


def _no_headers(python: Python) -> UserError:
    return UserError(
        "env.no_headers",
        "{program} (Python {version}) has no headers (Python.h), which the engine compiles against when it starts",
        remedy="install them (on Debian and Ubuntu: python{minor}-dev, on Fedora: python{minor}-devel)",
        program=python.executable,
        version=python.version,
        minor=python.minor,
    )


async def _managed(places: Places, version: str) -> Python | None:
    for program in sorted(places.pythons.glob(f"cpython-{version}.*/bin/python{version}"), reverse=True):
        python = await look_at(program)
        if python is not None and python.headers:
            return Python(python.executable, python.version, python.headers, managed=True)
    return None


def _first_line(text: str) -> str:
    lines = [line.strip().removeprefix("error: ") for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "no reason given"
