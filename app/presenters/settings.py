"""The settings as the window edits them: checked, stored, told to whoever listens."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.notify import NotificationSink
from app.presenters.engine import EngineChoice
from engine import paths
from engine.errors import EngineError
from engine.store.settings import Settings, load_settings, save_settings

MAX_CONCURRENCY = 1024
MAX_DRAWS = 32


class SettingsPresenter(QObject):
    """Signals: changed()."""

    changed = Signal()

    def __init__(self, notifier: NotificationSink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notifier = notifier
        self._api_key: str | None = None  # for this session only: a secret does not belong into a settings file
        self.vllm = EngineChoice()  # what kind "vllm" stands for; the setup gives it
        try:
            self.value = load_settings(paths.settings_file(), notifier.warning)
        except EngineError as error:
            self.value = Settings()
            notifier.report(error, self.tr("The settings could not be read; the defaults are used"))

    def update(self, **changes: Any) -> None:
        """Changes some settings and stores all. A value out of its range is refused when it is stored."""
        self._store(self.value.model_copy(update=changes))

    def reset(self) -> None:
        self._store(Settings())

    def engine_choice(self) -> EngineChoice:
        """The engine that the settings name."""
        if self.value.engine == "url" and self.value.engine_url:
            return EngineChoice("url", self.value.engine_url, self._api_key)
        if self.value.engine == "vllm":
            return self.vllm
        return EngineChoice()

    def set_engine_choice(self, choice: EngineChoice) -> None:
        self._api_key = choice.api_key
        changes: dict[str, Any] = {"engine": choice.kind}
        if choice.kind == "url":
            changes["engine_url"] = choice.url
        self.update(**changes)

    def _store(self, value: Settings) -> None:
        if value == self.value:
            return
        self.value = value
        try:
            save_settings(paths.settings_file(), value)
        except EngineError as error:
            self._notifier.report(error, self.tr("The settings could not be stored"))
        self.changed.emit()
