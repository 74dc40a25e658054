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
        ("{{ text is nosuch }}", "template.syntax", "the tests are"),
        ("{{ text|attr('x') }}", "template.syntax", "the filters are abs, capitalize"),
        ("{% do 1 %}", "template.syntax", "the tags are"),
        ("{{ " + "9" * 5000 + " }}", "template.too_complex", "number too long"),
        ("{{ " + "(" * 5000 + "a" + ")" * 5000 + " }}", "template.too_complex", "fewer levels"),
        ("{{ " + "not " * 5000 + "a }}", "template.too_complex", "fewer levels"),
        ("{{ a" + "|lower" * 3000 + " }}", "template.too_complex", "fewer levels"),
        ("{% if a %}" * 200 + "x" + "{% endif %}" * 200, "template.too_complex", "fewer levels"),
        ("{% if a %}" * 3000 + "x" + "{% endif %}" * 3000, "template.too_complex", "fewer levels"),
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
        "{{ '{:>99999999}'.format(a) }}",
        "{{ '{x:>99999999}'.format_map(a) }}",
        "{{ text.format(1) }}",
        "{{ text['format'](1) }}",
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


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(10000) %}{{ range(10000)|join(',')|length }}{% endfor %}",
        "{% for i in range(10000) %}{% if range(10000)|sort|list|reverse|list|unique|list %}{% endif %}{% endfor %}",
        "{% for i in range(10000) %}{% if range(10000)|select|list %}{% endif %}{% endfor %}",
        "{% for i in range(10000) if text|list|sort %}{% endfor %}",
        "{% for i in range(10000) %}{% if 'zz' in text %}{% endif %}{% endfor %}",
        "{% for i in range(10000) %}{% if row['text'] == row.other %}{% endif %}{% endfor %}",
        "{% for i in range(10000) %}{% if text.upper().count('A') %}{% endif %}{% endfor %}",
    ],
)
def test_work_without_end_ends(source: str) -> None:
    row = {"text": "x" * 100_000, "other": "x" * 100_000}
    with pytest.raises(UserError, match="more than 10000000 steps for this row"):
        render(source, row)
    assert render("{{ text|length }}", row) == "100000"  # the next row has its own budget


def test_huge_numbers_are_not_multiplied() -> None:
    for operator in ("*", "//", "%", "/"):
        with pytest.raises(UserError, match="at most 4096 bits"):
            render("{{ (n|int(0, 16)) " + operator + " 3 > 0 }}", {"n": "f" * 100_000})


def test_honest_work_on_long_texts_is_done() -> None:
    lines = "\n".join(f"line {number}" for number in range(50_000))
    source = (
        "{% for line in text.splitlines() %}{% if loop.last %}{{ title }} {{ line|upper|trim }}{% endif %}{% endfor %}"
    )
    assert render(source, {"text": lines, "title": "T"}) == "T LINE 49999"
    assert render("{{ text|lower|trim|truncate(9, True, '', 0) }}", {"text": "A" * 10_000_000}) == "a" * 9
    assert render("{% for i in range(3) %}{{ loop.revindex }}{{ loop.length }}{% endfor %}", {"a": ""}) == "332313"
    assert render("{{ a|default('x') }}{{ [3, 1]|sort|first }}{{ a|select|join }}", {"a": "y"}) == "y1y"


@given(names=st.lists(st.text(min_size=1, max_size=15), min_size=1, max_size=5, unique=True), cell=st.text())
def test_every_column_can_be_named_and_gives_its_cell_unchanged(names: list[str], cell: str) -> None:
    row = {name: f"{number}{cell}" for number, name in enumerate(names)}
    source = "|".join("{{ " + column_reference(name) + " }}" for name in names)
    template = RowTemplate(source, names)
    assert template.columns == tuple(names)
    assert template.render(row) == "|".join(row.values())
