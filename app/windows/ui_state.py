"""What the window itself remembers (size, page, look), in an ini file that is read before the first paint.

The settings proper are ``engine.store.settings``; theme and font scale are mirrored here only so that the first paint
has the right colours without pydantic's import.
"""

from __future__ import annotations

from PySide6.QtCore import QSettings

from app.theme import ThemeChoice

THEMES: tuple[ThemeChoice, ...] = ("system", "light", "dark")


class UiState:
    """Typed access to the ini file."""

    def __init__(self, file: QSettings) -> None:
        self.file = file

    @property
    def theme(self) -> ThemeChoice:
        value = str(self.file.value("look/theme", "system"))
        return value if value in THEMES else "system"

    @property
    def font_scale(self) -> float:
        try:
            return float(str(self.file.value("look/font_scale", "1.0")))
        except ValueError:
            return 1.0

    def set_look(self, theme: ThemeChoice, font_scale: float) -> None:
        self.file.setValue("look/theme", theme)
        self.file.setValue("look/font_scale", str(font_scale))
