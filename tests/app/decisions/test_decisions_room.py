"""Large text in a small page: nothing lies on anything else, and names that have no room end in an ellipsis."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from decisions_driver import Place, leaving
from PySide6.QtCore import QCoreApplication, QEvent, QRect, Qt
from PySide6.QtWidgets import QApplication, QStyleOptionHeader, QTabBar, QTableView, QWidget

from app.pages.decisions import TABLE
from app.theme import apply_theme
from app.widgets.decisions.parts import Heads
from app.widgets.decisions.state_editor import ColumnChip
from engine import paths

LARGE = 1.5
SIZES = ((690, 520), (960, 660))  # the page in the smallest window, and in one of the usual size
LONG = "a_column_whose_name_is_longer_than_any_place_that_a_head_could_give_it"


@pytest.fixture
def text_size(request: pytest.FixtureRequest, qapp: QApplication, place: Place) -> Iterator[float]:
    """Of the page's text, as a factor."""
    apply_theme(qapp, "light", request.param)
    yield request.param
    apply_theme(qapp, "light")


def overlapping(root: QWidget) -> list[str]:
    """Widgets of one parent that lie on each other, in whatever layouts they are."""
    found = []
    for parent in [root, *root.findChildren(QWidget)]:
        if parent.layout() is None or not parent.isVisible():
            continue
        seen = [child for child in parent.children() if isinstance(child, QWidget) and child.isVisible()]
        for place, one in enumerate(seen):
            for other in seen[place + 1 :]:
                shared: QRect = one.geometry() & other.geometry()
                if shared.width() > 0 and shared.height() > 0:
                    found.append(f"{one.objectName() or type(one).__name__} on {other.objectName() or type(other)}")
    return found


def has_room(root: QWidget) -> None:
    """Once the layouts have come to rest: each passes a change on to its parent with a posted event."""
    for _ in range(20):
        QCoreApplication.sendPostedEvents(None, int(QEvent.Type.LayoutRequest.value))
    assert overlapping(root) == []


@pytest.mark.parametrize("text_size", [1.0, LARGE], indirect=True)
@pytest.mark.parametrize("size", SIZES, ids=str)
@leaving
async def test_columns_and_templates_do_not_lie_on_each_other(
    place: Place, text_size: float, size: tuple[int, int]
) -> None:
    await place.open_example("tickets")
    page = place.page
    page.setMinimumSize(1, 1)  # the window's is a fixed one too: its pages take what there is
    page.resize(*size)
    page.tabs.setCurrentIndex(TABLE)
    for which in (0, 1):
        place.find(QTabBar, "state_which").setCurrentIndex(which)
        assert page.findChildren(ColumnChip)
        has_room(page)
        assert page.width() == size[0]  # else it was wider than the window that is meant


@leaving
async def test_a_head_without_room_is_elided_and_its_tip_is_whole(place: Place) -> None:
    (path := paths.data_dir() / "long.csv").write_text(f"{LONG},b\nx,y\n", encoding="utf-8")
    await place.page.presenter.table.load(path)
    place.page.tabs.setCurrentIndex(TABLE)
    for name, whole in (("table_preview", LONG), ("results_table", "Label mass")):
        table = place.find(QTableView, name)
        heads = table.horizontalHeader()
        assert isinstance(heads, Heads)
        column = [table.model().headerData(each, Qt.Orientation.Horizontal) for each in range(heads.count())]
        section = column.index(whole)
        heads.resizeSection(section, 60)
        option = QStyleOptionHeader()
        heads.initStyleOptionForIndex(option, section)
        text = option.text
        assert text != whole
        assert text.endswith("…")
        assert heads.fontMetrics().horizontalAdvance(text) <= 60 - heads.PADDING
        tip = table.model().headerData(section, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        assert tip == whole
