"""Token ids to text for the canvas view: one piece per slot."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from engine.client.vocabulary import Vocabulary
from engine.errors import InputError
from engine.paths import demo_model_dir

BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
WORDS = {"\u2581yes": 256, "<pad>": 257, "a\u2581b": 258}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(Tokenizer(models.WordLevel(BYTES | WORDS, unk_token="<pad>")))


def test_words_specials_and_unknown_ids(vocabulary: Vocabulary) -> None:
    assert vocabulary.pieces([256, 257, 258, 999]) == [" yes", "<pad>", "a b", "\ufffd"]
    assert vocabulary.pieces([]) == []


def test_a_character_of_several_bytes_stands_in_its_first_slot(vocabulary: Vocabulary) -> None:
    assert vocabulary.pieces([256, *"\u00e4x\U0001f600".encode()]) == [
        " yes",
        "\u00e4",
        "",
        "x",
        "\U0001f600",
        "",
        "",
        "",
    ]
    assert vocabulary.pieces([0xE2, 0x96, 256, 0x81]) == ["\ufffd", "\ufffd", " yes", "\ufffd"]


@given(st.lists(st.integers(0, 258), max_size=30))
def test_one_piece_per_slot(vocabulary: Vocabulary, ids: list[int]) -> None:
    assert len(vocabulary.pieces(ids)) == len(ids)


@given(st.text(max_size=20))
def test_bytes_of_a_text_give_the_text(vocabulary: Vocabulary, text: str) -> None:
    assert "".join(vocabulary.pieces(list(text.encode("utf-8", "replace")))) == text.encode("utf-8", "replace").decode()


def test_the_demo_tokenizer() -> None:
    path = demo_model_dir() / "tokenizer.json"
    ids = Tokenizer.from_file(str(path)).encode("The answer is yes.<turn|>", add_special_tokens=False).ids
    assert "".join(Vocabulary.from_file(path).pieces(ids)) == "The answer is yes.<turn|>"


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_file_that_is_no_tokenizer(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match="no tokenizer"):
        Vocabulary.from_file(path)
