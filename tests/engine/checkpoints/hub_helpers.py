"""A stand-in checkpoint of real safetensors files, and the test hub as a process."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.batch.control import RunControl
from engine.checkpoints.catalogue import CatalogueEntry
from engine.checkpoints.download import DownloadResult, Source, download
from engine.checkpoints.patience import Patience
from engine.checkpoints.progress import DownloadProgress

HUB_SERVER = Path(__file__).parents[2] / "fakes" / "hub_server.py"
REPO = "RedHatAI/diffusiongemma-26B-A4B-it-FP8-dynamic"
ENTRY = CatalogueEntry("fp8", "FP8", REPO, "main", "float-quantized", 1, gated=False, note="")
COMMIT = hashlib.sha1(b"the only commit").hexdigest()
QUICK = Patience(connect_s=5, silence_s=5, attempts=4, backoff_s=0.01, longest_s=0.02)


def shard(size: int, seed: int, tensor: str) -> bytes:
    """A valid safetensors file of exactly ``size`` bytes with one tensor of random bytes."""
    room = size - 8 - 128
    header: dict[str, Any] = {tensor: {"dtype": "U8", "shape": [room], "data_offsets": [0, room]}}
    text = json.dumps(header).encode().ljust(128)
    return struct.pack("<Q", 128) + text + random.Random(seed).randbytes(room)


def make_checkpoint(folder: Path, sizes: tuple[int, ...], quantization: str = "float-quantized") -> None:
    """A DiffusionGemma of random bytes, its shards of the given sizes."""
    folder.mkdir(parents=True)
    weights, count = {}, len(sizes)
    for number, size in enumerate(sizes, 1):
        name = f"model-{number:05}-of-{count:05}.safetensors"
        (folder / name).write_bytes(shard(size, number, f"layer.{number}"))
        weights[f"layer.{number}"] = name
    index = {"metadata": {"total_size": sum(sizes)}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    config = {
        "architectures": ["DiffusionGemmaForBlockDiffusion"],
        "quantization_config": {"quant_method": "compressed-tensors", "format": quantization},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}" + " " * 3000)
    (folder / "README.md").write_text("not needed")
    (folder / ".gitattributes").write_text("*.safetensors filter=lfs")


def wanted_files(folder: Path) -> dict[str, bytes]:
    """What a download of this repository must bring."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.name: path.read_bytes() for path in files if path.suffix in (".json", ".safetensors")}


def same_files(folder: Path, repo: Path) -> bool:
    return all((folder / name).read_bytes() == data for name, data in wanted_files(repo).items())


def shard_names(count: int) -> list[str]:
    return [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]


@dataclass
class HubProcess:
    """The running hub; control calls block, it is on this machine."""

    url: str
    cdn: str
    root: Path

    @property
    def repo(self) -> Path:
        return self.root / REPO

    def reset(self, root: Path) -> None:
        """As if it had just been started with this folder."""
        self.root = root
        self._post("reset", {"root": str(root)})

    def plan(self, faults: Mapping[str, list[dict[str, Any]]]) -> None:
        self._post("plan", faults)

    def settings(self, **values: Any) -> None:
        self._post("settings", values)

    def counts(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/_control/counts") as answer:
            counts: dict[str, Any] = json.load(answer)
        return counts

    def served(self) -> int:
        return sum(self.counts()["served"].values())

    def wait_served(self, count: int) -> None:
        with urllib.request.urlopen(f"{self.url}/_control/wait?served={count}", timeout=600) as answer:
            answer.read()

    def _post(self, what: str, body: Mapping[str, Any]) -> None:
        request = urllib.request.Request(f"{self.url}/_control/{what}", json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request) as answer:
            answer.read()


@contextmanager
def hub_process(root: Path) -> Iterator[HubProcess]:
    process = subprocess.Popen(
        [sys.executable, str(HUB_SERVER), str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline())
        try:
            yield HubProcess(addresses["hub"], addresses["cdn"], root)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


@dataclass
class Heard:
    """A listener that remembers; ``on_progress`` may steer."""

    control: RunControl = field(default_factory=RunControl)
    notes: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    last: DownloadProgress | None = None

    def started(self, progress: DownloadProgress) -> None:
        self.steps.append("started")
        self.last = progress

    def progress(self, progress: DownloadProgress) -> None:
        self.last = progress

    def paused(self, reason: str) -> None:
        self.steps.append("paused")

    def resumed(self) -> None:
        self.steps.append("resumed")

    def note(self, text: str) -> None:
        self.notes.append(text)


def source(hub: HubProcess, **changes: Any) -> Source:
    return Source(hub.url, **{"patience": QUICK, **changes})


def cli(*arguments: str) -> list[str]:
    """The real command line, as a program."""
    return [sys.executable, "-m", "engine.cli", "download", *arguments]


async def fetch(hub: HubProcess, folder: Path, heard: Heard | None = None, **changes: Any) -> DownloadResult:
    heard = heard or Heard()
    return await download(ENTRY, folder, source(hub, **changes), heard.control, heard)
