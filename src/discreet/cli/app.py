"""The ``discreet`` command: its subcommands, and what becomes of errors."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import Annotated, Any, NoReturn, cast

import typer

from discreet.cli import show
from discreet.cli.assess import assess
from discreet.cli.audit import audit
from discreet.cli.compare import compare
from discreet.cli.estimate import estimate
from discreet.cli.inspect import inspect
from discreet.cli.ledger import ledger
from discreet.cli.protect import protect
from discreet.cli.replay import replay
from discreet.cli.report import report
from discreet.cli.risk import risk
from discreet.cli.rules import rules
from discreet.cli.study import study
from discreet.cli.tabulate import tabulate
from discreet.cli.uniques import uniques
from discreet.cli.workbench import workbench
from discreet.core.errors import DiscreetError
from discreet.core.progress import Progress
from discreet.core.text import one_line

# The class of all complaints about a command line, which typer does not export.
USAGE_ERROR = cast("type[Exception]", typer.BadParameter.__bases__[0])
INTERRUPTED = 130

app = typer.Typer(
    name="discreet",
    help="Measure what a statistical table gives away about the people in it, before and after protection.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (
    *(assess, compare, audit, risk, report, estimate),
    *(replay, study, tabulate, rules, inspect, workbench),
):
    app.command()(_command)
for _group in (protect, uniques, ledger):
    app.add_typer(_group)


def _version(show: bool) -> None:
    if show:
        from discreet import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Measure what a statistical table gives away about the people in it, before and after protection."""
    # For commands that run others.
    context.obj = perform


@cache
def tree() -> Any:
    """Return the commands, built once: that takes longer than many of them run."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 done, 1 unsafe or not reproduced, 2 bad input or request, 3 a fault of discreet itself.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character of a label shows another instead.
            stream.reconfigure(errors="replace")
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = tree()(args=given or ["--help"], prog_name="discreet", standalone_mode=False)
        if code == INTERRUPTED:
            _fail("interrupted; nothing was written", INTERRUPTED)
        sys.stdout.flush()
        sys.exit(code)
    except SystemExit as stop:
        # The libraries that print end with 1 when a pipe is closed; here that means unsafe.
        if isinstance(stop.__context__, BrokenPipeError):
            _leave()
        raise
    except USAGE_ERROR as error:
        where = getattr(error, "ctx", None)
        told = cast("Any", error).format_message().rstrip(".")
        _fail(f"{told}; see {where.command_path if where is not None else 'discreet'} --help", 2)
    except DiscreetError as error:
        _fail(str(error), 2)
    except MemoryError:
        _fail("the work does not fit into memory; ask for fewer draws, a margin, or a smaller table", 2)
    except OverflowError as error:
        _fail(f"a number is too large to be worked with ({error}); give a smaller one", 2)
    except BrokenPipeError:
        _leave()
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        _fail(f"a fault of discreet itself ({type(error).__name__}: {error}); set DISCREET_DEBUG=1 to see where", 3)


def perform(arguments: list[str], listener: Progress) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, and what it printed on both streams.

    The listener is told how far long work is.
    """
    out, complaints = io.StringIO(), io.StringIO()
    code: object = 0
    show.LISTENERS.append(listener)
    try:
        with redirect_stdout(out), redirect_stderr(complaints):
            try:
                main(arguments)
            except SystemExit as stop:
                code = stop.code
    finally:
        show.LISTENERS.remove(listener)
    return (code if isinstance(code, int) else 0), out.getvalue(), complaints.getvalue()


def _leave() -> NoReturn:
    """End because the reader of a pipe went away; there is nobody left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)


def _fail(message: str, code: int) -> NoReturn:
    print(f"discreet: {one_line(message)}", file=sys.stderr)
    sys.exit(code)
