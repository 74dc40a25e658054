"""How the cards reach each other: NVLink lanes and the driver's answer about peer-to-peer reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from engine.domain.hardware import Gpu, GpuLink
from engine.hardware.nvml_reads import CardGone, Handle, Reader, as_text

MAX_LANES = 18  # of an H100 (NVML_NVLINK_MAX_LINKS of the installed binding counts when it is larger)
_REMOTE_SWITCH = 2  # NVML_NVLINK_DEVICE_TYPE_SWITCH
_P2P_READ = 0  # NVML_P2P_CAPS_INDEX_READ
_P2P_OK = 0  # NVML_P2P_STATUS_OK


def read_links(reader: Reader, cards: Sequence[tuple[Handle, Gpu]]) -> tuple[GpuLink, ...]:
    """One link for every pair of whole cards; slices have none, since MIG switches peer-to-peer off.

    Args:
        cards: handle and card, in the order of the result.
    """
    whole = [(handle, gpu) for handle, gpu in cards if not gpu.mig]
    lanes = [_lanes(reader, handle) for handle, _ in whole]
    return tuple(
        GpuLink(
            whole[first][1].uuid,
            whole[second][1].uuid,
            nvlinks=_lanes_between(lanes[first], lanes[second], whole[second][1]),
            p2p=_peer_reads(reader, whole[first][0], whole[second][0]),
        )
        for first, second in combinations(range(len(whole)), 2)
    )


def _lanes(reader: Reader, handle: Handle) -> dict[str, int]:
    """Active lanes by what is at their other end: a PCI bus in capitals, or "switch"."""
    ends: dict[str, int] = {}
    for lane in range(max(MAX_LANES, reader.constant("NVML_NVLINK_MAX_LINKS", 0))):
        try:
            if not reader.number("nvmlDeviceGetNvLinkState", handle, lane):
                continue
            kind = reader.number("nvmlDeviceGetNvLinkRemoteDeviceType", handle, lane)
            remote = reader.value("nvmlDeviceGetNvLinkRemotePciInfo", handle, lane)
        except CardGone:
            return {}
        end = "switch" if kind == _REMOTE_SWITCH else as_text(getattr(remote, "busId", "")).upper()
        if end:
            ends[end] = ends.get(end, 0) + 1
    return ends


def _lanes_between(first: dict[str, int], second: dict[str, int], second_card: Gpu) -> int:
    """Direct lanes; over NVSwitch all lanes of a card lead to every other card."""
    direct = first.get(second_card.pci_bus.upper(), 0)
    return direct or min(first.get("switch", 0), second.get("switch", 0))


def _peer_reads(reader: Reader, first: Handle, second: Handle) -> bool | None:
    """True only if the driver grants reads both ways; None where it does not say (WSL2)."""
    try:
        answers = [
            reader.number("nvmlDeviceGetP2PStatus", first, second, _P2P_READ),
            reader.number("nvmlDeviceGetP2PStatus", second, first, _P2P_READ),
        ]
    except CardGone:
        return None
    return None if None in answers else all(answer == _P2P_OK for answer in answers)
