"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.cli.app import main


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Outcome:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
    assert code is None or isinstance(code, int)
    return Outcome(code or 0, out.getvalue(), err.getvalue())


def start(*arguments: object, **environment: str) -> Outcome:
    """Run the installed command in a process of its own."""
    command = Path(sys.executable).with_name("discreet")
    done = subprocess.run(
        [str(command), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, **environment},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def refused(outcome: Outcome) -> str:
    """Check that a request was refused as it should be, and return the reason."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("discreet: ")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
    return outcome.err.removeprefix("discreet: ").rstrip("\n")


def refused_protection(*arguments: object) -> str:
    """Check that a protection was refused and wrote nothing, and return the reason."""
    with TemporaryDirectory() as folder:
        reason = refused(run("protect", *arguments, "-o", Path(folder) / "never.csv"))
        assert not list(Path(folder).iterdir())
    return reason


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
