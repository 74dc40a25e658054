"""Checkpoints that are on the machine already: found, proven as far as anybody knows, linked, and then verified."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from hub_helpers import COMMIT, ENTRY, Heard, HubProcess, make_checkpoint, same_files, shard_names, source

from engine.checkpoints.adopt import AdoptResult, adopt, choose
from engine.checkpoints.download import Source, download
from engine.checkpoints.found import find
from engine.checkpoints.links import link_into
from engine.checkpoints.manifest import NO_COMMIT, Folder
from engine.checkpoints.verify import distrust, verify
from engine.errors import InputError, UserError

FIRST, SECOND = shard_names(2)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A folder that somebody copied here, two levels down."""
    folder = tmp_path / "disk" / "models" / "dg-fp8"
    make_checkpoint(folder, (30_000, 20_000))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A hub cache: blobs named by their hash, a snapshot of links."""
    made = tmp_path / "made"
    make_checkpoint(made, (30_000, 20_000))
    repo = tmp_path / "hub" / f"models--{ENTRY.repo.replace('/', '--')}"
    snapshot = repo / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repo / "blobs").mkdir()
    for path in made.iterdir():
        data = path.read_bytes()
        large = path.suffix == ".safetensors"
        tag = hashlib.sha256(data) if large else hashlib.sha1(b"blob %d\0" % len(data) + data)
        (repo / "blobs" / tag.hexdigest()).write_bytes(data)
        (snapshot / path.name).symlink_to(Path("../../blobs") / tag.hexdigest())
    (repo / "blobs" / "deadbeef.incomplete").write_bytes(b"half")
    return tmp_path / "hub"


def blob_of(cache: Path, name: str) -> Path:
    return next(cache.rglob(name)).resolve()


async def take(root: Path, folder: Path, notes: list[str] | None = None) -> AdoptResult:
    heard = notes if notes is not None else []
    return await adopt(choose(root, ENTRY), ENTRY, folder, note=heard.append)


async def test_a_plain_folder_below_is_found_linked_and_not_called_proven(tmp_path: Path, plain: Path) -> None:
    notes: list[str] = []
    result = await take(tmp_path / "disk", tmp_path / "model", notes)
    assert (result.source, result.proven, result.manifest.commit) == (plain, False, NO_COMMIT)
    assert same_files(tmp_path / "model", plain)
    assert (tmp_path / "model" / FIRST).samefile(plain / FIRST), "not copied"
    assert any("nobody on this machine knows the right hash" in note for note in notes)
    report = await verify(tmp_path / "model")
    assert (report.good, report.proven) == (True, False)
    assert {file.verdict for file in report.files} == {"unchanged"}


async def test_a_hub_cache_proves_itself(tmp_path: Path, cache: Path) -> None:
    result = await take(cache, tmp_path / "model")
    assert (result.proven, result.manifest.commit, result.manifest.repo) == (True, COMMIT, ENTRY.repo)
    shutil.rmtree(cache)
    report = await verify(tmp_path / "model")
    assert report.proven, "hard links outlive the cache"


async def test_a_spoilt_blob_is_named_and_the_others_are_kept(tmp_path: Path, cache: Path) -> None:
    blob = blob_of(cache, SECOND)
    blob.write_bytes(blob.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match=SECOND) as caught:
        await take(cache, tmp_path / "model")
    assert caught.value.code == "adopt.wrong_bytes"
    assert (tmp_path / "model" / FIRST).exists()
    assert not (tmp_path / "model" / SECOND).exists()


async def test_a_download_fetches_only_what_adoption_could_not_take(tmp_path: Path, hub: HubProcess) -> None:
    made = tmp_path / "filled"
    shutil.copytree(hub.repo, made)
    notes = made / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    for path in made.glob("*.safetensors"):  # as hub tools leave it in a folder
        tag = hashlib.sha256(path.read_bytes()).hexdigest()
        (notes / f"{path.name}.metadata").write_text(f"{COMMIT}\n{tag}\n1795975470.1\n")
    spoilt = (made / SECOND).read_bytes()
    (made / SECOND).write_bytes(spoilt[:-1] + b"?")
    with pytest.raises(UserError, match=SECOND):
        await take(made, tmp_path / "model")
    heard = Heard()
    await download(ENTRY, tmp_path / "model", source(hub), heard.control, heard)
    assert same_files(tmp_path / "model", hub.repo)
    assert set(hub.counts()["served"]) == {SECOND}
    assert (made / SECOND).read_bytes()[-1:] == b"?", "what was there is not touched"


async def test_adopted_in_place(tmp_path: Path, plain: Path) -> None:
    before = (plain / FIRST).stat().st_ino
    result = await take(plain, plain)
    assert result.folder == plain
    assert (plain / FIRST).stat().st_ino == before
    assert (await verify(plain)).good
    heard, nowhere = Heard(), Source("http://127.0.0.1:9")
    done = await download(ENTRY, plain, nowhere, heard.control, heard)
    assert done.state == "finished", "everything is there: nothing is asked"


async def test_an_adopted_folder_that_lost_a_file_asks_the_hub(tmp_path: Path, hub: HubProcess) -> None:
    shutil.copytree(hub.repo, tmp_path / "copy")
    await take(tmp_path / "copy", tmp_path / "model")
    (tmp_path / "model" / SECOND).unlink()
    heard = Heard()
    result = await download(ENTRY, tmp_path / "model", source(hub), heard.control, heard)
    assert result.commit == COMMIT
    assert set(hub.counts()["served"]) == {SECOND}
    assert (await verify(tmp_path / "model")).proven, "now the hub has named the hashes"


async def test_what_is_not_whole_is_refused_with_its_names(tmp_path: Path, cache: Path, plain: Path) -> None:
    blob_of(cache, SECOND).unlink()
    with pytest.raises(InputError, match=f"{SECOND} is a link that leads nowhere"):
        await take(cache, tmp_path / "model")
    (plain / SECOND).write_bytes((plain / SECOND).read_bytes()[:-5])
    with pytest.raises(InputError, match=f"{SECOND}: it has 19995 bytes, its header speaks of 20000"):
        await take(plain, tmp_path / "model")
    (plain / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"there is no tokenizer\.json"):
        await take(plain, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_other_models_and_other_formats_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        choose(tmp_path, ENTRY)
    assert caught.value.code == "adopt.nothing"
    with pytest.raises(InputError) as caught:
        choose(tmp_path / "nowhere", ENTRY)
    assert caught.value.code == "adopt.no_folder"
    make_checkpoint(tmp_path / "int8", (3000,), quantization="int-quantized")
    with pytest.raises(InputError, match=r"int8 \(DiffusionGemma, int8\)") as caught:
        choose(tmp_path, ENTRY)
    assert caught.value.code == "adopt.other"
    make_checkpoint(tmp_path / "four", (9000,), quantization="nvfp4-pack-quantized")
    (tmp_path / "four" / "config.json").write_text("[not json")
    assert [found.kind for found in find(tmp_path)] == ["", "int8"]


def test_links_in_a_circle_are_walked_once(tmp_path: Path, plain: Path) -> None:
    (plain / "again").symlink_to(tmp_path / "disk")
    assert [found.folder for found in find(tmp_path / "disk")] == [plain]


def test_another_disk_is_referred_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "file"
    there.write_text("x")
    assert link_into(there, tmp_path / "hard") == "hard"
    assert link_into(there, tmp_path / "hard") == "same"
    shm = Path("/dev/shm")
    if not shm.is_dir() or shm.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    other = shm / f"desk-test-{os.getpid()}"
    other.write_text("y")
    try:
        assert link_into(other, tmp_path / "hard") == "symbolic"
        assert (tmp_path / "hard").read_text() == "y"
    finally:
        other.unlink()
    assert there.read_text() == "x", "the file that was linked before is not written through"


async def test_verify_names_what_is_wrong_and_the_next_download_mends_it(tmp_path: Path, hub: HubProcess) -> None:
    folder, heard = tmp_path / "model", Heard()
    await download(ENTRY, folder, source(hub), heard.control, heard)
    seen: list[tuple[int, int]] = []
    report = await verify(folder, lambda done, total: seen.append((done, total)))
    assert report.proven
    assert seen[-1] == (report.total_bytes, report.total_bytes)

    was = (folder / FIRST).stat()
    data = bytearray((folder / FIRST).read_bytes())
    data[1000] ^= 1
    (folder / FIRST).write_bytes(data)
    os.utime(folder / FIRST, ns=(was.st_atime_ns, was.st_mtime_ns))  # as a failing disk would do it
    (folder / SECOND).unlink()
    (folder / "config.json").write_text("{}")
    (folder / "model-00009-of-00009.safetensors").write_bytes(b"?")
    report = await verify(folder)
    verdicts = {file.path: file.verdict for file in report.files if file.verdict != "right"}
    assert verdicts == {
        FIRST: "wrong bytes",
        SECOND: "missing",
        "config.json": "wrong size",
        "model-00009-of-00009.safetensors": "extra",
    }
    assert not report.good
    assert f"{SECOND} is named by the index and missing" in report.problems
    assert "model-00009-of-00009.safetensors is not named by the index" in report.problems

    (folder / "model-00009-of-00009.safetensors").unlink()
    distrust(report)
    await download(ENTRY, folder, source(hub), heard.control, heard)
    assert (await verify(folder)).proven
    assert same_files(folder, hub.repo)


async def test_verify_wants_a_checkpoint_of_ours(tmp_path: Path, plain: Path) -> None:
    with pytest.raises(InputError) as caught:
        await verify(plain)
    assert caught.value.code == "checkpoint.none"
    Folder(plain).state.mkdir()
    with pytest.raises(InputError):
        await verify(plain)
