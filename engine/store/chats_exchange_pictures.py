"""Pictures in exported conversations: each once in the file, under its hash; messages name the hashes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from engine.domain.picture import Picture, StoredPicture
from engine.errors import InputError
from engine.pictures import picture_of
from engine.store.chats_read import ChatReader


class PictureName(BaseModel):
    """A picture of a message."""

    model_config = ConfigDict(extra="ignore")

    sha256: str
    name: str = ""


class PictureData(BaseModel):
    """The bytes of a picture in base64."""

    model_config = ConfigDict(extra="ignore")

    base64: str


def plain_names(pictures: Sequence[StoredPicture]) -> list[dict[str, str]]:
    """``PictureName`` as JSON values."""
    return [{"sha256": picture.sha256, "name": picture.name} for picture in pictures]


def with_data(reader: ChatReader, pictures: Sequence[StoredPicture]) -> dict[str, Any]:
    """``PictureData`` as JSON values by hash, each picture once."""
    each = {picture.sha256: picture for picture in pictures}
    return {
        sha256: {"base64": base64.b64encode(reader.picture(found).data).decode("ascii")}
        for sha256, found in each.items()
    }


def taken(given: Mapping[str, PictureData], source: str) -> dict[str, Picture]:
    """The pictures of a file by the names that its messages use for them.

    Raises:
        InputError: no base64, no picture, too large, or under another picture's hash; names the place.
    """
    found = {}
    for sha256, each in given.items():
        where = f"{source}: pictures.{sha256[:16]}"
        try:
            data = base64.b64decode(each.base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError("chat.import_base64", "{where} is no base64", where=where) from error
        picture = picture_of(data, where)
        if picture.sha256 != sha256:
            raise InputError("chat.import_hash", "{where}: its bytes have another SHA-256", where=where)
        found[sha256] = picture
    return found


def named(names: Sequence[PictureName], pictures: Mapping[str, Picture]) -> list[Picture]:
    """The pictures of a message.

    Raises:
        InputError: the file does not hold one.
    """
    found = []
    for each in names:
        if each.sha256 not in pictures:
            message = "picture {name} is named, but not in the file"
            raise InputError("chat.import_picture", message, name=each.name or each.sha256)
        held = pictures[each.sha256]
        found.append(Picture(each.name, held.kind, held.width, held.height, held.sha256, held.data))
    return found
