"""``discreet workbench``: the commands behind a page in the browser."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import bundled, options
from discreet.cli.compose import argument, command, option
from discreet.core.errors import RequestError

CLOSE = "Ctrl-C closes the workbench."


@command
def workbench(
    context: typer.Context,
    files: Annotated[
        list[Path] | None, argument("Tables, releases, records or hierarchies to open, or a saved session.", "FILE…")
    ] = None,
    example: options.Example = None,
    ledger: Annotated[Path | None, option("The ledger of what is published.")] = None,
    port: Annotated[
        int, option("Where to listen; by default, or with 0, any free port.", min=0, max=65535, show_default=False)
    ] = 0,
    browser: Annotated[bool, option("Open the page in the browser.", "--browser/--no-browser")] = True,
    replay: Annotated[bool, option("Run the commands of a saved session again, and compare.")] = False,
    json: options.Json = False,
) -> None:
    """Open the workbench: see the risk, try a protection, sign the release, in the browser.

    It listens on this machine only, and leaves nothing behind when it is closed (Ctrl-C).

    Examples:
        discreet workbench  # open the page, then a file or a bundled example in it
        discreet workbench table.csv --ledger office.sqlite  # a table, and the ledger of what is published
        discreet workbench --example religion  # a bundled table is open at once
        discreet workbench review.discreet  # a saved session
        discreet workbench review.discreet --replay  # run its commands again and compare the results
    """
    import json as text

    try:
        from discreet.workbench.server import serve
    except ImportError as error:
        raise RequestError(f"the workbench needs {error.name}; install discreet[workbench]") from None
    given, perform = list(files or ()), context.obj.perform
    if replay:
        from discreet.workbench.session_replay import replay as again

        if len(given) != 1:
            raise RequestError("--replay takes one saved session; name it")
        result = again(given[0], context.find_root().command, perform)
        typer.echo(text.dumps(result.to_dict(), indent=2) if json else str(result))
        if not result.same:
            raise typer.Exit(1)
        return

    def ready(address: str) -> None:
        typer.echo(
            text.dumps({"address": address}) if json else f"Open {address}\nIt works once, in one browser. {CLOSE}"
        )
        if browser:
            import webbrowser

            webbrowser.open(address)

    with bundled.table_file(example) if example else nullcontext() as made:
        opened = given if made is None else [*given, made]
        serve(context.find_root().command, perform, opened, port=port, ledger=ledger and ledger.resolve(), ready=ready)
