"""Builds a folder like an engine environment of ours, whose vllm is ``stand_in_vllm.py``."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

FAKES = Path(__file__).parent
ROOT = FAKES.parents[1]


def make_environment(folder: Path, files: Mapping[str, str]) -> Path:
    """A venv with this interpreter; its packages are this one's and the stand-in.

    Args:
        files: of the installed vllm (what the checklist of fixes looks for), relative to its package.

    Returns:
        its site-packages.
    """
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / f"python{minor}" / "site-packages"
    packages.mkdir(parents=True)
    base = Path(sys.base_prefix) / "bin" / f"python{minor}"
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = {minor}\n")
    (folder / "bin").mkdir()
    for name in ("python", f"python{minor}"):
        (folder / "bin" / name).symlink_to(base)
    (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    for name, text in {**files, "__init__.py": ""}.items():
        path = packages / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    entry = packages / "vllm" / "entrypoints" / "cli" / "main.py"
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text((FAKES / "stand_in_vllm.py").read_text())
    for name, version in (("vllm", "0.33.0"), ("transformers", "5.17.0")):
        info = packages / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    return packages
