"""A model hub over HTTP: which files a repository has, with sizes and hashes, and the bytes of one from any offset.

The shapes are those of the Hugging Face hub, which its mirrors serve as well: ``/api/models/<repo>/revision/<rev>``
with ``blobs=true`` for the list, ``/<repo>/resolve/<commit>/<file>`` for the bytes, ``X-Linked-Etag`` and
``X-Linked-Size`` for a file that is kept elsewhere, behind a redirect to a signed address that lives about an hour.
"""

from __future__ import annotations

import contextlib
import email.utils
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from engine.checkpoints.catalogue import CatalogueEntry, wanted
from engine.checkpoints.manifest import Manifest, RemoteFile
from engine.checkpoints.patience import Again, Patience, patiently
from engine.checkpoints.transport import Answer, Transport
from engine.errors import UserError

LISTING_BYTES = 20_000_000
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)$")
_HEX64 = re.compile(r"[0-9a-f]{64}$")
_HEX40 = re.compile(r"[0-9a-f]{40}$")


class _Large(BaseModel):
    sha256: str | None = None
    oid: str | None = None
    size: int | None = None


class _Sibling(BaseModel):
    rfilename: str
    size: int | None = None
    blobId: str | None = None
    lfs: _Large | None = None


class _Info(BaseModel):
    sha: str
    siblings: tuple[_Sibling, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a file from ``offset`` on, which is 0 when the server does not serve ranges."""

    offset: int
    answer: Answer

    def chunks(self) -> AsyncIterator[bytes]:
        return self.answer.chunks()


class WrongPlace(Again):
    """The server does not continue where it was asked to: the file has to begin again."""


class Hub:
    """One repository of a hub."""

    def __init__(self, transport: Transport, patience: Patience, note: Callable[[str], None]) -> None:
        self._transport, self._patience, self._note = transport, patience, note

    async def listing(self, entry: CatalogueEntry) -> Manifest:
        """The files of the newest commit of the entry's revision.

        Raises:
            UserError: the hub cannot be reached, refuses, is no hub, or names no hash for a file.
        """
        info = await patiently(lambda: self._info(entry), self._patience, note=self._note)
        siblings = [sibling for sibling in info.siblings if wanted(sibling.rfilename)]
        if not _HEX40.match(info.sha) or not any(each.rfilename.endswith(".safetensors") for each in siblings):
            raise UserError(
                "hub.no_checkpoint",
                "{repo} on {hub} holds no checkpoint",
                remedy="see whether the repository was moved",
                repo=entry.repo,
                hub=self._address,
            )
        files = [await self._file(entry.repo, info.sha, sibling) for sibling in siblings]
        return Manifest(checkpoint=entry.kind, repo=entry.repo, commit=info.sha, files=tuple(files))

    @contextlib.asynccontextmanager
    async def body(self, manifest: Manifest, file: RemoteFile, offset: int) -> AsyncIterator[Body]:
        """Opens a file at an offset. Every call asks the hub anew, so a signed address is never older than the call.

        Raises:
            Again: worth another try; WrongPlace: from the beginning.
            UserError: refused for good.
        """
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        path = f"{manifest.repo}/resolve/{manifest.commit}/{file.path}"
        async with self._transport.open(path, headers=headers) as answer:
            self._judge(answer, file.path)
            yield Body(_offset(answer, file, offset), answer)

    @property
    def _address(self) -> str:
        return str(self._transport.endpoint)

    async def _info(self, entry: CatalogueEntry) -> _Info:
        path = f"api/models/{entry.repo}/revision/{entry.revision}"
        async with self._transport.open(path, query="blobs=true") as answer:
            self._judge(answer, entry.repo)
            data = await answer.read(LISTING_BYTES)
        try:
            return _Info.model_validate_json(data)
        except ValidationError:
            raise UserError(
                "hub.not_a_hub",
                "{url} does not answer like a model hub",
                remedy="check the address of the mirror; a network with a login page answers so too",
                url=answer.address,
            ) from None

    async def _file(self, repo: str, commit: str, sibling: _Sibling) -> RemoteFile:
        size, tag = sibling.size, sibling.blobId or ""
        if sibling.lfs is not None:
            size = sibling.lfs.size if sibling.lfs.size is not None else size
            tag = sibling.lfs.sha256 or sibling.lfs.oid or ""
        if size is None or not (_HEX64.match(tag) or _HEX40.match(tag)):
            # A mirror that lists names only: the file itself has headers.
            path = f"{repo}/resolve/{commit}/{sibling.rfilename}"
            size, tag = await patiently(lambda: self._head(path), self._patience, note=self._note)
        try:
            return _remote(sibling.rfilename, size or 0, tag)
        except ValidationError as error:
            raise UserError(
                "hub.bad_listing",
                "{hub} names a file that cannot be taken: {file} ({why})",
                remedy="without its size and hash a file cannot be verified; try another mirror",
                hub=self._address,
                file=sibling.rfilename,
                why=str(error.errors()[0]["msg"]),
            ) from None

    async def _head(self, path: str) -> tuple[int, str]:
        async with self._transport.open(path, method="HEAD") as answer:
            self._judge(answer, path)
            first, last = answer.hub_headers, answer.headers
            size = first.get("X-Linked-Size") or last.get("Content-Length") or ""
            tag = first.get("X-Linked-Etag") or first.get("ETag") or last.get("ETag") or ""
        return int(size) if size.isdecimal() else -1, tag.removeprefix("W/").strip('"')

    def _judge(self, answer: Answer, what: str) -> None:
        """Raises for everything but 200 and 206."""
        status = answer.status
        if status in (200, 206):
            return
        params: dict[str, Any] = {"url": answer.address, "status": status, "what": what}
        if status in (401, 403) and answer.hops == 0:
            if self._transport.authorise(answer):
                raise Again(UserError("hub.token", "the hub wants a token"), delay_s=0.0)
            raise UserError(
                "hub.forbidden",
                "the hub does not give {what} to everybody (status {status})",
                remedy="accept the licence on the model's page and log in with `hf auth login`, then start again",
                **params,
            )
        if status in (401, 403):
            raise Again(UserError("hub.expired", "the address of {what} has expired (status {status})", **params))
        if status == 416:
            raise WrongPlace(UserError("hub.range", "{url} does not know this part of {what}", **params))
        if status in (408, 429) or status >= 500:
            error = UserError("hub.busy", "{url} is busy (status {status})", remedy="try again later", **params)
            raise Again(error, delay_s=retry_after(answer.headers.get("Retry-After", "")))
        raise UserError(
            "hub.refused",
            "{url} refuses {what} with status {status}",
            remedy="see whether the repository or its commit is still there",
            **params,
        )


def retry_after(value: str, now: float | None = None) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, 10.2.3: a number or a date); None when it says nothing."""
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        then = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, then - (time.time() if now is None else now))


def _remote(path: str, size: int, tag: str) -> RemoteFile:
    if _HEX64.match(tag):
        return RemoteFile(path=path, size=size, sha256=tag)
    return RemoteFile(path=path, size=size, git_sha1=tag)


def _offset(answer: Answer, file: RemoteFile, asked: int) -> int:
    """Where the body begins. Raises for a body that cannot be this file's."""
    length = answer.headers.get("Content-Length")
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise UserError(
            "hub.encoded",
            "{url} packs {file} although it was asked not to",
            remedy="try another mirror",
            url=answer.address,
            file=file.path,
        )
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise UserError(
            "hub.web_page",
            "{url} answered with a web page instead of {file}",
            remedy="a network's login page or a wrong mirror address does that: open it in a browser",
            url=answer.address,
            file=file.path,
        )
    if answer.status == 206:
        match = _RANGE.match(answer.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != asked or int(match[3]) != file.size:
            raise WrongPlace(
                UserError("hub.range", "{url} sends another part than asked for", url=answer.address, file=file.path)
            )
        return asked
    if length is not None and int(length) != file.size:
        raise UserError(
            "hub.wrong_size",
            "{url} sends {got} bytes for {file}, which has {size}",
            remedy="try another mirror, or later",
            url=answer.address,
            got=int(length),
            file=file.path,
            size=file.size,
        )
    return 0
