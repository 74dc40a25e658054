"""A computer on which the setup has been done, made by hand in a moment: a stand-in engine and our toy's files."""

from __future__ import annotations

import shutil
import sys
import sysconfig
import venv
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "launch"))
from launch_helpers import install  # that folder is no package

from engine.checkpoints.manifest import NO_COMMIT, Folder, Manifest, RemoteFile
from engine.paths import demo_model_dir
from engine.runtime.places import Environment, Mark, default_places, write_mark
from engine.runtime.spec import load_spec

TESTS = Path(__file__).parents[2]
STAND_IN = f"{sysconfig.get_path('purelib')}\n{TESTS.parent}\n{TESTS / 'fakes'}\nimport stand_in_selftest\n"
"""A .pth file: what the stand-ins need of the program under test, and the one that takes over the self-test."""


def make_environment() -> Environment:
    """A complete environment of the program's own lock, in the data folder; its vllm is the stand-in."""
    spec = load_spec()
    folder = default_places().complete(spec.id)
    venv.create(folder, with_pip=False, symlinks=True)
    version = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    mark = Mark(id=spec.id, state="complete", lock_sha256=spec.lock_sha256, created="now", python=version)
    write_mark(folder, mark)
    made = Environment(folder, mark)
    install(made.site_packages)
    (made.site_packages / "vllm" / "__init__.py").write_text("")
    main = made.site_packages / "vllm" / "entrypoints" / "cli" / "main.py"
    main.parent.mkdir(parents=True)
    shutil.copy(TESTS / "fakes" / "stand_in_vllm.py", main)
    (made.site_packages / "stand_in.pth").write_text(STAND_IN)
    return made


def make_checkpoint(folder: Path) -> Path:
    """The toy's files as a complete checkpoint."""
    folder.mkdir(parents=True)
    files = []
    for path in demo_model_dir().iterdir():
        if path.suffix != ".onnx":
            shutil.copy(path, folder / path.name)
            files.append(RemoteFile(path=path.name, size=path.stat().st_size))
    Folder(folder).save(Manifest(checkpoint="fp8", repo="toy/toy", commit=NO_COMMIT, files=tuple(files)))
    return folder
