"""Where things lie on disk. ``DIFFUSION_DESK_HOME`` puts everything under one folder (tests, portable use)."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import platformdirs

APP = "diffusion-desk"


def data_dir() -> Path:
    """The folder of runs, chats and settings; created when missing."""
    home = os.environ.get("DIFFUSION_DESK_HOME")
    path = Path(home) if home else Path(platformdirs.user_data_dir(APP, appauthor=False))
    path.mkdir(parents=True, exist_ok=True)
    return path


def runs_dir() -> Path:
    """One SQLite file per run."""
    return _made(data_dir() / "runs")


def logs_dir() -> Path:
    """Engine logs and the crash log."""
    return _made(data_dir() / "logs")


def runtime_dir() -> Path:
    """Pid files and sockets. Short, since a Unix socket's path holds 107 bytes at most (man 7 unix)."""
    if os.environ.get("DIFFUSION_DESK_HOME") or not os.environ.get("XDG_RUNTIME_DIR"):
        # Without a login session platformdirs falls back to a folder in /tmp that anybody can make first.
        return _made(data_dir() / "run")
    return _made(Path(platformdirs.user_runtime_dir(APP, appauthor=False)))


def chats_file() -> Path:
    """All conversations, in one SQLite file."""
    return data_dir() / "chats.sqlite"


def queue_file() -> Path:
    """The runs that wait for each other."""
    return data_dir() / "queue.sqlite"


def settings_file() -> Path:
    return data_dir() / "settings.json"


def resources_dir() -> Path:
    """The installed resources package (demo model, examples, icons)."""
    return Path(str(resources.files("resources")))


def demo_model_dir() -> Path:
    return resources_dir() / "demo_model"


def _made(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path
