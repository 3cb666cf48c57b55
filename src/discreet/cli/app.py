"""The ``discreet`` command: its subcommands, and the handling of errors."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import Annotated, Any, ClassVar, NoReturn, cast

import typer

from discreet.cli import front_page, show
from discreet.cli.deadline import own_process
from discreet.cli.interruption import INTERRUPTED, interruptible, message
from discreet.cli.lazy_group import LazyGroup
from discreet.cli.plain_values import take_plainly
from discreet.cli.protection_record import Invocation
from discreet.cli.short_help import with_help
from discreet.cli.typer_types import Command
from discreet.core.errors import DiscreetError, both_shown, with_options
from discreet.core.progress import WATCHING, Progress
from discreet.core.text import one_line

# The class of all complaints about a command line, which typer does not export.
USAGE_ERROR = cast("type[Exception]", typer.BadParameter.__bases__[0])


class Commands(LazyGroup):
    """All commands, in the order in which the help lists them."""

    homes: ClassVar[Mapping[str, str]] = {name: f"discreet.cli.{name}_command" for name in front_page.COMMANDS} | {
        "protect": "discreet.cli.protect"
    }
    titles: ClassVar[Mapping[str, str]] = {
        name: title for title, listed in front_page.PANELS.items() for name in listed
    }


app = typer.Typer(
    name="discreet",
    cls=Commands,
    help=f"{front_page.ABOUT}\n\n{front_page.FIRST}",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    # For commands that run others, or record how they were run.
    context.obj = Invocation(perform, context.obj)


@cache
def tree() -> Command:
    """Return the commands, built once, since that takes longer than many of them run."""
    found = typer.main.get_command(app)
    take_plainly(found)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 done, 1 unsafe or not reproduced, 2 bad input or request, 3 a fault of discreet itself.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character of a label shows another instead.
            stream.reconfigure(errors="replace")
    if not WATCHING:
        WATCHING.append(show.CompilingBar())
    if arguments is not None:
        _run(arguments)
    elif sys.argv[1:2] == ["workbench"]:
        # It has processes and a folder to close, and runs commands in others.
        _run(sys.argv[1:])
    else:
        _keep_to_ourselves()
        sys.meta_path.insert(0, WithoutPandas())
        with interruptible(), own_process():
            _run(sys.argv[1:])


class WithoutPandas:
    """Refuses pandas, which pyarrow would load to look at any list of texts.

    No command makes a frame of pandas, Spark apart, and loading it takes longer than most of them run.
    """

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Refuse it."""
        if fullname == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError("pandas is left out", name=fullname)


def _keep_to_ourselves() -> None:
    """Keep the output stream for what discreet prints: solvers print remarks of their own there, past Python."""
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    sys.stdout.flush()
    ours = os.fdopen(os.dup(1), "wb")
    sys.stdout = io.TextIOWrapper(
        ours, encoding=sys.stdout.encoding, errors="replace", line_buffering=sys.stdout.line_buffering
    )
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _run(given: list[str]) -> None:
    """Run a command line, and turn errors into one line and an exit code."""
    with both_shown():
        _answer(given)


def _answer(given: list[str]) -> None:
    try:
        code = _called(given)
        if code == INTERRUPTED:
            _fail(message(given), INTERRUPTED)
        sys.stdout.flush()
        sys.exit(code)
    except SystemExit as stop:
        # The libraries that print end with 1 when a pipe is closed; here that means unsafe.
        if isinstance(stop.__context__, BrokenPipeError):
            front_page.leave()
        raise
    except USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.exit(0)  # The help of a group of commands was shown.
        from discreet.cli.usage_errors import usage_text

        _fail(usage_text(error, given), 2)
    except DiscreetError as error:
        from discreet.cli.usage_errors import about_options

        _fail(about_options(str(error), given), 2)
    except MemoryError:
        _fail("the work does not fit into memory; ask for fewer draws, a margin, or a smaller table", 2)
    except OverflowError as error:
        _fail(f"a number is too large to be worked with ({error}); give a smaller one", 2)
    except BrokenPipeError:
        front_page.leave()
    except OSError as error:
        # A name that no file can have, a folder in place of a file, a disk that is full.
        _fail(f"{str(error.filename)[:200]!r} cannot be used ({error.strerror or error}); check the name", 2)
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        _fail(f"a fault of discreet itself ({type(error).__name__}: {error}); set DISCREET_DEBUG=1 to see where", 3)


def _called(given: list[str]) -> Any:
    """Run a command line and return its exit code."""
    wanted = with_help(given) or ["--help"]
    try:
        return tree()(args=wanted, prog_name="discreet", standalone_mode=False, obj=tuple(given))
    except DiscreetError as error:
        str(error)  # what it says may have to be searched for, which can fail or be interrupted as well
        raise


def perform(arguments: list[str], listener: Progress) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, and what it printed on both streams.

    The listener is told the progress of long work.
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


def _fail(message: str, code: int) -> NoReturn:
    print(f"discreet: {one_line(with_options(message))}", file=sys.stderr)
    sys.exit(code)
