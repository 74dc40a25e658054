"""Texts that spell out a model's control tokens, kept from becoming these tokens.

An engine that renders a conversation tokenizes all of it at once, so that a cell with ``<turn|>`` in it would end the
user's turn there. A space behind the first character is enough: no tokenizer takes ``< turn|>`` for the token, a model
reads it as what it is, and a person sees in the prompt what was done.
"""

from __future__ import annotations

import re

# Gemma's spellings: <|turn>, <turn|>, <|image|>, <|"|>, and the older ones by name. Other tags (<b>, <td>) are text.
_NAMES = "pad|eos|bos|unk|mask|(?:start|end)_of_(?:turn|image|audio)|(?:image|audio)_soft_token|unused[0-9]{1,5}"
_LONGEST = 64  # characters of a spelling
_SPELLED = re.compile(
    rf"<(?=(?:\|[^<>\s]{{1,{_LONGEST}}}|[^<>\s]{{1,{_LONGEST}}}\||{_NAMES})>)|\[(?=multimodal\])", re.IGNORECASE
)


def as_text(text: str) -> str:
    """The text with a space inside everything that spells out a control token; any other text as it is."""
    return _SPELLED.sub(r"\g<0> ", text) if "<" in text or "[" in text else text
