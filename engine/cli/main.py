"""The group of commands, and the one place where errors become text and exit codes.

Exit codes: 0 done; 1 a fault of ours; 2 input, setting or file wrong; 3 the engine is unreachable or refuses, or a run
is unfinished and can be resumed; 4 the engine that was to be served did not start, or died; 130 interrupted.
"""

from __future__ import annotations

import codecs
import errno
import importlib
import io
import json
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.version import version
from engine.errors import BugError, EngineError, EngineRefused, EngineUnreachable, InputError, UserError

OK, BUG, BAD_INPUT, UNFINISHED, NOT_STARTED, INTERRUPTED = 0, 1, 2, 3, 4, 130

# What the system says about a stdout that takes nothing more.
_NO_OUTPUT = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
_STUCK = frozenset({"run.stuck", "engine.died_at_start", "engine.start_timeout", "engine.died"})

# Each is a module of this package, loaded when it is asked for: `runs` shall not wait for aiohttp, nor `doctor` for
# jinja2, and `--help` needs none of them.
_COMMANDS = {
    "serve": "Serve an engine over HTTP; with a URL, say what answers there.",
    "chat": "Answer a text, canvas by canvas.",
    "chats": "List, search, export and import the stored conversations.",
    "decide": "Read the questions of a form about every row of a table.",
    "again": "Read what failed or was unreadable once more, or ask a finished run more questions.",
    "queue": "Let runs wait for each other, and work them off.",
    "runs": "List the stored runs, newest first.",
    "export": "Write the answers of a run to a file.",
    "review": "Look at the least certain answers of a run and say what is right.",
    "form": "Look at forms, begin one, try one, import and export.",
    "compare-methods": "Read a labelled sample in several ways: which method is worth it.",
    "check-interference": "Read some rows alone and jointly: how far questions pull each other.",
    "check-order": "Read some rows in every order of the options: what the order does.",
    "analyse": "Say how good the answers of a run are.",
    "download": "Fetch or check a checkpoint.",
    "doctor": "Look at this machine and this installation.",
    "plan": "Plan how vLLM is to be started on a machine.",
    "diagnose": "Say what an engine's log means, and what to do.",
    "engine-env": "Make, verify, repair or remove the environment that vLLM runs in.",
    "bench": "Measure one thing and compare it with its target.",
}


class _LazyGroup(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f"engine.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version(), message="%(prog)s %(version)s")
def main() -> None:
    """Chat with a diffusion language model and read decisions over tables.

    Without a command, `diffusion-desk` opens the window.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code. Never raises but for SystemExit of a closed pipe."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given or "--worker" in given
    logging.getLogger("stamina").setLevel(logging.ERROR)  # a retry that worked is no news on a terminal
    _take_any_text(as_json)
    try:
        _check_texts(given)
        code = main.main(args=given, prog_name="diffusion-desk", standalone_mode=False)
        if sys.stdout is not None:  # closed by the caller (>&-)
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as error:
        _show_usage(error, as_json)
        return BAD_INPUT
    except UserError as error:
        _show(error, as_json)
        return UNFINISHED if isinstance(error, EngineUnreachable | EngineRefused) or error.code in _STUCK else BAD_INPUT
    except BrokenPipeError:
        _abandon_stdout()  # the reader of our output left
        return OK
    except OSError as error:
        return _show_system(error, as_json)
    except Exception as error:  # noqa: BLE001  # the last line of defence: shown with its traceback
        return _show_bug(error, as_json)
    return code if isinstance(code, int) else OK


def _take_any_text(as_json: bool) -> None:
    """Let a terminal that is not in UTF-8 have every text: JSON is UTF-8 (RFC 8259, 8.1), elsewhere it is spelled."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper) or codecs.lookup(stream.encoding).name == "utf-8":
            continue
        if as_json and stream is sys.stdout:
            stream.reconfigure(encoding="utf-8")
        else:
            stream.reconfigure(errors="backslashreplace")


def _check_texts(arguments: Sequence[str]) -> None:
    """Refuse bytes that are no text: no request, no run and no line of JSON could hold them.

    Raises:
        InputError: names the argument.
    """
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                "cli.no_text",
                "argument {number}, {argument}: its bytes are no text in UTF-8",
                remedy="rename the file, or write the text in UTF-8",
                number=number,
                argument=ascii(argument),
            ) from error


def _abandon_stdout() -> None:
    """What is still buffered must not fail again when Python closes stdout."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_system(error: OSError, as_json: bool) -> int:
    """A file, a folder or an output that cannot be used is the world's fault, wherever it is met first."""
    if error.filename is None and error.errno not in _NO_OUTPUT:
        return _show_bug(error, as_json)
    if error.filename is None:  # stdout: files of ours name themselves
        _abandon_stdout()
        told = UserError("output.unusable", "the output cannot be written: {why}", why=error.strerror)
        _show(told, as_json=False)
        return BAD_INPUT
    remedy = ""
    if home := os.environ.get("DIFFUSION_DESK_HOME"):
        inside = Path(os.fsdecode(error.filename)).absolute().is_relative_to(Path(home).absolute())
        remedy = "DIFFUSION_DESK_HOME must name a folder that can be written" if inside else ""
    told = UserError("file.unusable", "{path}: {why}", remedy=remedy, path=error.filename, why=error.strerror)
    _show(told, as_json)
    return BAD_INPUT


def _show_bug(error: Exception, as_json: bool) -> int:
    traceback.print_exception(error)
    bug = BugError(
        "cli.bug",
        "{what}",
        remedy="this is a fault of the program: please report it with the lines above",
        what=f"{type(error).__name__}: {error}",
    )
    _show(bug, as_json)
    return BUG


def _show_usage(error: click.ClickException, as_json: bool) -> None:
    if as_json:
        _show(UserError("cli.usage", "{what}", remedy="--help lists the options", what=error.format_message()), True)
    else:
        error.show()


def _show(error: EngineError, as_json: bool) -> None:
    """One or two lines on stderr, or the worker protocol's ``failed`` line on stdout."""
    if as_json:
        print(json.dumps({"event": "failed", "code": error.code, "message": error.message, "remedy": error.remedy}))
        sys.stdout.flush()
        return
    click.echo(f"{click.style('error:', fg='red')} {error.message}", err=True)
    if error.remedy:
        click.echo(f"  {error.remedy}", err=True)
