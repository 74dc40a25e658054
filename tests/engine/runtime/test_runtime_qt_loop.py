"""The window makes environments in its own loop."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from runtime_helpers import Heard, StandIn

from engine.runtime.create import create
from engine.runtime.repair import repair


async def test_an_environment_is_made_and_repaired_in_qts_loop(
    stand_in: StandIn, heard: Heard, qapp: QApplication
) -> None:
    made = await create(stand_in.order(), heard)
    (made.site_packages / "torch/__init__.py").unlink()
    assert (await repair(stand_in.order(), heard)).how == "packages"
    assert heard.phases == ["checks", "uv", "python", "fetch", "install", "files", "verify"]
