"""Folders that a checkpoint may be put into, and those that are refused before a byte is fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.checkpoints.manifest import NO_COMMIT, Folder, Manifest
from engine.checkpoints.target import check_target
from engine.errors import InputError


def test_new_empty_and_our_own_folders_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_target(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert not (tmp_path / "a").exists(), "looking makes nothing"
    assert check_target(tmp_path) == tmp_path
    (tmp_path / "model.safetensors").touch()
    Folder(tmp_path).save(Manifest(checkpoint="fp8", repo="a/b", commit=NO_COMMIT, files=()))
    assert check_target(tmp_path) == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    assert check_target(Path("~/models")) == tmp_path / "models"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("models/gemma", "no full path"),
        ("{tmp}/file", "is a file"),
        ("{tmp}/file/below", "is a file"),
        ("{tmp}/other", "holds a model already"),
    ],
)
def test_others_are_refused_with_the_reason_and_a_way(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model-00001-of-00002.safetensors").touch()
    with pytest.raises(InputError, match=why) as caught:
        check_target(Path(name.format(tmp=tmp_path)))
    assert caught.value.remedy


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="you may not write"):
            check_target(tmp_path / "models")
    finally:
        tmp_path.chmod(0o700)
