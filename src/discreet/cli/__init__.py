"""The command line: parse, call, show. Nothing is computed here."""

from __future__ import annotations

import gc
import sys

from discreet.cli import front_page

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; what that takes is imported once something other than help is asked for."""
    if front_page.shown(sys.argv[1:] if arguments is None else arguments):
        return
    from_shell = arguments is None
    if from_shell:
        # Loading libraries makes objects that stay; looking through them for garbage takes a tenth of a small command.
        gc.set_threshold(50_000)
    try:
        from discreet.cli import app

        app.main(arguments)
    except KeyboardInterrupt:
        # Modules are still being loaded; once that is done, app.main listens itself.
        from discreet.cli.interruption import INTERRUPTED, MESSAGE

        print(f"discreet: {MESSAGE}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    finally:
        if from_shell and "duckdb" not in sys.modules:
            # So does looking through them once more at the end, for nothing; only DuckDB complains if that is left out.
            gc.freeze()
