"""The analysis of a run in the window: the numbers of ``analyse``, figures as files, and what is shown without gold."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from decisions_driver import Place, leaving
from decisions_runs_maker import BAD_SITE, ROWS, make_run
from desk_driver import expect, within
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFrame, QLabel, QWidget

from app.pages.decisions import RUNS
from app.pages.decisions_runs import ANALYSIS
from engine.batch.analysis.tables import as_json
from engine.supervise import processes


async def opened(place: Place, **kinds: bool) -> str:
    """A made run, analysed and on the screen."""
    run_id = make_run(**kinds)
    place.page.tabs.setCurrentIndex(RUNS)
    await place.page.results.load(run_id)
    await ready(place, lambda: place.page.runs_part.tabs.setCurrentIndex(ANALYSIS))
    return run_id


async def ready(place: Place, act: Callable[[], object]) -> None:
    found = expect(place.page.runs_part.analyses.ready.connect)
    act()
    await within(found)


async def saved(place: Place, act: Callable[[], object]) -> None:
    done = expect(place.page.runs_part.analyses.saved.connect)
    act()
    await within(done)


def told(run_id: str, *options: str) -> list[dict[str, Any]]:
    """What the command line says about a run."""
    command = [sys.executable, "-m", "engine.cli", "analyse", run_id, "--json", *options]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=processes.child_environment({}))
    found: list[dict[str, Any]] = json.loads(said.stdout)
    return found


def facts(place: Place) -> str:
    return "\n".join(
        label.accessibleName()
        for label in place.find(QWidget, "analysis").findChildren(QLabel)
        if label.accessibleName()
    )


@leaving
async def test_the_window_shows_the_numbers_of_the_command_line(place: Place) -> None:
    run_id = await opened(place)
    by_command = told(run_id)
    part = place.page.runs_part
    assert [json.loads(json.dumps(as_json(each))) for each in part.analyses.analyses] == by_command
    urgent = by_command[0]
    low, high = urgent["auc_interval"]
    assert f"AUC: {urgent['auc']:.3f} ({low:.3f} – {high:.3f})" in facts(place)
    assert f"Brier score: {urgent['brier']:.3f}" in facts(place)
    assert f"Calibration error (ECE): {urgent['ece']:.3f}" in facts(place)
    assert place.find(QLabel, "analysis_pick").text() == urgent["threshold"]["sentence"]
    assert BAD_SITE in place.find(QLabel, "analysis_words").text()
    assert set(part.analysis.views) == {
        "roc", "precision_recall", "reliability", "thresholds", "histogram", "coverage",
    }  # fmt: skip
    place.find(QComboBox, "analysis_question").setCurrentText("team")
    assert f"Accuracy: {by_command[1]['accuracy']:.3f}" in facts(place)
    assert set(part.analysis.views) == {"confusion", "histogram", "coverage"}


@leaving
async def test_a_threshold_is_chosen_for_what_is_demanded_and_tried(place: Place) -> None:
    run_id = await opened(place)
    await ready(place, lambda: place.find(QComboBox, "analysis_goal").setCurrentIndex(2))
    by_command = told(run_id, "--goal", "precision", "--least", "0.9")
    assert place.find(QLabel, "analysis_pick").text() == by_command[0]["threshold"]["sentence"]
    least = place.find(QDoubleSpinBox, "analysis_least")
    assert not least.isHidden()
    await ready(place, lambda: least.setValue(0.8))
    by_command = told(run_id, "--goal", "precision", "--least", "0.8")
    assert place.find(QLabel, "analysis_pick").text() == by_command[0]["threshold"]["sentence"]
    at = place.find(QDoubleSpinBox, "analysis_at")
    assert abs(at.value() - by_command[0]["threshold"]["threshold"]) <= 0.001
    at.setValue(0.0)
    assert "recall 1.000" in place.find(QLabel, "analysis_tried").text()
    at.setValue(1.0)
    assert "No row" in place.find(QLabel, "analysis_tried").text()


@leaving
async def test_every_figure_becomes_a_picture_a_drawing_and_a_table(place: Place, tmp_path: Path) -> None:
    await opened(place)
    part = place.page.runs_part.analysis
    for question in ("urgent", "team"):
        place.find(QComboBox, "analysis_question").setCurrentText(question)
        for name in part.views:
            base = tmp_path / f"{question}-{name}"
            part.save(name, base.with_suffix(".png"))
            image = QImage(str(base.with_suffix(".png")))
            assert len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 7)}) > 2
            part.save(name, base.with_suffix(".svg"))
            assert QSvgRenderer(str(base.with_suffix(".svg"))).isValid()
            await saved(place, lambda name=name, base=base: part.save(name, base.with_suffix(".csv")))
            with base.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
                assert len(list(csv.reader(file))) > 1
    folder = tmp_path / "all"
    await saved(place, lambda: place.page.runs_part.analyses.save_all(folder))
    assert (folder / "1-urgent-roc.csv").read_text() == (tmp_path / "urgent-roc.csv").read_text()


@leaving
async def test_a_file_that_cannot_be_written_is_told(place: Place, tmp_path: Path) -> None:
    await opened(place)
    failed = expect(place.page.runs_part.analyses.failed.connect)
    part = place.page.runs_part.analysis
    part.save("roc", tmp_path / "none" / "roc.csv")
    await within(failed)
    part.save("roc", tmp_path / "none" / "roc.png")
    assert "none" in place.notices[-1].text
    assert "roc" in part.views


@leaving
async def test_figures_of_another_run_do_not_stay_when_a_run_cannot_be_measured(place: Place) -> None:
    await opened(place)
    part = place.page.runs_part.analysis
    assert part.views
    failed = expect(place.page.runs_part.analyses.failed.connect)
    place.page.runs_part.analyses.begin("20260101-000000-gone")
    await within(failed)
    assert part.views == {}
    assert "cannot be measured" in place.find(QLabel, "analysis_words").text()


@leaving
async def test_without_gold_it_says_what_can_be_shown(place: Place) -> None:
    await opened(place, gold=False)
    assert "No gold column" in place.find(QLabel, "analysis_words").text()
    assert set(place.page.runs_part.analysis.views) == {"histogram"}
    assert place.find(QFrame, "analysis_picker").isHidden()
    group = place.find(QFrame, "analysis_groups")
    assert [label.text() for label in group.findChildren(QLabel) if BAD_SITE in label.text()] == [f"▲ {BAD_SITE}"]
    assert ROWS // 4 == 60  # every group has as many answers


def test_plots_and_numbers_are_not_loaded_with_the_page() -> None:
    code = "import sys, app.pages.decisions; print({'pyqtgraph', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
