"""The test hub, with a small stand-in checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hub_helpers import REPO, HubProcess, hub_process, make_checkpoint


@pytest.fixture(scope="session")
def running_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    with hub_process(tmp_path_factory.mktemp("empty")) as process:
        yield process


@pytest.fixture
def hub(running_hub: HubProcess, tmp_path_factory: pytest.TempPathFactory) -> HubProcess:
    """A hub with one repository of two shards, 3 and 2 MB, that nobody has asked anything yet."""
    root = tmp_path_factory.mktemp("hub")
    make_checkpoint(root / REPO, (3_000_000, 2_000_000))
    running_hub.reset(root)
    return running_hub
