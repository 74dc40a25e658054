"""The window's language: a translation in ``resources/i18n``, chosen by the desktop's locale, with Qt's own words.

``desk_<language>.qm`` is made from ``desk_<language>.ts``; docs/desktop.md says how. Without one the window speaks
English, and is laid out from left to right whatever the locale: English words in a mirrored window help nobody.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtGui import QGuiApplication

from engine.paths import resources_dir


def install_language(app: QGuiApplication, locale: QLocale | None = None, folder: Path | None = None) -> bool:
    """Installs the best translation there is for a locale; whether there is one. To be called before the first widget.

    Args:
        locale: the desktop's own when left out (``LANGUAGE``, ``LC_ALL``, ``LC_MESSAGES``, ``LANG``).
        folder: of the translations.
    """
    locale = locale or QLocale()
    own = QTranslator(app)
    where = str(folder or resources_dir() / "i18n")
    if not own.load(locale, "desk", "_", where):
        own.deleteLater()
        app.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        return False
    qts = QTranslator(app)
    if qts.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(qts)
    app.installTranslator(own)
    language = Path(own.filePath()).stem.removeprefix("desk_")  # what the file says itself is lupdate's guess
    app.setLayoutDirection(QLocale(language).textDirection())
    return True
