"""The shipped tokenizer: one token per label, wherever a label stands."""

from __future__ import annotations

import jinja2
import pytest
from tokenizers import Tokenizer

from tests.tools.demo_files import DEMO
from tools.train_demo import mixture
from tools.train_demo import tokenizer as protocol
from tools.train_demo.tokenizer import EMPTY_THOUGHT, LABELS, SPECIALS, render


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(DEMO / "tokenizer.json"))


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def test_special_tokens_stand_where_gemma_has_them(tokenizer: Tokenizer) -> None:
    assert [tokenizer.token_to_id(token) for token in SPECIALS] == list(range(len(SPECIALS)))
    assert ids(tokenizer, "<turn|>") == [protocol.END_OF_TURN]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_one_token_alone_and_on_a_numbered_line(tokenizer: Tokenizer, label: str) -> None:
    thought = ids(tokenizer, EMPTY_THOUGHT)
    alone = ids(tokenizer, EMPTY_THOUGHT + label)
    assert alone[:-1] == thought
    for k in range(1, 65):
        line = ids(tokenizer, f"{k}: {label}")
        assert len(line) == 3  # the number, the colon, the label
        assert tokenizer.id_to_token(line[-1]) == f"▁{label}"
        assert ids(tokenizer, f"9: no\n{k}: {label}\n")[-2] == line[-1]


def test_labels_are_different_tokens(tokenizer: Tokenizer) -> None:
    assert len({ids(tokenizer, label)[0] for label in LABELS}) == len(LABELS)
    assert len({ids(tokenizer, f"1: {label}")[-1] for label in LABELS}) == len(LABELS)


def test_a_newline_is_one_token_also_between_lines(tokenizer: Tokenizer) -> None:
    newline = ids(tokenizer, "\n")
    assert len(newline) == 1
    assert ids(tokenizer, "1: yes\n2: B").count(newline[0]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Hello world, 12 days.",
        "café 日本\n\n  two  spaces",
        "3 x 7 = 21",
        "¿qué?",
        "Grüße",
        "1,250,000 or 1007 or 0.05",
        "a  b",
    ],
)
def test_any_text_survives(tokenizer: Tokenizer, text: str) -> None:
    for skip in (False, True):  # transformers and vLLM skip special tokens; bytes are none
        assert tokenizer.decode(ids(tokenizer, text), skip_special_tokens=skip) == text


def test_only_the_protocol_is_special(tokenizer: Tokenizer) -> None:
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    assert special == set(SPECIALS)
    assert tokenizer.decode(ids(tokenizer, "<0x41>")) == "<0x41>"


def test_a_new_vocabulary_takes_bytes_as_text() -> None:
    made = protocol.build(["some words, some more words"] * 3, tokens=1000)
    assert made.decode(made.encode("Grüße").ids, skip_special_tokens=True) == "Grüße"


def test_the_template_writes_what_training_wrote() -> None:
    template = jinja2.Environment().from_string((DEMO / "chat_template.jinja").read_text(encoding="utf-8"))
    turns = [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello!"), ("user", "Who are you?")]
    messages = [{"role": role, "content": content} for role, content in turns]
    written = template.render(messages=messages, add_generation_prompt=True, bos_token="<bos>")
    assert written + EMPTY_THOUGHT == render(turns)
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    assert template.render(messages=parts, bos_token="<bos>") == "<bos><|turn>user\nHi<turn|>\n"


@pytest.mark.parametrize("number", [0, 7, 10, 42, 99, 150, 199, 340])
def test_a_number_is_one_token_wherever_it_stands(tokenizer: Tokenizer, number: int) -> None:
    """So that equal amounts look equal in "48 months", "(48)" and "48%", and sums need no digits to line up."""
    shown = {tuple(ids(tokenizer, f"x ({number})")[2:-1]), tuple(ids(tokenizer, f"x\n{number}")[2:])}
    assert len(shown) == 1
    assert len(next(iter(shown))) == 1
    if number > 9:  # a space before a digit belongs to the digit, as in a joint label
        assert ids(tokenizer, f"x {number}")[-1:] == list(next(iter(shown)))


def test_words_that_the_model_must_write_whole_are_tokens(tokenizer: Tokenizer) -> None:
    broken = [word for word in mixture.WHOLE_WORDS if len(ids(tokenizer, f"x {word}")) != 2]
    assert broken == []
