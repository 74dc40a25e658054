"""What the user's own hub tools keep on this machine: the address of the hub, the token, the cache of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from huggingface_hub import constants

from engine.checkpoints.manifest import RemoteFile


def default_endpoint() -> str:
    """The hub, or the mirror that ``HF_ENDPOINT`` names."""
    return str(constants.ENDPOINT)


def hub_cache() -> Path:
    """Where hub tools keep what they have fetched (``HF_HUB_CACHE``)."""
    return Path(constants.HF_HUB_CACHE).expanduser()


def token_for(endpoint: str) -> Callable[[], str | None]:
    """How to get the token for a hub.

    The stored token belongs to the hub that the user's tools are set to; a mirror given by hand does not get it.
    """
    return _stored_token if endpoint.rstrip("/") == default_endpoint().rstrip("/") else lambda: None


def _stored_token() -> str | None:
    from huggingface_hub import get_token  # half a second of imports that a public repository never needs

    return get_token()


def cached_blob(cache: Path, repo: str, file: RemoteFile) -> Path | None:
    """The file in a hub cache, where it is named by its hash; None when it is not there in full."""
    blob = cache / f"models--{repo.replace('/', '--')}" / "blobs" / file.tag
    try:
        return blob if blob.stat().st_size == file.size else None
    except OSError:
        return None
