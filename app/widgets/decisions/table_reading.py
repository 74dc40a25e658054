"""How the open table is written: what was guessed, and a way to overrule each guess that this kind of file has."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from app.models.decisions_table import TableFacts
from app.widgets.decisions.flow import FlowLayout
from app.widgets.decisions.parts import hbox, label, named

# What spreadsheets and databases of the world write; anything Python knows may be typed.
ENCODINGS = ("utf-8", "utf-16", "cp1252", "iso-8859-1", "cp949", "shift_jis", "gb18030", "koi8-r")


class ReadingBar(QWidget):
    """Signals:
    overruled(dict): encoding, delimiter, header, sheet, as far as this kind of file has them.
    """

    overruled = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("table_reading")
        self.encoding = named(QComboBox(), "table_encoding", self.tr("Encoding"))
        self.delimiter = named(
            QComboBox(), "table_delimiter", self.tr("Delimiter"), self.tr("Choose it, or type any single character")
        )
        self.header = named(QComboBox(), "table_header", self.tr("First line"))
        self.sheet = named(QComboBox(), "table_sheet", self.tr("Sheet"))
        self._fields: dict[str, tuple[QComboBox, QWidget]] = {}
        flow = FlowLayout()
        for key, caption, box in (
            ("sheet", self.tr("Sheet"), self.sheet),
            ("encoding", self.tr("Encoding"), self.encoding),
            ("delimiter", self.tr("Delimiter"), self.delimiter),
            ("header", self.tr("First line"), self.header),
        ):
            holder = QWidget()
            title = label(caption, "muted")
            title.setBuddy(box)
            holder.setLayout(hbox(title, box, spacing=6))
            self._fields[key] = (box, holder)
            flow.addWidget(holder)
        self.setLayout(flow)
        self._fill_choices()

    def show_facts(self, facts: TableFacts) -> None:
        """Show how a table is read now."""
        shown = {
            "sheet": bool(facts.sheets),
            "encoding": bool(facts.encoding),
            "delimiter": bool(facts.delimiter),
            "header": facts.kind in ("csv", "xlsx"),
        }
        for key, (_box, holder) in self._fields.items():
            holder.setVisible(shown[key])
        if [self.sheet.itemText(place) for place in range(self.sheet.count())] != list(facts.sheets):
            self.sheet.clear()
            for name in facts.sheets:
                self.sheet.addItem(name, name)
        _choose(self.encoding, facts.encoding)
        _choose(self.delimiter, facts.delimiter)
        _choose(self.header, facts.header)
        _choose(self.sheet, facts.sheet)

    def _fill_choices(self) -> None:
        for encoding in ENCODINGS:
            self.encoding.addItem(encoding, encoding)
        for sign, text in (
            (",", self.tr("comma  ,")),
            (";", self.tr("semicolon  ;")),
            ("\t", self.tr("tab")),
            ("|", self.tr("bar  |")),
        ):
            self.delimiter.addItem(text, sign)
        self.header.addItem(self.tr("column names"), True)
        self.header.addItem(self.tr("data"), False)
        self._may_be_typed(self.encoding, self.tr("Encoding"))
        self._may_be_typed(self.delimiter, self.tr("Delimiter"))
        for box, _holder in self._fields.values():
            box.activated.connect(lambda _index: self._overrule())

    def _may_be_typed(self, box: QComboBox, spoken: str) -> None:
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        edit = box.lineEdit()
        if edit is None:
            return
        named(edit, f"{box.objectName()}.edit", spoken)
        # The box itself says nothing about a text that is none of its items.
        edit.returnPressed.connect(lambda: self._overrule() if box.findText(edit.text()) < 0 else None)

    def _overrule(self) -> None:
        given: dict[str, object] = {}
        for key, (box, holder) in self._fields.items():
            if not holder.isHidden():
                given[key] = self._value(box)
        self.overruled.emit({key: value for key, value in given.items() if value not in (None, "")})

    def _value(self, box: QComboBox) -> object:
        """What is chosen, or what was typed instead."""
        place = box.findText(box.currentText())
        if place >= 0:
            return box.itemData(place)
        typed = box.currentText()
        return typed if box is self.delimiter else typed.strip()


def _choose(box: QComboBox, value: object) -> None:
    if value in ("", None):
        return
    index = box.findData(value)
    if index < 0:
        box.addItem(str(value), value)
        index = box.count() - 1
    box.setCurrentIndex(index)
    if box.isEditable():
        box.setEditText(box.itemText(index))
