"""Commands in processes of their own, which share what takes long to load: to be killed, or to be timed."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
LOADED = (
    "campaign.outcomes",
    "discreet.cli.assess_command",
    "discreet.cli.audit_command",
    "discreet.cli.compare_command",
    "discreet.cli.geography_command",
    "discreet.cli.ledger_command",
    "discreet.cli.plan_command",
    "discreet.cli.protect",
    "discreet.cli.tabulate_command",
    "discreet.decide.assess",
    "discreet.decide.compare",
    "discreet.decide.ledger",
    "discreet.evaluate.audited_suppression",
    "discreet.programme.running",
    "discreet.report.html",
    "discreet.tabulation.engines.duckdb",
)
"""What a command would load first; a process begins with it, and so with its work."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, minus the signal if it was killed, and the seconds that it took."""

    code: int
    seconds: float


def tried(name: str, work: Callable[..., object], given: tuple[int, ...]) -> object:
    """Try one part in a folder that is gone afterwards."""
    home, begun = Path.cwd(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"campaign-{name}-") as folder:
        os.chdir(folder)
        try:
            found: Any = work(Path(folder), *given)
        finally:
            os.chdir(home)
    tally = found[0] if isinstance(found, tuple) else found
    took = f"{sum(tally.tried.values()):,} trials in {time.monotonic() - begun:,.0f} s"
    print(f"{name}: {took}, {len(tally.failed)} failed", *tally.failed, sep="\n  ", flush=True)
    return found


def run(words: list[str], folder: Path, kill_after: float | None = None) -> Ended:
    """Run a command in a folder, and kill it after some seconds if it is still there."""
    CONTEXT.set_forkserver_preload(list(LOADED))
    begun = CONTEXT.Value("d", 0.0)
    child: BaseProcess = CONTEXT.Process(target=_work, args=(words, str(folder), begun))
    child.start()
    if kill_after is not None:
        while not begun.value and child.is_alive():
            time.sleep(0.001)
        child.join(kill_after)
        child.kill()
    child.join()
    if not begun.value or child.exitcode is None:
        raise SystemExit(f"{' '.join(words)} did not begin")
    ended = Ended(child.exitcode, time.monotonic() - begun.value)
    child.close()
    return ended


def _work(words: list[str], folder: str, begun: Any) -> None:
    from discreet.cli.app import main

    os.chdir(folder)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.argv = ["discreet", *words]
    begun.value = time.monotonic()
    main()
