"""The settings page: look, chat, desktop, engine, decisions, data. Every change counts at once and is stored."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app.presenters.settings import MAX_CONCURRENCY, MAX_DRAWS, SettingsPresenter
from app.theme import SCALE_MAX, SCALE_MIN, set_role
from app.widgets.fields import ChoiceField, NumberField
from app.widgets.icons import ThemedButton
from app.widgets.page_frame import frame_page
from app.widgets.page_header import PageHeader
from app.widgets.transcript import COLUMN_WIDTH
from engine import paths

FIELD_WIDTH = 300  # pixels
LABEL_WIDTH = 150
SCALE_STEP = 5  # percent


class SettingsPage(QWidget):
    """Fields over a presenter's values."""

    def __init__(self, presenter: SettingsPresenter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page.settings")
        self._presenter = presenter
        self._build()
        presenter.changed.connect(self._show)
        self._show()
        self._connect()

    def _build(self) -> None:
        reset = ThemedButton(self.tr("Reset to defaults"), "settings.reset", icon_name="undo")
        reset.clicked.connect(lambda: self._presenter.reset())
        header = PageHeader(self.tr("Settings"), self.tr("Changes count at once."), reset)
        column = QWidget()
        column.setMaximumWidth(COLUMN_WIDTH)
        cards = QVBoxLayout(column)
        cards.setContentsMargins(24, 4, 24, 24)
        cards.setSpacing(14)
        for card in (self._look(), self._chat(), self._desktop(), self._engine(), self._decisions(), self._data()):
            cards.addWidget(card)
        cards.addStretch(1)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(column, 1000)
        row.addStretch(1)
        frame_page(self, header, row, "settings")

    def _look(self) -> QFrame:
        self.theme = ChoiceField(
            (("system", self.tr("As the desktop")), ("light", self.tr("Light")), ("dark", self.tr("Dark")))
        )
        self.scale = NumberField(round(SCALE_MIN * 100), round(SCALE_MAX * 100), " %")
        self.scale.setSingleStep(SCALE_STEP)
        return self._card(
            self.tr("Look"),
            (self.tr("&Theme"), self.theme, "settings.theme", ""),
            (self.tr("Text &size"), self.scale, "settings.scale", ""),
        )

    def _chat(self) -> QFrame:
        self.enter = ChoiceField(
            (
                (True, self.tr("Enter, and Shift+Enter for a new line")),
                (False, self.tr("Ctrl+Enter, and Enter for a new line")),
            )
        )
        self.canvas = QCheckBox(self.tr("Show it while an answer denoises"))
        return self._card(
            self.tr("Chat"),
            (self.tr("Send &with"), self.enter, "settings.enter", ""),
            (self.tr("&Canvas"), self.canvas, "settings.canvas", ""),
        )

    def _desktop(self) -> QFrame:
        self.notifications = QCheckBox(self.tr("When long work has ended"))
        self.tray = QCheckBox(self.tr("An icon with the engine's state"))
        self.on_close = ChoiceField(
            (
                ("ask", self.tr("Ask while something is going")),
                ("tray", self.tr("Go on in the tray while something is going")),
                ("quit", self.tr("Always quit")),
            )
        )
        return self._card(
            self.tr("Desktop"),
            (
                self.tr("&Messages"),
                self.notifications,
                "settings.notifications",
                self.tr("An answer, a run, the engine's start or its end. Never while this window is in front."),
            ),
            (
                self.tr("Tra&y"),
                self.tray,
                "settings.tray",
                self.tr("Where the desktop has a tray; GNOME needs an extension for it."),
            ),
            (
                self.tr("C&losing"),
                self.on_close,
                "settings.on_close",
                self.tr("A run, an answer, a download or a loaded model count as going. Without a tray you are asked."),
            ),
        )

    def _engine(self) -> QFrame:
        self.engine = ChoiceField(
            (
                ("embedded", self.tr("The embedded toy")),
                ("vllm", self.tr("vLLM on this computer, as set up")),
                ("url", self.tr("A server at an address")),
            )
        )
        self.url = QLineEdit()
        self.url.setPlaceholderText("http://127.0.0.1:8000")
        return self._card(
            self.tr("Engine"),
            (self.tr("&Engine at start"), self.engine, "settings.engine", ""),
            (self.tr("&Address"), self.url, "settings.url", self.tr("Counts from the engine's next start on.")),
        )

    def _decisions(self) -> QFrame:
        self.concurrency = NumberField(1, MAX_CONCURRENCY)
        numbers = [(number, self.tr("{n} draws").format(n=number)) for number in range(2, MAX_DRAWS + 1)]
        self.draws = ChoiceField((("auto", self.tr("Automatic: more when unsure")), (1, self.tr("1 draw")), *numbers))
        return self._card(
            self.tr("Decisions"),
            (
                self.tr("&Reads at once"),
                self.concurrency,
                "settings.concurrency",
                self.tr("How many rows of a run are read at the same time."),
            ),
            (
                self.tr("&Draws"),
                self.draws,
                "settings.draws",
                self.tr("Looks at each question. A new form starts with this."),
            ),
        )

    def _data(self) -> QFrame:
        folder = str(paths.data_dir())
        self.folder = QLineEdit(folder)
        self.folder.setReadOnly(True)
        self.folder.setCursorPosition(0)
        card = self._card(
            self.tr("Data"),
            (
                self.tr("&Folder"),
                self.folder,
                "settings.folder",
                self.tr("Runs, settings and logs. DIFFUSION_DESK_HOME in the environment moves it."),
            ),
        )
        button = ThemedButton(self.tr("Open the folder"), "settings.open", icon_name="folder")
        button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder)))
        row = QHBoxLayout()
        row.addWidget(button)
        row.addStretch(1)
        layout = card.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addLayout(row)
        return card

    def _card(self, title: str, *rows: tuple[str, QWidget, str, str]) -> QFrame:
        """``rows``: (label with mnemonic, field, objectName, help)."""
        card = QFrame()
        set_role(card, "card")
        head = QLabel(title)
        set_role(head, "heading")
        form = QGridLayout()
        form.setHorizontalSpacing(24)
        form.setVerticalSpacing(4)
        form.setColumnStretch(1, 1)
        for text, field, name, words in rows:
            field.setObjectName(name)
            field.setAccessibleName(text.replace("&", ""))
            field.setAccessibleDescription(words)
            field.setMinimumWidth(FIELD_WIDTH)
            label = QLabel(text)
            label.setFixedWidth(LABEL_WIDTH)
            label.setWordWrap(True)
            label.setBuddy(field)
            row = form.rowCount()
            form.addWidget(label, row, 0)
            # A choice is as wide as its longest words, a line takes all the room there is.
            wide = isinstance(field, QLineEdit | QCheckBox)
            form.addWidget(field, row, 1, Qt.AlignmentFlag(0) if wide else Qt.AlignmentFlag.AlignLeft)
            if words:
                note = QLabel(words)
                note.setWordWrap(True)
                set_role(note, "caption")
                form.addWidget(note, row + 1, 1)
            form.setRowMinimumHeight(row + 2, 4)
        layout = QVBoxLayout(card)
        layout.setContentsMargins(16, 14, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(head)
        layout.addLayout(form)
        return card

    def _connect(self) -> None:
        presenter = self._presenter
        self.theme.currentIndexChanged.connect(lambda: presenter.update(theme=self.theme.currentData()))
        self.scale.valueChanged.connect(lambda percent: presenter.update(font_scale=percent / 100))
        self.enter.currentIndexChanged.connect(lambda: presenter.update(enter_sends=self.enter.currentData()))
        self.canvas.toggled.connect(lambda shown: presenter.update(canvas=shown))
        self.notifications.toggled.connect(lambda wanted: presenter.update(notifications=wanted))
        self.tray.toggled.connect(lambda wanted: presenter.update(tray=wanted))
        self.on_close.currentIndexChanged.connect(lambda: presenter.update(on_close=self.on_close.currentData()))
        self.engine.currentIndexChanged.connect(lambda: presenter.update(engine=self.engine.currentData()))
        self.url.editingFinished.connect(lambda: presenter.update(engine_url=self.url.text().strip()))
        self.concurrency.valueChanged.connect(lambda number: presenter.update(concurrency=number))
        self.draws.currentIndexChanged.connect(lambda: presenter.update(draws=self.draws.currentData()))

    def _show(self) -> None:
        """Fills the fields without telling the presenter what it has just told us."""
        value = self._presenter.value
        fields = (
            self.theme,
            self.scale,
            self.enter,
            self.canvas,
            self.notifications,
            self.tray,
            self.on_close,
            self.engine,
            self.url,
            self.concurrency,
            self.draws,
        )
        for field in fields:
            field.blockSignals(True)
        self.theme.setCurrentIndex(self.theme.findData(value.theme))
        self.scale.setValue(round(value.font_scale * 100))
        self.enter.setCurrentIndex(self.enter.findData(value.enter_sends))
        self.canvas.setChecked(value.canvas)
        self.notifications.setChecked(value.notifications)
        self.tray.setChecked(value.tray)
        self.on_close.setCurrentIndex(self.on_close.findData(value.on_close))
        self.engine.setCurrentIndex(max(self.engine.findData(value.engine), 0))
        self.url.setText(value.engine_url)
        self.url.setEnabled(value.engine == "url")
        self.concurrency.setValue(value.concurrency)
        self.draws.setCurrentIndex(self.draws.findData(value.draws))
        for field in fields:
            field.blockSignals(False)
