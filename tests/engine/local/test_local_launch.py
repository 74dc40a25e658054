"""From the setup's file and the disk to an engine: every missing step has its own error, and what is whole starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from local_world import make_checkpoint, make_environment

from engine.checkpoints.catalogue import entry
from engine.client.http import EngineClient
from engine.domain.chat import CanvasCommitted, Message
from engine.errors import UserError
from engine.hardware.record import recorded_machines
from engine.launch.command import MODEL_NAME
from engine.local.disk import MACHINE_VARIABLE
from engine.local.launch import stored_launch
from engine.local.stored import Memory, Wished, load_memory, memory_file, save_memory


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["2x3090-pcie"]))


def refused() -> UserError:
    with pytest.raises(UserError) as caught:
        stored_launch()
    assert caught.value.remedy
    return caught.value


def test_no_card_is_the_embedded_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, str(recorded_machines()["no-gpu"]))
    assert refused().code == "setup.embedded"


def test_no_plan_gives_the_planners_reason_and_way_out(two_cards: None) -> None:
    save_memory(memory_file(), Memory(wished=Wished(sequences=100)))
    error = refused()
    assert error.code == "setup.no_plan"
    assert "sequence" in error.message or "request" in error.message


def test_each_missing_step_is_named_in_their_order(two_cards: None, tmp_path: Path) -> None:
    assert refused().code == "setup.no_engine"
    made = make_environment()
    error = refused()
    assert error.code == "setup.no_checkpoint"
    assert str(entry("fp8").folder) in error.message
    save_memory(memory_file(), Memory(folders={"fp8": str(tmp_path / "mine")}))
    assert str(tmp_path / "mine") in refused().message
    make_checkpoint(tmp_path / "mine")
    assert stored_launch().checkpoint == tmp_path / "mine"
    next((tmp_path / "mine").glob("*.safetensors")).unlink()
    assert refused().code == "setup.no_checkpoint"
    (made.site_packages / "vllm" / "utils" / "diffusion.py").unlink()
    assert refused().code == "launch.fix_missing"


def test_wishes_and_port_are_the_stored_ones(two_cards: None) -> None:
    make_environment()
    make_checkpoint(entry("fp8").folder)
    save_memory(memory_file(), Memory(port=9_123, wished=Wished(context=65_536)))
    launch = stored_launch()
    assert (launch.port, launch.plan.context) == (9_123, 65_536)
    assert stored_launch(port=0).port == 0


async def test_what_is_whole_starts_and_answers(two_cards: None, monkeypatch: pytest.MonkeyPatch) -> None:
    make_environment()
    make_checkpoint(entry("fp8").folder)
    monkeypatch.setenv("PYTHONHOME", "/nowhere")  # ours is not the engine's
    phases: list[str] = []
    engine = stored_launch(port=0).engine(lambda progress: phases.append(progress.phase))
    handle = await engine.start()
    try:
        assert "Loading the weights" in phases
        async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
            said = [event async for event in client.chat([Message("user", "Hello")], model=MODEL_NAME)]
        assert any(isinstance(event, CanvasCommitted) for event in said)
    finally:
        await engine.stop()


def test_the_file_of_an_earlier_version_is_read_and_a_damaged_one_set_aside(desk_home: Path) -> None:
    old = '{"schema_version": 1, "step": "plan", "active": null, "port": 8050, "wheels": "", "wished": {}}'
    memory_file().write_text(old)
    assert load_memory(memory_file()) == Memory(step="plan", port=8050)
    memory_file().write_text(old.replace("8050", '"no port"'))
    assert load_memory(memory_file()) == Memory()
    assert memory_file().with_name("setup.json.damaged").exists()
