"""Every known failure inside logs as vLLM writes them, in any pieces, with whatever others make of it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from diagnose_helpers import (
    API,
    CORE,
    MACHINES,
    TP0,
    TP1,
    bar,
    beginning,
    ending,
    error,
    info,
    interleaved,
    loaded,
    plan_of,
    traceback,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.domain.diagnosis import Diagnosis
from engine.errors import InputError
from engine.hardware.record import load_machine
from engine.supervise.diagnose import LogReader, diagnose, diagnose_file
from engine.supervise.diagnose_catalogue import Rule, catalogue
from engine.supervise.diagnose_lines import MAX_LINE, LineParser, LineSplitter

RULES = catalogue().rules
FAULTS = [rule for rule in RULES if rule.kind == "fault"]


def named(rule: Rule) -> str:
    return rule.id


def read(lines: list[str], silent_s: float = 0.0) -> Diagnosis:
    return diagnose(["".join(lines).encode()], silent_s=silent_s)


def said(rule: Rule) -> str:
    """The sample without a prefix of its own; the process that says it gives its prefix."""
    (line,) = LineParser().parse(rule.sample.encode())
    return line.text


@pytest.mark.parametrize("rule", FAULTS, ids=named)
def test_a_fault_is_found_below_all_that_others_make_of_it(rule: Rule) -> None:
    """Two workers fail in turns, a bar is drawn between them and a worker's line begins behind it."""
    peer = traceback(TP1, "torch.distributed.DistBackendError: NCCL error: ncclRemoteError: remote process exited")
    fault = interleaved(traceback(TP0, said(rule)), [bar(2).rstrip("\n"), *peer])
    found = read([*beginning(), bar(1), *fault, *loaded(), *ending(dead=True)])
    assert found.rule == rule.id
    assert found.known
    assert found.line is not None
    assert found.line.process == "Worker_TP0"
    assert {"peer_gone", "worker_died", "engine_init"} - {rule.id} <= set(found.also)
    assert found.cause
    assert "{" not in found.cause


@pytest.mark.parametrize("rule", FAULTS, ids=named)
def test_a_fault_is_found_without_prefix_as_the_last_half_line(rule: Rule) -> None:
    """What C++ writes has no prefix, and a killed process no line end."""
    found = read([*beginning(), bar(3), "\n", rule.sample])
    assert found.rule == rule.id


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind == "echo"], ids=named)
def test_an_echo_counts_where_no_fault_is_written(rule: Rule) -> None:
    assert read([*beginning(), *traceback(TP1, rule.sample), *ending()]).rule == rule.id


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind == "wrapper"], ids=named)
def test_a_wrapper_alone_is_not_known_and_gives_the_tail(rule: Rule) -> None:
    found = read([*beginning(), error(CORE, said(rule))])
    assert found.rule == rule.id
    assert not found.known
    assert found.tail[-1].likely


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind in ("request", "notice")], ids=named)
def test_what_ends_no_engine_is_named_when_there_is_nothing_worse(rule: Rule) -> None:
    log = [*beginning(), *loaded(), info(API, "Application startup complete."), rule.sample + "\n"]
    assert read(log).rule == rule.id
    assert read([*log, *traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory.")]).rule == "oom"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind == "hang"], ids=named)
def test_a_hang_is_a_fault_only_after_its_time(rule: Rule) -> None:
    assert rule.timeout_s is not None
    log = [*beginning(), *loaded(), rule.sample + "\n"]
    assert read(log, silent_s=rule.timeout_s - 1).rule == "unknown"
    found = read(log, silent_s=rule.timeout_s)
    assert found.rule == rule.id
    assert f"{rule.timeout_s:.0f} s" in found.cause
    assert read([*log, info(TP0, "on it goes")], silent_s=9999).rule == "unknown"
    assert read([*log, *traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory.")], silent_s=9999).rule == "oom"


@settings(max_examples=150)
@given(st.sampled_from(FAULTS), st.sampled_from(FAULTS))
def test_the_first_of_two_faults_is_the_root(first: Rule, second: Rule) -> None:
    found = read([*traceback(TP1, said(first)), *traceback(TP0, said(second)), *ending()])
    assert found.rule == first.id


@settings(max_examples=80)
@given(st.sampled_from(RULES), st.lists(st.integers(1, 97), min_size=1, max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_the_pieces_of_a_log_change_nothing(rule: Rule, sizes: list[int], end: str) -> None:
    lines = [*beginning(), "größer ▁▂▃ 🙂\n", *traceback(TP1, rule.sample), *ending(), "a last half li"]
    log = "".join(lines).replace("\n", end).encode()
    whole = diagnose([log], silent_s=1000)
    pieces, at = [], 0
    while at < len(log):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(log[at : at + size])
        at += size
    assert diagnose(pieces, silent_s=1000) == whole


@given(st.lists(st.binary(max_size=40)), st.lists(st.integers(1, 20), min_size=1))
def test_any_bytes_give_the_same_lines_in_any_pieces(lines: list[bytes], sizes: list[int]) -> None:
    data = b"\n".join(lines) + b"x" * (2 * MAX_LINE + 3) + b"\r" + b"\xf0\x9f" * 9
    whole, cut = LineSplitter(), LineSplitter()
    expected = [*whole.feed(data), *whole.close()]
    found: list[bytes] = []
    at = number = 0
    while at < len(data):
        size = sizes[number % len(sizes)] * 100
        found += cut.feed(data[at : at + size])
        at, number = at + size, number + 1
    found += cut.close()
    assert [line for line in found if line] == [line for line in expected if line]
    assert all(len(line) <= MAX_LINE for line in found)


def test_colours_processes_and_levels_are_read() -> None:
    raw = (
        b"\x1b[1;36m(EngineCore pid=9)\x1b[0;0m (Worker_TP1 pid=12) \x1b[31mERROR 11-29 18:03:40 [x.py:8]   File\x1b[0m"
    )
    (line,) = LineParser().parse(raw)
    assert (line.process, line.level, line.text) == ("Worker_TP1", "ERROR", "  File")


def test_a_line_behind_a_bar_is_a_line_of_its_own() -> None:
    raw = (bar(2).strip() + "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:164 'invalid argument'").encode()
    assert [line.text[:6] for line in LineParser().parse(raw)] == ["Loadin", "Failed"]
    behind = (bar(2).strip() + TP1 + " ERROR 11-29 18:03:40 [x.py:8] CUDA out of memory").encode()
    assert [line.process for line in LineParser().parse(behind)] == ["", "Worker_TP1"]
    assert diagnose([raw]).rule == "custom_all_reduce"


def test_source_text_in_a_traceback_is_no_fault() -> None:
    code = 'raise ValueError("No available memory for the cache blocks. Try a larger share")'
    found = read([*beginning(), *traceback(TP0, "ValueError: something else", code=code), *ending()])
    assert not found.known
    assert "no_kv" not in found.also


def test_two_tracebacks_without_prefixes_in_each_other_are_read() -> None:
    """What multiprocessing writes when a process dies has no prefix, and two die at once."""
    one = ["Process VllmWorker-0:\n", "Traceback (most recent call last):\n", '  File "a.py", line 3, in load\n']
    one += ['    raise ValueError("No available memory for the cache blocks")\n', "RuntimeError: size_n = 352 is not "]
    two = [line.replace("VllmWorker-0", "VllmWorker-1") for line in one]
    one[-1] += "divisible by tile_n_size = 64\n"
    two[-1] = "torch.distributed.DistBackendError: Connection closed by remote peer\n"
    found = read([*beginning(), *interleaved(two, one), *ending()])
    assert found.rule == "marlin_repack"
    assert "no_kv" not in found.also


def test_a_process_without_a_name_of_its_own_is_read() -> None:
    (line,) = LineParser().parse(b"(SpawnProcess-1 pid=8) ERROR 11-29 18:03:40 [v1/.../x.py:8] bad")
    assert (line.process, line.level, line.text) == ("SpawnProcess-1", "ERROR", "bad")


def test_what_nccl_adds_below_its_error_is_the_root() -> None:
    """https://github.com/vllm-project/vllm/issues/6574: an error in general, and what it was two lines below."""
    said = ["torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error"]
    said += ["ncclSystemError: System call (e.g. socket, malloc) or external library call failed", "Last error:"]
    said += ["Error while creating shared memory segment /dev/shm/nccl-bWHyCi (size 9637888)"]
    found = read([*beginning(), *(error(TP1, line) for line in said), *ending()])
    assert found.rule == "nccl_shm"
    assert "nccl_err" in found.also


def test_a_warning_does_not_win_over_a_later_error() -> None:
    warned = f"{TP0} WARNING 11-29 18:02:20 [x.py:1] CUDA_HOME environment variable is not set\n"
    assert read([warned, *traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory."), *ending()]).rule == "oom"
    assert read([warned, *ending()]).rule == "no_nvcc"


def test_an_exception_group_is_read() -> None:
    tree = [
        "  + Exception Group Traceback (most recent call last):\n",
        '  |   File "x.py", line 1, in y\n',
        "  |     CUDA out of memory()\n",
        "  | torch.OutOfMemoryError: CUDA out of memory.\n",
    ]
    found = read(tree)
    assert found.rule == "oom"
    assert found.line is not None
    assert found.line.number == 4


def test_the_stage_tells_how_far_it_came() -> None:
    oom = traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory.")
    assert read([*oom]).stage == "start"
    assert read([*beginning(), *oom]).stage == "load"
    assert read([*beginning(), *loaded(), *oom]).stage == "warm-up"
    assert read([*beginning(), *loaded(), info(API, "Application startup complete."), *oom]).stage == "serving"


def test_an_unknown_failure_marks_the_likely_lines_also_those_far_above_the_end() -> None:
    odd = traceback(TP1, "flux.CapacitorError: 1.21 gigawatts")
    found = read([*beginning(), *odd, *(info(API, f"waiting {n}") for n in range(300))])
    assert found.rule == "unknown"
    assert [line.text for line in found.tail if line.likely][-1] == "flux.CapacitorError: 1.21 gigawatts"
    assert found.tail[-1].text == "waiting 299"


def test_the_waiting_of_others_does_not_hide_a_hang() -> None:
    """Each minute somebody says that it waits: that is no sign of life of what it waits for."""
    reader = LogReader(clock=lambda: 0.0)
    reader.feed(info(TP0, "vLLM is using nccl==2.30.7").encode(), at=10)
    for minute in range(1, 4):
        text = "No available shared memory broadcast block found in 60 seconds."
        reader.feed(info(CORE, text).encode(), at=60 * minute)
    assert reader.diagnosis(now=129).rule == "unknown"
    found = reader.diagnosis(now=200)
    assert (found.rule, found.params["seconds"]) == ("nccl_hang", "190")


def test_a_bar_that_moves_is_no_hang_and_one_drawn_again_is() -> None:
    reader = LogReader(clock=lambda: 0.0)
    for at, percent in ((0, 0), (250, 0), (290, 14), (400, 14)):
        reader.feed(f"{TP0} \n".encode(), at=at)
        reader.feed(f"\rCapturing CUDA graphs (decode, FULL): {percent:3}%|█ | 1/7 [00:01<00:06]\r".encode(), at=at)
    assert reader.diagnosis(now=589).rule == "unknown"
    found = reader.diagnosis(now=590)
    assert (found.rule, found.params["progress"]) == ("graph_hang", "14")


def test_the_cause_speaks_of_this_machine() -> None:
    machine, plan = load_machine(MACHINES / "3090-pair-browser.json"), plan_of("2x3090-pcie")
    oom = "".join(traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory.")).encode()
    found = diagnose([oom], machine=machine, plan=plan)
    assert "2x NVIDIA GeForce RTX 3090" in found.cause
    close = next(remedy for remedy in diagnose([oom], machine=machine).remedies if remedy.action == "free_memory")
    holder = max((p for gpu in machine.gpus for p in gpu.processes), key=lambda p: p.memory or 0)
    assert holder.name in close.text


def test_a_huge_log_is_read_in_flat_memory(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    with log.open("w") as file:
        file.writelines(info(API, f'127.0.0.1:{n} - "POST /v1/systemone HTTP/1.1" 200 OK') for n in range(20_000))
        file.write("x" * 6_000_000)  # a line without end
        file.writelines(traceback(TP0, "torch.OutOfMemoryError: CUDA out of memory."))
    catalogue()
    tracemalloc.start()
    try:
        found = diagnose_file(log)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.rule == "oom"
    assert peak < 4_000_000  # the file has 8 million bytes


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*gone\.log"):
        diagnose_file(tmp_path / "gone.log")


ULIMIT = (
    "WARNING 11-29 20:40:31 [system_utils.py:270] Found ulimit of 20000 and failed to automatically increase with "
    "error current limit exceeds maximum limit. This can cause fd limit errors like `OSError: [Errno 24] Too many open "
    "files`. Consider increasing with ulimit -n"
)


def test_a_warning_that_quotes_an_error_is_no_failure() -> None:
    """As vLLM 0.33.0 wrote it on a machine with a hard limit; what had ended it was a missing package."""
    lines = [f"{API} {ULIMIT}\n", *beginning()]
    assert read(lines).rule == "ulimit_low"
    found = read([*lines, *traceback(API, "ModuleNotFoundError: No module named 'pycountry'")])
    assert found.rule == "package_missing"
    assert found.cause == "the engine's environment lacks the Python package pycountry"


WARNED = "WARNING 11-29 18:02:40 [utils.py:9] socket.accept() out of system resource: Too many open files"


def test_an_unknown_error_is_not_explained_by_a_warning_before_it() -> None:
    assert read([*beginning(), f"{API} {WARNED}\n"]).rule == "open_files"
    found = read([*beginning(), f"{API} {WARNED}\n", *traceback(TP0, "ValueError: a thing that nobody has met")])
    assert found.rule == "unknown"
    assert not found.known
    assert found.also == ("open_files",)
    assert any("nobody has met" in line.text and line.likely for line in found.tail)
    wrapped = read([*beginning(), f"{API} {WARNED}\n", *ending()])  # wrappers are known, and say nothing new
    assert wrapped.rule == "open_files"
