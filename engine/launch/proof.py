"""What an installed vLLM proves about itself: its version, and what stands in its source files.

The files are parsed, never imported: importing vllm takes seconds, needs torch, and runs foreign code in our process.
A mention in a comment or a docstring proves nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import cached_property
from pathlib import Path
from typing import Literal

from engine.errors import InputError

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that must be found in a file of vLLM.

    Attributes:
        file: below the folder ``vllm``.
        kind: ``file`` (it is there), ``defines`` (a function or class), ``calls`` (a call whose text ends like
            ``needle``, or whose function is called so), ``text`` (a string that is no docstring).
        inside: the function that must do it; empty for anywhere in the file.
    """

    file: str
    kind: Literal["file", "defines", "calls", "text"] = "file"
    needle: str = ""
    inside: str = ""

    def __str__(self) -> str:
        what = {"file": "is there", "defines": f"defines {self.needle}", "text": f'knows "{self.needle}"'}
        found = what.get(self.kind, f"calls {self.needle}")
        return f"{self.file} {found}" + (f" in {self.inside}" if self.inside else "")


class InstalledEngine:
    """A vLLM in a ``site-packages`` folder. Files are read when something is asked about them, once.

    Args:
        elsewhere: further folders of the interpreter's path, in order; what vLLM needs may lie there.

    Raises:
        InputError: there is no vLLM in the folder, or its version cannot be read.
    """

    def __init__(self, site_packages: Path, elsewhere: Sequence[Path] = ()) -> None:
        self.site_packages = site_packages
        self._folders = (site_packages, *elsewhere)
        self.root = site_packages / "vllm"
        if not self.root.is_dir():
            raise InputError(
                "engine.no_vllm",
                "{path}: there is no vllm in it",
                remedy="create or repair the engine's environment",
                path=str(site_packages),
            )
        self._trees: dict[str, ast.Module | None] = {}

    @cached_property
    def version_text(self) -> str:
        """``0.33.0``, from the package's metadata or from ``_version.py``."""
        found = self.distribution_version("vllm") or self._version_file()
        if not found:
            raise InputError(
                "engine.no_version",
                "{path}: the version of this vllm cannot be read",
                remedy="repair the engine's environment",
                path=str(self.root),
            )
        return found

    @property
    def version(self) -> Version:
        return parse_version(self.version_text)

    def distribution_version(self, name: str) -> str:
        """The version of an installed distribution; empty when it is not there."""
        for folder in (found for place in self._folders for found in sorted(place.glob(f"{name}-*.dist-info"))):
            try:
                version = HeaderParser().parsestr((folder / "METADATA").read_text("utf-8", "replace")).get("Version")
            except OSError:
                continue
            if version and folder.name == f"{name}-{version}.dist-info":
                return version
        return ""

    def _version_file(self) -> str:
        try:
            text = (self.root / "_version.py").read_text("utf-8", "replace")
        except OSError:
            return ""
        match = re.search(r"^(?:__version__ = )?version = ['\"]([^'\"]+)['\"]", text, re.MULTILINE)
        return match[1] if match else ""

    def proves(self, evidence: Evidence) -> bool:
        """Whether the evidence is there; a file that cannot be read or parsed proves nothing."""
        if evidence.kind == "file":
            return (self.root / evidence.file).is_file()
        tree = self._tree(evidence.file)
        if tree is None:
            return False
        scopes: list[ast.AST] = [tree]
        if evidence.inside:
            scopes = [node for node in ast.walk(tree) if _is_function(node, evidence.inside)]
        return any(_found(scope, evidence) for scope in scopes)

    def _tree(self, file: str) -> ast.Module | None:
        if file not in self._trees:
            try:
                self._trees[file] = ast.parse((self.root / file).read_bytes())
            except (OSError, SyntaxError, ValueError):
                self._trees[file] = None
        return self._trees[file]


def parse_version(text: str) -> Version:
    """(0, 33, 0) of ``0.33.0`` and of ``0.33.0+cu130``; (0, 33, 0) of ``0.33.0rc1`` too, which came shortly before."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _is_function(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name


def _found(scope: ast.AST, evidence: Evidence) -> bool:
    needle = evidence.needle
    if evidence.kind == "defines":
        return any(_is_function(node, needle) or _is_class(node, needle) for node in ast.walk(scope))
    if evidence.kind == "text":
        docstrings = set(_docstrings(scope))
        return any(
            isinstance(node, ast.Constant) and node.value == needle and id(node) not in docstrings
            for node in ast.walk(scope)
        )
    calls = (node for node in ast.walk(scope) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) == needle or ast.unparse(call).endswith(needle) for call in calls)


def _is_class(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.ClassDef) and node.name == name


def _docstrings(scope: ast.AST) -> Iterator[int]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)
