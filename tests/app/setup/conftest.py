"""One world for the tests of a file; each has a home of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

import setup_world
from hub_helpers import hub_process
from setup_world import World


@pytest.fixture(scope="module")  # its hub must not be seen by the tests that look for processes left behind
def built_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    setup_world.make_engine_wheels(folder)
    setup_world.make_repo(folder / "hub")
    with hub_process(folder / "hub") as hub:
        yield World(folder, hub)


@pytest.fixture
def world(built_world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    built_world.hub.reset(built_world.folder / "hub")
    for name, value in setup_world.variables(built_world.folder, built_world.hub.url).items():
        monkeypatch.setenv(name, value)
    return built_world
