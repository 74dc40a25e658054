"""The probe against an NVML that answers as real drivers do, in every way that was reported."""

from __future__ import annotations

import os

import pynvml
import pytest
from nvml_double import GIB, Card, Fails, NvmlDouble, process

from engine.domain.hardware import Gpu
from engine.hardware.nvml import NvmlAnswer, probe

OTHER = "GPU-22222222-0000-0000-0000-000000000002"


def answer(*cards: Card, **options: object) -> NvmlAnswer:
    double = NvmlDouble(list(cards), **options)  # type: ignore[arg-type]
    told = probe(lambda: double)
    assert double.open == 0, "NVML stays open"
    return told


def only(*cards: Card, **options: object) -> Gpu:
    (gpu,) = answer(*cards, **options).gpus
    return gpu


def test_this_machine_is_probed_without_an_exception() -> None:
    told = probe()
    assert told.driver.status in {"ok", "no_driver", "mismatch", "no_permission", "error"}
    assert (told.driver.status == "ok") or told.driver.detail


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "no_driver"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "no_driver"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "no_permission"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "mismatch"),
        (pynvml.NVML_ERROR_GPU_IS_LOST, "error"),
        (pynvml.NVML_ERROR_UNKNOWN, "error"),
        (pynvml.NVML_ERROR_IRQ_ISSUE, "error"),
    ],
)
def test_a_driver_that_does_not_answer_is_a_value(code: int, status: str) -> None:
    told = answer(init=code)
    assert (told.driver.status, told.gpus) == (status, ())
    assert told.driver.detail == str(pynvml.NVMLError(code))


def test_a_missing_binding_is_a_value() -> None:
    def load() -> NvmlDouble:
        raise ImportError("No module named 'pynvml'")

    assert probe(load).driver.status == "error"


@pytest.mark.parametrize("as_bytes", [False, True])
def test_names_are_the_same_as_text_and_as_bytes(as_bytes: bool) -> None:
    told = answer(Card(), as_bytes=as_bytes)
    assert (told.driver.version, told.driver.cuda) == ("580.105.08", (13, 0))
    (gpu,) = told.gpus
    assert (gpu.name, gpu.pci_bus) == ("NVIDIA GeForce RTX 3090", "00000000:01:00.0")
    assert gpu.uuid == "GPU-11111111-0000-0000-0000-000000000001"


def test_the_drivers_reserve_is_told_apart_where_the_driver_can() -> None:
    gpu = only(Card(used=GIB))
    assert (gpu.memory_total, gpu.memory_used, gpu.memory_reserved) == (24 * GIB, GIB, GIB // 2)
    assert gpu.memory_free == 22.5 * GIB
    old = only(Card(used=GIB), memory_v2=False)
    assert (old.memory_used, old.memory_reserved, old.memory_free) == (1.5 * GIB, None, 22.5 * GIB)
    assert only(Card(used=GIB), missing=("nvmlMemory_v2",)).memory_free == 22.5 * GIB


@pytest.mark.parametrize("total", [Fails(), 0])
def test_memory_that_is_not_told_is_none_and_the_rest_stays(total: object) -> None:
    gpu = only(Card(name="NVIDIA GB10", total=total, reserved=0, compute=[process(os.getpid(), 5)]))
    assert (gpu.memory_total, gpu.memory_used, gpu.memory_free, gpu.memory_reserved) == (None,) * 4
    assert gpu.name == "NVIDIA GB10"
    assert gpu.processes[0].pid == os.getpid()


def test_a_card_that_tells_nothing_but_its_uuid_is_kept() -> None:
    silent = Fails()
    gpu = only(Card(name=silent, bus=silent, capability=silent, total=silent, compute=silent, graphics=silent))
    assert gpu == Gpu(index=0, name="unnamed card", uuid="GPU-11111111-0000-0000-0000-000000000001")


def test_every_function_may_be_missing_from_an_older_binding() -> None:
    needed = {"nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID"}
    missing = tuple(name for name in vars(pynvml) if name.startswith("nvmlDeviceGet") and name not in needed)
    assert only(Card(), missing=missing).uuid


def test_what_a_full_card_tells() -> None:
    told = {
        "nvmlDeviceGetEccMode": [1, 1],
        "nvmlDeviceGetComputeMode": 3,
        "nvmlDeviceGetDisplayMode": 0,
        "nvmlDeviceGetDisplayActive": 1,
        "nvmlDeviceGetEnforcedPowerLimit": 350_000,
        "nvmlDeviceGetTemperature": 61,
        "nvmlDeviceGetMaxPcieLinkGeneration": 4,
        "nvmlDeviceGetCurrPcieLinkWidth": 16,
        "nvmlDeviceGetBAR1MemoryInfo": pynvml.c_nvmlBAR1Memory_t(bar1Total=256 * 2**20),
        "nvmlDeviceGetUtilizationRates": pynvml.c_nvmlUtilization_t(gpu=97, memory=40),
    }
    gpu = only(Card(more=told))
    assert (gpu.ecc, gpu.compute_mode, gpu.display) == (True, "exclusive_process", True)
    assert (gpu.power_limit_w, gpu.temperature_c, gpu.load) == (350.0, 61, 97)
    assert (gpu.pcie_generation, gpu.pcie_width, gpu.bar1_total) == (4, 16, 256 * 2**20)


@pytest.mark.parametrize(
    ("attached", "active", "expected"),
    [(1, 0, False), (0, 1, True), (1, 1, True), (1, Fails(), True), (0, Fails(), False), (Fails(), Fails(), None)],
)
def test_a_display_is_one_that_draws(attached: object, active: object, expected: bool | None) -> None:
    told = {"nvmlDeviceGetDisplayMode": attached, "nvmlDeviceGetDisplayActive": active}
    assert only(Card(more=told)).display is expected


@pytest.mark.parametrize(
    ("mode", "name"), [(0, "default"), (1, "exclusive_process"), (2, "prohibited"), (3, "exclusive_process"), (9, None)]
)
def test_compute_modes(mode: int, name: str | None) -> None:
    assert only(Card(more={"nvmlDeviceGetComputeMode": mode})).compute_mode == name


def test_the_environment_does_not_change_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = (Card(used=GIB), Card(uuid=OTHER, bus="00000000:02:00.0", used=3 * GIB))
    before = answer(*cards)
    for value in ("1", OTHER, OTHER[:12], "", "-1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
        assert answer(*cards) == before


def test_cards_are_counted_in_pci_order() -> None:
    told = answer(Card(uuid=OTHER, bus="00000000:C1:00.0"), Card(bus="00000000:0a:00.0"))
    assert [(gpu.index, gpu.pci_bus) for gpu in told.gpus] == [(0, "00000000:0a:00.0"), (1, "00000000:C1:00.0")]


def test_without_bus_addresses_nvmls_order_stays() -> None:
    told = answer(Card(bus=Fails()), Card(uuid=OTHER, bus=Fails()))
    assert [gpu.index for gpu in told.gpus] == [0, 1]


def test_a_lost_card_leaves_the_others() -> None:
    lost = Card(uuid=OTHER, more={"nvmlDeviceGetUUID": Fails(pynvml.NVML_ERROR_GPU_IS_LOST)})
    told = answer(lost, Card(bus="00000000:02:00.0"))
    assert (told.driver.status, len(told.gpus)) == ("ok", 1)
    assert told.driver.detail == "card 0: GPU is lost"
    assert "UUID" in answer(Card(uuid=Fails())).driver.detail


def test_a_card_that_is_not_opened_is_named() -> None:
    double_answer = answer(Card(), system={"nvmlDeviceGetHandleByIndex": Fails(pynvml.NVML_ERROR_NO_PERMISSION)})
    assert double_answer.driver.detail == "card 0: the driver does not open it"


def test_a_driver_without_a_count_is_an_error() -> None:
    assert answer(system={"nvmlDeviceGetCount": Fails(pynvml.NVML_ERROR_UNKNOWN)}).driver.status == "error"
    assert answer(system={"nvmlDeviceGetCount": Fails(pynvml.NVML_ERROR_GPU_IS_LOST)}).driver.status == "error"


def test_processes_are_merged_named_and_sorted() -> None:
    me = process(os.getpid(), 100)
    card = Card(compute=[me, process(4_000_001, 2**64 - 1)], graphics=[process(os.getpid(), 300), process(7, None)])
    names = {"nvmlSystemGetProcessName": "/opt/browser dir/browser --type=gpu-process --user=somebody"}
    held = [(entry.pid, entry.memory, entry.name) for entry in only(card, system=names).processes]
    assert held == [(os.getpid(), 300, "browser"), (7, None, "browser"), (4_000_001, None, "browser")]
    assert only(Card(compute=[process(4_000_001, 1)])).processes[0].name == ""
    assert only(Card(compute=[me])).processes[0].name  # the system knows this one


def test_mig_slices_stand_beside_their_card() -> None:
    one = Card(
        name="NVIDIA H100 80GB HBM3 MIG 3g.40gb", uuid="MIG-33333333-0000-0000-0000-000000000003", total=40 * GIB
    )
    card = Card(name="NVIDIA H100 80GB HBM3", capability=(9, 0), mig=[1, 1], slices=[None, one, None])
    whole, slice_ = answer(card).gpus
    assert (whole.mig, whole.index, slice_.mig, slice_.index) == (True, 0, True, 0)
    assert (slice_.uuid, slice_.capability, slice_.memory_total) == (one.uuid, (9, 0), 40 * GIB)


def test_nvlink_lanes_and_switches_are_counted_by_pair() -> None:
    first, second, third = "00000000:01:00.0", "00000000:02:00.0", "00000000:03:00.0"
    cards = (
        Card(bus=first, lanes={n: (0, second.lower()) for n in range(4)}),
        Card(uuid=OTHER, bus=second, lanes={n: (0, first) for n in range(4)}),
        Card(uuid="GPU-3", bus=third, peers=pynvml.NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED),
    )
    links = answer(*cards).links
    assert [(link.nvlinks, link.p2p) for link in links] == [(4, True), (0, False), (0, False)]
    switched = [Card(uuid=f"GPU-{n}", bus=f"00000000:0{n}:00.0", lanes={k: (2, "x") for k in range(18)}) for n in "12"]
    assert [link.nvlinks for link in answer(*switched).links] == [18]
    apart = Card(uuid=OTHER, bus=third)
    assert [link.nvlinks for link in answer(switched[0], apart).links] == [0], "the other is on no switch"
    assert answer(Card(peers=Fails()), Card(uuid=OTHER, bus=second)).links[0].p2p is None
