"""Bytes, packages, rate and the time that is left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.runtime.progress import Meter, tree_bytes


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def meter(tmp_path: Path, clock: Clock) -> Meter:
    (tmp_path / "site-packages").mkdir()
    return Meter(
        cache=tmp_path / "cache",
        site_packages=tmp_path / "site-packages",
        log=tmp_path / "log",
        packages=3,
        bytes_total=10**12,
        bytes_there=1000,
        clock=clock,
    )


def test_the_rate_is_what_the_process_wrote_lately(meter: Meter, clock: Clock, tmp_path: Path) -> None:
    first = meter.look(os.getpid())
    assert (first.phase, first.rate, first.eta_s) == ("fetch", 0.0, None)
    (tmp_path / "file").write_bytes(bytes(2_000_000))
    clock.now = 2.0
    second = meter.look(os.getpid())
    assert second.bytes_done - first.bytes_done >= 2_000_000
    assert second.rate == (second.bytes_done - first.bytes_done) / 2
    assert second.eta_s == (10**12 - second.bytes_done) / second.rate
    clock.now = 1000.0  # long ago counts no more
    meter.look(os.getpid())
    clock.now = 1030.0
    assert meter.look(os.getpid()).rate < second.rate / 100


def test_a_process_that_is_gone_takes_nothing_back(meter: Meter, tmp_path: Path) -> None:
    done = meter.look(os.getpid()).bytes_done
    assert done > 1000
    assert meter.look(2**22 + 1).bytes_done == done  # above the largest process number of Linux


def test_packages_are_counted_in_the_cache_and_then_in_the_environment(meter: Meter, tmp_path: Path) -> None:
    for name in ("a", "b", ".tmpc"):
        (tmp_path / "cache/archive-v0" / name).mkdir(parents=True)
    assert meter.look(os.getpid()).packages_done == 2
    (tmp_path / "log").write_text("Resolved 3 packages in 1ms\nPrepared 3 packages in 2s\n")
    (tmp_path / "site-packages/a-1.dist-info").mkdir()
    seen = meter.look(os.getpid())
    assert (seen.phase, seen.packages_done, seen.bytes_done) == ("install", 1, 10**12)


def test_hard_links_count_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one/file").write_bytes(bytes(100))
    os.link(tmp_path / "one/file", tmp_path / "two/file")
    (tmp_path / "two/link").symlink_to("file")
    assert tree_bytes(tmp_path / "one", tmp_path / "two", tmp_path / "missing") == 100 + len("file")
