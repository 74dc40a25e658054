"""The seed's experiment in the window, as ``test_e2e_experiment`` walks it on the command line: the bundled lease.

Every clause pair in four wordings, grouped by wording: read alone, measured, then read jointly with the interference
report. What the window shows is compared with what the command line says about the same runs.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from decisions_driver import Place, leaving
from desk_driver import WAIT_S, expect, within
from PySide6.QtWidgets import QAbstractButton, QComboBox, QFrame, QLabel, QWidget

from app.pages.decisions import RUNS
from app.pages.decisions_runs import ANALYSIS
from engine import paths
from engine.supervise import processes

PAIRS = 4 * len(list(itertools.combinations(range(16), 2)))
WORDINGS = {"plain", "formal", "passive", "terse"}


async def open_lease(place: Place) -> Path:
    """The bundled form and its table, as a user opens them; the folder."""
    folder = paths.resources_dir() / "examples" / "contract"
    page = place.page
    assert page.presenter.open_form(folder / "form.json")
    counted = expect(page.presenter.table.selection_changed.connect, lambda: page.presenter.table.remaining == PAIRS)
    page.presenter.table.open(folder / "table.csv")
    await within(counted)
    page.tabs.setCurrentIndex(RUNS)
    return folder


async def read(place: Place) -> str:
    """Starts the run as it is set up and waits for its end; its id."""
    ended = expect(place.page.runs.ended.connect)
    place.find(QAbstractButton, "run_start").click()
    run_id, how = await asyncio.wait_for(ended, 3 * WAIT_S)
    assert how == "finished"
    await place.until(place.page.results.opened.connect, lambda: place.page.results.run_id == run_id)
    return str(run_id)


async def analysed(place: Place) -> None:
    found = expect(place.page.runs_part.analyses.ready.connect)
    place.page.runs_part.tabs.setCurrentIndex(ANALYSIS)
    await within(found)


def told(*arguments: object) -> Any:
    """What the command line says, from its JSON."""
    command = [sys.executable, "-m", "engine.cli", *map(str, arguments), "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=processes.child_environment({}))
    return json.loads(said.stdout)


def spoken(place: Place, part: str) -> set[str]:
    """The figures that a part of the page shows, as a screen reader says them."""
    found = place.find(QWidget, part).findChildren(QLabel)
    return {label.accessibleName() for label in found if label.accessibleName()}


def check_shown(place: Place, command: dict[str, Any]) -> None:
    """The window shows the figures of the command line for the question that is chosen."""
    low, high = command["auc_interval"]
    shown = spoken(place, "analysis")
    assert {
        f"AUC: {command['auc']:.3f} ({low:.3f} – {high:.3f})",
        f"Recall above 0.3: {command['recall_above']['0.3']:.3f}",
        f"Recall in the top 5%: {command['recall_top']['0.05']:.3f}",
        f"Median rank of a yes: {command['median_rank']:.2%}",
    } <= shown
    assert {group["group"] for group in command["groups"]} == WORDINGS
    for group in command["groups"]:
        name, rank = group["group"], group["median_rank"]
        assert {
            f"{name}, Answers: 120",
            f"{name}, Unreadable: {group['unreadable']}",
            f"{name}, AUC: {group['auc']:.3f}",
            f"{name}, Recall above 0.3: {group['recall_above_0.3']:.3f}",
            f"{name}, In the top 5%: {group['recall_top_0.05']:.3f}",
            f"{name}, Median rank: {rank:.2%}",
        } <= shown


@leaving
async def test_the_experiment_alone_and_jointly(place: Place) -> None:
    await place.start_engine()
    folder = await open_lease(place)
    page = place.page
    assert page.presenter.document.form.group == "wording"
    assert not page.presenter.document.form.method.joint
    alone = await read(place)
    await page.runs.load_runs()
    totals = page.runs.info(alone).totals["contradiction"]
    assert totals.ok + totals.unreadable == PAIRS
    await analysed(place)
    contradiction, same_point = told("analyse", alone)
    place.find(QComboBox, "analysis_question").setCurrentText("contradiction")
    check_shown(place, contradiction)
    words = place.find(QLabel, "analysis_words").text()
    assert "joint" not in words
    place.find(QComboBox, "analysis_question").setCurrentText("same_point")
    assert same_point["measured"] == 0
    assert place.find(QFrame, "analysis_picker").isHidden()

    place.find(QAbstractButton, "run_joint").click()
    priced = expect(page.presenter.price_ready.connect)
    place.find(QAbstractButton, "run_measure_joint").click()
    (price,) = await within(priced)
    report = told("check-interference", folder / "form.json", folder / "table.csv")
    assert price.rows == report["rows"] == 24
    assert price.shift == report["shift"]
    assert (price.flips, price.compared, price.advice) == (report["flips"], report["compared"], report["advice"])
    shown = place.find(QLabel, "run_joint_price").text()
    assert f"mean shift {report['shift']:.2f}" in shown
    assert report["advice"] in shown

    joint = await read(place)
    await analysed(place)
    place.find(QComboBox, "analysis_question").setCurrentText("contradiction")
    contradiction, _ = told("analyse", joint)
    check_shown(place, contradiction)
    assert report["advice"] in place.find(QLabel, "analysis_words").text()  # it was made before the run, and kept
