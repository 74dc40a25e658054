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


def thought(pieces: list[str]) -> str:
    thoughts, found = ThoughtFilter(), ""
    for piece in pieces:
        thoughts.feed(piece)
        found += thoughts.take_thought()
    return found


@given(PARTS.map("".join), st.data())
def test_any_cut_gives_the_same_answer(text: str, data: st.DataObject) -> None:
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8))), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(cuts)]
    start, end = re.escape(THOUGHT_START), re.escape(THOUGHT_END)
    expected = re.sub(f"{start}.*?(?:{end}|\\Z)", "", text, flags=re.DOTALL)
    assert filtered(pieces) == expected
    assert filtered(list(text)) == expected
    # What is taken out is kept, the same wherever the cuts are.
    assert thought(pieces) == thought([text]) == thought(list(text))


def test_text_is_not_held_back_longer_than_needed() -> None:
    thoughts = ThoughtFilter()
    assert thoughts.feed("a < b and <|chan") == "a < b and "
    assert thoughts.feed("ge") == "<|change"


def test_a_thought_is_kept_without_the_name_of_its_channel() -> None:
    text = f"a{THOUGHT_START}thought\nfirst{THOUGHT_END}b{THOUGHT_START}thought\nsecond{THOUGHT_END}c"
    assert thought([text]) == thought(list(text)) == "firstsecond"
    assert filtered([text]) == "abc"
    assert thought([f"{THOUGHT_START}thought is free{THOUGHT_END}"]) == "thought is free"
