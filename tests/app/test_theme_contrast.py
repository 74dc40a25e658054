"""Both looks can be read."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from app.theme import DARK, LIGHT, Tokens, apply_theme, contrast, current_tokens, palette_of, style_sheet, tokens_of

SURFACES = ("window", "rail", "surface", "sunken", "code")
SOFT = ("accent_soft", "danger_soft", "warning_soft", "success_soft")
PAIRS = [
    *((text, surface) for text in ("text", "muted") for surface in (*SURFACES, *SOFT)),
    *((strong, surface) for strong in ("accent", "danger", "success", "warning") for surface in ("window", "surface")),
    ("accent", "sunken"),
    ("accent", "accent_soft"),
    ("danger", "danger_soft"),
    ("warning", "warning_soft"),
    ("success", "success_soft"),
    ("success", "code"),
    ("warning", "code"),
    ("accent", "code"),
    ("on_accent", "accent"),
    ("on_accent", "accent_hover"),
]


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=lambda tokens: tokens.name)
@pytest.mark.parametrize(("text", "surface"), PAIRS)
def test_text_reaches_a_contrast_of_4_5(tokens: Tokens, text: str, surface: str) -> None:
    assert contrast(getattr(tokens, text), getattr(tokens, surface)) >= 4.5


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#ffffff", "#ffffff") == 1.0


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=lambda tokens: tokens.name)
def test_a_palette_leads_back_to_its_tokens(qapp: QApplication, tokens: Tokens) -> None:
    palette = palette_of(tokens)
    assert tokens_of(palette) is tokens
    role = QPalette.ColorRole
    for text, back in ((role.Text, role.Base), (role.HighlightedText, role.Highlight), (role.ButtonText, role.Button)):
        assert contrast(palette.color(text).name(), palette.color(back).name()) >= 4.5


def test_the_style_sheet_has_no_open_ends(qapp: QApplication) -> None:
    for tokens in (LIGHT, DARK):
        assert "$" not in style_sheet(tokens, 10.0)


def test_the_scale_counts_from_the_platforms_size_and_not_from_the_last_scale(qapp: QApplication) -> None:
    apply_theme(qapp, "light", 1.0)
    size = qapp.font().pointSizeF()
    apply_theme(qapp, "dark", 1.5)
    assert qapp.font().pointSizeF() == pytest.approx(1.5 * size)
    assert current_tokens() is DARK
    apply_theme(qapp, "light", 1.0)
    assert qapp.font().pointSizeF() == pytest.approx(size)
