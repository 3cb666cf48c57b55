"""Ctrl-C ends any command within a second, in the middle of compiled code too.

Python raises KeyboardInterrupt between two steps of its main thread. A kernel or a solver is one step, which can take
minutes, and so is waiting for threads that run one. So a thread of its own hears of the signal at once, leaves the main
thread a quarter of a second to end by itself, and ends the process if it has not. A main thread that has said so ends
the process itself. Nothing is lost by that: files are written whole or not at all, and what a comparison has finished
is in its folder. Scratch files of records go with the process.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""
GRACE = 0.25
"""Seconds that the main thread has to end by itself: a quarter of the second that people wait at most, since a busy
machine takes its time before and after."""
MESSAGE = "interrupted; nothing was written"
KEPT = "interrupted; what was finished is kept, and the same command goes on from there"


def message(given: Sequence[str]) -> str:
    """Say what became of the work of an interrupted command line: plans keep it, and so do comparisons if asked."""
    resumes = any(one.partition("=")[0] == "--resume" for one in given)
    return KEPT if resumes or list(given[:2]) == ["plan", "run"] else MESSAGE


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end what is done here, whatever the main thread is doing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    said = threading.Event()
    # An interruption in a callback of a library goes no further, and is announced at length; the listener hears of it.
    hook, sys.unraisablehook = sys.unraisablehook, _announced
    threading.Thread(target=_listen, args=(ear, said), daemon=True).start()
    try:
        yield
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            # Taking down what a large table left in memory can take seconds, in which no other thread runs.
            said.set()
            _end(quietly=True)
        raise
    finally:
        said.set()
        sys.unraisablehook = hook
        signal.set_wakeup_fd(before)
        mouth.close()


def _announced(unraisable: sys.UnraisableHookArgs) -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _listen(ear: socket.socket, said: threading.Event) -> None:
    """Wait for the signal, then for the main thread, and end the process if that is still at work."""
    with ear:
        while heard := ear.recv(16):
            if signal.SIGINT in heard:
                time.sleep(GRACE)
                # The main thread may have said so, and be waiting for threads before it ends.
                _end(quietly=said.is_set())


def _end(quietly: bool) -> None:
    # A progress bar hides the cursor of a terminal.
    cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
    print(cursor if quietly else f"{cursor}discreet: {message(sys.argv[1:])}\n", end="", file=sys.stderr, flush=True)
    # Nobody has made a scratch folder where this was never loaded, and loading it takes time at every start.
    if files := sys.modules.get("discreet.core.files"):
        files.remove_scratch()
    os._exit(INTERRUPTED)
