"""Stands in for ``vllm.entrypoints.cli.main``: its command line, its log, its wire; the model behind it is our toy.

    python -m vllm.entrypoints.cli.main serve --model DIR --served-model-name NAME --host H --port P ...

``STAND_IN_VLLM`` in the environment: ``die`` (ends while it loads the weights, as out of memory does), ``other``
(serves another model), ``child`` (starts a process in a session of its own, as EngineCore may be), ``hold=FILE``
(loads no further until FILE is there), or ``oom=FILE`` (serves, and runs out of memory once FILE is there).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from engine import paths
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.server import run_server

BEFORE = (
    "Resolved architecture: DiffusionGemmaForBlockDiffusion",
    "Using max model len 262144",
    "Initializing a V1 LLM engine (v0.33.0) with config: ...",
    "vLLM is using nccl==2.30.7",
    "Loading model from scratch...",
    "Loading safetensors checkpoint shards:  42% Completed | 3/7 [00:04<00:05,  1.4s/it]",
)
AFTER = (
    "Loading safetensors checkpoint shards: 100% Completed | 7/7 [00:09<00:00,  1.3s/it]",
    "Model loading took 13.56 GiB memory and 9.812345 seconds",
    "Available KV cache memory: 4.41 GiB",
    "GPU KV cache size: 386,459 tokens, Maximum concurrency for 262,144 tokens per request: 1.47x",
    "init engine (profile, create kv cache, warmup model) took 21.07 s (compilation: 0.00 s)",
)
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB."


def log(text: str) -> None:
    sys.stdout.write(f"(EngineCore pid={os.getpid()}) INFO 11-29 18:30:00 [stand_in.py:1] {text}\n")
    sys.stdout.flush()


def run_out_of_memory(gate: Path) -> None:
    while not gate.exists():
        time.sleep(0.05)
    os.write(1, f"{OUT_OF_MEMORY}\n".encode())
    os._exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("command", choices=["serve"])
    for name in ("--model", "--served-model-name", "--host"):
        parser.add_argument(name, required=True)
    parser.add_argument("--port", type=int, required=True)
    given, _ = parser.parse_known_args()
    mode = os.environ.get("STAND_IN_VLLM", "")
    for name in ("config.json", "tokenizer.json"):
        if not (Path(given.model) / name).is_file():
            sys.exit(f"OSError: {given.model} does not appear to have a file named {name}.")
    for text in BEFORE:
        log(text)
    if mode == "die":
        sys.exit(OUT_OF_MEMORY)
    if mode == "child":
        subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
    while mode.startswith("hold=") and not Path(mode.removeprefix("hold=")).exists():
        time.sleep(0.05)
    for text in AFTER:
        log(text)
    if mode.startswith("oom="):
        threading.Thread(target=run_out_of_memory, args=(Path(mode.removeprefix("oom=")),), daemon=True).start()
    name = "another" if mode == "other" else given.served_model_name
    asyncio.run(
        run_server(
            EmbeddedEngine.load(paths.demo_model_dir()),
            host=given.host,
            port=given.port,
            api_key=os.environ["VLLM_API_KEY"],
            model_id=name,
            on_ready=lambda url: (log(f"Starting vLLM server on {url}"), log("Application startup complete."))[0],
        )
    )


if __name__ == "__main__":
    main()
