"""The world of the setup's tests: a hub on loopback with a small checkpoint, wheels of a stand-in engine, two 3090s.

The environment is made by the real uv from these wheels, the checkpoint is fetched by the real downloader, the engine
is started by the real launcher; only the model behind it is our toy (``tests/fakes/stand_in_vllm.py``).
"""

from __future__ import annotations

import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path += [
    str(Path(__file__).parents[2] / name)
    for name in ("engine/runtime", "engine/checkpoints", "engine/launch", "engine/local")
]
from hub_helpers import REPO, HubProcess  # these folders are no packages
from launch_helpers import FILES
from local_world import STAND_IN
from wheel_helpers import Wheel, module, write_lock

from engine.hardware.record import recorded_machines
from engine.paths import demo_model_dir

TESTS = Path(__file__).parents[2]


@dataclass(frozen=True)
class World:
    folder: Path
    hub: HubProcess

    @property
    def wheels(self) -> Path:
        return self.folder / "wheels"


def make_repo(root: Path) -> Path:
    """The demo model's files as the hub's repository."""
    repo = root / REPO
    repo.mkdir(parents=True)
    for path in demo_model_dir().iterdir():
        if path.suffix != ".onnx":
            shutil.copy(path, repo / path.name)
    return repo


def make_engine_wheels(folder: Path) -> Path:
    """A lock of a stand-in engine, its wheels beside it in ``wheels``."""
    main = (TESTS / "fakes" / "stand_in_vllm.py").read_bytes()
    files = {f"vllm/{name}": text.encode() for name, text in FILES.items() if name != "__init__.py"}
    files |= {
        "vllm/__init__.py": b"__version__ = '0.33.0'\nimport torch, transformers\n",
        "vllm/entrypoints/cli/main.py": main,
        "stand_in.pth": STAND_IN.encode(),
    }
    wheels = (
        Wheel("vllm", "0.33.0", files),
        module("torch", "2.14.0", "class version: cuda = '13.0'"),
        module("transformers", "5.17.0"),
    )
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return write_lock(wheels, folder / "wheels", folder / "engine.lock", facts={"pythons": [python]})


def variables(folder: Path, hub_url: str, machine: str = "2x3090-pcie") -> dict[str, str]:
    """The environment of a program that lives in this world."""
    return {
        "DIFFUSION_DESK_MACHINE": str(recorded_machines()[machine]),
        "DIFFUSION_DESK_ENGINE_LOCK": str(folder / "engine.lock"),
        "HF_ENDPOINT": hub_url,
        "HF_HOME": str(folder / "hf"),
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
