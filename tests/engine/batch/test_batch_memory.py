"""Large tables go through in flat memory: sniffed, copied into a run, run, exported (field case F10)."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CHILD = textwrap.dedent("""
    import asyncio, resource, sys
    from pathlib import Path
    sys.path[:0] = [{here!r}, {root!r}]
    from batch_helpers import FakeReader, form_of_store, make_run
    from engine.batch.analysis.summary import summarise
    from engine.batch.export import export_csv
    from engine.batch.runner import run

    def rows(count):
        text = "a text of some length with a gold, numbered"
        return ((str(n), f"{{text}} {{n}}", "yes" if n % 2 else "no") for n in range(count))

    def go(folder, count):
        folder.mkdir()
        question = {{"id": "q", "type": "noul", "instructions": "x?", "gold": "gold"}}
        with make_run(folder, rows(count), question, header=("n", "text", "gold")) as store:
            asyncio.run(run(store, Lean(form_of_store(store))))
            export_csv(store.path, folder / "out.csv")
            summarise(store)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    class Lean(FakeReader):
        async def read(self, state, *, row_key):
            self.asked.clear()
            return await super().read(state, row_key=row_key)

    folder = Path(sys.argv[1])
    few = go(folder / "few", 5_000)
    many = go(folder / "many", 200_000)
    with (folder / "many" / "out.csv").open() as file:
        print(few, many, sum(1 for _ in file))
""")


@pytest.mark.timeout(900)
def test_two_hundred_thousand_rows_need_little_more_memory_than_five_thousand(tmp_path: Path) -> None:
    here = Path(__file__).parent
    child = CHILD.format(here=str(here), root=str(here.parents[2]))
    done = subprocess.run(
        [sys.executable, "-c", child, str(tmp_path)], capture_output=True, text=True, check=False, timeout=850
    )
    assert done.returncode == 0, done.stderr
    few, many, lines = map(int, done.stdout.split())
    assert lines == 200_001
    # KiB. The table is 14 MiB and its file of answers 30; the measures keep two numbers a row.
    assert many - few < 25_000, f"peak of {few} KiB for 5,000 rows, {many} KiB for 200,000"
