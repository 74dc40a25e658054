"""A worker that a test kills: ``kill_worker.py RUN LOG [MOST]``. Rows and answers follow from the row's number.

Every row asked is noted in LOG before it is answered; those beyond the first MOST never are. On stdout: ``N`` after
every ten answers on disk, ``finished``.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[3])]

from batch_helpers import form_of_store, ok_readings  # noqa: E402

from engine.batch.runner import Callbacks, run  # noqa: E402
from engine.domain.run import Progress  # noqa: E402
from engine.store.runs import RunStore  # noqa: E402


async def main(path: Path, log: Path, most: float) -> None:
    with RunStore.open(path) as store, log.open("a") as notes:
        form = form_of_store(store)

        class Reader:
            asked = 0

            async def read(self, state: str, *, row_key: str) -> object:
                notes.write(row_key + "\n")
                notes.flush()
                self.asked += 1
                await (asyncio.sleep(0.001) if self.asked <= most else asyncio.Event().wait())
                return ok_readings(form, int(row_key) / 10_000)

        def progress(now: Progress) -> None:
            sys.stdout.write(f"{now.done}\n")
            sys.stdout.flush()

        result = await run(store, Reader(), concurrency=8, callbacks=Callbacks(progress=progress))  # type: ignore[arg-type]
    sys.stdout.write(f"{result.state}\n")


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), float((sys.argv[3:] or ["inf"])[0])))
