"""What engine environments there are. Reads only."""

from __future__ import annotations

from pathlib import Path

from engine.runtime.places import Environment, Places, read_mark
from engine.runtime.spec import EnvironmentSpec


def list_environments(places: Places) -> list[Environment]:
    """Every folder with our mark, in the order of names: complete, half made, half removed."""
    if not places.root.is_dir():
        return []
    found = []
    for folder in sorted(places.root.iterdir()):
        mark = None if folder.is_symlink() else read_mark(folder)
        if mark is not None:
            found.append(Environment(folder, mark))
    return found


def find_environment(spec: EnvironmentSpec, places: Places) -> Environment | None:
    """The complete environment of this lock, ready to start an engine from; None when there is none."""
    found = environment_at(places.complete(spec.id))
    return found if found is not None and found.mark.state == "complete" else None


def environment_at(folder: Path) -> Environment | None:
    """The environment in a folder, in whatever state; None when the folder is not ours."""
    mark = read_mark(folder)
    return Environment(folder, mark) if mark is not None else None
