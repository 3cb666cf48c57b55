"""How long-running work reports its progress.

A function that can take more than two seconds accepts ``progress``, a callable that is told what is done,
out of how much, and of what. The library is silent unless one is given; the command line draws bars.
"""

import sys
from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called as ``progress(done, total, label)``, from the thread that started the work."""


def tell(progress: Progress | None, done: int, total: int, label: str) -> None:
    """Report progress to the listener, if there is one."""
    if progress is not None:
        progress(done, total, label)


WATCHING: list[Progress] = []
"""Listeners for work that nobody asked for, such as compiling. While the list is empty, the error stream is used."""


def announce(done: int, total: int, label: str) -> None:
    """Report work that nobody asked for, from any thread.

    >>> WATCHING[:], others = [print], WATCHING[:]
    >>> announce(0, 3, "compiling once, about 2 s")
    0 3 compiling once, about 2 s
    >>> WATCHING[:] = others
    """
    for progress in WATCHING:
        progress(done, total, label)
    if not WATCHING and not done:
        print(f"discreet: {label}", file=sys.stderr, flush=True)
