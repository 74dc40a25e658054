"""What there is to say about the machine around the cards: what vLLM needs of it."""

from __future__ import annotations

from collections.abc import Iterator

from engine.domain.hardware import GIB, Disk, Finding, Host, Machine
from engine.hardware.wording import finding, gib, gigabytes

ENGINE_GLIBC = (2, 31)  # one of the engine's wheels; vLLM's own ask for 2.28 (packaging/engine.json)
WINDOW_GLIBC = (2, 34)  # PySide6's are manylinux_2_34
ENGINE_DISK = 11_000_000_000  # the unpacked environment of vLLM 0.33 and torch 2.14
CHECKPOINT_DISK = 27_200_000_000  # the FP8 checkpoint
# A machine sold with 32 GB shows some 31; 16 GB end in an OOM kill while shards are read (vLLM maps them).
MIN_RAM = 28 * GIB
MIN_RAM_LEFT = 8 * GIB
MIN_SHM = GIB  # the ranks' message queues and NCCL's buffers; a container's default of 64 MiB is too small
MIN_OPEN_FILES = 4096
WSL2_HIDDEN = int(1.31 * GIB)  # of each card; NVML counts it, a program never gets it
_ARCHITECTURES = frozenset({"x86_64", "AMD64", ""})
_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "drvfs", "fuse.sshfs", "ceph", "lustre"})


def host_findings(machine: Machine) -> Iterator[Finding]:
    """Everything about the host."""
    host = machine.host
    yield from _system(host)
    yield from _tools(host)
    yield from _memory(host)
    yield from _shared_memory(machine)
    for disk in host.disks:
        yield from _disk(disk, first=disk == host.disks[0])
    if host.open_files_limit is not None and host.open_files_limit < MIN_OPEN_FILES:
        yield finding(
            "host.open_files",
            "warning",
            "a process may open {limit} files here; many requests at once need {needed}",
            "raise it: `ulimit -Hn 65535`, or nofile in /etc/security/limits.conf",
            limit=host.open_files_limit,
            needed=MIN_OPEN_FILES,
        )


def _system(host: Host) -> Iterator[Finding]:
    if host.system != "Linux":
        yield finding(
            "host.not_linux",
            "blocker",
            "vLLM runs on Linux, and this is {system}",
            "use WSL2, or a server elsewhere",
            system=host.system or "an unknown system",
        )
    if host.architecture not in _ARCHITECTURES:
        yield finding(
            "host.architecture",
            "warning",
            "the engine's packages are pinned for x86_64, and this machine is {architecture}",
            "start vLLM yourself and give its address",
            architecture=host.architecture,
        )
    if host.wsl2:
        yield finding(
            "host.wsl2",
            "note",
            "Windows keeps about {hidden} of each card from WSL2; the plan subtracts it",
            "RAM for WSL2 is set in .wslconfig",
            hidden=gib(WSL2_HIDDEN),
        )
    elif host.container:
        yield finding("host.container", "note", "this runs in a container ({container})", container=host.container)
    yield from _glibc(host)


def _glibc(host: Host) -> Iterator[Finding]:
    if host.glibc is None or host.glibc >= WINDOW_GLIBC:
        return
    engine = host.glibc < ENGINE_GLIBC
    yield finding(
        "host.glibc_old" if engine else "host.glibc_window",
        "blocker" if engine else "note",
        "glibc {version} is older than {needed}, which {what} needs",
        "upgrade the Linux distribution" if engine else "the command line works all the same",
        version=".".join(map(str, host.glibc)),
        needed=".".join(map(str, ENGINE_GLIBC if engine else WINDOW_GLIBC)),
        what="vLLM" if engine else "the window",
    )


def _tools(host: Host) -> Iterator[Finding]:
    if not host.gcc:
        yield finding(
            "host.no_compiler",
            "blocker",
            "no C compiler is installed; vLLM's kernels (Triton) build a helper with it at the first start",
            "install gcc (`sudo apt install gcc`, or `sudo dnf install gcc`)",
        )
    if host.python_headers is False:
        yield finding(
            "host.no_headers",
            "warning",
            "the C headers of this Python are not installed; they are needed when the engine's own Python cannot be "
            "fetched",
            "install python3-dev (Debian, Ubuntu) or python3-devel (Fedora, Rocky)",
        )


def _memory(host: Host) -> Iterator[Finding]:
    if host.ram_total is not None and host.ram_total < MIN_RAM:
        yield finding(
            "host.ram_small",
            "warning",
            "the computer has {total} of memory; loading the checkpoint is planned for 32 GB and may be ended by the "
            "system below",
            "raise memory in .wslconfig" if host.wsl2 else "close other programs, or add memory",
            total=gib(host.ram_total),
        )
    elif host.ram_available is not None and host.ram_available < MIN_RAM_LEFT:
        yield finding(
            "host.ram_busy",
            "warning",
            "only {left} of memory are free; loading the checkpoint needs {needed}",
            "close other programs",
            left=gib(host.ram_available),
            needed=gib(MIN_RAM_LEFT),
        )


def _shared_memory(machine: Machine) -> Iterator[Finding]:
    left = machine.host.shm_free
    if left is None or left >= MIN_SHM or len(machine.gpus) < 2:
        return
    yield finding(
        "host.shm_small",
        "warning",
        "/dev/shm has {left} free; several cards together need {needed}",
        "start the container with --shm-size 16g or --ipc host"
        if machine.host.container
        else "make it larger: `sudo mount -o remount,size=50% /dev/shm`",
        left=gib(left),
        needed=gib(MIN_SHM),
    )


def _disk(disk: Disk, *, first: bool) -> Iterator[Finding]:
    """The first disk holds the data folder, and with it the engine and the checkpoint."""
    needed = ENGINE_DISK + CHECKPOINT_DISK
    if first and disk.free < needed:
        yield finding(
            "host.disk_small",
            "warning",
            "{path} has {free} free; engine and checkpoint take {needed} together, as far as they are not there yet",
            "make room, or move the folder with DIFFUSION_DESK_HOME",
            path=disk.path,
            free=gigabytes(disk.free),
            needed=gigabytes(needed),
        )
    if disk.filesystem in _REMOTE:
        yield finding(
            "host.disk_remote",
            "note",
            "{path} is on a slow file system ({filesystem}); loading the checkpoint from it takes minutes",
            "move the folder to a disk of this machine with DIFFUSION_DESK_HOME",
            path=disk.path,
            filesystem=disk.filesystem,
        )
