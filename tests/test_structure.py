"""The structure is part of the product: import contracts, a pure domain, banned calls, file sizes, lint, types."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "app", "resources")
MAX_LINES = 400  # DESIGN: files stay readable
LONGER = {"tests"}  # no limit there


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imported_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def run_tool(*argv: str) -> None:
    done = subprocess.run([sys.executable, "-m", *argv], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_contracts() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sources("engine/domain"), ids=lambda path: path.name)
def test_the_domain_imports_the_standard_library_only(path: Path) -> None:
    for name in imported_names(ast.parse(path.read_text())):
        top = name.split(".")[0]
        assert top in sys.stdlib_module_names or name.startswith("engine.domain"), f"{path.name} imports {name}"


def test_only_the_store_speaks_sql_only_the_client_http_only_supervise_starts_processes() -> None:
    homes = {
        "sqlite3": ("engine/store",),
        "subprocess": ("engine/supervise", "engine/bench"),
        "vllm": ("engine/vllm_plugin",),
        "onnxruntime": ("engine/embedded",),
        "aiohttp": ("engine/client", "engine/embedded", "engine/checkpoints", "engine/bench"),
        "huggingface_hub": ("engine/checkpoints",),
        "pynvml": ("engine/hardware",),
        "PySide6": ("app",),
    }
    for path in sources("engine", "app"):
        relative = path.relative_to(ROOT).as_posix()
        for name in imported_names(ast.parse(path.read_text())):
            home = homes.get(name.split(".")[0])
            assert home is None or relative.startswith(home), f"{relative} imports {name}; its home is {home}"


def test_no_dialog_spins_a_nested_loop() -> None:
    """QDialog.exec() under qasync loses other tasks' wake-ups; dialogs are opened and awaited."""
    for path in sources("app"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                assert node.func.attr not in {"exec", "exec_"}, f"{where} calls exec()"
                static = isinstance(node.func.value, ast.Name) and node.func.value.id == "QMessageBox"
                assert not (static and node.func.attr in {"question", "warning", "information", "critical"}), where


def test_widgets_know_qt_and_the_domain_only() -> None:
    allowed = ("engine.domain", "app.widgets", "app.models", "app.theme", "resources")
    for path in sources("app/widgets"):
        for name in imported_names(ast.parse(path.read_text())):
            if name.split(".")[0] in {"engine", "app"}:
                assert name.startswith(allowed), f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("path", sources(*PACKAGES, "tools"), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_readable(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_LINES


def test_ruff_check_and_format() -> None:
    run_tool("ruff", "check", ".")
    run_tool("ruff", "format", "--check", ".")


def test_mypy_strict() -> None:
    run_tool("mypy")
