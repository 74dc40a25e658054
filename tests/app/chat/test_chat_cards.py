"""The cards' memory beside the figures: with a vLLM of ours and a card only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from chat_driver import Room
from desk_driver import expect, until, within
from PySide6.QtWidgets import QLabel

from app.models.engine_state import EngineState
from engine.hardware.record import dump_machine, load_machine, recorded_machines
from engine.local.disk import MACHINE_VARIABLE


def cards(room: Room) -> QLabel:
    label = room.page.figures.findChild(QLabel, "chat.figures.cards")
    assert label is not None
    return label


def become(room: Room, state: EngineState) -> None:
    room.engine.state = state
    room.engine.state_changed.emit(state)


async def test_the_memory_of_every_card_is_told(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["2x3090-nvlink"]))
    before = room.engine.state
    assert cards(room).isHidden()
    told = expect(room.room.cards.changed.connect)
    become(room, replace(before, kind="vllm"))
    ((first, second),) = await within(told)
    assert not cards(room).isHidden()
    assert cards(room).text().startswith("GPU ")
    assert cards(room).text().count("/24.0") == 2
    assert first.title in cards(room).toolTip()
    assert second.title in cards(room).toolTip()
    room.page.resize(420, 600)  # the figures come first
    await until(cards(room).isHidden)
    room.page.resize(1000, 760)
    await until(lambda: not cards(room).isHidden())
    become(room, before)
    assert cards(room).isHidden()


async def test_the_load_is_told_where_the_driver_tells_it(
    room: Room, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = load_machine(recorded_machines()["2x3090-nvlink"])
    busy = replace(machine, gpus=(replace(machine.gpus[0], load=97), replace(machine.gpus[1], load=0)))
    (tmp_path / "busy.json").write_text(dump_machine(busy))
    monkeypatch.setenv(MACHINE_VARIABLE, str(tmp_path / "busy.json"))
    told = expect(room.room.cards.changed.connect)
    become(room, replace(room.engine.state, kind="vllm"))
    await within(told)
    assert cards(room).text().endswith(" GiB  ·  97 + 0 %")
    assert [line.rsplit(", ", 1)[1] for line in cards(room).toolTip().splitlines()] == ["97 % busy", "0 % busy"]


async def test_a_computer_without_a_card_is_asked_once(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["no-gpu"]))
    before = room.engine.state
    told = expect(room.room.cards.changed.connect)
    become(room, replace(before, kind="vllm"))
    assert await within(told) == ((),)
    assert cards(room).isHidden()
    become(room, before)
