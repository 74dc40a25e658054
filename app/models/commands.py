"""Commands: what the window can do, each with its words and its keys, in one registry.

The palette, the map of the keys (F1) and the window's own shortcuts are all made from it, so none of them can forget
what the others have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


def always() -> bool:
    """The condition of a command that can be run at any time."""
    return True


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the window can do.

    Attributes:
        id: ``page.verb``; unique.
        text: what it does, translated.
        page: the page that it belongs to; empty: the whole window.
        keys: key sequences in Qt's portable text (``Ctrl+K``).
        run: None for keys that mean something only where the focus is (Up in an empty message); such a command stands
            in the map of the keys and not in the palette.
        enabled: whether it can be run now.
    """

    id: str
    text: str
    page: str = ""
    keys: tuple[str, ...] = ()
    run: Callable[[], object] | None = None
    enabled: Callable[[], bool] = always


@runtime_checkable
class OffersCommands(Protocol):
    """A page that has commands of its own. What they say is asked anew every time."""

    def commands(self) -> Iterable[Command]: ...


class CommandRegistry:
    """All commands, from sources that are asked anew every time: what a page offers changes."""

    def __init__(self) -> None:
        self._sources: list[Callable[[], Iterable[Command]]] = []

    def add(self, source: Callable[[], Iterable[Command]]) -> None:
        """Takes a source; of commands with the same id the first source's counts."""
        self._sources.append(source)

    def all(self) -> list[Command]:
        """Every command once, in the order of the sources."""
        found: dict[str, Command] = {}
        for command in self._asked():
            found.setdefault(command.id, command)
        return list(found.values())

    def runnable(self) -> list[Command]:
        """What the palette offers at this moment."""
        return [command for command in self.all() if command.run is not None and command.enabled()]

    def with_keys(self) -> list[Command]:
        """What the map of the keys shows."""
        return [command for command in self.all() if command.keys]

    def run(self, command_id: str) -> bool:
        """Runs a command that can be run now; whether it did."""
        found = next((command for command in self.runnable() if command.id == command_id), None)
        if found is None or found.run is None:
            return False
        found.run()
        return True

    def _asked(self) -> Iterator[Command]:
        for source in self._sources:
            yield from source()
