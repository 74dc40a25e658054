"""A language that nobody speaks: every translated word stands in brackets, has accents and is 40 % longer."""

from __future__ import annotations

import re

from PySide6.QtCore import QTranslator

MARK = "⟦"
ACCENTS = str.maketrans("aeiouyncszAEIOUYNCSZ", "àéîöüýñçšžÀÉÎÖÜÝÑÇŠŽ")
# Placeholders, mark-up, mnemonics and name filters are the program's, not the language's.
KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w?|%n|%\d|\([^)]*\*[^)]*\)|;;)")
LONGER = 0.4


def pseudo(text: str) -> str:
    parts = KEPT.split(text)
    said = "".join(part if place % 2 else part.translate(ACCENTS) for place, part in enumerate(parts))
    # In words, so that a long text can be wrapped like one of a real language.
    extra = round(len(text) * LONGER)
    padding = " ".join("~" * min(6, extra - start) for start in range(0, extra, 7)) if extra > 0 else ""
    return f"{MARK}{said}{' ' if len(text) > 12 else ''}{padding}⟧"


class PseudoTranslator(QTranslator):
    """Translates everything that is asked for, Qt's own words too."""

    def translate(self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1) -> str:
        return pseudo(sourceText)

    def isEmpty(self) -> bool:
        return False
