"""Recorded machines: round trip, strictness, and what a record does not tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.domain.hardware import Disk, Machine
from engine.errors import InputError, UserError
from engine.hardware.machine import probe_machine
from engine.hardware.record import (
    SCHEMA_VERSION,
    anonymous,
    dump_machine,
    load_machine,
    parse_machine,
    recorded_machines,
    save_machine,
)

RECORDED = recorded_machines()


def sheet() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED["2x3090-pcie"].read_bytes())
    return found


def refused(raw: object) -> InputError:
    text = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    with pytest.raises(InputError) as caught:
        parse_machine(text, "rig.json")
    assert "rig.json" in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_round_trip(name: str) -> None:
    machine = load_machine(RECORDED[name])
    assert parse_machine(dump_machine(machine).encode(), name) == machine
    assert machine.name
    assert machine.host.ram_total
    assert machine.host.disks


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_recorded_figures_agree(name: str) -> None:
    machine = load_machine(RECORDED[name])
    for gpu in machine.gpus:
        if gpu.memory_total is None or (gpu.mig and gpu.uuid.startswith("GPU-")):
            continue
        assert gpu.memory_total == sum((gpu.memory_used or 0, gpu.memory_free or 0, gpu.memory_reserved or 0))
        assert sum(process.memory or 0 for process in gpu.processes) <= (gpu.memory_used or 0)
    whole = [gpu for gpu in machine.gpus if gpu.uuid.startswith("GPU-") and not gpu.mig]
    assert len(machine.links) == len(whole) * (len(whole) - 1) // 2
    assert machine.host.nvidia_devices in {None, len({gpu.pci_bus for gpu in machine.gpus})} or not machine.gpus


def test_this_machine_can_be_recorded(tmp_path: Path) -> None:
    machine = probe_machine()
    save_machine(machine, tmp_path / "mine.json")
    assert load_machine(tmp_path / "mine.json") == anonymous(machine)
    with pytest.raises(UserError, match=r"mine\.json exists"):
        save_machine(machine, tmp_path / "mine.json")
    with pytest.raises(UserError, match="cannot write"):
        save_machine(machine, tmp_path / "nowhere" / "mine.json")


def test_a_record_names_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    given = load_machine(RECORDED["h100-mig-slice"])
    disks = (Disk("/home/somebody/data", 1, 2), Disk("/home/somebodyelse", 1, 2), Disk("/home/somebody", 1, 2))
    given = replace(given, host=replace(given.host, disks=disks))
    save_machine(given, tmp_path / "mine.json")
    text = (tmp_path / "mine.json").read_text()
    assert not any(gpu.uuid in text for gpu in given.gpus)
    kept = load_machine(tmp_path / "mine.json")
    assert [gpu.uuid for gpu in kept.gpus] == [
        "GPU-00000000-0000-0000-0000-000000000001",
        "MIG-00000000-0000-0000-0000-000000000002",
    ]
    assert [disk.path for disk in kept.host.disks] == ["~/data", "/home/somebodyelse", "~"]


def test_links_follow_the_new_names() -> None:
    given = load_machine(RECORDED["2x3090-nvlink"])
    hidden = anonymous(given)
    assert hidden.link(hidden.gpus[0].uuid, hidden.gpus[1].uuid).nvlinks == 4


def _at(*path: str | int, value: Any = None, remove: bool = False) -> Callable[[dict[str, Any]], None]:
    def change(given: Any) -> None:
        for part in path[:-1]:
            given = given[part]
        if remove:
            del given[path[-1]]
        else:
            given[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_at("gpus", 0, "memroy", value=1), "gpus[0].memroy: unexpected"),
        (_at("gpus", 1, "uuid", remove=True), "gpus[1].uuid: field required"),
        (_at("gpus", 0, "index", value="0"), "gpus[0].index: input should be a valid integer"),
        (_at("gpus", 0, "memory_total", value=2.5), "gpus[0].memory_total: input should be a valid integer"),
        (_at("gpus", 0, "compute_mode", value="shut"), "gpus[0].compute_mode: input should be 'default'"),
        (_at("gpus", 0, "capability", value=[8]), "gpus[0].capability[1]: field required"),
        (_at("gpus", 0, "power_limit_w", value=float("nan")), "gpus[0].power_limit_w"),
        (_at("gpus", 0, "processes", value=[{"pid": 1}]), "gpus[0].processes[0].name: field required"),
        (_at("driver", "status", value="fine"), "driver.status: input should be 'ok'"),
        (_at("host", remove=True), "host: field required"),
        (_at("host", "disks", 0, "free", value=None), "host.disks[0].free"),
        (_at("host", "wsl2", value="no"), "host.wsl2: input should be a valid boolean"),
        (_at("colour", value="red"), "colour: extra inputs"),
    ],
)
def test_a_wrong_field_is_named(change: Callable[[dict[str, Any]], None], said: str) -> None:
    given = sheet()
    change(given)
    error = refused(given)
    assert error.code == "machine.field"
    assert said in str(error)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_at("gpus", 0, "memory_used", value=-1), "gpus[0].memory_used: -1 is negative"),
        (_at("host", "disks", 0, "free", value=-5), "host.disks[0].free: -5 is negative"),
        (_at("gpus", 0, "memory_used", value=2**40), "gpus[0].memory_total"),
        (_at("gpus", 0, "uuid", value=""), "gpus[0].uuid"),
        (_at("links", 0, "first", value="GPU-nowhere"), "links[0].first: no card has the uuid 'GPU-nowhere'"),
        (lambda given: given["gpus"][1].update(uuid=given["gpus"][0]["uuid"]), "gpus[1].uuid"),
        (lambda given: given["links"][0].update(second=given["links"][0]["first"]), "links[0]: a card has no link"),
    ],
)
def test_a_contradiction_is_named(change: Callable[[dict[str, Any]], None], said: str) -> None:
    given = sheet()
    change(given)
    error = refused(given)
    assert error.code == "machine.contradiction"
    assert said in str(error)


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (SCHEMA_VERSION + 1, "machine.version"),
        (0, "machine.version"),
        ("1", "machine.no_version"),
        (True, "machine.no_version"),
    ],
)
def test_other_versions_are_refused(version: object, code: str) -> None:
    assert refused(sheet() | {"schema_version": version}).code == code


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"schema_version": 1'])
def test_what_is_no_json(raw: bytes) -> None:
    assert refused(raw).code == "machine.no_json"


@pytest.mark.parametrize("raw", [b"[]", b"null", b"{}", b'"text"'])
def test_what_is_no_record(raw: bytes) -> None:
    assert refused(raw).code == "machine.no_version"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, code in ((tmp_path / "none.json", "machine.unreadable"), (tmp_path, "machine.unreadable")):
        with pytest.raises(InputError) as caught:
            load_machine(path)
        assert caught.value.code == code
    (tmp_path / "big.json").write_bytes(b" " * 1_000_001)
    with pytest.raises(InputError) as caught:
        load_machine(tmp_path / "big.json")
    assert caught.value.code == "machine.too_big"


def test_machines_look_links_up_in_either_order() -> None:
    given: Machine = load_machine(RECORDED["2x3090-nvlink"])
    first, second = (gpu.uuid for gpu in given.gpus)
    assert given.link(first, second) == given.link(second, first)
