"""Logs of vLLM 0.33 as they look: several processes in one file, bars, wrappers, half lines. Made up, but for the
words that the program reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.domain.plan import LaunchPlan, Wishes
from engine.hardware.record import load_machine
from engine.launch.planner import plan

MACHINES = Path(__file__).resolve().parents[3] / "resources" / "machines"
API, CORE = "(APIServer pid=4100)", "(EngineCore pid=4177)"
TP0, TP1 = "(Worker_TP0 pid=4203)", "(Worker_TP1 pid=4204)"


def info(process: str, text: str, place: str = "core.py:113") -> str:
    return f"{process} INFO 11-29 18:02:11 [{place}] {text}\n"


def error(process: str, text: str, place: str = "multiproc_executor.py:868") -> str:
    return f"{process} ERROR 11-29 18:03:40 [{place}] {text}\n"


def bar(done: int, of: int = 4) -> str:
    percent = 100 * done // of
    return (
        f"\rLoading safetensors checkpoint shards: {percent:3}% Completed | {done}/{of} [00:0{done}<00:02,  1.72it/s]"
    )


def beginning() -> list[str]:
    """A start over two cards up to the loaded weights, as far as it says nothing bad."""
    return [
        "INFO 11-29 18:02:01 [__init__.py:224] Automatically detected platform cuda.\n",
        info(API, "Resolved architecture: DiffusionGemmaForBlockDiffusion", "model.py:540"),
        info(API, "Using max model len 131072", "model.py:1601"),
        info(CORE, "Initializing a V1 LLM engine (v0.33.0) with config: disable_custom_all_reduce=True"),
        "\x1b[0;36m" + TP0 + "\x1b[0;0m INFO 11-29 18:02:20 [pynccl.py:148] vLLM is using nccl==2.30.7\n",
        info(TP0, "Loading model from scratch...", "gpu_model_runner.py:3921"),
        *(bar(done) for done in range(5)),
        "\n",
    ]


def loaded() -> list[str]:
    return [
        info(TP0, "Loading weights took 41.02 seconds", "default_loader.py:310"),
        info(TP0, "Model loading took 13.9 GiB memory and 44.1 seconds", "gpu_model_runner.py:3972"),
        info(CORE, "GPU KV cache size: 141,312 tokens, Maximum concurrency for 131,072 tokens per request: 1.08x"),
    ]


def traceback(process: str, last: str, code: str = "self._op(*args, **kwargs)") -> list[str]:
    """An error as a worker logs it, every line with its prefix; the source text in it tells nothing."""
    where = '  File "/home/somebody/env/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 317, in load'
    lines = [
        "WorkerProc hit an exception.",
        "Traceback (most recent call last):",
        where,
        f"    {code}",
        "    ^^^^",
        last,
    ]
    return [error(process, line) for line in lines]


def ending(*, dead: bool = False) -> list[str]:
    """What the other processes make of it."""
    lines = [
        error(CORE, "Worker proc VllmWorker-0 died unexpectedly (exit code: 1), shutting down executor."),
        error(CORE, "EngineCore failed to start.", "core.py:1080"),
        *traceback(CORE, "RuntimeError: WorkerProc initialization failed due to an exception in a background process."),
        f"{API} Traceback (most recent call last):\n",
        f'{API}   File "/home/somebody/env/lib/python3.12/site-packages/vllm/v1/engine/utils.py", line 1474, in wait\n',
        f"{API}     raise RuntimeError(\n",
        f"{API} RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}\n",
    ]
    if dead:
        lines.append(f"{API} vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.\n")
    return lines


def interleaved(*streams: Sequence[str]) -> list[str]:
    """One line of each in turn."""
    longest = max(map(len, streams))
    return [stream[at] for at in range(longest) for stream in streams if at < len(stream)]


def plan_of(machine: str, wishes: Wishes | None = None) -> LaunchPlan:
    found = plan(load_machine(MACHINES / f"{machine}.json"), wishes)
    assert isinstance(found, LaunchPlan), found
    return found
