"""Words of the window: each goes through ``tr`` in a way that the extraction tool can read."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from app.language import install_language
from app.models.engine_state import EngineState
from app.widgets.shell import StatusLine

ROOT = Path(__file__).resolve().parents[2]

# Method -> places of the arguments that a user reads; None: all of them.
SHOWN_BY_METHOD: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            "setText",
            "setToolTip",
            "setWindowTitle",
            "setPlaceholderText",
            "setAccessibleName",
            "setAccessibleDescription",
            "setStatusTip",
            "setWhatsThis",
            "setTitle",
            "setInformativeText",
            "setDetailedText",
            "setLabelText",
            "setHeaderLabels",
            "setPlainText",
            "setSuffix",
            "setPrefix",
            "setSpecialValueText",
            "setNameFilter",
            "set_tip",
            "show_hint",
            "show_closing",
            "addAction",
            "addMenu",
            "addButton",
            "addItem",
        ),
        (0,),
    ),
    "addTab": (1,),
    "setTabText": (1,),
    "setTabToolTip": (1,),
    "insertTab": (2,),
    "setItemText": (1,),
}
SHOWN_BY_CALL: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        ("QLabel", "QPushButton", "QCheckBox", "QRadioButton", "QGroupBox", "QAction", "label", "button"),
        (0,),
    ),
    "ThemedButton": (0,),
    "IconButton": (1,),
    "PageHeader": (0, 1),
    "Notice": (1, 2),
    "clearable": (1,),
    "QFileDialog": (1, 3),
}
# What no language changes: the program's name, and text that is code.
SAME_EVERYWHERE = re.compile(r"Diffusion Desk|https?://\S*|\(Ctrl\+|^ and $")  # the last is of a condition in SQL
LETTERS = re.compile(r"[^\W\d_]{2,}")


def literals(node: ast.expr) -> Iterator[str]:
    """The words that stand in an expression as they are: not those given to ``tr``, nor keys and names."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr():
            yield from (str(part.value) for part in node.values if isinstance(part, ast.Constant))
        case ast.BinOp(left=left, right=right):
            yield from literals(left)
            yield from literals(right)
        case ast.IfExp(body=body, orelse=orelse):
            yield from literals(body)
            yield from literals(orelse)
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
            for value in values:
                yield from literals(value)
        case _:
            return


def untranslated(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, words) that are shown without having gone through ``tr``."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(attr=name):
                places = SHOWN_BY_METHOD.get(name, ())
            case ast.Name(id=name):
                places = SHOWN_BY_CALL.get(name, ())
            case _:
                continue
        for place in places:
            if place < len(node.args):
                for words in literals(node.args[place]):
                    if LETTERS.search(SAME_EVERYWHERE.sub("", words)):
                        yield node.lineno, words


def unfindable(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, code) of ``tr`` calls whose words the extraction tool cannot read: f-strings and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tr":
            first = node.args[0] if node.args else None
            if not (isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value):
                yield node.lineno, ast.unparse(node)


SOURCES = sorted((ROOT / "app").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_word_goes_through_tr(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert list(untranslated(tree)) == []
    assert list(unfindable(tree)) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('label.setText("Stop")', ["Stop"]),
        ('label.setText(self.tr("Stop"))', []),
        ('QLabel(f"{n} rows")', [" rows"]),
        ('QLabel(f"{n} / {m}")', []),
        ('x.setText("on" if a else self.tr("off"))', ["on"]),
        ('menu.addAction("Open" + dots)', ["Open"]),
        ('IconButton("close", "Close", "id")', ["Close"]),
        ('tabs.addTab(part, "First")', ["First"]),
        ('w.setWindowTitle("Diffusion Desk")', []),
        ('w.setObjectName("main")', []),
    ],
)
def test_the_search_for_words_finds_them(code: str, words: list[str]) -> None:
    assert [found for _line, found in untranslated(ast.parse(code))] == words


def test_the_search_for_tr_finds_what_cannot_be_extracted() -> None:
    assert [line for line, _ in unfindable(ast.parse('self.tr(f"{n} rows")\nself.tr(name)\nself.tr("fine")'))] == [1, 2]


# ---- translations
def tool(name: str) -> str:
    """A program of the Qt that the window runs on."""
    return str(Path(sys.executable).parent / name)


def test_a_translation_is_extracted_made_and_spoken(qapp: QApplication, tmp_path: Path) -> None:
    """What docs/desktop.md tells translators to do, with Arabic for its direction."""
    words = tmp_path / "desk_ar.ts"
    source = ROOT / "app" / "widgets" / "shell.py"
    subprocess.run([tool("pyside6-lupdate"), str(source), "-ts", str(words)], check=True, capture_output=True)
    text = words.read_text()
    assert "<source>{name} is stopped</source>" in text
    marked = '<translation type="unfinished"></translation>'
    start = text.index("<source>{name} is stopped</source>")
    text = text[:start] + text[start:].replace(marked, "<translation>{name} توقف</translation>", 1)
    words.write_text(text)
    made = tmp_path / "desk_ar.qm"
    subprocess.run([tool("pyside6-lrelease"), str(words), "-qm", str(made)], check=True, capture_output=True)
    line = StatusLine()
    assert not install_language(qapp, QLocale("ar_EG"), tmp_path / "nowhere")
    assert qapp.layoutDirection() == Qt.LayoutDirection.LeftToRight
    try:
        assert install_language(qapp, QLocale("ar_EG"), tmp_path)
        assert qapp.layoutDirection() == Qt.LayoutDirection.RightToLeft
        assert line.describe(EngineState("stopped", kind="vllm")).endswith("توقف")
    finally:
        for translator in qapp.findChildren(QTranslator):
            qapp.removeTranslator(translator)
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        line.deleteLater()
