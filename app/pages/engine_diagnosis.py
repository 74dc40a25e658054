"""A diagnosis card that does what its buttons say; for the Engine page and the setup's launch."""

from __future__ import annotations

from app.presenters.engine import EnginePresenter
from app.presenters.engine_remedies import EngineRemedies
from app.widgets.engine.diagnosis_card import DiagnosisCard


def connect_diagnosis(card: DiagnosisCard, engine: EnginePresenter, remedies: EngineRemedies) -> None:
    """The card follows the engine's state; its remedies are followed by ``remedies``.

    Its slots are methods, so that Qt ends the connections with the card.
    """
    card.remedy_asked.connect(remedies.apply)
    card.accepted.connect(remedies.accept)
    card.dismissed.connect(remedies.dismiss)
    card.report_wanted.connect(remedies.save_report)
    remedies.proposed.connect(card.show_proposal)
    remedies.refused.connect(card.refuse)
    remedies.told.connect(card.tell)
    remedies.failed.connect(card.fail)
    engine.state_changed.connect(card.show_state)
    card.show_state(engine.state)
