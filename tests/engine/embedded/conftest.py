"""The demo model, loaded once, and a stand-in whose canvases are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from engine import paths
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.model import DemoModel, ModelConfig, Prefix
from engine.embedded.sampler import SamplerConfig
from engine.embedded.tokenizer import DemoTokenizer


@pytest.fixture(scope="session")
def demo_folder() -> Path:
    return paths.demo_model_dir()


@pytest.fixture(scope="session")
def demo_tokenizer(demo_folder: Path) -> DemoTokenizer:
    return DemoTokenizer(demo_folder)


@pytest.fixture(scope="session")
def demo_model(demo_folder: Path) -> DemoModel:
    return DemoModel(demo_folder)


@pytest.fixture
def demo_engine(demo_model: DemoModel, demo_tokenizer: DemoTokenizer) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(demo_model, demo_tokenizer)
    engine.start()
    yield engine
    engine.close()


@dataclass
class ScriptedModel:
    """A model whose answer is given: slot by slot the scripted token, ``margin`` above every other logit.

    Past the script it writes token 100. ``encoded`` collects the prompts.
    """

    prompt_length: int
    script: Sequence[int]
    canvas_length: int = 8
    max_model_len: int = 64
    margin: float = 30.0

    def __post_init__(self) -> None:
        self.encoded: list[tuple[int, ...]] = []
        self.config = ModelConfig(
            vocab_size=3072,
            canvas_length=self.canvas_length,
            max_model_len=self.max_model_len,
            eos_ids=(1, 6),
            max_new_tokens=256,
            sampler=replace(SamplerConfig(), max_steps=12),
        )

    def encode(self, ids: Sequence[int]) -> Prefix:
        self.encoded.append(tuple(ids))
        return Prefix(len(ids), {})

    def denoise(self, prefix: Prefix, canvas: np.ndarray, previous: np.ndarray) -> np.ndarray:
        start = prefix.length - self.prompt_length
        tokens = [self.script[i] if i < len(self.script) else 100 for i in range(start, start + len(canvas))]
        logits = np.zeros((len(canvas), self.config.vocab_size), np.float32)
        logits[np.arange(len(canvas)), tokens] = self.margin
        return logits


@pytest.fixture
def scripted() -> type[ScriptedModel]:
    return ScriptedModel
