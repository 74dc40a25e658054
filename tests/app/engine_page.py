"""The Engine page over the real presenters and a stand-in vLLM that is set up; the rest of the window is left out."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

sys.path += [str(Path(__file__).parents[1] / "engine" / "local")]
from local_world import make_checkpoint, make_environment  # that folder is no package

from app.pages.engine import EnginePage
from app.presenters.engine import EngineChoice, EnginePresenter
from app.presenters.engine_remedies import EngineRemedies
from app.presenters.setup_elsewhere import Elsewhere
from app.tasks import spawn
from engine.checkpoints.catalogue import entry
from engine.domain.diagnosis import Retry
from engine.local.launch import stored_launch
from engine.local.stored import Memory, load_memory, memory_file, save_memory
from engine.supervise.lifecycle import SupervisedEngine
from engine.supervise.ports import next_free_port


async def make_engine() -> SupervisedEngine:
    """As the setup makes it, of what is stored."""
    launch = await asyncio.to_thread(stored_launch)
    return launch.engine()


VLLM = EngineChoice("vllm", make=make_engine)


@dataclass
class Place:
    """The page and what stands behind it."""

    engine: EnginePresenter
    remedies: EngineRemedies
    page: EnginePage

    @classmethod
    def make(cls, choice: EngineChoice | None = None) -> Place:
        engine = EnginePresenter(choice)
        remedies = EngineRemedies(engine)
        place = cls(engine, remedies, EnginePage(engine, remedies, Elsewhere()))
        remedies.retry_wanted.connect(place.retry)
        return place

    def retry(self, retry: Retry) -> None:
        """As the window does it: remembered, then started."""
        memory = load_memory(memory_file())
        port = next_free_port(memory.port) if retry.new_port else memory.port
        save_memory(memory_file(), memory.after(retry).model_copy(update={"port": port}))
        spawn(self.engine, self.engine.replace_now(self.engine.choice), "next start")

    def text(self, name: str) -> str:
        found = self.page.findChild(QLabel, name)
        assert found is not None, name
        return found.text()

    def click(self, name: str) -> None:
        found = self.page.findChild(QAbstractButton, name)
        assert found is not None, name
        assert found.isVisibleTo(self.page), name
        assert found.isEnabled(), name
        found.click()

    def has(self, name: str) -> bool:
        return self.page.findChild(QWidget, name) is not None


def set_up(port: int) -> None:
    """Environment, checkpoint and port, as after the setup's steps."""
    make_environment()
    make_checkpoint(entry("fp8").folder)
    save_memory(memory_file(), Memory(port=port))
