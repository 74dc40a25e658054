"""Where the window comes up: kept sizes and places, small screens, screens that are gone, scale factors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtWidgets import QSplitter, QWidget
from pytestqt.qtbot import QtBot

from app.windows.geometry import placed
from app.windows.main_window import MainWindow

MINIMUM = QSize(820, 560)
FULL_HD = QRect(0, 0, 1920, 1080)
RIGHT = QRect(1920, 0, 2560, 1440)
SMALL = QRect(0, 0, 1024, 640)


@pytest.mark.parametrize(
    ("kept", "screens", "expected"),
    [
        (QRect(100, 80, 1180, 780), [FULL_HD], QRect(100, 80, 1180, 780)),
        (QRect(2000, 80, 1180, 780), [FULL_HD, RIGHT], QRect(2000, 80, 1180, 780)),
        (QRect(2000, 80, 1180, 780), [FULL_HD], QRect(369, 149, 1180, 780)),  # its screen is gone: in the middle
        (QRect(100, 1075, 1180, 780), [FULL_HD], QRect(369, 149, 1180, 780)),  # only its edge would be seen
        (QRect(1850, 80, 1180, 780), [FULL_HD], QRect(369, 149, 1180, 780)),  # too little to grip
        (QRect(QPoint(), QSize(1180, 780)), [FULL_HD], QRect(369, 149, 1180, 780)),  # the first start
        (QRect(QPoint(), QSize(1180, 780)), [SMALL], QRect(0, 0, 1024, 640)),
        (QRect(10, 40, 2400, 1400), [FULL_HD], QRect(10, 40, 1920, 1080)),  # kept on a larger screen
        (QRect(QPoint(), QSize(1180, 780)), [QRect(0, 0, 640, 480)], QRect(0, 0, 1180, 780)),  # nothing would fit
        (QRect(QPoint(), QSize(1180, 780)), [], QRect(0, 0, 1180, 780)),
    ],
)
def test_the_place_of_the_window(kept: QRect, screens: list[QRect], expected: QRect) -> None:
    assert placed(kept, screens, MINIMUM) == expected


def window(home: Path) -> MainWindow:
    return MainWindow(QSettings(str(home / "window.ini"), QSettings.Format.IniFormat))


def page_with_splitter() -> tuple[QWidget, QSplitter]:
    page = QWidget()
    splitter = QSplitter(Qt.Orientation.Horizontal, page)
    splitter.setObjectName("a.splitter")
    for _ in range(2):
        splitter.addWidget(QWidget())
    splitter.resize(600, 100)
    return page, splitter


def test_the_window_comes_up_as_it_was_left(qtbot: QtBot, desk_home: Path) -> None:
    first = window(desk_home)
    qtbot.addWidget(first)
    page, splitter = page_with_splitter()
    first.set_page("engine", page)
    first.show()
    first.setGeometry(50, 60, 1000, 700)
    first.show_page("engine")
    splitter.setSizes([150, 450])
    kept = splitter.sizes()
    first.showMaximized()
    first.finish()
    second = window(desk_home)
    qtbot.addWidget(second)
    second.show()
    assert second.isMaximized()
    assert second.normalGeometry() == QRect(50, 60, 1000, 700)  # what it goes back to
    assert second.current_page == "engine"
    page, splitter = page_with_splitter()
    second.set_page("engine", page)
    assert splitter.sizes()[0] == pytest.approx(kept[0], abs=2)


@pytest.mark.parametrize("kept", [["x", "y"], ["1", "2", "3"], "7", ["0", "0"], ["-5", "10"]])
def test_spoiled_splitters_do_no_harm(qtbot: QtBot, desk_home: Path, kept: object) -> None:
    QSettings(str(desk_home / "window.ini"), QSettings.Format.IniFormat).setValue("splitters/a.splitter", kept)
    made = window(desk_home)
    qtbot.addWidget(made)
    page, splitter = page_with_splitter()
    before = splitter.sizes()
    made.set_page("engine", page)
    assert splitter.sizes() == before


PROBE = """
import json, sys
from PySide6.QtCore import QSettings
from app.bootstrap import _application
from app.windows.main_window import MainWindow
from app.pages.chat import ChatPage
app = _application(["x"])
window = MainWindow(QSettings(sys.argv[1], QSettings.Format.IniFormat))
window.set_page("chat", ChatPage())
window.show()
app.processEvents()
image = window.grab().toImage()
screen = window.screen().availableGeometry()
ratio = image.devicePixelRatio()
print(json.dumps({
    "app_id": app.desktopFileName(),
    "ratio": ratio,
    "pixels": [image.width(), image.height()],
    "window": [window.width(), window.height()],
    "inside": screen.contains(window.geometry()),
    "icon": window.windowIcon().pixmap(64, 64).devicePixelRatio() >= 1,
}))
"""


def probe(root: Path, home: Path, width: int, height: int, factor: str) -> dict[str, object]:
    """A window on one screen of that many device pixels, in a process of its own."""
    screen = {"name": "one", "x": 0, "y": 0, "width": width, "height": height, "logicalDpi": 96, "logicalBaseDpi": 96}
    config = home / "screens.json"
    config.write_text(json.dumps({"screens": [{**screen, "dpr": 1}]}))
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(home / "w.ini")],
        cwd=root,
        env={**os.environ, "QT_QPA_PLATFORM": f"offscreen:configfile={config}", "QT_SCALE_FACTOR": factor},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("factor", ["1.25", "1.5", "2"])
def test_fractional_scale_factors(root: Path, desk_home: Path, factor: str) -> None:
    """Every device pixel is painted, and the window lies on its screen."""
    told = probe(root, desk_home, 2560, 1600, factor)
    assert told["app_id"] == "diffusion-desk"
    assert told["ratio"] == float(factor)
    size, pixels = told["window"], told["pixels"]
    assert isinstance(size, list)
    assert isinstance(pixels, list)
    assert pixels == [pytest.approx(edge * float(factor), abs=1) for edge in size]
    assert told["inside"]


def test_a_small_screen_holds_the_window(root: Path, desk_home: Path) -> None:
    told = probe(root, desk_home, 1024, 640, "1")
    assert told["window"] == [1020, 636]  # maximised: the platform's frame is 2 pixels wide
    assert told["inside"]


def test_the_desktop_file_is_the_windows(root: Path) -> None:
    """Wayland and X find the icon by this name."""
    path = root / "packaging" / "linux" / "diffusion-desk.desktop"
    lines = path.read_text().splitlines()
    assert lines[0] == "[Desktop Entry]"
    entries = dict(line.split("=", 1) for line in lines[1:])
    assert entries["Exec"].split()[0] == "diffusion-desk"
    assert entries["StartupWMClass"] == path.stem
    from app.bootstrap import DESKTOP_FILE

    assert path.stem == DESKTOP_FILE
