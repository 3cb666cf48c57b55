"""How long-running work reports its progress.

A function that can take more than two seconds accepts ``progress``, a callable that is told what is done,
out of how much, and of what. The library is silent unless one is given; the command line draws bars.
"""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called as ``progress(done, total, label)``, from the thread that started the work."""


def tell(progress: Progress | None, done: int, total: int, label: str) -> None:
    """Say how far the work is to whoever asked."""
    if progress is not None:
        progress(done, total, label)
