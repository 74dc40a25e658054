"""The form format: old versions are read as the present one, and the published schema is that of the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from batch_helpers import CHOICE, NOUL, SCORE, form

from engine.batch.form import dump_form, load_form, parse_form
from engine.batch.form_versions import migrated
from engine.batch.form_wire import FORMAT_VERSION, form_schema
from engine.domain.reading import Method
from engine.errors import InputError


def test_a_form_of_version_1_is_read_with_todays_defaults() -> None:
    """The example as docs/form-file.md of version 1 had it."""
    old = form(NOUL, CHOICE, SCORE, method={"draws": 4, "joint": True}, version=1)
    read = parse_form(old, "old.json")
    assert read.method == Method(draws=4, joint=True, steps=1, rotate=False)
    assert (read.document, [question.threshold for question in read.questions]) == (None, [None] * 3)
    assert dump_form(read)["version"] == FORMAT_VERSION
    assert parse_form(dump_form(read), "new.json") == read
    assert old["version"] == 1  # what was given is left alone


@pytest.mark.parametrize("version", range(1, FORMAT_VERSION + 1))
def test_every_version_is_carried_to_the_present_one(version: int) -> None:
    assert migrated({"version": version, "x": 1}, "f") == {"version": FORMAT_VERSION, "x": 1}


@pytest.mark.parametrize("version", [0, -1, FORMAT_VERSION + 1, "1", 1.0, True, None])
def test_other_versions_are_refused_and_newer_ones_say_what_to_do(version: Any) -> None:
    with pytest.raises(InputError, match="version is") as caught:
        migrated({"version": version}, "f.json")
    assert ("update Diffusion Desk" in str(caught.value)) is (version == FORMAT_VERSION + 1)


def test_the_published_schema_is_that_of_the_models(root: Path) -> None:
    published = json.loads((root / "docs" / "form.schema.json").read_text(encoding="utf-8"))
    assert published == form_schema(), "write it again: ./desk form schema > docs/form.schema.json"


def test_the_schema_names_every_field_and_limit(root: Path) -> None:
    schema = form_schema()
    parts = schema["$defs"]
    assert schema["properties"]["version"] == {"const": FORMAT_VERSION, "title": "Version", "type": "integer"}
    assert schema["properties"]["questions"]["maxItems"] == 64
    assert parts["WireScore"]["properties"]["criteria"]["maxItems"] == 10
    options = parts["WireChoice"]["properties"]["criteria"]["anyOf"]
    assert (options[0]["maxProperties"], options[1]["maxItems"], options[1]["minItems"]) == (26, 26, 2)
    assert parts["WireMethod"]["properties"]["draws"]["anyOf"][1]["maximum"] == 32
    assert all(part["additionalProperties"] is False for part in (schema, *parts.values()))
    documented = (root / "docs" / "form-file.md").read_text(encoding="utf-8")
    named = [*schema["properties"], *parts["WireMethod"]["properties"], *parts["WireNoul"]["properties"]]
    assert [name for name in named if f"`{name}`" not in documented] == []


def test_every_bundled_form_is_read(root: Path) -> None:
    found = sorted((root / "resources").rglob("form.json"))
    assert len(found) >= 2
    for path in found:
        assert parse_form(dump_form(load_form(path)), "again") == load_form(path)
