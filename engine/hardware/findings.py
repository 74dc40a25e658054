"""What the user should know about a machine, each with the one thing to do. A pure function of the machine.

Severities: a *blocker* keeps vLLM from running here until it is removed, a *warning* probably costs something, a *note*
explains. No NVIDIA card at all is a note: nothing is broken, the embedded engine and servers elsewhere remain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.domain.hardware import Finding, Machine
from engine.hardware.findings_cards import MIN_CAPABILITY, card_findings, link_findings
from engine.hardware.findings_host import host_findings
from engine.hardware.wording import finding

MIN_DRIVER = (580, 65)  # the first release of branch 580, which CUDA 13.0 (torch 2.14) needs
_GREEDIER_DRIVER = 595  # keeps more memory for itself than 580 and 590 do


def find_findings(machine: Machine) -> tuple[Finding, ...]:
    """Everything worth saying, blockers first, else in the order driver, cards, links, host. Never raises."""
    found = [*driver_findings(machine), *card_findings(machine), *link_findings(machine)]
    if machine.gpus or machine.driver.status != "no_driver" or machine.host.nvidia_devices:
        found.extend(host_findings(machine))  # without a card they would only say what vLLM needs
    order = {"blocker": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda item: order[item.severity]))


def driver_version(text: str) -> tuple[int, ...]:
    """(580, 105, 8) of ``580.105.08``; empty when it is no version."""
    return tuple(int(part) for part in text.split(".")) if re.fullmatch(r"\d+(\.\d+)*", text) else ()


def driver_findings(machine: Machine) -> Iterator[Finding]:
    """Is there a driver that answers, and is it new enough."""
    status, version = machine.driver.status, driver_version(machine.driver.version)
    if status == "ok":
        yield from _answering_driver(machine, version)
    elif status == "no_driver":
        yield _no_driver(machine)
    elif status == "mismatch":
        yield finding(
            "driver.mismatch",
            "blocker",
            "the NVIDIA driver was updated while the old one is still loaded{loaded}",
            "restart the computer",
            loaded=f" ({machine.driver.version})" if machine.driver.version else "",
        )
    elif status == "no_permission":
        yield finding(
            "driver.no_permission",
            "blocker",
            "this user may not open the NVIDIA device files",
            "give the user access to /dev/nvidia*, or start the container with --gpus all",
        )
    else:
        yield finding(
            "driver.error",
            "blocker",
            "the NVIDIA driver does not answer: {detail}",
            "restart the computer; if that does not help, install the driver again",
            detail=machine.driver.detail or "no reason given",
        )


def _answering_driver(machine: Machine, version: tuple[int, ...]) -> Iterator[Finding]:
    driver, wsl2 = machine.driver, machine.host.wsl2
    if version and version < MIN_DRIVER:
        yield finding(
            "driver.too_old",
            "blocker",
            "driver {version} is older than {needed}, the oldest that CUDA 13.0 runs with",
            "install NVIDIA driver 580 or newer{where} and restart the computer",
            version=driver.version,
            needed=".".join(map(str, MIN_DRIVER)),
            where=" in Windows" if wsl2 else "",
        )
    if version and version[0] >= _GREEDIER_DRIVER:
        yield finding(
            "driver.reserves_more",
            "note",
            "driver {version} keeps more of each card for itself than 580 and 590 do; the plan leaves 2 % more room",
            version=driver.version,
        )
    if driver.detail:
        yield finding(
            "driver.card_lost",
            "warning",
            "a card cannot be read: {detail}",
            "restart the computer; if it stays, look at the card's power and seat",
            detail=driver.detail,
        )
    yield from _unseen_cards(machine)
    if not machine.gpus and not driver.detail:
        yield finding("gpu.none", "note", "driver {version} sees no card", version=driver.version or "of NVIDIA")
    if machine.gpus and all(gpu.capability and gpu.capability < MIN_CAPABILITY for gpu in machine.gpus):
        yield finding(
            "gpu.none_usable",
            "blocker",
            "no card here has compute capability {needed} or more, which DiffusionGemma in vLLM needs",
            "use the embedded engine, or a server elsewhere",
            needed=".".join(map(str, MIN_CAPABILITY)),
        )


def _unseen_cards(machine: Machine) -> Iterator[Finding]:
    """Cards on the PCI bus that the driver does not show: kept from a container, fallen off, or too old for it."""
    there, container = machine.host.nvidia_devices, machine.host.container
    shown = len({gpu.pci_bus or gpu.uuid for gpu in machine.gpus})
    if there is None or shown >= there or machine.driver.detail:
        return
    yield finding(
        "gpu.unseen",
        "note" if container else "warning",
        "{there} in this computer, and the driver shows {shown} of them",
        "start the container with --gpus all"
        if container
        else "look at the power and seat of the others; newer drivers also drop old cards",
        there=_cards(there),
        shown=shown,
    )


def _no_driver(machine: Machine) -> Finding:
    count = machine.host.nvidia_devices
    if machine.driver.version:
        return finding(
            "driver.library_missing",
            "blocker",
            "the kernel has NVIDIA driver {version} loaded, but its library is not here",
            "start the container with --gpus all"
            if machine.host.container
            else "install the driver completely (nvidia-utils of the same version) and restart the computer",
            version=machine.driver.version,
        )
    if machine.host.wsl2:
        return finding(
            "gpu.none",
            "note",
            "no NVIDIA card answers in WSL2",
            "use the embedded engine, or a server elsewhere; with a card, install its driver 580 or newer in Windows, "
            "none in WSL2, and run `wsl --shutdown`",
        )
    if not count:
        return finding(
            "gpu.none",
            "note",
            "no NVIDIA card answers here",
            "use the embedded engine, or a server elsewhere; with a card, install its driver and restart",
        )
    if machine.host.secure_boot:
        return finding(
            "driver.none",
            "blocker",
            "{cards} here, but no driver is loaded; Secure Boot is on and refuses a driver that is not signed",
            "install the distribution's signed NVIDIA driver 580 or newer, or enrol a key with mokutil; then restart",
            cards=_cards(count),
            secure_boot=True,
        )
    nouveau = "nouveau" in machine.driver.detail
    return finding(
        "driver.none",
        "blocker",
        "{cards} here, but {what}",
        "install NVIDIA driver 580 or newer and restart the computer",
        cards=_cards(count),
        what="the driver nouveau holds them" if nouveau else "no NVIDIA driver is loaded",
        secure_boot=machine.host.secure_boot,
    )


def _cards(count: int) -> str:
    return "1 NVIDIA card is" if count == 1 else f"{count} NVIDIA cards are"
