"""Settings that all tests share."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests import measuring

leave = measuring.measure()

from discreet.core import compiled  # noqa: E402 (what is measured is imported after that)
from discreet.core.progress import WATCHING  # noqa: E402

# A busy machine or a kernel's first compilation must not fail a property; CI draws the same examples every time.
settings.register_profile("discreet", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("discreet")

# What is compiled depends on what has run before; nobody is told of it, as tests compare what commands say.
WATCHING.append(lambda done, total, label: None)

# A run of all tests compiles nearly every kernel, so each is interpreted for a moment only.
compiled.TURNS, compiled.KEPT_TURNS = 50_000, 10_000


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Have one process look for tests at a time: the others then load what it has compiled.

    What is loaded stays to the end. Looking through it for garbage took a sixteenth of the time of all tests.
    """
    turn = Path(__file__).parent / "__pycache__" / "collecting"
    turn.parent.mkdir(exist_ok=True)
    with turn.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        gc.disable()
        try:
            return (yield)
        finally:
            gc.collect()
            gc.freeze()
            gc.enable()


def pytest_sessionfinish() -> None:
    """Leave what was measured before the process that handed out the tests ends this one."""
    gc.unfreeze()  # what is never looked through would be reported as leaked
    leave()


@cache
def _compile_once() -> None:
    """Have each kernel compiled by one of the processes that run tests; the others wait and load what it made."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    place = Path(tempfile.gettempdir()) / f"discreet-tests-{os.getuid()}-kernels"
    place.mkdir(exist_ok=True)
    compile_one = Dispatcher.compile

    def compile_alone(self: Any, signature: Any) -> Any:
        code = self.py_func.__code__
        name = f"{code.co_filename} {code.co_firstlineno} {signature}"
        own = place / hashlib.sha256(name.encode()).hexdigest()[:32]
        with global_compiler_lock, own.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_one(self, signature)

    setattr(Dispatcher, "compile", compile_alone)  # noqa: B010 (a method is replaced)
    listen()


listen, compiled._listen = compiled._listen, _compile_once
