"""A time limit holds whatever a command is doing when it expires.

Searches and audits end on their own when their time is up, and say what is unfinished. Reading a table of a million
cells, stating its equations or measuring its risk are not searches, and would be finished some time later. So a
separate thread waits a little longer than the limit and ends the process, unless the results are being written by then.
Nothing is lost: files are written atomically, and the finished points of a comparison are in its folder.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core.clock import grace

_ours = threading.Event()
_waiting: list[threading.Timer] = []
_turn = threading.Lock()
_begun: list[float] = []


@contextmanager
def own_process() -> Iterator[None]:
    """Let time limits end this process; a process that others share ends by itself."""
    _ours.set()
    _begun[:] = [time.monotonic()]
    try:
        yield
    finally:
        _ours.clear()


@contextmanager
def ending_within(seconds: float | None) -> Iterator[None]:
    """End the work soon after this many seconds, if nothing is being written by then."""
    if not _ours.is_set():
        _begun[:] = [time.monotonic()]
    if seconds is None or not _ours.is_set():
        yield
        return
    # What a command loads counts too.
    left = _begun[0] + seconds + grace(seconds) - time.monotonic()
    timer = threading.Timer(min(max(left, 0.0), threading.TIMEOUT_MAX), _end, [seconds])
    timer.daemon = True
    _waiting.append(timer)
    timer.start()
    try:
        yield
    finally:
        in_time()


def left_of(seconds: float | None) -> float | None:
    """Return what is left of a command's time limit for its search; what it loads and reads first takes time too."""
    if seconds is None or not _begun:
        return seconds
    return max(seconds - (time.monotonic() - _begun[0]), 0.0)


def in_time() -> None:
    """Say that all is found, and only has to be written."""
    with _turn:
        while _waiting:
            _waiting.pop().cancel()


def _end(seconds: float) -> None:
    with _turn:
        if not _waiting:
            return
        # A progress bar hides the cursor of a terminal.
        cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
        told = f"the time limit of {seconds:g} s has passed before an answer was found; nothing is called safe"
        more = "and nothing was written; give more time (--time-limit)"
        print(f"{cursor}discreet: {told}, {more}", file=sys.stderr, flush=True)
        os._exit(2)
