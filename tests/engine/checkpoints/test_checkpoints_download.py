"""A download against a hub that does everything that hubs and networks do."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hub_helpers import (
    COMMIT,
    ENTRY,
    QUICK,
    Heard,
    HubProcess,
    fetch,
    make_checkpoint,
    same_files,
    shard_names,
    source,
    wanted_files,
)

from engine.checkpoints.download import download
from engine.checkpoints.lock import locked
from engine.checkpoints.manifest import Folder
from engine.checkpoints.patience import Patience
from engine.checkpoints.transport import BUFFER_BYTES
from engine.errors import InputError, UserError

BIG, SMALL = shard_names(2)  # 3 MB and 2 MB
MB = 1_000_000
SLACK = 2 * BUFFER_BYTES + (1 << 18) + (1 << 16)


def starts(hub: HubProcess, name: str) -> list[int]:
    """Where the requests for a file's bytes began."""
    asked = hub.counts()["requests"]
    mine = [request["range"] for request in asked if (request["server"], request["path"]) == ("cdn", name)]
    return [0 if each is None else int(each.removeprefix("bytes=").removesuffix("-")) for each in mine]


def near(*expected: int) -> Any:
    """Up to what aiohttp had read and not yet handed on when a connection broke."""
    return [pytest.approx(each - SLACK / 2, abs=SLACK / 2) if each else 0 for each in expected]


async def test_everything_arrives_verified_and_nothing_twice(hub: HubProcess, tmp_path: Path) -> None:
    heard = Heard()
    result = await fetch(hub, tmp_path / "model", heard)
    assert (result.state, result.commit, result.folder) == ("finished", COMMIT, tmp_path / "model")
    assert same_files(tmp_path / "model", hub.repo)
    assert not (tmp_path / "model" / "README.md").exists()
    assert hub.served() == sum(map(len, wanted_files(hub.repo).values())) == result.progress.fetched_bytes
    assert (result.progress.files_done, result.progress.eta_s) == (6, 0.0)
    assert list(Folder(tmp_path / "model").parts.iterdir()) == []
    asked = len(hub.counts()["requests"])
    again = await fetch(hub, tmp_path / "model")
    assert again.state == "finished"
    assert len(hub.counts()["requests"]) == asked, "what is there and proven needs no network"


async def test_a_truncated_body_goes_on_where_it_broke_off(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "truncate", "after": MB}, {"kind": "truncate", "after": MB}]})
    await fetch(hub, tmp_path / "model")
    assert same_files(tmp_path / "model", hub.repo)
    first, second, third = starts(hub, BIG)
    assert [first, second] == near(0, MB)
    assert third - second == pytest.approx(MB - SLACK / 2, abs=SLACK / 2)


async def test_a_signed_address_that_dies_is_renewed(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "expire", "after": MB}, {"kind": "status", "status": 403}, {"kind": "ok"}]})
    heard = Heard()
    await fetch(hub, tmp_path / "model", heard)
    assert same_files(tmp_path / "model", hub.repo)
    assert starts(hub, BIG) == near(0, MB, MB)
    assert 3 * MB <= hub.counts()["served"][BIG] <= 3 * MB + SLACK
    assert any("has expired (status 403)" in note for note in heard.notes)
    assert not any("sig=" in note for note in heard.notes), "a signature is not for a log"


async def test_a_server_without_ranges_begins_the_file_again(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "truncate", "after": MB}, {"kind": "no_range"}]})
    heard = Heard()
    await fetch(hub, tmp_path / "model", heard)
    assert same_files(tmp_path / "model", hub.repo), "never appended"
    assert hub.counts()["served"][BIG] == 4 * MB
    assert starts(hub, BIG) == near(0, MB)
    assert any("begins again" in note for note in heard.notes)


@pytest.mark.parametrize("fault", [{"kind": "shift"}, {"kind": "status", "status": 416}])
async def test_another_range_than_asked_for_is_not_appended(
    hub: HubProcess, tmp_path: Path, fault: dict[str, Any]
) -> None:
    hub.plan({BIG: [{"kind": "truncate", "after": MB}, fault]})
    await fetch(hub, tmp_path / "model")
    assert same_files(tmp_path / "model", hub.repo)
    assert starts(hub, BIG) == near(0, MB, 0)


async def test_416_for_ever_is_an_error(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "status", "status": 416}] * 9})
    with pytest.raises(UserError) as caught:
        await fetch(hub, tmp_path / "model")
    assert caught.value.code == "hub.range"


async def test_wrong_bytes_are_fetched_once_more(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "wrong", "at": 5}]})
    heard = Heard()
    await fetch(hub, tmp_path / "model", heard)
    assert same_files(tmp_path / "model", hub.repo)
    assert hub.counts()["served"][BIG] == 6 * MB
    assert any(BIG in note and "wrong bytes" in note for note in heard.notes)


async def test_wrong_bytes_twice_are_an_error_and_leave_nothing_wrong(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "wrong", "at": 5}, {"kind": "wrong", "at": 2 * MB}]})
    with pytest.raises(UserError, match=BIG) as caught:
        await fetch(hub, tmp_path / "model")
    assert caught.value.code == "download.wrong_bytes"
    assert not (tmp_path / "model" / BIG).exists()
    await fetch(hub, tmp_path / "model")
    assert same_files(tmp_path / "model", hub.repo)


@pytest.mark.parametrize("fault", [{"kind": "html"}, {"kind": "size"}])
async def test_a_page_or_a_body_of_another_size_is_refused(
    hub: HubProcess, tmp_path: Path, fault: dict[str, Any]
) -> None:
    hub.plan({BIG: [fault]})
    with pytest.raises(UserError, match=BIG) as caught:
        await fetch(hub, tmp_path / "model")
    assert caught.value.code in ("hub.web_page", "hub.wrong_size")
    assert not (tmp_path / "model" / BIG).exists()
    await fetch(hub, tmp_path / "model")
    assert same_files(tmp_path / "model", hub.repo)


async def test_429_waits_as_long_as_it_is_told(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "status", "status": 429, "retry_after": 1, "where": "hub"}, {"kind": "ok"}]})
    hub.settings(api=[{"kind": "status", "status": 429, "retry_after": 0}, {"kind": "status", "status": 502}])
    heard = Heard()
    await fetch(hub, tmp_path / "model", heard)
    assert same_files(tmp_path / "model", hub.repo)
    assert any("status 429); trying again in 1 s" in note for note in heard.notes)


async def test_a_pause_longer_than_we_bear_is_an_error_at_once(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "status", "status": 429, "retry_after": 90_000, "where": "hub"}]})
    with pytest.raises(UserError) as caught:
        await fetch(hub, tmp_path / "model")
    assert caught.value.code == "hub.busy"


async def test_patience_ends_and_what_is_there_stays(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "truncate", "after": MB}, *[{"kind": "status", "status": 503}] * 20]})
    with pytest.raises(UserError, match="503"):
        await fetch(hub, tmp_path / "model", connections=1)
    tries = len(starts(hub, BIG))
    assert tries == 1 + QUICK.attempts - 1, "bytes that came begin a new count"
    hub.plan({})
    await fetch(hub, tmp_path / "model")
    assert starts(hub, BIG)[tries:] == near(MB)
    assert same_files(tmp_path / "model", hub.repo)


async def test_a_dead_and_an_all_but_dead_connection_are_given_up(hub: HubProcess, tmp_path: Path) -> None:
    hub.plan({BIG: [{"kind": "dead", "after": MB}], SMALL: [{"kind": "slow", "rate": 20_000}]})
    patience = Patience(silence_s=1.0, slow_bytes_s=100_000, slow_s=0.5, attempts=20, backoff_s=0.01)
    heard = Heard()
    await fetch(hub, tmp_path / "model", heard, patience=patience)
    assert same_files(tmp_path / "model", hub.repo)
    assert any("does not answer" in note for note in heard.notes)
    assert any("all but dead" in note for note in heard.notes)
    found = starts(hub, BIG)
    assert found[:2] == near(0, MB)  # on a busy machine the rest may seem dead, too
    assert found == sorted(found)  # and nothing is fetched twice


async def test_a_hub_that_is_not_there_is_named(tmp_path: Path, hub: HubProcess) -> None:
    heard = Heard()
    nowhere = source(hub, patience=QUICK)
    nowhere = type(nowhere)("http://127.0.0.1:9", patience=QUICK)
    with pytest.raises(UserError, match=r"http://127\.0\.0\.1:9/api/\S+ cannot be reached") as caught:
        await download(ENTRY, tmp_path / "model", nowhere, heard.control, heard)
    assert "same command goes on" in caught.value.remedy
    assert "(connection refused)" in caught.value.message


@pytest.mark.parametrize(("tls", "why"), [(False, "it hung up"), (True, "certificate")])
async def test_why_a_hub_cannot_be_reached_is_said_in_words(
    hub: HubProcess, tmp_path: Path, tls: bool, why: str
) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"no TLS here\r\n" if tls else b"")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        there = type(source(hub))(f"http{'s' if tls else ''}://127.0.0.1:{port}", patience=QUICK)
        heard = Heard()
        with pytest.raises(UserError) as caught:
            await download(ENTRY, tmp_path / "model", there, heard.control, heard)
    said = [caught.value.message, *heard.notes]
    assert why in caught.value.message
    assert not [text for text in said if re.search(r"[a-z]Error\b", text)], "no names of Python classes"


async def test_files_of_equal_content_do_not_share_a_part(hub: HubProcess, tmp_path: Path) -> None:
    (hub.repo / "model-extra.txt").write_bytes(b"x" * 1_500_000)
    (hub.repo / "model-other.txt").write_bytes(b"x" * 1_500_000)
    await fetch(hub, tmp_path / "model")
    assert (tmp_path / "model" / "model-extra.txt").read_bytes() == (hub.repo / "model-other.txt").read_bytes()


async def test_killed_between_rename_and_note(hub: HubProcess, tmp_path: Path) -> None:
    at = Folder(tmp_path / "model")
    await fetch(hub, at.root)
    at.journal.unlink()
    served = hub.served()
    again = await fetch(hub, at.root)
    assert again.progress.checked_bytes == again.progress.total_bytes
    assert hub.served() == served


async def test_cancelled_before_it_began(hub: HubProcess, tmp_path: Path) -> None:
    heard = Heard()
    heard.control.cancel()
    result = await fetch(hub, tmp_path / "model", heard)
    assert (result.state, result.commit) == ("cancelled", "")


async def test_what_somebody_else_put_there_is_checked(hub: HubProcess, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / BIG).write_bytes((hub.repo / BIG).read_bytes())
    (folder / SMALL).write_bytes(b"x" * len((hub.repo / SMALL).read_bytes()))
    (folder / "config.json").write_text("too short")
    heard = Heard()
    await fetch(hub, folder, heard)
    assert same_files(folder, hub.repo)
    assert BIG not in hub.counts()["served"]
    assert any(SMALL in note and "other bytes" in note for note in heard.notes)


async def test_a_file_that_was_touched_is_read_again_and_one_that_was_spoilt_fetched(
    hub: HubProcess, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    await fetch(hub, folder)
    os.utime(folder / BIG)
    spoilt = bytearray((folder / SMALL).read_bytes())
    spoilt[-1] ^= 1
    (folder / SMALL).write_bytes(spoilt)
    served = hub.counts()["served"]
    again = await fetch(hub, folder)
    assert again.progress.checked_bytes == 5 * MB
    assert same_files(folder, hub.repo)
    assert hub.counts()["served"][BIG] == served[BIG]
    assert hub.counts()["served"][SMALL] == 2 * served[SMALL]


async def test_two_downloads_never_write_one_folder(hub: HubProcess, tmp_path: Path) -> None:
    with locked(Folder(tmp_path / "model").lock), pytest.raises(UserError) as caught:
        await fetch(hub, tmp_path / "model")
    assert caught.value.code == "checkpoint.locked"
    assert hub.counts()["requests"] == []


async def test_a_folder_of_another_checkpoint_is_refused(hub: HubProcess, tmp_path: Path) -> None:
    await fetch(hub, tmp_path / "model")
    manifest = Folder(tmp_path / "model").load()
    assert manifest is not None
    Folder(tmp_path / "model").save(manifest.model_copy(update={"repo": "a/b"}))
    with pytest.raises(UserError) as caught:
        await fetch(hub, tmp_path / "model")
    assert caught.value.code == "checkpoint.other"
    Folder(tmp_path / "model").manifest.write_text("{}")
    with pytest.raises(InputError) as refused:
        await fetch(hub, tmp_path / "model")
    assert refused.value.code == "checkpoint.bad_manifest"


async def test_the_hub_cache_of_this_machine_is_used(hub: HubProcess, tmp_path: Path) -> None:
    await fetch(hub, tmp_path / "first")
    manifest = Folder(tmp_path / "first").load()
    assert manifest is not None
    blobs = tmp_path / "cache" / f"models--{ENTRY.repo.replace('/', '--')}" / "blobs"
    blobs.mkdir(parents=True)
    for file in manifest.files:
        data = (tmp_path / "first" / file.path).read_bytes()
        (blobs / file.tag).write_bytes(data if file.path != SMALL else b"?" * len(data))
    heard = Heard()
    served = hub.counts()["served"]
    await fetch(hub, tmp_path / "second", heard, hub_cache=tmp_path / "cache")
    assert same_files(tmp_path / "second", hub.repo)
    assert (tmp_path / "second" / BIG).stat().st_nlink == 2, "linked, not copied"
    now = hub.counts()["served"]
    assert {name for name in now if now[name] != served[name]} == {SMALL}, "a wrong blob is not believed"
    assert (blobs / next(file.tag for file in manifest.files if file.path == SMALL)).read_bytes()[:1] == b"?"


async def test_shards_that_do_not_fit_together_are_named(hub: HubProcess, tmp_path: Path) -> None:
    (hub.repo / SMALL).unlink()
    with pytest.raises(UserError, match=f"{SMALL} is named by the index and missing"):
        await fetch(hub, tmp_path / "model")


async def test_a_repository_with_one_shard_and_no_index(tmp_path: Path, hub: HubProcess) -> None:
    for path in hub.repo.iterdir():
        path.unlink()
    hub.repo.rmdir()
    make_checkpoint(hub.repo, (1_200_000,))
    (hub.repo / "model.safetensors.index.json").unlink()
    result = await fetch(hub, tmp_path / "model")
    assert result.progress.files == 4
