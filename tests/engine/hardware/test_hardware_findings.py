"""What is said about each recorded machine, and that nothing is ever raised about a machine with holes in it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cli.machine_checks import machine_checks
from engine.domain.hardware import Driver, Finding, Gpu, GpuProcess, Host, Machine
from engine.hardware.findings import driver_version, find_findings
from engine.hardware.record import load_machine, recorded_machines

EXPECTED: dict[str, set[str]] = {
    "1x3090": {"gpu.display"},
    "1x4090": {"gpu.display"},
    "1x5090": set(),
    "2x2080ti": {"gpu.none_usable", "gpu.too_old"},
    "2x3090-display-quadro": {"gpu.too_old"},
    "2x3090-nvlink": set(),
    "2x3090-pcie": set(),
    "2x4060ti-16": set(),
    "2x4090": {"gpu.display"},
    "2x5090": set(),
    "2xa4000": {"links.p2p_doubtful"},
    "2xa5000": set(),
    "3090-3080": {"gpu.display", "gpu.narrow_slot", "gpus.unlike"},
    "3090-pair-browser": {"gpu.occupied", "gpu.display"},
    "3x3090-display-quadro": {"gpu.too_old"},
    "4xa4000": {"links.p2p_doubtful"},
    "8xh100": set(),
    "a100-80": set(),
    "a6000": set(),
    "b200": set(),
    "container-2x3090": {
        "host.no_compiler",
        "host.no_headers",
        "host.shm_small",
        "host.disk_small",
        "host.container",
    },
    "driver-550": {"driver.too_old"},
    "exclusive-mode": {"gpu.prohibited", "gpu.exclusive"},
    "gb10": {"gpu.memory_unknown", "host.architecture", "gpu.display"},
    "h100": set(),
    "h100-mig-slice": {"gpu.mig_slice"},
    "h200": set(),
    "l40s": {"gpu.ecc"},
    "laptop": {"host.no_compiler", "host.no_headers", "host.ram_small", "host.open_files"},
    "mismatch": {"driver.mismatch"},
    "no-driver": {"driver.none"},
    "no-gpu": {"gpu.none"},
    "no-permission": {"driver.no_permission"},
    "old-glibc": {"host.glibc_old", "host.open_files"},
    "rtx-pro-6000": set(),
    "small-disk": {"host.ram_small", "host.disk_small"},
    "v100-32": {"gpu.none_usable", "gpu.too_old"},
    "wsl2-2x3090": {"gpu.occupied", "gpu.display", "host.wsl2"},
}
RECORDED = recorded_machines()


def machine(name: str) -> Machine:
    return load_machine(RECORDED[name])


def found(given: Machine, code: str) -> Finding:
    (finding,) = [finding for finding in find_findings(given) if finding.code == code]
    return finding


def test_every_recorded_machine_has_a_row() -> None:
    assert set(EXPECTED) == set(RECORDED)
    assert len(RECORDED) >= 26


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_findings_of_a_recorded_machine(name: str) -> None:
    findings = find_findings(machine(name))
    assert {finding.code for finding in findings} == EXPECTED[name]
    for finding in findings:
        assert finding.text
        assert "{" not in finding.text + finding.remedy
        assert finding.remedy or finding.severity == "note", f"{finding.code} leaves the user alone"
        assert finding.gpu is None or machine(name).gpu(finding.gpu)
    order = [("blocker", "warning", "note").index(finding.severity) for finding in findings]
    assert order == sorted(order)


def test_the_mismatch_says_what_to_do() -> None:
    finding = found(machine("mismatch"), "driver.mismatch")
    assert (finding.severity, finding.remedy) == ("blocker", "restart the computer")


def test_a_card_without_a_driver_is_told_from_no_card() -> None:
    assert found(machine("no-gpu"), "gpu.none").severity == "note"
    bare = machine("no-driver")
    assert "Secure Boot" in found(bare, "driver.none").text
    insecure = replace(bare, host=replace(bare.host, secure_boot=False, nvidia_devices=1))
    assert found(insecure, "driver.none").text == "1 NVIDIA card is here, but no NVIDIA driver is loaded"
    nouveau = replace(insecure, driver=replace(insecure.driver, detail="the module nouveau holds the cards"))
    assert "nouveau" in found(nouveau, "driver.none").text


def test_a_loaded_driver_without_its_library() -> None:
    bare = machine("no-driver")
    loaded = replace(bare, driver=replace(bare.driver, version="580.105.08"))
    assert "nvidia-utils" in found(loaded, "driver.library_missing").remedy
    boxed = replace(loaded, host=replace(loaded.host, container="docker"))
    assert found(boxed, "driver.library_missing").remedy == "start the container with --gpus all"


def test_without_a_card_wsl2_is_sent_to_windows() -> None:
    wsl2 = machine("wsl2-2x3090")
    bare = replace(wsl2, driver=Driver("no_driver", detail="NVML Shared Library Not Found"), gpus=(), links=())
    assert "in Windows" in found(bare, "gpu.none").remedy


def test_cards_that_the_driver_does_not_show_are_missed() -> None:
    pair = machine("2x3090-pcie")
    half = replace(pair, gpus=pair.gpus[:1], links=())
    assert found(half, "gpu.unseen").severity == "warning"
    assert found(half, "gpu.unseen").text == "2 NVIDIA cards are in this computer, and the driver shows 1 of them"
    boxed = replace(half, host=replace(half.host, container="podman"))
    assert found(boxed, "gpu.unseen").severity == "note"


def test_who_holds_the_memory_is_named() -> None:
    text = found(machine("3090-pair-browser"), "gpu.occupied").text
    assert text == (
        "card 0 (RTX 3090): 4.2 GiB of 24.0 GiB are taken by "
        "firefox (3.4 GiB), Xorg (0.4 GiB), code (0.2 GiB) and 1 more"
    )
    assert "programs of Windows" in found(machine("wsl2-2x3090"), "gpu.occupied").text
    nameless = machine("3090-pair-browser")
    first = replace(nameless.gpus[0], processes=(GpuProcess(77, "", 2**31),))
    assert "process 77 (2.0 GiB)" in found(replace(nameless, gpus=(first,)), "gpu.occupied").text


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        ("580.64.99", {"driver.too_old"}),
        ("580.65", set()),
        ("580.65.06", set()),
        ("579.999", {"driver.too_old"}),
        ("595.10", {"driver.reserves_more"}),
        ("", set()),
        ("unknown", set()),
    ],
)
def test_the_border_of_the_driver(version: str, codes: set[str]) -> None:
    given = replace(machine("2x3090-pcie"), driver=Driver("ok", version, (13, 0)))
    assert {finding.code for finding in find_findings(given)} == codes


def test_versions() -> None:
    assert driver_version("580.105.08") == (580, 105, 8)
    assert driver_version("580.x") == driver_version("") == driver_version("580.") == ()


def test_an_old_driver_under_wsl2_is_renewed_in_windows() -> None:
    given = replace(machine("wsl2-2x3090"), driver=Driver("ok", "551.86", (12, 4)))
    assert "in Windows" in found(given, "driver.too_old").remedy


def test_lost_cards_errors_and_empty_drivers() -> None:
    good = machine("2x3090-pcie")
    lost = replace(good, driver=replace(good.driver, detail="card 1: GPU is lost"), gpus=good.gpus[:1], links=())
    assert "card 1: GPU is lost" in found(lost, "driver.card_lost").text
    assert "no reason given" in found(replace(good, driver=Driver("error")), "driver.error").text
    assert found(replace(good, gpus=(), links=()), "gpu.none").severity == "note"


def test_nvlink_needs_no_bar1_window() -> None:
    linked = machine("2x3090-nvlink")
    small = tuple(replace(gpu, bar1_total=256 * 2**20) for gpu in linked.gpus)
    assert not find_findings(replace(linked, gpus=small))
    bare = tuple(replace(link, nvlinks=0) for link in linked.links)
    assert found(replace(linked, gpus=small, links=bare), "links.p2p_doubtful")
    assert not find_findings(replace(linked, links=bare)), "the whole memory is in the window"


def test_mig_without_slices_is_a_blocker() -> None:
    sliced = machine("h100-mig-slice")
    assert found(replace(sliced, gpus=sliced.gpus[:1]), "gpu.mig_empty").severity == "blocker"


def test_heat_ram_and_other_systems() -> None:
    good = machine("1x5090")
    hot = replace(good, gpus=(replace(good.gpus[0], temperature_c=90),))
    assert found(hot, "gpu.hot").severity == "warning"
    busy = replace(good, host=replace(good.host, ram_available=2**30))
    assert "1.0 GiB" in found(busy, "host.ram_busy").text
    assert found(replace(good, host=replace(good.host, system="Darwin")), "host.not_linux").severity == "blocker"
    assert found(replace(good, host=replace(good.host, glibc=(2, 31))), "host.glibc_window").severity == "note"
    remote = replace(good.host.disks[0], filesystem="nfs4")
    assert "nfs4" in found(replace(good, host=replace(good.host, disks=(remote,))), "host.disk_remote").text
    pair = replace(machine("2x3090-pcie"), host=replace(good.host, shm_free=2**20))
    assert "remount" in found(pair, "host.shm_small").remedy


def _optional(kind: type) -> list[str]:
    """Fields that may be None."""
    hints = get_type_hints(kind)
    return [field.name for field in fields(kind) if type(None) in getattr(hints[field.name], "__args__", ())]


@st.composite
def machines_with_holes(draw: st.DrawFn) -> Machine:
    """A recorded machine in which facts are missing, texts are empty and lists are short."""
    whole = machine(draw(st.sampled_from(sorted(RECORDED))))

    def hole(value: Any, texts: tuple[str, ...] = ()) -> Any:
        gone: dict[str, Any] = {name: None for name in draw(st.sets(st.sampled_from(_optional(type(value)))))}
        return replace(value, **gone, **{name: "" for name in texts if draw(st.booleans())})

    gpus = tuple(hole(gpu, ("name", "pci_bus")) for gpu in whole.gpus[: draw(st.integers(0, 8))])
    known = {gpu.uuid for gpu in gpus}
    links = tuple(hole(link) for link in whole.links if {link.first, link.second} <= known)
    host = hole(whole.host, ("system", "architecture", "kernel", "distribution", "gcc", "container"))
    host = replace(host, disks=host.disks if draw(st.booleans()) else ())
    driver = replace(
        hole(whole.driver, ("version", "detail")),
        status=draw(st.sampled_from(["ok", "no_driver", "mismatch", "no_permission", "error"])),
    )
    return Machine(driver, host, gpus, links)


@settings(max_examples=200)
@given(machines_with_holes())
def test_missing_facts_never_raise(given: Machine) -> None:
    for finding in find_findings(given):
        assert finding.text
        assert "None" not in finding.text + finding.remedy
    assert all("None" not in check.detail for check in machine_checks(given))


def test_an_empty_machine_is_spoken_of() -> None:
    assert find_findings(Machine(Driver("ok"), Host(), (Gpu(0, "", "GPU-1"),)))
