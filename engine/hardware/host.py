"""The machine around the cards. Every fact is read from a file or a system call; none is a guess, none raises."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from engine.domain.hardware import Disk, Host
from engine.hardware.cgroup import memory_in_container
from engine.paths import APP, data_dir

_NVIDIA = "0x10de"  # PCI vendor
_DISPLAY_CLASS = "0x03"  # PCI base class: VGA, 3D and other display controllers
_SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"  # EFI global variable GUID
_UNLIMITED = 2**30  # files; what "unlimited" is recorded as
_MODULE_VERSION = re.compile(r"Kernel Module\D*?\s(\d{3}\.\d+(?:\.\d+)?)\b|\s(\d{3}\.\d+(?:\.\d+)?)\s")


def probe_host(root: Path = Path("/"), folders: Sequence[Path] | None = None) -> Host:
    """Look at the machine.

    Args:
        root: where ``proc`` and ``sys`` are found; tests give a tree of their own.
        folders: whose file systems are looked at; the data folder and the hub's cache when None.
    """
    total, available = _memory(root)
    kernel = _text(root / "proc/sys/kernel/osrelease") or platform.release()
    wsl2 = "microsoft" in kernel.lower()
    container = _container(root)
    return Host(
        system=platform.system(),
        architecture=platform.machine(),
        kernel=kernel,
        distribution=_distribution(root),
        glibc=_glibc(),
        gcc=_compiler(root),
        python_headers=_python_headers(),
        ram_total=total,
        ram_available=available,
        shm_free=_shm_free(root),
        disks=tuple(_disks(_default_folders() if folders is None else folders)),
        wsl2=wsl2,
        container=container,
        secure_boot=None if wsl2 or container else _secure_boot(root),
        open_files_limit=_open_files(),
        nvidia_devices=None if wsl2 else _nvidia_devices(root),
    )


def loaded_module_version(root: Path = Path("/")) -> str:
    """The version of NVIDIA's kernel module that is loaded now, "" when none is. It answers where NVML does not."""
    match = _MODULE_VERSION.search(_text(root / "proc/driver/nvidia/version"))
    return (match[1] or match[2]) if match else ""


def nouveau_loaded(root: Path = Path("/")) -> bool:
    """The kernel's own driver holds the cards, so that NVIDIA's cannot."""
    return (root / "sys/module/nouveau").is_dir()


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _distribution(root: Path) -> str:
    for line in _text(root / "etc/os-release").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip("\"'")
    return ""


def _glibc() -> tuple[int, int] | None:
    """Of the running system; musl answers nothing."""
    try:
        told = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return None
    match = re.search(r"(\d+)\.(\d+)", told)
    return (int(match[1]), int(match[2])) if match else None


def _compiler(root: Path) -> str:
    """The C compiler that Triton will find: CC, else gcc, else clang. Its version is read from gcc's own folder.

    No process is started for it: the newest folder ``lib/gcc/<target>/<version>`` with a compiler proper (cc1) in it.
    """
    chosen = os.environ.get("CC") or "gcc"
    found = shutil.which(chosen) or shutil.which("clang")
    if found is None:
        return ""
    versions = [path.parent.name for lib in ("lib", "lib64", "libexec") for path in root.glob(f"usr/{lib}/gcc/*/*/cc1")]
    newest = max(versions, key=_numbers, default="")
    if "gcc" in Path(found).name and newest:
        return newest
    return Path(found).resolve().name


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _python_headers() -> bool | None:
    """Of this interpreter, which the engine's environment can be made from when no other Python can be fetched."""
    folder = sysconfig.get_path("include")
    return (Path(folder) / "Python.h").is_file() if folder else None


def _memory(root: Path) -> tuple[int | None, int | None]:
    """Total and available RAM; a container's limit counts where it is lower."""
    try:
        memory = psutil.virtual_memory()
    except (OSError, RuntimeError, ValueError):
        return None, None
    limit, left = memory_in_container(root)
    total = memory.total if limit is None else min(limit, memory.total)
    available = memory.available if left is None else min(left, memory.available)
    return total, available


def _shm_free(root: Path) -> int | None:
    try:
        return shutil.disk_usage(root / "dev/shm").free
    except OSError:
        return None


def _default_folders() -> tuple[Path, ...]:
    """The data folder (engine environment, runs) and the cache in which a checkpoint may lie already."""
    home = Path(os.path.expanduser("~"))
    try:
        data = data_dir()
    except OSError:
        data = home / ".local/share" / APP
    hub = os.environ.get("HF_HOME")
    return data, Path(hub) if hub else home / ".cache/huggingface"


def _disks(folders: Sequence[Path]) -> Iterator[Disk]:
    """Each file system once, named by the first folder on it."""
    seen: set[int] = set()
    for folder in folders:
        existing = next((path for path in (folder, *folder.absolute().parents) if path.exists()), None)
        if existing is None:
            continue
        try:
            usage, device = shutil.disk_usage(existing), existing.stat().st_dev
        except OSError:
            continue
        if device not in seen:
            seen.add(device)
            yield Disk(str(folder), usage.free, usage.total, _filesystem(existing.resolve()))


def _filesystem(path: Path) -> str:
    """Type of the file system that the path is on (``ext4``, ``nfs4``, ``9p``)."""
    try:
        mounts = psutil.disk_partitions(all=True)
    except (OSError, RuntimeError):
        return ""
    above = [mount for mount in mounts if path.is_relative_to(mount.mountpoint)]
    return max(above, key=lambda mount: len(mount.mountpoint)).fstype if above else ""


def _container(root: Path) -> str:
    """What kind of container this is, "" outside of any."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    return _text(root / "run/systemd/container")


def _secure_boot(root: Path) -> bool | None:
    """The EFI variable's last byte. Without EFI there is no Secure Boot; without the right to read it is unknown."""
    if not (root / "sys/firmware").is_dir():
        return None
    if not (root / "sys/firmware/efi").is_dir():
        return False
    try:
        value = (root / _SECURE_BOOT).read_bytes()
    except OSError:
        return None
    return value[-1] == 1 if value else None


def _open_files() -> int | None:
    """The hard limit: vLLM raises its own soft limit up to it."""
    try:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    except OSError:
        return None
    return _UNLIMITED if hard == resource.RLIM_INFINITY else hard


def _nvidia_devices(root: Path) -> int | None:
    """Display devices of NVIDIA on the PCI bus, counted without any driver."""
    try:
        devices = list((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return None
    return sum(
        _text(device / "vendor") == _NVIDIA and _text(device / "class").startswith(_DISPLAY_CLASS) for device in devices
    )
