"""The form under edit: every edit can be undone, limits hold, problems are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester

from app.models.decisions_check import check_form
from app.models.decisions_document import FormDocument, converted, fresh_id
from app.models.decisions_questions import QuestionsModel
from app.presenters.decisions_draft import Draft, draft_file, load_draft, save_draft
from engine.domain.form import Form
from engine.domain.question import Choice, Noul, Option, Score


@pytest.fixture
def document(qapp: QApplication) -> FormDocument:
    document = FormDocument()
    questions = (
        Noul("urgent", "Is it urgent?"),
        Choice("team", "Which team?", (Option("billing"), Option("support", "all else"))),
        Score("anger", "How angry?", ("calm", "cross", "furious")),
    )
    document.load(Form("Tickets", "{{ text }}", questions), None)
    return document


SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)


def ids(document: FormDocument) -> list[str]:
    return [question.id for question in document.form.questions]


def test_every_edit_of_the_list_is_undone_and_redone(document: FormDocument) -> None:
    before = document.form
    document.add("noul")
    document.duplicate(0)
    document.move(0, 2)
    document.delete(1)
    document.set_state("{{ other }}")
    after = document.form
    assert document.stack.count() == 5
    while document.stack.canUndo():
        document.stack.undo()
    assert document.form == before
    assert not document.dirty
    while document.stack.canRedo():
        document.stack.redo()
    assert document.form == after
    assert document.dirty


def test_typing_into_one_field_is_one_step(document: FormDocument) -> None:
    question = document.form.questions[0]
    for text in ("Is", "Is it", "Is it late?"):
        document.set_question(0, replace(question, instructions=text), "instructions")
    document.set_question(0, replace(document.form.questions[0], id="late"), "id")
    assert document.stack.count() == 2
    document.stack.undo()
    assert ids(document)[0] == "urgent"
    document.stack.undo()
    assert document.form.questions[0] == question


def test_an_edit_after_saving_makes_the_form_dirty_again(document: FormDocument, tmp_path: Path) -> None:
    document.set_name("a")
    document.mark_saved(tmp_path / "form.json")
    assert not document.dirty
    document.set_name("ab")
    assert document.dirty
    document.stack.undo()
    assert not document.dirty


def test_a_draft_holds_what_a_form_file_may_not(document: FormDocument, tmp_path: Path) -> None:
    document.add("choice")
    draft = Draft(document.form, tmp_path / "f.json", True, tmp_path / "t.csv", {"delimiter": ";"})
    save_draft(draft)
    assert load_draft() == draft
    draft_file().write_text('{"version": 1}')
    assert load_draft() is None
    assert draft_file().with_suffix(".bad").read_text() == '{"version": 1}'
    assert load_draft() is None


def test_a_duplicate_has_an_id_of_its_own(document: FormDocument) -> None:
    document.duplicate(0)
    document.duplicate(0)
    assert ids(document)[:3] == ["urgent", "urgent_copy_2", "urgent_copy"]
    assert fresh_id("a", ("a", "a_2")) == "a_3"


def test_the_64th_question_is_the_last(document: FormDocument) -> None:
    for _ in range(70):
        document.add("score")
    assert len(document.form.questions) == 64
    document.duplicate(3)
    assert len(document.form.questions) == 64


def test_another_type_keeps_what_has_a_place_there(document: FormDocument) -> None:
    choice = document.form.questions[1]
    score = converted(choice, "score")
    assert score == Score("team", "Which team?", ("billing", "support"))
    assert converted(Noul("a", "b"), "choice") == Choice("a", "b", (Option(""), Option("")))


@pytest.mark.parametrize(
    ("count", "kind", "text"),
    [(27, "choice", "27 options"), (1, "choice", "1 options"), (11, "score", "11 levels"), (1, "score", "1 levels")],
)
def test_sizes_outside_the_limits_are_named(qapp: QApplication, count: int, kind: str, text: str) -> None:
    names = tuple(f"n{number}" for number in range(count))
    question = Choice("q", "i", tuple(map(Option, names))) if kind == "choice" else Score("q", "i", names)
    problems = check_form(Form("f", "s", (question,)))
    assert [problem.field for problem in problems] == ["criteria"]
    assert text in problems[0].text


def test_problems_name_question_and_field(qapp: QApplication) -> None:
    questions = (
        Noul("a", "x", gold="nope"),
        Noul("a", ""),
        Choice("c", "x", (Option("same"), Option("same"), Option(""))),
    )
    problems = check_form(Form("f", " ", questions, group="city"), ["text"])
    assert {(problem.question, problem.field) for problem in problems} == {
        (None, "state"),
        (None, "group"),
        (0, "id"),
        (0, "gold"),
        (1, "id"),
        (1, "instructions"),
        (2, "criteria.1"),
        (2, "criteria.2"),
    }
    assert {problem.field for problem in check_form(Form("", "", ()))} == {"questions", "state"}


def test_the_question_list_obeys_the_model_contract(document: FormDocument, qtmodeltester: ModelTester) -> None:
    model = QuestionsModel(document)
    qtmodeltester.check(model)
    document.add("noul")
    document.delete(0)
    assert model.moveRow(model.index(9), 0, model.index(9), 2)
    assert ids(document) == ["anger", "team", "yes_no"]
    model.set_problems({0: 2})
    assert "problems: 2" in str(model.data(model.index(0), SPOKEN))
