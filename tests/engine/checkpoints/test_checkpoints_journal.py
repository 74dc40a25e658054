"""The journal: whatever is torn off its end, what stands before it counts, and it goes on."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.checkpoints.download import tidy_parts
from engine.checkpoints.journal import Boot, Done, Durable, Journal, Proven, Record, boot_id, replay
from engine.checkpoints.lock import locked
from engine.errors import UserError

names = st.sampled_from(["a", "b", "c"])
numbers = st.integers(min_value=0, max_value=2**40)
texts = st.text(max_size=8)
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(Boot, boot=texts),
    st.builds(Durable, key=names, at=numbers),
    st.builds(Done, path=st.one_of(names, texts), tag=names, size=numbers, mtime_ns=numbers),
)


def fold(some: list[Record]) -> Proven:
    proven = Proven()
    for record in some:
        proven.take(record)
    return proven


def lines(some: list[Record]) -> list[bytes]:
    return [f"{record.model_dump_json()}\n".encode() for record in some]


@given(st.lists(records), st.data())
def test_a_cut_anywhere_leaves_the_records_before_it(some: list[Record], data: st.DataObject) -> None:
    written = lines(some)
    whole = b"".join(written)
    cut = data.draw(st.integers(min_value=0, max_value=len(whole)))
    before, length = 0, 0
    for line in written:
        length += len(line)
        before += length <= cut
    assert replay(whole[:cut]) == fold(some[:before])


@settings(max_examples=50)
@given(st.lists(records), st.lists(records), st.data())
def test_it_goes_on_behind_a_torn_end(first: list[Record], second: list[Record], data: st.DataObject) -> None:
    whole = b"".join(lines(first))
    cut = data.draw(st.integers(min_value=0, max_value=len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        path.write_bytes(whole[:cut])
        journal = Journal.open(path)
        kept = whole[:cut].count(b"\n")
        assert journal.proven == fold(first[:kept])
        journal.append(*second)
        journal.close()
        journal.close()
        assert replay(path.read_bytes()) == journal.proven == fold([*first[:kept], *second])


@given(st.lists(records), st.binary(max_size=40).filter(lambda noise: b"\n" not in noise))
def test_a_foreign_line_is_passed_over(some: list[Record], noise: bytes) -> None:
    written = lines(some)
    assert replay(b"".join([*written, noise, b"\n", *written])) == fold([*some, *some])


@given(st.lists(records))
def test_never_more_is_durable_than_the_last_record_says(some: list[Record]) -> None:
    durable = replay(b"".join(lines(some))).durable
    for key, at in durable.items():
        assert at == [record.at for record in some if isinstance(record, Durable) and record.key == key][-1]


def test_a_restart_of_the_machine_cuts_parts_to_what_was_synced(tmp_path: Path) -> None:
    synced, unsynced, foreign = (tmp_path / name for name in ("synced.part", "unsynced.part", "foreign.part"))
    for path in (synced, unsynced, foreign):
        path.write_bytes(b"x" * 100)
    keep = {synced: 200, unsynced: 60}
    tidy_parts(tmp_path, keep, same_boot=True)
    assert (synced.stat().st_size, unsynced.stat().st_size, foreign.exists()) == (100, 100, False)
    tidy_parts(tmp_path, keep, same_boot=False)
    assert (synced.stat().st_size, unsynced.stat().st_size) == (100, 60)
    assert boot_id()


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    lock = tmp_path / "model" / ".desk" / "lock"
    with locked(lock), pytest.raises(UserError, match=r"already at work in .*model") as caught, locked(lock):
        pass
    assert caught.value.code == "checkpoint.locked"
    with locked(lock):
        pass
