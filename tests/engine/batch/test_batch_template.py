"""The row template: columns known beforehand, odd names, and nothing a stranger's form could abuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.batch.template import MAX_TEXT, RowTemplate, column_reference
from engine.errors import InputError, UserError

ROW = {"a": "1", "text": "hello\nworld", "odd name": "o", "row": "r", "items": "i", "range": "x", "_cells": "u"}


def render(source: str, row: dict[str, str] = ROW) -> str:
    return RowTemplate(source, list(row)).render(row)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ a }}-{{ text }}\n", "1-hello\nworld\n"),
        ('{{ row["odd name"] }}{{ row.items }}{{ row["row"] }}', "oir"),
        ("{% if a == '1' %}one{% else %}more{% endif %}", "one"),
        ("{% for line in text.splitlines() %}{{ loop.index }}:{{ line }};{% endfor %}", "1:hello;2:world;"),
        ("{{ text.split('\\n')|join(', ')|upper }}", "HELLO, WORLD"),
        ("{{ text|replace('l', 'L')|truncate(8, True, '...', 0) }}", "heLLo..."),
        ("{{ (a|int + 1) * 3 }} {{ a|int % 2 }}", "6 1"),
        ("{{ range }}", "x"),
        ("{# nothing #}{{ text[:4] ~ a }}", "hell1"),
        ("{{ '<b>' }}", "<b>"),
        ("{{ text if text else 'none' }}", "hello\nworld"),
    ],
)
def test_what_a_template_can_do(source: str, text: str) -> None:
    assert render(source) == text


def test_the_columns_in_use_are_known_beforehand() -> None:
    assert RowTemplate('{{ text }} {{ row["odd name"] }}', list(ROW)).columns == ("text", "odd name")
    assert RowTemplate("{% for c in text %}{{ c }}{% endfor %}", list(ROW)).columns == ("text",)
    assert RowTemplate("{% for i in range(3) %}{{ i }}{% endfor %}", ["text"]).columns == ()


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("{{ txt }}", "form.unknown_column", 'no column "txt"; did you mean "text"?'),
        ('{{ row["odd nam"] }}', "form.unknown_column", 'did you mean "odd name"?'),
        ("{{ cycler }}", "form.unknown_column", "the table has: a, text"),
        ("{{ loop.index }}", "form.unknown_column", "loop"),
        ("{{ odd name }}", "template.syntax", 'row["its name"]'),
        ("a\n{{ text", "template.syntax", "line 2"),
        ("{{ text|nofilter }}", "template.syntax", "nofilter"),
        ("{{ row }}", "template.row_alone", "name a column"),
        ("{{ row[a] }}", "template.row_key", "in quotes"),
        ("{% set x = 1 %}", "template.not_allowed", "set"),
        ("{% include 'x' %}", "template.not_allowed", "include"),
        ("{% macro m() %}{% endmacro %}", "template.not_allowed", "macro"),
        ("{% for a in text %}{% for b in text %}{% endfor %}{% endfor %}", "template.not_allowed", "inside a loop"),
        (
            "{% for a in text %}{% if a %}{% for b in a %}{% endfor %}{% endif %}{% endfor %}",
            "template.not_allowed",
            "loop",
        ),
        ("{{ 9 ** 9 }}", "template.not_allowed", "**"),
    ],
)
def test_what_is_refused_before_the_run(source: str, code: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        RowTemplate(source, list(ROW), "f.json: state")
    assert caught.value.code == code
    assert message in str(caught.value)
    assert str(caught.value).startswith("f.json: state: ")


@pytest.mark.parametrize(
    "source",
    [
        "{{ text.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ row['a'].format.__globals__ }}",
        "{{ (1).to_bytes(99999999, 'big') }}",
        "{{ text.center(99999999) }}",
        "{{ text.replace('a', 'b') }}",
        "{{ text * 1000000 }}",
        "{{ '%99999999d' % 1 }}",
        "{{ [1, 2] * 9999999 }}",
        "{{ a|int / 0 }}",
        "{{ row._cells.pop('a') }}",
        "{{ text|replace('', text)|replace('', text)|replace('', text)|replace('', text)|replace('', text) }}",
        r"{{ '\ud800' }}",
        "{{ range(3) }}",  # the column of that name hides the function
    ],
)
def test_what_fails_on_a_row_without_harm(source: str) -> None:
    with pytest.raises(UserError):
        render(source)


def test_the_text_is_capped() -> None:
    big = {"text": "x" * (MAX_TEXT // 2)}
    assert len(render("{{ text }}{{ text }}", big)) == MAX_TEXT
    for source in ("{{ text }}{{ text }}.", "{{ text|replace('x', 'yyy') }}", "{{ text|join('abc') }}"):
        with pytest.raises(UserError, match="more than 1000000 characters"):
            render(source, big)
    with pytest.raises(UserError, match="at most 10000"):
        render("{% for i in range(10001) %}{% endfor %}", big)
    with pytest.raises(UserError, match="more than 1000000"):
        render("{% for i in range(10000) %}{{ text }}{% endfor %}", big)


@given(names=st.lists(st.text(min_size=1, max_size=15), min_size=1, max_size=5, unique=True), cell=st.text())
def test_every_column_can_be_named_and_gives_its_cell_unchanged(names: list[str], cell: str) -> None:
    row = {name: f"{number}{cell}" for number, name in enumerate(names)}
    source = "|".join("{{ " + column_reference(name) + " }}" for name in names)
    template = RowTemplate(source, names)
    assert template.columns == tuple(names)
    assert template.render(row) == "|".join(row.values())
