"""Thoughts never reach the answer, wherever the chunks are cut."""

from __future__ import annotations

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from engine.client.thoughts import THOUGHT_END, THOUGHT_START, ThoughtFilter

PARTS = st.lists(
    st.sampled_from([THOUGHT_START, THOUGHT_END, "<|chan", "<", "|>", "text ", "\n", "channel|>"]), max_size=12
)


def filtered(pieces: list[str]) -> str:
    thoughts = ThoughtFilter()
    return "".join([*map(thoughts.feed, pieces), thoughts.close()])


@given(PARTS.map("".join), st.data())
def test_any_cut_gives_the_same_answer(text: str, data: st.DataObject) -> None:
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8))), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(cuts)]
    start, end = re.escape(THOUGHT_START), re.escape(THOUGHT_END)
    expected = re.sub(f"{start}.*?(?:{end}|\\Z)", "", text, flags=re.DOTALL)
    assert filtered(pieces) == expected
    assert filtered(list(text)) == expected


def test_text_is_not_held_back_longer_than_needed() -> None:
    thoughts = ThoughtFilter()
    assert thoughts.feed("a < b and <|chan") == "a < b and "
    assert thoughts.feed("ge") == "<|change"
