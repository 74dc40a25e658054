"""An answer goes on exactly where it ended: the prompt is what the engine had before it when it stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.embedded.model import ModelConfig
from engine.embedded.parameters import continued_ids, conversation_ids
from engine.embedded.refusals import Refused
from engine.embedded.tokenizer import DemoTokenizer
from engine.embedded.wire import ChatBody

USER = {"role": "user", "content": "Tell me a story."}
ANSWER = {"role": "assistant", "content": "Once upon a time"}


def body(*messages: dict[str, str], **more: bool) -> ChatBody:
    given = {"messages": messages, "continue_final_message": True, "add_generation_prompt": False, **more}
    return ChatBody.model_validate(given)


def test_the_prompt_ends_with_the_answer_so_far(demo_tokenizer: DemoTokenizer, demo_folder: Path) -> None:
    config = ModelConfig.read(demo_folder)
    asked = ChatBody.model_validate({"messages": [USER]})
    before = conversation_ids(asked.messages, demo_tokenizer, config, add_generation_prompt=True)
    expected = [*before, *demo_tokenizer.thought_ids, *demo_tokenizer.encode(ANSWER["content"])]
    assert continued_ids(body(USER, ANSWER), demo_tokenizer, config) == expected


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (body(USER, ANSWER, add_generation_prompt=True), "add_generation_prompt"),
        (body(USER), "assistant"),
        (body(), "assistant"),
    ],
)
def test_only_an_answer_can_go_on(
    demo_tokenizer: DemoTokenizer, demo_folder: Path, refused: ChatBody, words: str
) -> None:
    with pytest.raises(Refused, match=words):
        continued_ids(refused, demo_tokenizer, ModelConfig.read(demo_folder))
