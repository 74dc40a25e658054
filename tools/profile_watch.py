"""Watches the processes of a vLLM server from inside: Python stacks, the parts of a step, torch's profiler.

``tools/profile_reads.py`` puts it into every process of the server. Standard library and torch only. What is found lies
as JSON in the folder that the environment names: ``frames-PID.json`` when sampling is switched off, ``ops-PID.json``
when tracing is.
"""

from __future__ import annotations

import collections
import json
import os
import runpy
import sys
import threading
import time
from pathlib import Path
from typing import Any

FOLDER = "DESK_PROFILE_FOLDER"
SAMPLE, TRACE = "sample", "trace"  # the switches' names
SAMPLE_S = 0.004  # between two samples
LOOK_S = 0.1  # between two looks at the switches
IDLE = ("select", "poll", "epoll", "wait", "recv", "acquire", "get", "_recv", "run_forever")
PARTS = (
    ("vllm.v1.worker.gpu.model_runner", "GPUModelRunner", ("execute_model", "sample_tokens", "add_requests",
     "finish_requests", "prepare_inputs", "postprocess_sampled")),
    ("vllm.v1.core.sched.scheduler", "Scheduler", ("update_from_output",)),
    ("vllm.v1.core.sched.diffusion_scheduler", "DiffusionAsyncScheduler", ("schedule",)),
    ("vllm.model_executor.models.diffusion_gemma", "DiffusionSampler", ("__call__", "add_request")),
    ("vllm.model_executor.models.diffusion_gemma", "DiffusionGemmaModelState", ("prepare_inputs", "add_request",
     "prepare_attn", "remove_request", "_apply_self_conditioning")),
    ("vllm.model_executor.models.diffusion_gemma", "DiffusionGemmaForConditionalGeneration", ("forward",
     "compute_logits")),
    ("vllm.v1.worker.gpu.async_utils", "AsyncOutput", ("get_output",)),
)  # fmt: skip
"""What is timed in the process that holds the model: wall time on its own thread, without waiting for the GPU."""


class Watcher:
    """Watches one process of the server from a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stacks: collections.Counter[tuple[str, str]] = collections.Counter()
        self._samples = 0
        self._parts: dict[str, list[float]] = {}
        self._steps: list[tuple[int, int, int]] = []
        self._patched: set[str] = set()
        self._profile: Any = None
        self._sampling = self._tracing = False
        self._began = 0.0
        self._main = threading.main_thread().ident

    def run(self) -> None:
        """Until the process ends."""
        while True:
            self._patch()
            on = (self._folder / SAMPLE).exists()
            self._tracing = (self._folder / TRACE).exists()
            if on and not self._sampling:
                self._stacks.clear()
                self._parts.clear()
                self._steps.clear()
                self._samples, self._began, self._sampling = 0, time.monotonic(), True
            elif not on and self._sampling:
                self._sampling = False
                self._write()
            if self._sampling:
                end = time.monotonic() + LOOK_S
                while time.monotonic() < end:
                    self._sample()
                    time.sleep(SAMPLE_S)
            else:
                time.sleep(LOOK_S)

    def _sample(self) -> None:
        mine = threading.get_ident()
        self._samples += 1
        for ident, frame in sys._current_frames().items():
            if ident == mine:
                continue
            thread = "main" if ident == self._main else "other"
            if frame.f_code.co_name in IDLE or "select" in frame.f_code.co_name:
                self._stacks[thread, "(idle)"] += 1
                continue
            self._stacks[thread, _where(frame)] += 1
            seen = set()
            up: Any = frame
            while up is not None:
                place = f"{up.f_code.co_qualname} ({Path(up.f_code.co_filename).name})"
                if place not in seen:
                    seen.add(place)
                    self._stacks[thread + "+", place] += 1
                up = up.f_back

    def _patch(self) -> None:
        """Wraps the parts of a step as soon as their modules are there."""
        for module, owner, names in PARTS:
            found = getattr(sys.modules.get(module), owner, None)
            if found is None or owner in self._patched:
                continue
            self._patched.add(owner)
            for name in names:
                if hasattr(found, name):
                    setattr(found, name, self._timed(f"{owner}.{name}", getattr(found, name), name == "execute_model"))

    def _timed(self, label: str, function: Any, step: bool) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if step:
                self._trace()
                if self._sampling:
                    self._count(args[1])
            if not self._sampling:
                return function(*args, **options)
            began = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                self._parts.setdefault(label, []).append(time.perf_counter() - began)

        return call

    def _count(self, plan: Any) -> None:
        drafts = getattr(plan, "scheduled_spec_decode_tokens", None) or {}
        self._steps.append((len(plan.num_scheduled_tokens), plan.total_num_scheduled_tokens, len(drafts)))

    def _trace(self) -> None:
        """Starts or ends torch's profiler; runs on the thread that runs the model."""
        import torch.profiler as profiler

        if self._tracing and self._profile is None:
            self._profile = profiler.profile(record_shapes=False, with_stack=False)
            self._profile.start()
        elif not self._tracing and self._profile is not None:
            profile, self._profile = self._profile, None
            profile.stop()
            self._write_ops(profile.key_averages())

    def _write_ops(self, averages: Any) -> None:
        rows = [
            (one.key, one.count, one.self_cpu_time_total, getattr(one, "self_device_time_total", 0.0))
            for one in averages
        ]
        _put(self._folder / f"ops-{os.getpid()}.json", {"rows": rows})

    def _write(self) -> None:
        parts = {name: (len(took), sum(took)) for name, took in self._parts.copy().items()}
        found = {
            "process": " ".join(sys.orig_argv)[-160:],
            "seconds": time.monotonic() - self._began,
            "samples": self._samples,
            "stacks": [(thread, place, count) for (thread, place), count in self._stacks.most_common(400)],
            "parts": parts,
            "steps": self._steps[:],
        }
        _put(self._folder / f"frames-{os.getpid()}.json", found)


def _where(frame: Any) -> str:
    return f"{frame.f_code.co_qualname} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"


def _put(path: Path, content: Any) -> None:
    """A file that is there as a whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(path)


def watch(mine: str) -> None:
    """Called by the sitecustomize of every process of the server.

    Args:
        mine: that file; one further on the path, which it hides, runs too.
    """
    for folder in sys.path:
        other = Path(folder or ".") / "sitecustomize.py"
        if other.is_file() and not other.samefile(mine):
            runpy.run_path(str(other))
            break
    found = os.environ.get(FOLDER)
    if found:
        threading.Thread(target=Watcher(Path(found)).run, daemon=True, name="profile_reads").start()
