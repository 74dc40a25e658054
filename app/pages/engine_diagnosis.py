"""A diagnosis card that does what its buttons say; for the Engine page and the setup's launch."""

from __future__ import annotations

from app.models.engine_retry import Proposal
from app.presenters.engine import EnginePresenter
from app.presenters.engine_remedies import EngineRemedies
from app.widgets.engine.diagnosis_card import DiagnosisCard


def connect_diagnosis(card: DiagnosisCard, engine: EnginePresenter, remedies: EngineRemedies) -> None:
    """The card follows the engine's state; its remedies are followed by ``remedies``."""

    def show(_state: object = None) -> None:
        card.show_diagnosis(engine.state.diagnosis)

    def propose(proposal: Proposal | None) -> None:
        card.show_proposal(proposal if proposal is not None and proposal.remedy is not None else None)

    card.remedy_asked.connect(remedies.apply)
    card.accepted.connect(remedies.accept)
    card.dismissed.connect(remedies.dismiss)
    card.report_wanted.connect(remedies.save_report)
    remedies.proposed.connect(propose)
    remedies.refused.connect(lambda why: card.say(why, good=False))
    remedies.told.connect(card.say)
    remedies.failed.connect(lambda error: card.say(str(error), good=False))
    engine.state_changed.connect(show)
    show()
