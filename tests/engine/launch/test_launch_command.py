"""The plan as an argument list, an environment and a line for a shell."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from launch_helpers import machine, planned

from engine.launch.command import argv, environment, selftest_argv, shell_line


def pairs(arguments: list[str]) -> dict[str, str]:
    """Flag to value; "" for a switch."""
    found: dict[str, str] = {}
    for i, part in enumerate(arguments):
        if part.startswith("--"):
            following = arguments[i + 1] if i + 1 < len(arguments) else "--"
            found[part] = "" if following.startswith("--") else following
    return found


def test_the_command_of_two_3090s() -> None:
    """The recipe that is known to work, flag by flag."""
    found = planned(machine("2x3090-pcie"))
    arguments = argv(found, "/venv/bin/python", "/models/dg", 8042)
    assert arguments[:4] == ["/venv/bin/python", "-m", "vllm.entrypoints.cli.main", "serve"]
    assert pairs(arguments) == {
        "--model": "/models/dg",
        "--served-model-name": "diffusiongemma",
        "--host": "127.0.0.1",
        "--port": "8042",
        "--tensor-parallel-size": "2",
        "--attention-backend": "TRITON_ATTN",
        "--kv-cache-dtype": "auto",
        "--max-model-len": "262144",
        "--max-num-seqs": "1",
        "--max-num-batched-tokens": "2048",
        "--gpu-memory-utilization": "0.82",
        "--enforce-eager": "",
        "--linear-backend": "marlin",
        "--moe-backend": "marlin",
        "--disable-custom-all-reduce": "",
        "--diffusion-config": '{"canvas_length":256}',
        "--generation-config": "auto",
        "--override-generation-config": '{"max_new_tokens":16384}',
        "--reasoning-parser": "gemma4",
        "--enable-auto-tool-choice": "",
        "--tool-call-parser": "gemma4",
        "--default-chat-template-kwargs": '{"enable_thinking":false}',
        "--max-logprobs": "128",
        "--enable-scale-out": "",
        "--enable-prefix-caching": "",
        "--enable-force-include-usage": "",
        "--enable-prompt-tokens-details": "",
        "--shutdown-timeout": "20",
        "--disable-access-log-for-endpoints": "/metrics,/health",
    }


def test_the_environment_of_two_3090s() -> None:
    base = machine("2x3090-pcie")
    given = environment(planned(base), base={"LD_LIBRARY_PATH": "/old", "VLLM_USE_V2_MODEL_RUNNER": "0", "HOME": "/h"})
    assert given == {
        "HOME": "/h",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(gpu.uuid for gpu in base.gpus),
        "NCCL_P2P_DISABLE": "1",
        "NCCL_CUMEM_ENABLE": "0",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:512",
        "TORCHDYNAMO_DISABLE": "1",
        "TORCH_COMPILE_DISABLE": "1",
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "OMP_NUM_THREADS": "1",
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
    }


def test_folders_path_and_key(tmp_path: Path) -> None:
    given = environment(
        planned(machine("2x3090-pcie")),
        base={"PATH": "/usr/bin"},
        cache_dir=tmp_path / "cache",
        bin_dir=tmp_path / "bin",
        api_key="secret",
    )
    assert given["VLLM_CACHE_ROOT"] == str(tmp_path / "cache" / "vllm")
    assert given["PATH"] == os.pathsep.join((str(tmp_path / "bin"), "/usr/bin"))
    assert given["VLLM_API_KEY"] == "secret"
    assert "secret" not in argv(planned(machine("2x3090-pcie")), "python", "m", 1)


def test_a_socket_instead_of_a_port() -> None:
    arguments = argv(planned(machine("2x3090-pcie")), "python", "m", 1, uds="/run/x.sock", extra=("--seed", "1"))
    assert "--port" not in arguments
    assert pairs(arguments)["--uds"] == "/run/x.sock"
    assert arguments[-2:] == ["--seed", "1"]


def test_a_shell_reads_the_line_as_it_is_meant(tmp_path: Path) -> None:
    """The line is run by a real shell, with an interpreter that writes down what it was given."""
    report = tmp_path / "a python"
    report.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([sys.argv[1:], dict(os.environ)]))\n"
    )
    report.chmod(0o755)
    found = planned(machine("2x3090-pcie"))
    line = shell_line(found, report, "/models/with space", 8042)
    ran = subprocess.run(
        ["/bin/sh", "-c", line],
        capture_output=True,
        check=True,
        env={"LD_LIBRARY_PATH": "/old", "PATH": "/usr/bin:/bin"},
    )
    arguments, seen = json.loads(ran.stdout)
    assert arguments == argv(found, report, "/models/with space", 8042)[1:]
    assert environment(found).items() <= seen.items()
    assert "LD_LIBRARY_PATH" not in seen
    assert shlex.split(line)[0] == "env"


def test_the_embedded_engine_has_no_such_line() -> None:
    with pytest.raises(ValueError, match="embedded"):
        argv(planned(machine("no-gpu")), "python", "m", 1)


def test_the_self_test_runs_with_its_own_interpreter() -> None:
    arguments = selftest_argv(planned(machine("2x3090-pcie")), sys.executable, 1)
    assert arguments[3:] == ["--tensor-parallel", "2", "--device", "1"]
    assert subprocess.run([*arguments, "--help"], capture_output=True, check=True).stdout.startswith(b"usage:")
