"""Token ids to text, one piece per id, for the canvas view."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SPACE = "\u2581"  # Gemma's tokenizer writes a space as this sign
_UNKNOWN = "\ufffd"


class Vocabulary:
    """Decodes canvases: ``pieces`` keeps one string per slot, so that slots line up with frames."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tokens: dict[int, str | int] = {}

    @classmethod
    def from_file(cls, tokenizer_json: Path) -> Vocabulary:
        """Reads a Hugging Face ``tokenizer.json``.

        Raises:
            InputError: the file is missing or no tokenizer.
        """
        # Imported late: the window must paint before it loads a vocabulary.
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(tokenizer_json))
        except Exception as exc:  # the library raises bare Exception for a missing or broken file
            raise InputError(
                "vocabulary.unreadable", "{path}: no tokenizer: {reason}", path=tokenizer_json, reason=exc
            ) from exc
        return cls(tokenizer)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each token, in order and of the same length.

        A character that is spread over several byte tokens stands in the first of them, the others are empty.
        """
        tokens = [self._token(token_id) for token_id in ids]
        pieces: list[str] = []
        for is_byte, run in groupby(tokens, key=lambda token: isinstance(token, int)):
            group = list(run)
            if is_byte:
                pieces += _byte_pieces(bytes(byte for byte in group if isinstance(byte, int)))
            else:
                pieces += [token for token in group if isinstance(token, str)]
        return pieces

    def _token(self, token_id: int) -> str | int:
        """The text of a token, or the byte (0 to 255) that a byte-fallback token stands for."""
        known = self._tokens.get(token_id)
        if known is None:
            known = self._tokens[token_id] = _meaning(self._tokenizer.id_to_token(token_id))
        return known


def _meaning(token: str | None) -> str | int:
    if token is None:
        return _UNKNOWN
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        return int(token[3:5], 16)
    return token.replace(_SPACE, " ")


def _byte_pieces(data: bytes) -> list[str]:
    """One string per byte; each decoded character stands at its first byte."""
    pieces = [""] * len(data)
    start = 0
    while start < len(data):
        width = next((w for w in (1, 2, 3, 4) if _decodes(data[start : start + w], w)), 0)
        pieces[start] = data[start : start + width].decode() if width else _UNKNOWN
        start += max(width, 1)
    return pieces


def _decodes(data: bytes, width: int) -> bool:
    if len(data) != width:
        return False
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False
