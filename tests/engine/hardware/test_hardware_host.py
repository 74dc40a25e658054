"""The host, read from trees of real files, and the machine put together."""

from __future__ import annotations

import stat
from pathlib import Path

import pynvml
import pytest
from nvml_double import Card, NvmlDouble

from engine.hardware import host
from engine.hardware.cgroup import memory_in_container
from engine.hardware.host import loaded_module_version, probe_host
from engine.hardware.machine import cards_named, probe_machine
from engine.hardware.record import load_machine, recorded_machines

GIB = 1024**3


def put(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def test_this_host() -> None:
    found = probe_host()
    assert found.system == "Linux"
    assert found.ram_total
    assert found.ram_available
    assert found.ram_available <= found.ram_total
    assert found.glibc is None or found.glibc > (2, 0)
    assert found.disks
    assert all(0 <= disk.free <= disk.total for disk in found.disks)
    assert found.open_files_limit


def test_an_empty_tree_gives_a_host_without_facts(tmp_path: Path) -> None:
    found = probe_host(tmp_path, folders=[])
    assert (found.distribution, found.container, found.wsl2) == ("", "", False)
    assert (found.shm_free, found.secure_boot, found.nvidia_devices, found.disks) == (None, None, None, ())


def test_wsl2(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "proc/sys/kernel/osrelease": "6.6.87.2-microsoft-standard-WSL2\n",
            "sys/bus/pci/devices/0000:00:01.0/vendor": "0x1414\n",
            "sys/firmware/x": "",
        },
    )
    found = probe_host(tmp_path)
    assert found.wsl2
    assert (found.nvidia_devices, found.secure_boot) == (None, None), "Windows knows, Linux does not"


def test_nvidia_devices_are_counted_without_a_driver(tmp_path: Path) -> None:
    devices = {
        "0000:01:00.0": ("0x10de", "0x030000"),  # a card
        "0000:01:00.1": ("0x10de", "0x040300"),  # its sound
        "0000:02:00.0": ("0x10de", "0x030200"),  # a card without connectors
        "0000:00:02.0": ("0x8086", "0x030000"),
    }
    for name, (vendor, kind) in devices.items():
        put(tmp_path, {f"sys/bus/pci/devices/{name}/vendor": vendor, f"sys/bus/pci/devices/{name}/class": kind})
    assert probe_host(tmp_path).nvidia_devices == 2


@pytest.mark.parametrize(("last", "expected"), [(1, True), (0, False)])
def test_secure_boot(tmp_path: Path, last: int, expected: bool) -> None:
    name = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    put(tmp_path, {f"sys/firmware/efi/efivars/{name}": bytes([6, 0, 0, 0, last])})
    assert probe_host(tmp_path).secure_boot is expected


def test_secure_boot_unknown_or_impossible(tmp_path: Path) -> None:
    put(tmp_path, {"sys/firmware/acpi/x": ""})
    assert probe_host(tmp_path).secure_boot is False
    (tmp_path / "sys/firmware/efi").mkdir()
    assert probe_host(tmp_path).secure_boot is None


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [(".dockerenv", "", "docker"), ("run/.containerenv", "", "podman"), ("run/systemd/container", "lxc\n", "lxc")],
)
def test_containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: str, expected: str) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert probe_host(put(tmp_path, {file: content})).container == expected
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert probe_host(tmp_path / "elsewhere").container == "kubernetes"


def test_the_compiler_is_found_without_starting_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "programs"
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("CC", raising=False)
    assert probe_host(tmp_path).gcc == ""
    put(programs, {"clang": "#!/bin/sh\nexit 1\n"})
    (programs / "clang").chmod(stat.S_IRWXU)
    assert probe_host(tmp_path).gcc == "clang"
    put(programs, {"gcc": "#!/bin/sh\nexit 1\n"})
    (programs / "gcc").chmod(stat.S_IRWXU)
    assert probe_host(tmp_path).gcc == "gcc"
    put(tmp_path, {"usr/libexec/gcc/x86_64-linux-gnu/9/cc1": "", "usr/lib/gcc/x86_64-linux-gnu/13/cc1": ""})
    assert probe_host(tmp_path).gcc == "13"
    monkeypatch.setenv("CC", "clang")
    assert probe_host(tmp_path).gcc == "clang"


def test_disks_are_named_once_and_by_the_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    found = probe_host(folders=[tmp_path / "not" / "yet", tmp_path]).disks
    assert [disk.path for disk in found] == [str(tmp_path / "not" / "yet")]
    assert found[0].filesystem


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\nGCC version: gcc 12.2.0\n",
            "535.183.01",
        ),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n", "580.95.05"),
        ("nothing of the kind", ""),
    ],
)
def test_the_loaded_module_tells_its_version(tmp_path: Path, text: str, version: str) -> None:
    put(tmp_path, {"proc/driver/nvidia/version": text})
    assert loaded_module_version(tmp_path) == version
    broken = NvmlDouble([], init=pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)
    told = probe_machine(lambda: broken, tmp_path).driver
    assert (told.status, told.version) == ("mismatch", version)


def test_nouveau_is_named(tmp_path: Path) -> None:
    (tmp_path / "sys/module/nouveau").mkdir(parents=True)
    none = NvmlDouble([], init=pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
    assert "nouveau" in probe_machine(lambda: none, tmp_path).driver.detail


def test_container_limits_of_both_kinds(tmp_path: Path) -> None:
    assert memory_in_container(tmp_path) == (None, None)
    second = put(
        tmp_path / "v2",
        {
            "sys/fs/cgroup/memory.max": f"{8 * GIB}\n",
            "sys/fs/cgroup/memory.current": f"{5 * GIB}\n",
            "sys/fs/cgroup/memory.stat": f"anon 1\ninactive_file {2 * GIB}\n",
        },
    )
    assert memory_in_container(second) == (8 * GIB, 5 * GIB)
    limited = probe_host(second)
    assert limited.ram_total is not None
    assert limited.ram_total <= 8 * GIB
    first = put(
        tmp_path / "v1",
        {
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
        },
    )
    assert memory_in_container(first) == (4 * GIB, 3 * GIB)
    put(tmp_path / "open", {"sys/fs/cgroup/memory.max": "max\n"})
    put(tmp_path / "open", {"sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2**63 - 4096}\n"})
    assert memory_in_container(tmp_path / "open") == (None, None)
    put(tmp_path / "half", {"sys/fs/cgroup/memory.max": f"{GIB}"})
    assert memory_in_container(tmp_path / "half") == (GIB, None)


def test_a_data_folder_that_cannot_be_made_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DIFFUSION_DESK_HOME", str(tmp_path / "file" / "below"))
    assert probe_host().disks
    monkeypatch.delenv("HF_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert host._default_folders()[1] == tmp_path / ".cache/huggingface"


def test_a_machine_is_host_and_cards_together() -> None:
    pair = NvmlDouble([Card(), Card(uuid="GPU-2", bus="00000000:02:00.0")])
    found = probe_machine(lambda: pair)
    assert (found.driver.status, len(found.gpus), len(found.links)) == ("ok", 2, 1)
    assert found.host.ram_total


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("0,1", [0, 1]),
        ("1", [1]),
        (" 1 , 0", [1, 0]),
        ("", []),
        ("-1", []),
        ("0,7,1", [0]),
        ("1,1", [1]),
        ("GPU-", []),
        ("NoDevFiles", []),
    ],
)
def test_cards_are_named_as_cuda_does(names: str, expected: list[int]) -> None:
    machine = load_machine(recorded_machines()["2x3090-pcie"])
    assert [gpu.index for gpu in cards_named(machine, names)] == expected


def test_cards_are_named_by_whole_and_short_uuids() -> None:
    machine = load_machine(recorded_machines()["2x3090-pcie"])
    second = machine.gpus[1].uuid
    for name in (second, second[:12], second.lower(), f"{second[:9]},0"):
        assert cards_named(machine, name)[0].uuid == second
    sliced = load_machine(recorded_machines()["h100-mig-slice"])
    assert cards_named(sliced, "MIG-")[0].uuid.startswith("MIG-")
    assert [gpu.uuid[:3] for gpu in cards_named(sliced, "0")] == ["GPU"]
