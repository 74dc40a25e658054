"""The two looks of the window: colour tokens, Qt palettes and the style sheet made from them.

Bare Linux platforms ignore ``QStyleHints.setColorScheme`` (QTBUG-129917), so both palettes are ours. A widget that
paints by hand asks ``tokens_of(self.palette())``; nobody keeps a current theme in a global. Every text colour reaches a
contrast of 4.5 on every surface that it is used on (WCAG 2.2, 1.4.3; checked by a test).

Style sheet vocabulary (dynamic properties, set with ``set_role`` before the widget is shown):
    QLabel       role = title | heading | strong | muted | caption | danger | success | mono
    QPushButton  role = primary | danger | quiet
    QFrame       role = card | sunken | rail | bar | divider
"""

from __future__ import annotations

import string
from dataclasses import asdict, dataclass
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from engine.paths import resources_dir

ThemeChoice = Literal["system", "light", "dark"]

SCALE_MIN, SCALE_MAX = 0.8, 2.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours by purpose, as ``#rrggbb``. ``*_soft`` are backgrounds that ``text`` and the strong colour stand on."""

    name: Literal["light", "dark"]
    window: str
    rail: str
    surface: str
    sunken: str
    border: str
    border_strong: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    danger: str
    danger_soft: str
    warning: str
    warning_soft: str
    success: str
    success_soft: str
    code: str


LIGHT = Tokens(
    name="light",
    window="#f7f7f5",
    rail="#efeeea",
    surface="#ffffff",
    sunken="#f1f1ee",
    border="#dfded9",
    border_strong="#b9b7af",
    text="#1e2126",
    muted="#5c6068",
    accent="#2b5fb3",
    accent_hover="#234e94",
    on_accent="#ffffff",
    accent_soft="#e4ecf8",
    danger="#ad2f2f",
    danger_soft="#fbe9e7",
    warning="#855400",
    warning_soft="#fbf0d9",
    success="#1f6e43",
    success_soft="#e2f2e8",
    code="#f4f4f1",
)

DARK = Tokens(
    name="dark",
    window="#17191d",
    rail="#121417",
    surface="#1f2228",
    sunken="#1a1c21",
    border="#31353d",
    border_strong="#545a66",
    text="#e7e8ea",
    muted="#a2a7b0",
    accent="#86aef0",
    accent_hover="#a5c3f5",
    on_accent="#10203a",
    accent_soft="#24344f",
    danger="#f19a93",
    danger_soft="#43262a",
    warning="#e8bd6a",
    warning_soft="#3b3020",
    success="#85cfa4",
    success_soft="#1f3a2c",
    code="#16181c",
)


def tokens_of(palette: QPalette) -> Tokens:
    """The tokens that belong to a palette, told by the lightness of its window colour.

    A style sheet overlays a widget's palette: a transparent background makes the window colour transparent black. Then
    the application's palette tells.
    """
    color = palette.color(QPalette.ColorRole.Window)
    if color.alpha() < 255:
        color = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if color.lightness() < 128 else LIGHT


def current_tokens() -> Tokens:
    """The tokens of the application's look; right for every widget, whatever the style sheet did to its palette."""
    return tokens_of(QGuiApplication.palette())


def resolve(choice: ThemeChoice) -> Tokens:
    """The tokens of a choice; ``system`` follows the desktop's colour scheme, light where it names none."""
    if choice == "system":
        scheme = QGuiApplication.styleHints().colorScheme()
        return DARK if scheme == Qt.ColorScheme.Dark else LIGHT
    return DARK if choice == "dark" else LIGHT


def apply_theme(app: QApplication, choice: ThemeChoice, scale: float = 1.0) -> Tokens:
    """Sets palette, font and style sheet of the whole application.

    Args:
        scale: factor on the platform's font size, clamped to 0.8 to 2.
    """
    tokens = resolve(choice)
    app.setPalette(palette_of(tokens))
    size = _base_point_size(app) * min(max(scale, SCALE_MIN), SCALE_MAX)
    font = QFont(app.font())
    font.setPointSizeF(size)
    app.setFont(font)
    app.setStyleSheet(style_sheet(tokens, size))
    return tokens


def style_sheet(tokens: Tokens, point_size: float) -> str:
    """``resources/css/app.qss`` with the tokens, the font sizes in points and the icons' folder filled in."""
    template = string.Template((resources_dir() / "css" / "app.qss").read_text(encoding="utf-8"))
    sizes = {
        "size_title": f"{point_size * 1.6:.1f}pt",
        "size_heading": f"{point_size * 1.2:.1f}pt",
        "size_body": f"{point_size:.1f}pt",
        "size_caption": f"{point_size * 0.88:.1f}pt",
    }
    icons = (resources_dir() / "icons").as_posix()
    mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    return template.substitute(asdict(tokens), icons=icons, mono=mono, **sizes)


def icon_source(name: str) -> str:
    """The SVG text of ``resources/icons/<name>.svg``."""
    return (resources_dir() / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def palette_of(tokens: Tokens) -> QPalette:
    """A complete palette for the Fusion style."""
    role = QPalette.ColorRole
    palette = QPalette()
    pairs = {
        role.Window: tokens.window,
        role.WindowText: tokens.text,
        role.Base: tokens.surface,
        role.AlternateBase: tokens.sunken,
        role.Text: tokens.text,
        role.PlaceholderText: tokens.muted,
        role.Button: tokens.surface,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.danger,
        role.Highlight: tokens.accent,
        role.HighlightedText: tokens.on_accent,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        role.ToolTipBase: tokens.surface,
        role.ToolTipText: tokens.text,
        role.Light: tokens.surface,
        role.Midlight: tokens.sunken,
        role.Mid: tokens.border,
        role.Dark: tokens.border_strong,
        role.Shadow: "#000000",
        role.Accent: tokens.accent,
    }
    for key, value in pairs.items():
        palette.setColor(key, QColor(value))
    for key in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, key, QColor(tokens.muted))
    return palette


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two ``#rrggbb`` colours, 1 to 21 (WCAG 2.2, relative luminance)."""
    high, low = sorted((_luminance(QColor(first)), _luminance(QColor(second))), reverse=True)
    return (high + 0.05) / (low + 0.05)


def set_role(widget: QWidget, role: str) -> None:
    """Gives a widget its part in the style sheet and repolishes it when it has been shown already."""
    if widget.property("role") == role:
        return
    widget.setProperty("role", role)
    if not widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        return  # it is polished when it is shown for the first time
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def _luminance(color: QColor) -> float:
    def linear(channel: float) -> float:
        return float(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def _base_point_size(app: QApplication) -> float:
    """The platform's own font size, remembered on the application before the first scaling."""
    kept = app.property("desk_base_point_size")
    if isinstance(kept, float):
        return kept
    size = app.font().pointSizeF()
    size = size if size > 0 else 10.0
    app.setProperty("desk_base_point_size", size)
    return size
