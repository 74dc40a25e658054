"""The steps Engine and Checkpoint: long work with its buttons, what is proven, and folders of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.models.setup import Step
from app.widgets.decisions.parts import card, hbox, label, vbox
from app.widgets.icons import ThemedButton
from app.widgets.setup.parts import FolderField, Sentences, StepHead, WorkPanel
from app.widgets.setup.source import SourceCard

FIX_SIGNS = {"proven": ("✓", "success"), "missing": ("✕", "danger"), "not needed": ("○", "muted")}


class EngineView(QWidget):
    """Signals:
    install_wanted(), pause_wanted(), resume_wanted(), cancel_wanted().
    wheels_given(str): install from this folder.
    """

    install_wanted = Signal()
    pause_wanted = Signal()
    resume_wanted = Signal()
    cancel_wanted = Signal()
    wheels_given = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = StepHead("setup.engine")
        self.work = WorkPanel("setup.engine.work")
        self.install = ThemedButton(self.tr("Install"), "setup.engine.install", icon_name="down", role="primary")
        self.pause = ThemedButton(self.tr("Pause"), "setup.engine.pause", icon_name="pause")
        self.resume = ThemedButton(self.tr("Go on"), "setup.engine.resume", icon_name="play", role="primary")
        self.cancel = ThemedButton(self.tr("Stop"), "setup.engine.cancel", icon_name="stop")
        self.install.clicked.connect(lambda: self.install_wanted.emit())
        self.pause.clicked.connect(lambda: self.pause_wanted.emit())
        self.resume.clicked.connect(lambda: self.resume_wanted.emit())
        self.cancel.clicked.connect(lambda: self.cancel_wanted.emit())
        self.wheels = FolderField(
            "setup.engine.wheels",
            self.tr("Folder of wheels"),
            self.tr("a folder of wheels on this computer"),
            self.tr("Install from it"),
        )
        self.wheels.chosen.connect(self.wheels_given)
        words = label(
            self.tr(
                "vLLM and what it needs go into a folder of their own; nothing else of this computer is touched. "
                "A stop or a crash keeps what is there."
            ),
            "muted",
            wrap=True,
        )
        buttons = hbox(self.install, self.resume, self.pause, self.cancel, 1)
        self.note = label("", "muted", wrap=True)
        self._doing = card(vbox(words, self.work, self.note, buttons, spacing=12))
        offline = label(self.tr("Without a network"), "strong")
        self._offline = card(vbox(offline, self.wheels, spacing=8))
        self.fixes = Sentences("setup.engine.fixes")
        self._fixes = card(vbox(label(self.tr("What this plan needs of the engine"), "strong"), self.fixes, spacing=10))
        self.setLayout(vbox(self.head, self._doing, self._fixes, self._offline, 1, spacing=14))

    def show_engine(self, step: Step, fixes: Sequence[tuple[str, str, str]], *, needed: bool) -> None:
        """``fixes``: (status, title, detail) of what the plan depends on; ``needed``: vLLM is part of the plan."""
        head = Step(step.phase, self.tr("Installing the engine") if step.busy else step.text, step.remedy)
        self.head.show_step(head, self.tr("Make a plan first"))
        self.work.show_step(step)
        self.note.setText(step.text if step.busy else "")
        self.note.setVisible(step.busy and bool(step.text))
        self.install.setVisible(needed and not step.busy)
        self.install.setText(self.tr("Install again") if step.done else self.tr("Install"))
        self.pause.setVisible(step.phase == "running")
        self.resume.setVisible(step.phase == "paused")
        self.cancel.setVisible(step.busy)
        self._doing.setVisible(needed)
        self._offline.setVisible(needed and not step.busy and not step.done)
        lines = [(*FIX_SIGNS[status], title, detail) for status, title, detail in fixes]
        self.fixes.show_lines(lines)
        self._fixes.setVisible(needed and bool(lines))


class CheckpointView(QWidget):
    """Signals:
    fetch_wanted(), pause_wanted(), resume_wanted(), cancel_wanted().
    folder_given(str): the files lie there already.
    source_given(str, str): address of a mirror, folder to fill; empty for the usual ones.
    """

    fetch_wanted = Signal()
    pause_wanted = Signal()
    resume_wanted = Signal()
    cancel_wanted = Signal()
    folder_given = Signal(str)
    source_given = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = StepHead("setup.checkpoint")
        self.work = WorkPanel("setup.checkpoint.work")
        self.note = label("", "muted", wrap=True)
        self.fetch = ThemedButton(self.tr("Fetch"), "setup.checkpoint.fetch", icon_name="down", role="primary")
        self.pause = ThemedButton(self.tr("Pause"), "setup.checkpoint.pause", icon_name="pause")
        self.resume = ThemedButton(self.tr("Go on"), "setup.checkpoint.resume", icon_name="play", role="primary")
        self.cancel = ThemedButton(self.tr("Stop"), "setup.checkpoint.cancel", icon_name="stop")
        self.fetch.clicked.connect(lambda: self.fetch_wanted.emit())
        self.pause.clicked.connect(lambda: self.pause_wanted.emit())
        self.resume.clicked.connect(lambda: self.resume_wanted.emit())
        self.cancel.clicked.connect(lambda: self.cancel_wanted.emit())
        buttons = hbox(self.fetch, self.resume, self.pause, self.cancel, 1)
        words = label(
            self.tr("Every file is compared with the hash that the hub names. A stop or a crash keeps what is there."),
            "muted",
            wrap=True,
        )
        self._doing = card(vbox(words, self.work, self.note, buttons, spacing=12))
        self.folder = FolderField(
            "setup.checkpoint.adopt",
            self.tr("Folder of the checkpoint"),
            self.tr("a folder that holds the checkpoint"),
            self.tr("Use these files"),
        )
        self.folder.chosen.connect(self.folder_given)
        there = label(self.tr("It lies on this computer already"), "strong")
        self._adopt = card(vbox(there, self.folder, spacing=8))
        self.source = SourceCard()
        self.source.given.connect(self.source_given)
        self.setLayout(vbox(self.head, self._doing, self._adopt, self.source, 1, spacing=14))

    def show_checkpoint(self, step: Step, title: str, *, needed: bool) -> None:
        """``title``: what is fetched, shown while it runs."""
        head = Step(step.phase, title if step.busy else step.text, step.remedy)
        self.head.show_step(head, self.tr("Make a plan first"))
        self.work.show_step(step)
        self.note.setText(step.text if step.busy else "")
        self.note.setVisible(step.busy and bool(step.text))
        self.fetch.setVisible(needed and not step.busy)
        self.fetch.setText(self.tr("Check again") if step.done else self.tr("Fetch"))
        self.pause.setVisible(step.phase == "running")
        self.resume.setVisible(step.phase == "paused")
        self.cancel.setVisible(step.busy)
        self._doing.setVisible(needed)
        self._adopt.setVisible(needed and not step.busy and not step.done)
        self.source.setVisible(needed and not step.busy)
