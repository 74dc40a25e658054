"""Reviewers' words: kept beside the model's, the last one counts, undo, and a worker is not disturbed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.domain.reading import Method, Reading
from engine.errors import InputError
from engine.store.reviews import ReviewStore
from engine.store.runs import RunSpec, RunStore, RunView

SPEC = RunSpec("t", {}, "f", "f" * 64, ("a",), Method(), 1, "t.csv", "t" * 64, {}, ("text",), "toy")
OK = Reading("a", "ok", 0.5, (0.5, 0.5), 0.9, True, 0.3, 0.9, 1, None, None, "alone/canvas")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path, SPEC, [("one",), ("two",), ("three",)]) as store:
        store.add_answers(1, (OK,))
        store.add_answers(2, (OK,))
        yield store


def labels(path: Path) -> dict[tuple[int, int], tuple[str | None, str]]:
    with RunView(path) as view:
        return {key: (label.value, label.author) for key, label in view.labels().items()}


def test_the_last_word_counts_and_undo_brings_the_one_before_back(store: RunStore) -> None:
    with ReviewStore(store.path) as reviews:
        first = reviews.add(1, 0, "yes", "Ann")
        reviews.add(1, 0, "no", "Bob")
        reviews.add(2, 0, None, "Ann")
        assert labels(store.path) == {(1, 0): ("no", "Bob"), (2, 0): (None, "Ann")}
        undone = reviews.undo("Bob")
        assert undone is not None
        assert (undone.row, undone.value) == (1, "no")
        assert labels(store.path) == {(1, 0): ("yes", "Ann"), (2, 0): (None, "Ann")}
        assert reviews.undo("Bob") is None
        reviews.undo()
        assert reviews.undo() == first
        assert reviews.undo() is None
        assert labels(store.path) == {}
        assert not store.has_labels()


def test_only_answers_can_be_reviewed_and_a_worker_goes_on_meanwhile(store: RunStore) -> None:
    with ReviewStore(store.path) as reviews:
        with pytest.raises(InputError, match="row 3 has no answer"):
            reviews.add(3, 0, "yes", "Ann")
        store.add_answers(3, (OK,))
        reviews.add(3, 0, "yes", "Ann")
        store.set_state("finished")
    assert labels(store.path) == {(3, 0): ("yes", "Ann")}
    assert store.info().state == "finished"
