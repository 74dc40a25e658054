"""Who may stop, pause and resume a run from outside: signals, the commands of a window, and the engine's health."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.batch.control import RunControl
from engine.cli.commands import check_stdin as check_stdin
from engine.cli.commands import obey
from engine.cli.engines import OpenEngine
from engine.cli.reporting import Reporter
from engine.errors import UserError

REVIVALS = 3
STABLE_S = 60.0  # an engine that lasted this long may be revived as often again
DELAYS_S = (0.0, 1.0, 2.0, 4.0, 8.0)  # between the attempts of one revival


@contextmanager
def signals_cancel(control: RunControl) -> Iterator[None]:
    """SIGINT and SIGTERM end the run in an orderly way; a second SIGINT ends the program."""
    loop = asyncio.get_running_loop()

    def cancel() -> None:
        control.cancel()
        loop.remove_signal_handler(signal.SIGINT)  # Python's own handler is back

    handled = (signal.SIGINT, signal.SIGTERM)
    for number in handled:
        loop.add_signal_handler(number, cancel)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


async def obey_stdin(control: RunControl, engine: OpenEngine, reporter: Reporter, run: str = "") -> None:
    """As :func:`engine.cli.commands.obey`; a run is resumed once its engine is back."""
    await obey(control, reporter.note, lambda: _resume(control, engine, reporter), run=run)


async def _resume(control: RunControl, engine: OpenEngine, reporter: Reporter) -> None:
    try:
        await engine.revive()
    except UserError as error:
        reporter.paused(str(error))
    else:
        control.resume()


class Keeper:
    """When the run pauses because the engine is gone, brings the engine back and resumes; gives up after a while.

    Giving up cancels the run. For a run at a terminal; a window decides for itself instead.

    Attributes:
        gave_up: why the run was stuck; empty while it was not.
    """

    def __init__(self, control: RunControl, engine: OpenEngine, reporter: Reporter) -> None:
        self.gave_up = ""
        self._control, self._engine, self._reporter = control, engine, reporter
        self._left, self._last = REVIVALS, 0.0

    async def keep(self) -> None:
        """To be cancelled when the run has ended."""
        while True:
            await self._control.wait_paused()
            if time.monotonic() - self._last > STABLE_S:
                self._left = REVIVALS
            if self._left == 0 or not await self._revived():
                self.gave_up = self._control.reason
                self._control.cancel()
                return
            self._left, self._last = self._left - 1, time.monotonic()
            self._control.resume()

    async def _revived(self) -> bool:
        for delay in DELAYS_S:
            await asyncio.sleep(delay)
            try:
                await self._engine.revive()
            except UserError as error:
                self._reporter.note(f"the engine is not back: {error.message}")
            else:
                return True
        return False
