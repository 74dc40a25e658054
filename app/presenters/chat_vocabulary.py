"""What the ids in frames of the canvas mean: the tokenizer of the checkpoint that is served."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from app.presenters.engine import EnginePresenter
from engine import paths
from engine.client.vocabulary import Vocabulary
from engine.errors import InputError

log = logging.getLogger(__name__)

TOKENIZER = "tokenizer.json"


class ServedVocabulary:
    """Loaded once for each checkpoint, off the GUI's thread."""

    def __init__(self, engine: EnginePresenter) -> None:
        self._engine = engine
        self._known: tuple[Path, Vocabulary] | None = None

    async def get(self) -> Vocabulary | None:
        """None where nothing tells, or where it cannot be read."""
        path = self._file()
        if path is None or (self._known is not None and self._known[0] == path):
            return None if path is None or self._known is None else self._known[1]
        try:
            found = await asyncio.to_thread(Vocabulary.from_file, path)
        except InputError as error:  # a view only: the answer comes without it
            log.warning("no canvas will be shown: %s", error)
            return None
        self._known = (path, found)
        return found

    def _file(self) -> Path | None:
        """The tokenizer's file; None where it is not on this computer."""
        launch = self._engine.vllm.launch
        if self._engine.state.kind == "vllm":
            return launch.checkpoint / TOKENIZER if launch is not None else None
        return paths.demo_model_dir() / TOKENIZER if self._engine.state.is_toy else None
