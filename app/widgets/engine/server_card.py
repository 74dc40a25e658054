"""Where other programs reach the engine: address, key, and lines to begin with."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QPlainTextEdit, QTabWidget, QWidget

from app.theme import set_role
from app.widgets.decisions.parts import fixed_font, hbox, label, named, vbox
from app.widgets.icons import ThemedButton

HIDDEN = "••••••••"
LINES = 9  # of a snippet

CURL = """\
curl {url}/v1/chat/completions \\
  -H 'Authorization: Bearer {key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{"model": "{model}", "messages": [{{"role": "user", "content": "Hello"}}]}}'
"""
PYTHON = """\
from openai import OpenAI

client = OpenAI(base_url="{url}/v1", api_key="{key}")
answer = client.chat.completions.create(
    model="{model}", messages=[{{"role": "user", "content": "Hello"}}]
)
print(answer.choices[0].message.content)
"""
READ = """\
curl {url}/v1/systemone \\
  -H 'Authorization: Bearer {key}' \\
  -H 'Content-Type: application/json' \\
  -d '{{"model": "{model}", "state": "The kettle is boiling.",
       "questions": {{"hot": {{"type": "noul", "instructions": "Is the water hot?"}}}}}}'
"""


class ServerCard(QFrame):
    """The key is hidden until it is asked for; what is copied holds it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setObjectName(name)
        self._url = self._key = self._model = ""
        self.address = self._field(f"{name}.url", self.tr("Address of the engine"))
        self.base = self._field(f"{name}.base", self.tr("Base URL for programs that speak OpenAI's API"))
        self.model = self._field(f"{name}.model", self.tr("Name of the model"))
        self.key = self._field(f"{name}.key", self.tr("Key of the engine"))
        self.shown = ThemedButton(self.tr("Show"), f"{name}.key.show")
        self.shown.setCheckable(True)
        self.shown.setAccessibleName(self.tr("Show the key"))
        self.shown.toggled.connect(lambda _on: self._fill())
        self.tabs = named(QTabWidget(), f"{name}.snippets", self.tr("Lines to begin with"))
        self._snippets: list[tuple[str, QPlainTextEdit]] = []
        for template, title, key in (
            (CURL, self.tr("Chat, curl"), "curl"),
            (PYTHON, self.tr("Chat, Python"), "python"),
            (READ, self.tr("Decision, curl"), "read"),
        ):
            self.tabs.addTab(self._snippet(template, f"{name}.{key}", title), title)
        words = label(
            self.tr(
                "Editors and other programs that speak OpenAI's API take base URL, key and model; "
                "another Diffusion Desk takes address and key."
            ),
            "muted",
            wrap=True,
        )
        layout = vbox(label(self.tr("For other programs"), "strong"), words, self._grid(name), self.tabs, spacing=8)
        layout.setContentsMargins(16, 12, 16, 14)
        self.setLayout(layout)
        self.hide()

    def show_server(self, url: str, key: str, model: str) -> None:
        """An empty address hides the card; an empty key means that the server asks for none."""
        self._url, self._key, self._model = url, key, model
        self.setVisible(bool(url))
        self._fill()

    def _grid(self, name: str) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setColumnStretch(1, 1)
        rows = (
            ("url", self.tr("Address"), self.address, self.tr("Copy the address"), lambda: self._url),
            ("base", self.tr("Base URL"), self.base, self.tr("Copy the base URL"), self.base.text),
            ("model", self.tr("Model"), self.model, self.tr("Copy the name of the model"), lambda: self._model),
            ("key", self.tr("Key"), self.key, self.tr("Copy the key"), lambda: self._key),
        )
        for row, (what, text, field, spoken, value) in enumerate(rows):
            grid.addWidget(label(text, "muted"), row, 0)
            grid.addWidget(field, row, 1)
            grid.addWidget(self._copier(f"{name}.{what}.copy", spoken, value), row, 2)
        grid.addWidget(self.shown, len(rows) - 1, 3)
        return grid

    def _field(self, name: str, spoken: str) -> QLineEdit:
        made = named(QLineEdit(), name, spoken)
        made.setReadOnly(True)
        return made

    def _copier(self, name: str, spoken: str, value: Callable[[], str]) -> ThemedButton:
        made = ThemedButton(self.tr("Copy"), name, icon_name="copy")
        made.setAccessibleName(spoken)
        made.clicked.connect(lambda: _to_clipboard(value()))
        return made

    def _snippet(self, template: str, name: str, title: str) -> QWidget:
        text = named(QPlainTextEdit(), name, title)
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        set_role(text, "log")
        text.setFixedHeight(QFontMetrics(fixed_font()).lineSpacing() * LINES + 16)
        copy = ThemedButton(self.tr("Copy with the key"), f"{name}.copy", icon_name="copy")
        copy.clicked.connect(lambda: _to_clipboard(self._with(template, self._key)))
        self._snippets.append((template, text))
        page = QWidget()
        page.setLayout(vbox(text, hbox(copy, 1), spacing=6))
        return page

    def _fill(self) -> None:
        shown = self.shown.isChecked()
        self.shown.setText(self.tr("Hide") if shown else self.tr("Show"))
        key = self._key if shown or not self._key else HIDDEN
        self.address.setText(self._url)
        self.base.setText(f"{self._url}/v1")
        self.model.setText(self._model)
        self.key.setText(key or self.tr("none is needed"))
        self.shown.setEnabled(bool(self._key))
        for template, text in self._snippets:
            text.setPlainText(self._with(template, key))

    def _with(self, template: str, key: str) -> str:
        return template.format(url=self._url, key=key or "none", model=self._model)


def _to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
