"""How the engine stands, in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QCoreApplication

from app.models.engine_log import StartChoice
from app.models.engine_start import StartView
from app.models.engine_state import EngineState
from app.models.notice import as_sentence
from engine.supervise.log_starts import LogStart

CAUSE = 60  # characters of a cause in a list


def tr(text: str) -> str:
    return QCoreApplication.translate("engine", text)


def headline(state: EngineState) -> str:
    names = {"embedded": tr("The embedded toy"), "vllm": "vLLM", "url": tr("The server")}
    words = {
        "stopped": tr("{name} is stopped"),
        "starting": tr("{name} is starting …"),
        "ready": tr("{name} is ready"),
        "stopping": tr("{name} is stopping …"),
        "failed": tr("{name} did not start"),
        "lost": tr("{name} was lost"),
    }
    if state.kind == "url":  # it runs elsewhere, whatever is done here
        words |= {
            "stopped": tr("The server is not used"),
            "starting": tr("Asking the server …"),
            "stopping": tr("Leaving the server …"),
            "failed": tr("{name} does not answer"),
        }
    return words[state.phase].format(name=names[state.kind])


def actions(kind: str) -> tuple[str, str, str]:
    """What starts, restarts and stops the engine; a server elsewhere is only talked to."""
    if kind == "url":
        return tr("Connect"), tr("Connect again"), tr("Disconnect")
    return tr("Start"), tr("Restart"), tr("Stop")


def explanation(state: EngineState, start: StartView) -> str:
    """What it is, or why it is not ready."""
    if state.phase in ("failed", "lost"):
        said = "" if state.diagnosis is not None and state.diagnosis.cause == state.message else state.message
        return "\n".join(as_sentence(part) for part in (said, state.remedy if said else "") if part)
    running = next((phase.name for phase in start.phases if phase.state == "running"), "")
    if state.phase == "starting" and state.kind == "vllm" and running:
        return tr("Not ready yet: {phase}.").format(phase=running)
    if state.kind == "embedded":
        return tr(
            "A DiffusionGemma of a few million parameters that ships with the program and runs on the CPU. "
            "It shows chat and decisions at work; its answers are a toy's."
        )
    if state.kind == "vllm":
        return tr("DiffusionGemma on this computer's cards, started by the plan of the Setup page.")
    return tr("A server at an address that you gave. The program talks to it and never starts or stops it.")


def start_choices(starts: Sequence[LogStart]) -> tuple[StartChoice, ...]:
    """The starts of an engine as entries of a list, the newest first."""
    return tuple(_start_choice(place, start) for place, start in enumerate(starts))


def _start_choice(place: int, start: LogStart) -> StartChoice:
    ends = {"running": tr("runs"), "ready": tr("was ready"), "not_ready": tr("was not ready")}
    end = ends[start.end]
    if start.cause:
        end = tr("died: {why}") if start.end == "ready" else tr("did not start: {why}")
    when = clock(start.began.timestamp())
    cause = start.cause.rstrip(".")
    shown, short = tr("Start of {when} · {end}"), cause if len(cause) <= CAUSE else f"{cause[: CAUSE - 1]}…"
    text, full = (shown.format(when=when, end=end.format(why=why)) for why in (short, cause))
    return StartChoice(start.inode if place else 0, text, f"{full}\n{start.path}")


def clock(since: float | None) -> str:
    """A time of day; with the date when it was not today."""
    if since is None:
        return ""
    moment = datetime.fromtimestamp(since).astimezone()
    pattern = "%H:%M:%S" if moment.date() == datetime.now().astimezone().date() else "%Y-%m-%d %H:%M"
    return moment.strftime(pattern)
