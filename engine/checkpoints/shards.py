"""What safetensors files say about themselves, without their tensors: header, length, and the index over all shards.

The format (safetensors, "Format"): 8 bytes little-endian header length, a JSON object of tensors with
``data_offsets`` into what follows, then the data.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INDEX = "model.safetensors.index.json"
MOST_HEADER_BYTES = 100_000_000  # the format's own limit


class BadShard(Exception):
    """The file is no whole safetensors file; the message says why."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index: which shard holds which tensor."""

    tensors: dict[str, str]

    @property
    def shards(self) -> frozenset[str]:
        return frozenset(self.tensors.values())


def tensor_names(path: Path) -> frozenset[str]:
    """The tensors of a shard, checked against the file's length.

    Raises:
        BadShard: no header, or the data is longer or shorter than it says.
        OSError: unreadable.
    """
    with path.open("rb") as shard:
        length = os.fstat(shard.fileno()).st_size
        size = int.from_bytes(shard.read(8), "little")
        if length < 8 or not 2 <= size <= min(MOST_HEADER_BYTES, length - 8):
            raise BadShard("it has no safetensors header")
        text = shard.read(size)
    try:
        header: dict[str, Any] = json.loads(text)
        header.pop("__metadata__", None)
        end = max((int(tensor["data_offsets"][1]) for tensor in header.values()), default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadShard("its header cannot be read") from error
    if 8 + size + end != length:
        raise BadShard(f"it has {length} bytes, its header speaks of {8 + size + end}")
    return frozenset(header)


def read_index(root: Path) -> Index | None:
    """The index of a folder; None when it has none (a model in one file).

    Raises:
        BadShard: it cannot be read.
    """
    path = root / INDEX
    try:
        found = json.loads(path.read_bytes())["weight_map"]
        return Index({str(tensor): str(shard) for tensor, shard in found.items()})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadShard(f"{INDEX} cannot be read") from error
