"""The demo model's tokenizer: Gemma's special tokens and template, a small vocabulary of our own.

Words, numbers, punctuation and newlines are split first, so that no token crosses them. This keeps every label one
token, alone ("yes") and after a number and a colon ("3: yes" is "3", ":", " yes"). Common words are whole tokens, and
so are the numbers that the model is to calculate with; other words are cut into as few pieces as possible, other
numbers into groups of three digits from the right and these into pieces.
"""

from __future__ import annotations

import json
import math
import string
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

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


# A space belongs to the word or the single digit behind it; longer numbers stand without, so that a number is one token
# wherever it stands.
PIECES = r"▁?[A-Za-z]+|▁?\d(?!\d)|\d{1,3}(?=(?:\d{3})*(?!\d))|▁?[^A-Za-z\d\n▁]|▁|\n"
NUMBERS = (*map(str, range(10, 200)), *map(str, range(200, 1000, 10)), "00", "000")
SHARE_OF_PIECES = 0.2  # of the vocabulary that is learned: for pieces of rare words
PIECE_LENGTHS = (2, 3, 4)
COST, CHARACTER_COST, BYTE_COST = 10.0, 14.0, 20.0  # of a token, so that a text is cut into few


def build(texts: Iterable[str], tokens: int, whole: Iterable[str] = ()) -> Tokenizer:
    """A vocabulary of at most ``tokens`` tokens for ``texts``.

    Args:
        whole: words that become whole tokens however rare they are, with a space before them.
    """
    split = pre_tokenizers.Split(Regex(PIECES), behavior="isolated")
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(piece for piece, _ in split.pre_tokenize_str(text.replace(" ", "▁")))
    single = [*map(chr, range(33, 127)), "▁", "\n"]
    fixed = [*LABELS, *(f"▁{label}" for label in LABELS), "thought", "user", "model", "system", *NUMBERS]
    fixed += [f"▁{word}" for word in whole]
    vocabulary = dict.fromkeys(SPECIALS, 0.0) | {f"<0x{byte:02X}>": -BYTE_COST for byte in range(256)}
    vocabulary |= dict.fromkeys(single, -CHARACTER_COST) | dict.fromkeys(fixed, -COST)
    room = tokens - len(vocabulary)
    common = [(piece, count) for piece, count in counts.most_common() if count > 1 and piece not in vocabulary]
    words = int(room * (1 - SHARE_OF_PIECES))
    vocabulary |= {piece: -COST for piece, _ in common[:words]}
    for piece in _parts(common[words:]):
        if len(vocabulary) >= tokens:
            break
        vocabulary.setdefault(piece, -COST)
    tokenizer = Tokenizer(models.Unigram(list(vocabulary.items()), unk_id=SPECIALS.index("<unk>"), byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(list(SPECIALS))
    return tokenizer


def _parts(words: Iterable[tuple[str, int]]) -> list[str]:
    """Parts of rare words, those first that save most characters; a rare word counts by the root of its count."""
    gain: Counter[str] = Counter()
    for word, count in words:
        for length in PIECE_LENGTHS:
            for start in range(len(word) - length + 1):
                gain[word[start : start + length]] += math.isqrt(count) * (length - 1)
    return [part for part, _ in sorted(gain.items(), key=lambda item: (-item[1], item[0]))]


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
