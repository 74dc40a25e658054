"""Text to token ids and back, and the chat template, from the files of a checkpoint. No transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from engine.errors import InputError, UserError

# Off by decision: with thinking a read gets worse. The block stands in the prompt, never on the canvas.
EMPTY_THOUGHT = "<|channel>thought\n<channel|>"
END_OF_TURN = "<turn|>"
_REPLACEMENT = "\ufffd"


class DemoTokenizer:
    """The tokenizer of a checkpoint folder.

    Attributes:
        bos_ids: the beginning-of-text token, or nothing.
        thought_ids: the empty thought block, appended to every prompt after the generation prompt.
        end_of_turn: id of the token that ends a turn.
        pad: id of the padding token.
        longest: characters of the longest token; so many stand behind one id at most.
        special_ids: ids that a reader never sees as text.
    """

    def __init__(self, folder: Path) -> None:
        """Reads tokenizer.json, tokenizer_config.json and chat_template.jinja.

        Raises:
            UserError: a file is missing or broken; the message names it.
        """
        self._tokenizer = _load(folder / "tokenizer.json")
        settings = json.loads(_text(folder / "tokenizer_config.json"))
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _raise_template_error
        self._template = environment.from_string(_text(folder / "chat_template.jinja"))
        self._names = {name: settings[name] for name in ("bos_token", "eos_token") if name in settings}
        self.bos_ids = tuple(self.encode(self._names.get("bos_token", "")))
        self.thought_ids = tuple(self.encode(EMPTY_THOUGHT))
        self.end_of_turn = self._id_of(END_OF_TURN, folder)
        self.pad = self._id_of(settings.get("pad_token", "<pad>"), folder)
        self.longest = max(map(len, self._tokenizer.get_vocab()))
        self.special_ids = frozenset(
            index for index, token in self._tokenizer.get_added_tokens_decoder().items() if token.special
        )

    def _id_of(self, token: str, folder: Path) -> int:
        found: int | None = self._tokenizer.token_to_id(token)
        if found is None:
            raise UserError(
                "embedded.token_missing",
                "{folder}: the tokenizer has no token {token}; this is no DiffusionGemma",
                folder=folder,
                token=token,
            )
        return found

    def encode(self, text: str) -> list[int]:
        """Token ids of ``text``; special tokens are recognised where they are written, none is added."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: Sequence[int], *, skip_special: bool = True) -> str:
        """The text of ``ids``, without special tokens unless they are asked for."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=skip_special)
        return text

    def token_string(self, index: int) -> str:
        """The vocabulary's own spelling of one token (``▁yes``); empty for an id without a token."""
        return self._tokenizer.id_to_token(index) or ""

    def prompt_ids(
        self, messages: Sequence[Mapping[str, Any]], *, add_generation_prompt: bool = True, **extra: Any
    ) -> list[int]:
        """The conversation as the chat template writes it, without the thought block.

        Raises:
            InputError: the template refuses the conversation.
        """
        try:
            text = self._template.render(
                messages=messages, add_generation_prompt=add_generation_prompt, **self._names, **extra
            )
        except jinja2.TemplateError as error:
            raise InputError(
                "embedded.template", "messages: the chat template refuses them: {reason}", reason=str(error)
            ) from error
        return self.encode(text)


def settled(text: str, *, final: bool) -> str:
    """``text`` without a character whose last bytes are still to come (a canvas may end inside one)."""
    return text if final else text.rstrip(_REPLACEMENT)


def _load(path: Path) -> Tokenizer:
    text = _text(path)
    try:
        return Tokenizer.from_str(text)
    except Exception as error:
        raise UserError(
            "embedded.tokenizer_broken", "{path} is not a tokenizer file: {reason}", path=path, reason=str(error)
        ) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(
            "embedded.file_missing",
            "{path} cannot be read: {reason}",
            remedy="reinstall the program or name a folder that holds a complete demo model",
            path=path,
            reason=error.strerror or str(error),
        ) from error


def _raise_template_error(message: str) -> None:
    raise jinja2.TemplateError(message)
