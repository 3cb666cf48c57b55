"""The command line as it is installed, run in this process: the other half of the front door."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib.metadata import entry_points
from typing import Any


@cache
def _main() -> Any:
    (found,) = entry_points(group="console_scripts", name="discreet")
    return found.load()


def run(*arguments: object) -> tuple[int, str]:
    """Run ``discreet`` with some arguments; return the exit code and what it printed."""
    out, code = io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        try:
            _main()([str(one) for one in arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    return code, out.getvalue()
