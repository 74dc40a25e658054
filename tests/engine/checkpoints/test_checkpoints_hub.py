"""The hub's wire: lists, tokens, mirrors, addresses, and how long to wait."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hub_helpers import COMMIT, ENTRY, QUICK, HubProcess, wanted_files
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from engine.checkpoints.catalogue import catalogue, entry, wanted
from engine.checkpoints.hf_home import default_endpoint, token_for
from engine.checkpoints.hub import Hub, retry_after
from engine.checkpoints.manifest import Manifest, RemoteFile
from engine.checkpoints.patience import Again, Patience, patiently
from engine.checkpoints.transport import Transport, may_carry_token, parse_endpoint
from engine.domain.plan import CheckpointKind
from engine.errors import InputError, UserError

TOKEN = "hf_abcdefghijklmnop"


async def listing(hub: HubProcess, token: str | None = None) -> Manifest:
    async with Transport(hub.url, QUICK, lambda: token) as transport:
        return await Hub(transport, QUICK, lambda text: None).listing(ENTRY)


def authorizations(hub: HubProcess) -> dict[str, set[str | None]]:
    requests = hub.counts()["requests"]
    return {
        server: {each["authorization"] for each in requests if each["server"] == server} for server in ("hub", "cdn")
    }


async def test_the_list_has_sizes_and_hashes(hub: HubProcess) -> None:
    manifest = await listing(hub)
    assert manifest.commit == COMMIT
    assert {file.path: file.size for file in manifest.files} == {
        name: len(data) for name, data in wanted_files(hub.repo).items()
    }
    for file in manifest.files:
        hasher = file.hasher()
        hasher.update((hub.repo / file.path).read_bytes())
        assert hasher.hexdigest() == file.tag
        assert (file.sha256 is None) == (not file.path.endswith(".safetensors"))


async def test_a_mirror_that_lists_names_only_is_asked_for_headers(hub: HubProcess) -> None:
    whole = await listing(hub)
    hub.settings(list_hashes=False)
    assert await listing(hub) == whole


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"kind": "html"}, "hub.not_a_hub"),
        ({"kind": "status", "status": 404}, "hub.refused"),
        ({"kind": "status", "status": 401}, "hub.forbidden"),
    ],
)
async def test_what_is_no_hub_or_has_no_such_repository(hub: HubProcess, fault: dict[str, Any], code: str) -> None:
    hub.settings(api=[fault])
    with pytest.raises(UserError) as caught:
        await listing(hub)
    assert caught.value.code == code
    assert caught.value.remedy


async def test_a_repository_without_shards_is_no_checkpoint(hub: HubProcess) -> None:
    for shard in hub.repo.glob("*.safetensors"):
        shard.unlink()
    with pytest.raises(UserError) as caught:
        await listing(hub)
    assert caught.value.code == "hub.no_checkpoint"


async def read_all(hub: HubProcess, token: str | None) -> int:
    manifest = await listing(hub)
    count = 0
    async with Transport(hub.url, QUICK, lambda: token) as transport:
        there = Hub(transport, QUICK, lambda text: None)
        for file in manifest.files:

            async def take(file: RemoteFile = file) -> int:
                async with there.body(manifest, file, 0) as body:
                    return sum([len(chunk) async for chunk in body.chunks()])

            count += await patiently(take, QUICK)
    return count


async def test_the_token_goes_to_a_gated_hub_and_never_to_where_it_redirects(hub: HubProcess) -> None:
    hub.settings(gated=TOKEN)
    assert await read_all(hub, TOKEN) == sum(map(len, wanted_files(hub.repo).values()))
    assert authorizations(hub) == {"hub": {None, f"Bearer {TOKEN}"}, "cdn": {None}}


async def test_a_hub_that_does_not_ask_never_sees_the_token(hub: HubProcess) -> None:
    await read_all(hub, TOKEN)
    assert authorizations(hub) == {"hub": {None}, "cdn": {None}}


@pytest.mark.parametrize("token", [None, "hf_another"])
async def test_no_token_or_a_wrong_one_is_said_without_it(hub: HubProcess, token: str | None) -> None:
    hub.settings(gated=TOKEN)
    with pytest.raises(UserError, match=r"does not give config\.json to everybody") as caught:
        await read_all(hub, token)
    assert caught.value.code == "hub.forbidden"
    assert "hf auth login" in caught.value.remedy
    assert "hf_another" not in str(caught.value)


def test_a_token_belongs_to_the_configured_hub_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert token_for(default_endpoint())() == TOKEN
    assert token_for("https://mirror.example")() is None


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("https://hub.example", True),
        ("http://hub.example", False),
        ("http://127.0.0.1:80", True),
        ("http://localhost", True),
        ("http://10.0.0.1", False),
    ],
)
def test_a_token_goes_over_tls_or_inside_the_machine(address: str, may: bool) -> None:
    assert may_carry_token(URL(address)) is may


@pytest.mark.parametrize(
    "address",
    ["", "hub", "ftp://hub", "https://", "https://user:secret@hub", "https://hub?x=1", "http://[::1", "file:///x"],
)
def test_addresses_that_cannot_be_used(address: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_endpoint(address)
    assert caught.value.code == "hub.bad_address"


def test_a_mirror_may_have_a_path() -> None:
    assert str(parse_endpoint("https://mirror.example/hf/")) == "https://mirror.example/hf"


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after("7") == 7
    assert retry_after("Sun, 29 Nov 2026 18:00:30 GMT", now=1_795_975_200.0) == 30
    assert retry_after("Sun, 29 Nov 2026 18:00:30 GMT", now=1_795_975_290.0) == 0
    assert retry_after("") is None
    assert retry_after("soon") is None


@given(st.text(max_size=30))
def test_retry_after_takes_any_text(text: str) -> None:
    seconds = retry_after(text, now=0.0)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", ".desk/lock", "a\0b"])
def test_a_hub_cannot_write_outside_the_folder(path: str) -> None:
    with pytest.raises(ValueError, match="does not stay inside"):
        RemoteFile(path=path, size=1, sha256="0" * 64)


async def test_patience_counts_from_the_last_progress() -> None:
    moved, tries = itertools.accumulate([0, 1, 0, 1, 0, 0, 0]), 0

    async def attempt() -> None:
        nonlocal tries
        tries += 1
        raise Again(UserError("x", "no"), delay_s=0.0)

    with pytest.raises(UserError):
        await patiently(attempt, Patience(attempts=3), moved=lambda: next(moved))
    assert tries == 5, "the first and the third moved"


def test_pauses_double_up_to_a_limit() -> None:
    patience = Patience()
    assert [patience.pause(n) for n in (1, 2, 3, 7, 9)] == [1, 2, 4, 60, 60]
    assert 240 <= sum(map(patience.pause, range(1, patience.attempts))) <= 360


def test_the_catalogue_has_every_kind_that_is_downloaded() -> None:
    kinds = {kind for kind in CheckpointKind.__args__ if kind != "embedded"}  # type: ignore[attr-defined]
    assert set(catalogue()) == kinds
    assert next(iter(catalogue())) == "fp8"
    assert entry("fp8").repo == ENTRY.repo
    assert all(each.folder.name == each.repo.replace("/", "--") for each in catalogue().values())
    with pytest.raises(InputError, match="fp8, int8, nvfp4"):
        entry("fp4")


def test_only_what_an_engine_reads_is_wanted() -> None:
    assert wanted("model-00001-of-00002.safetensors")
    assert wanted("chat_template.jinja")
    assert not any(map(wanted, [".gitattributes", "README.md", "assets/a.png", "model.gguf", "pytorch_model.bin"]))
