"""Which addresses may ever be opened."""

from __future__ import annotations

from urllib.parse import urlsplit

SAFE_SCHEMES = frozenset({"http", "https", "mailto"})


def safe_url(url: str) -> bool:
    """Whether a link may be opened at all."""
    try:
        return urlsplit(url).scheme.lower() in SAFE_SCHEMES
    except ValueError:
        return False
