"""The settings file: atomic, versioned, and never a reason not to start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError, UserError
from engine.store.settings import SCHEMA_VERSION, Settings, load_settings, save_settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def names(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir()}


def test_no_file_means_defaults(path: Path) -> None:
    assert load_settings(path) == Settings()
    assert not path.exists()


def test_what_is_saved_is_loaded(path: Path) -> None:
    settings = Settings(theme="dark", font_scale=1.25, engine="url", engine_url="http://[::1]:8000/ü", draws=8)
    save_settings(path, settings)
    assert load_settings(path) == settings
    assert json.loads(path.read_text())["schema_version"] == SCHEMA_VERSION
    assert names(path) == {"settings.json"}


@given(raw=st.binary(max_size=200))
def test_any_bytes_give_settings(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.json"
    path.write_bytes(raw)
    notes: list[str] = []
    assert load_settings(path, notes.append) == Settings()
    assert len(notes) == 1
    assert path.with_name("settings.json.damaged-1").read_bytes() == raw
    save_settings(path, Settings(theme="light"))
    assert load_settings(path, notes.append).theme == "light"


def test_damage_never_replaces_what_was_set_aside_before(path: Path) -> None:
    for text in ("one", "two"):
        path.write_text(text)
        load_settings(path, lambda note: None)
    assert path.with_name("settings.json.damaged-1").read_text() == "one"
    assert path.with_name("settings.json.damaged-2").read_text() == "two"


def test_a_value_out_of_range_is_noted_and_the_others_are_kept(path: Path) -> None:
    path.write_text(json.dumps({"schema_version": 1, "theme": "dark", "concurrency": 100_000, "nonsense": 1}))
    notes: list[str] = []
    for _ in range(2):
        assert load_settings(path, notes.append) == Settings(theme="dark")
    assert "concurrency, nonsense" in notes[0]
    assert names(path) == {"settings.json", "settings.json.damaged-1"}


def test_a_newer_file_is_refused_and_kept_when_settings_are_saved_all_the_same(path: Path) -> None:
    newer = json.dumps({"schema_version": SCHEMA_VERSION + 1, "theme": "sepia"})
    path.write_text(newer)
    with pytest.raises(UserError, match="version 2, and this program knows versions up to 1") as caught:
        load_settings(path)
    assert caught.value.code == "settings.newer"
    assert path.read_text() == newer
    save_settings(path, Settings())
    assert path.with_name("settings.json.newer-1").read_text() == newer
    assert load_settings(path) == Settings()


def test_a_wrong_value_is_not_saved(path: Path) -> None:
    save_settings(path, Settings(theme="dark"))
    with pytest.raises(InputError, match="concurrency") as caught:
        save_settings(path, Settings().model_copy(update={"concurrency": 0}))
    assert "got 0" in str(caught.value)
    assert load_settings(path).theme == "dark"


def test_a_folder_in_the_way_is_reported(path: Path) -> None:
    path.mkdir()
    with pytest.raises(UserError, match="cannot write"):
        save_settings(path, Settings())
    assert names(path) == {"settings.json"}
