"""The demo model's tokenizer: Gemma's special tokens and template, a small BPE vocabulary of our own.

Words, single digits, punctuation and newlines are split before BPE, so that no token crosses them. This keeps every
label one token, alone ("yes") and after a number and a colon ("3: yes" is "3", ":", " yes").
"""

from __future__ import annotations

import json
import math
import string
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPECIALS = (
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    "<mask>",
    "<|turn>",
    "<turn|>",
    "<|channel>",
    "<channel|>",
    "<|think|>",
    "<|image|>",
    "<|tool>",
    "<tool|>",
)
PAD, EOS, BOS, END_OF_TURN = 0, 1, 2, 6
EMPTY_THOUGHT = "<|channel>thought\n<channel|>"
LABELS = ("yes", "no", *string.ascii_uppercase, *string.digits)

# A joint prompt with a system message, several turns or content in parts all pass through this template.
CHAT_TEMPLATE = """\
{{ bos_token }}{% for m in messages %}<|turn>{{ 'model' if m.role == 'assistant' else m.role }}
{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'text' %}\
{{ p.text }}{% endif %}{% endfor %}{% endif %}<turn|>
{% endfor %}{% if add_generation_prompt %}<|turn>model
{% endif %}"""


def build(texts: Iterable[str], tokens: int) -> Tokenizer:
    """Learns a vocabulary of at most ``tokens`` tokens from ``texts``."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    split = pre_tokenizers.Split(Regex(r"▁?[A-Za-z]+|▁?\d|▁?[^A-Za-z\d\n▁]|▁|\n"), behavior="isolated")
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    trainer = trainers.BpeTrainer(
        vocab_size=tokens,
        special_tokens=[*SPECIALS, *(f"<0x{byte:02X}>" for byte in range(256))],
        initial_alphabet=[*map(chr, range(33, 127)), "▁", "\n"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(_damped(texts, split), trainer)
    return _bytes_are_text(tokenizer)


def _bytes_are_text(tokenizer: Tokenizer) -> Tokenizer:
    """The same vocabulary with byte tokens as plain tokens, as in Gemma's.

    The trainer takes them as special tokens, which a decoder that skips special tokens would drop: "Grüße" would
    become "Gre".
    """
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] in SPECIALS]
    return Tokenizer.from_str(json.dumps(state))


def _damped(texts: Iterable[str], split: pre_tokenizers.Split) -> Iterator[str]:
    """Each word as often as the root of its count, so that rare words get tokens too; then the protocol's words."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(piece for piece, _ in split.pre_tokenize_str(text.replace(" ", "▁")))
    for word, count in sorted(counts.items()):
        if count > 1:
            yield from [word.replace("▁", " ")] * math.isqrt(count)
    words = " ".join([*LABELS, "thought", "user", "model", "system"])
    for _ in range(20_000):
        yield words
        yield "yes\nno\nthought\nuser\nmodel\nsystem"


def save(tokenizer: Tokenizer, folder: Path) -> None:
    """Writes tokenizer.json, tokenizer_config.json and chat_template.jinja as transformers and vLLM read them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "additional_special_tokens": list(SPECIALS[5:]),
        "clean_up_tokenization_spaces": False,
        "model_max_length": 8192,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")


def render(messages: Iterable[tuple[str, str]]) -> str:
    """A conversation as the template writes it, with the generation prompt and the empty thought block.

    Args:
        messages: (role, content) pairs; the role "assistant" is written as "model".
    """
    turns = "".join(
        f"<|turn>{'model' if role == 'assistant' else role}\n{content}<turn|>\n" for role, content in messages
    )
    return f"<bos>{turns}<|turn>model\n{EMPTY_THOUGHT}"
