"""The runs that wait for each other: in what order, which one is under way, which one failed and why."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QWidget

from app.models.run_queue import QueueLine, QueueLook
from app.widgets.decisions.parts import button, counted, hbox, icon_button, label, named, vbox

RUN_ROLE = int(Qt.ItemDataRole.UserRole)
SHOWN = 5  # lines without scrolling
SIGNS = {"running": "▶", "failed": "✕"}


class QueueView(QWidget):
    """Hidden while nothing waits.

    Signals:
        opened(str): the run whose line was chosen.
        arranged(object): the ids of those that wait, in the order that they shall have.
        moved(str, int): a run shall go so many places down (or up, below 0).
        remove_requested(str), retry_requested(str): a run shall leave the queue, or wait once more.
        start_requested(), stop_requested(): what waits shall begin, or not.
    """

    opened = Signal(str)
    arranged = Signal(object)
    moved = Signal(str, int)
    remove_requested = Signal(str)
    retry_requested = Signal(str)
    start_requested = Signal()
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue_view")
        self._look = QueueLook()
        self.list = named(QListWidget(), "queue", self.tr("Runs that wait"))
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.model().rowsMoved.connect(self._on_dropped)
        self.list.currentItemChanged.connect(lambda _now, _old: self._show_buttons())
        self.list.itemActivated.connect(lambda item: self.opened.emit(item.data(RUN_ROLE)))
        self.list.itemClicked.connect(lambda item: self.opened.emit(item.data(RUN_ROLE)))
        self._note = named(label("", "muted", wrap=True), "queue_note")
        self.up = icon_button("up", "queue_up", self.tr("Earlier (Alt+Up)"), lambda: self._move(-1))
        self.down = icon_button("down", "queue_down", self.tr("Later (Alt+Down)"), lambda: self._move(1))
        self.retry = icon_button("refresh", "queue_retry", self.tr("Let it wait once more"), self._retry)
        self.remove = icon_button("close", "queue_remove", self.tr("Take out of the queue (Del)"), self._remove)
        self.start = button(self.tr("Start the queue"), "queue_start", self.start_requested.emit, role="primary")
        tip = self.tr("The run under way goes back to its place, with its answers")
        self.stop = button(self.tr("Stop the queue"), "queue_stop", self.stop_requested.emit, tip=tip)
        for keys, act in (
            ("Alt+Up", lambda: self._move(-1)),
            ("Alt+Down", lambda: self._move(1)),
            ("Del", self._remove),
        ):
            self._shortcut(keys, act)
        buttons = hbox(self.up, self.down, self.retry, self.remove, 1)
        steer = hbox(self.start, self.stop, 1)
        self.setLayout(vbox(label(self.tr("Queue"), "heading"), self.list, buttons, self._note, steer, spacing=8))
        self.show_queue(QueueLook())

    def show_queue(self, look: QueueLook) -> None:
        """Show these lines; the one that is chosen stays chosen."""
        chosen = self.current()
        self._look = look
        self.list.blockSignals(True)
        self.list.clear()
        for line in look.lines:
            self.list.addItem(self._item(line))
            if line.run == chosen:
                self.list.setCurrentRow(self.list.count() - 1)
        for name in look.adding:
            item = QListWidgetItem(self.tr("… {name}: its rows are copied").format(name=name))
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        self.list.blockSignals(False)
        self._fit()
        self.setVisible(self.list.count() > 0)
        self._show_buttons()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "stop"):
            self._fit()

    def _fit(self) -> None:
        """As high as its lines, up to some."""
        line_height = max(self.list.sizeHintForRow(0), self.fontMetrics().height() + 12)
        frame = 2 * self.list.frameWidth() + 8
        self.list.setFixedHeight(min(SHOWN, max(1, self.list.count())) * line_height + frame)

    def current(self) -> str:
        """The id of the chosen run; empty for none."""
        item = self.list.currentItem()
        return str(item.data(RUN_ROLE) or "") if item is not None else ""

    def choose(self, run: str) -> None:
        """Choose a run's line, if it has one."""
        for place in range(self.list.count()):
            if self.list.item(place).data(RUN_ROLE) == run:
                self.list.setCurrentRow(place)

    def _item(self, line: QueueLine) -> QListWidgetItem:
        place = self._look.waiting.index(line.run) + 1 if line.state == "waiting" else 0
        words = {
            "running": self.tr("{name} is under way"),
            "waiting": self.tr("{name} waits, number {place}"),
            "failed": self.tr("{name} failed: {note}"),
        }[line.state].format(name=line.name, place=place, note=line.note)
        item = QListWidgetItem(f"{SIGNS.get(line.state, f'{place}.')} {line.name}")
        item.setData(RUN_ROLE, line.run)
        item.setData(int(Qt.ItemDataRole.AccessibleTextRole), words)
        item.setToolTip(f"{words}\n{line.run}")
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        item.setFlags(flags | Qt.ItemFlag.ItemIsDragEnabled if line.state == "waiting" else flags)
        return item

    def _show_buttons(self) -> None:
        line, waiting = self._look.line(self.current()), self._look.waiting
        waits = line is not None and line.state == "waiting"
        self.up.setEnabled(waits and line is not None and line.run != waiting[0])
        self.down.setEnabled(waits and line is not None and line.run != waiting[-1])
        self.remove.setEnabled(line is not None and line.state != "running")
        self.retry.setEnabled(line is not None and line.state == "failed")
        going = self._look.going or self._look.elsewhere
        self.start.setVisible(bool(waiting) and not going)
        self.stop.setVisible(bool(waiting or self._running()) and self._look.going)
        self._note.setText(self._sentence(line))
        self._note.setVisible(bool(self._note.text()))

    def _sentence(self, line: QueueLine | None) -> str:
        if line is not None and line.state == "failed":
            return line.note
        if self._look.elsewhere:
            return self.tr("Another process works on the queue.")
        waiting = len(self._look.waiting)
        if not waiting:
            return ""
        if self._look.going:
            return counted(waiting, self.tr("{n} run begins by itself."), self.tr("{n} runs begin by themselves."))
        return counted(waiting, self.tr("{n} run waits to be started."), self.tr("{n} runs wait to be started."))

    def _running(self) -> bool:
        return any(line.state == "running" for line in self._look.lines)

    def _on_dropped(self) -> None:
        order = [self.list.item(place).data(RUN_ROLE) for place in range(self.list.count())]
        self.arranged.emit([run for run in order if run in self._look.waiting])

    def _move(self, by: int) -> None:
        if (self.up if by < 0 else self.down).isEnabled():
            self.moved.emit(self.current(), by)

    def _remove(self) -> None:
        if self.remove.isEnabled():
            self.remove_requested.emit(self.current())

    def _retry(self) -> None:
        self.retry_requested.emit(self.current())

    def _shortcut(self, keys: str, act: Callable[[], None]) -> None:
        action = QAction(self.list)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _checked=False: act())
        self.list.addAction(action)
