"""The settings page: fields, file, effect."""

from __future__ import annotations

import json

from desk_driver import until_phase
from PySide6.QtWidgets import QApplication

from app.pages.settings import SettingsPage
from app.theme import current_tokens
from app.windows.desk import Desk
from engine import paths
from engine.store.settings import Settings, load_settings


def page_of(desk: Desk) -> SettingsPage:
    page = desk.window.page("settings")
    assert isinstance(page, SettingsPage)
    return page


async def test_a_change_counts_at_once_and_is_stored(desk: Desk) -> None:
    page = page_of(desk)
    page.theme.setCurrentIndex(page.theme.findData("dark"))
    assert current_tokens().name == "dark"
    page.theme.setCurrentIndex(page.theme.findData("light"))
    assert current_tokens().name == "light"
    size = QApplication.font().pointSizeF()
    page.scale.setValue(120)
    assert QApplication.font().pointSizeF() > size
    page.concurrency.setValue(5)
    page.draws.setCurrentIndex(page.draws.findData(4))
    stored = load_settings(paths.settings_file())
    assert (stored.theme, stored.font_scale, stored.concurrency, stored.draws) == ("light", 1.2, 5, 4)


async def test_reset_goes_back_to_the_defaults(desk: Desk) -> None:
    page = page_of(desk)
    page.concurrency.setValue(7)
    page.scale.setValue(150)
    assert desk.settings is not None
    desk.settings.reset()
    assert desk.settings.value == Settings()
    assert page.concurrency.value() == Settings().concurrency
    assert page.scale.value() == 100


async def test_the_engines_address_is_kept_and_its_key_is_not(desk: Desk) -> None:
    from app.presenters.engine import EngineChoice

    assert desk.settings is not None
    desk.settings.set_engine_choice(EngineChoice("url", "http://127.0.0.1:9", "secret"))
    text = paths.settings_file().read_text()
    assert json.loads(text)["engine_url"] == "http://127.0.0.1:9"
    assert "secret" not in text
    assert desk.settings.engine_choice().api_key == "secret"
    page = page_of(desk)
    assert page.url.isEnabled()
    assert page.engine.currentData() == "url"


async def test_a_damaged_file_is_told_and_does_not_stop_the_window(desk: Desk) -> None:
    from app.presenters.settings import SettingsPresenter

    paths.settings_file().write_text("{")
    presenter = SettingsPresenter(desk.notifier)
    assert presenter.value == Settings()
    assert any("damaged" in notice.text for notice in desk.window.notices.notices())
    assert desk.engine is not None
    await until_phase(desk.engine, "ready")
