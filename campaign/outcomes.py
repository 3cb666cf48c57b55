"""What became of a trial, and what counts as a failure."""

from __future__ import annotations

import io
import signal
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from types import FrameType
from typing import NoReturn

from discreet.cli.app import main

PATIENCE, ASLEEP = 60, 900
"""CPU seconds, and seconds on the clock, after which a command counts as hanging: far longer than any of them needs."""


class HangingError(Exception):
    """A command that does not end."""


@dataclass
class Tally:
    """How many trials of each part there were, and which failed."""

    tried: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def note(self, part: str, fault: str = "") -> None:
        """Count a trial, and keep what was wrong with it."""
        self.tried[part] += 1
        if fault:
            self.failed.append(f"{part}: {fault}")

    def add(self, other: Tally) -> None:
        """Take in what another part found."""
        self.tried += other.tried
        self.failed += other.failed


def command(arguments: Sequence[object]) -> tuple[int, str, str]:
    """Run the command line in this process; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0

    def stop(_: int, __: FrameType | None) -> NoReturn:
        raise HangingError

    clocks = {signal.SIGPROF: (signal.ITIMER_PROF, PATIENCE), signal.SIGALRM: (signal.ITIMER_REAL, ASLEEP)}
    before = {number: signal.signal(number, stop) for number in clocks}
    for clock, seconds in clocks.values():
        signal.setitimer(clock, seconds)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as end:
                code = end.code
            except HangingError:
                code = -1
            except BaseException:
                code = -2
                err.write(traceback.format_exc())
    finally:
        for number, (clock, _) in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])
    return (code if isinstance(code, int) else 0), out.getvalue(), err.getvalue()


def fault(arguments: Sequence[object]) -> str:
    """Run a command, and say what is wrong with the way it ended: nothing, if it answered or refused in one line."""
    code, out, err = command(arguments)
    told = f"{' '.join(str(one)[:60] for one in arguments)} ended in {code}"
    if code not in (0, 1, 2):
        return f"{told}: {err.strip().splitlines()[-1][:300] if err.strip() else 'no message'}"
    if "Traceback" in out + err:
        return f"{told}, with a traceback"
    if code == 2 and (err.count("\n") != 1 or not err.startswith("discreet: ")):
        return f"{told}, not in one line: {err[:200]!r}"
    if any(not (c.isprintable() or c == "\n") for c in out + err):
        return f"{told}, with control characters"
    return ""
