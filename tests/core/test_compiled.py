"""Kernels: interpreted while work is small, compiled once that pays, the same bytes either way."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from discreet.core import compiled as kernels
from discreet.core.compiled import Kernel, compiled
from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import WATCHING

INFINITE = float("inf")
NJIT: Any = numba.njit


class Pair(NamedTuple):
    """Two arrays that a kernel writes to."""

    x: IntArray
    seen: IntArray


@compiled
def step(pair: Pair, i: int) -> int:
    pair.x[i] += i
    return int(pair.x[i])


@compiled
def steps(pair: Pair, words: Any, rng: np.random.Generator) -> tuple[int, float]:
    """Write to arrays inside a tuple, wrap words around and draw."""
    total, drawn = 0, 0.0
    for i in range(pair.x.size):
        total += step(pair, i)
        pair.seen[0] += 1
        words[0] = words[0] * np.uint64(6364136223846793005) + np.uint64(1)
        drawn += rng.random()
    return total, drawn


@compiled
def both_ends(pair: Pair) -> int:
    return step(pair, 0) + step(pair, 1) + step(pair, pair.x.size - 1)


@compiled
def ratio(a: float, b: float) -> float:
    return a / b


def fresh(kernel: Kernel[..., Any]) -> Kernel[..., Any]:
    """Return the kernel as a new process sees it, nothing kept on disk."""
    made = Kernel(kernel.function)
    made._granted = kernels.TURNS
    return made


def outcome(kernel: Kernel[..., Any], size: int) -> tuple[Any, ...]:
    pair = Pair(np.arange(size), np.zeros(1, np.int64))
    words, rng = np.array([7], np.uint64), np.random.default_rng(1)
    result = kernel(pair, words, rng)
    return result, pair.x.tobytes(), int(pair.seen[0]), int(words[0]), rng.random()


def test_interpreted_compiled_and_given_up_halfway_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KERNELS", "compiled")
    expected = outcome(fresh(steps), 1000)
    monkeypatch.setenv("DISCREET_KERNELS", "interpreted")
    assert outcome(fresh(steps), 1000) == expected
    monkeypatch.delenv("DISCREET_KERNELS")
    halfway, patient = fresh(steps), fresh(steps)
    halfway._granted = 500
    assert outcome(halfway, 1000) == expected
    assert halfway._machine_code is not None
    assert outcome(patient, 1000) == expected
    assert patient._machine_code is None
    assert patient._granted == kernels.TURNS - 1000
    assert [type(part) for part in outcome(patient, 10)[0]] == [int, float]


def test_large_arrays_are_never_interpreted() -> None:
    kernel = fresh(steps)
    outcome(kernel, kernels.LARGE)
    assert kernel._machine_code is not None
    assert kernel._granted == kernels.TURNS


def test_what_python_cannot_divide_is_left_to_machine_code() -> None:
    kernel = fresh(ratio)
    assert kernel(1.0, 0.0) == INFINITE
    assert kernel._machine_code is not None


def test_turns_are_granted_for_all_that_would_be_compiled(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "Path", lambda name: tmp_path / "test_compiled.py")
    assert steps.needed() == {steps, step}
    assert Kernel(steps.function)._granted == 2 * kernels.TURNS
    (tmp_path / "__pycache__").mkdir()
    line = steps.function.__code__.co_firstlineno
    (tmp_path / "__pycache__" / f"test_compiled.steps-{line}.py311.nbi").touch()
    assert Kernel(steps.function)._granted == kernels.KEPT_TURNS


@pytest.mark.parametrize(("switch", "compiles"), [("1", False), ("0", True), ("", True)])
def test_the_switch_of_the_compiler_is_heeded(switch: str, compiles: bool) -> None:
    """What Numba does not compile has none of its files, and a large table ended in a fault."""
    run = "from discreet.core.compiled import _has_compiler; print(_has_compiler())"
    told = subprocess.run(
        [sys.executable, "-c", run], env={**os.environ, "NUMBA_DISABLE_JIT": switch}, capture_output=True, text=True
    )
    assert told.stdout == f"{compiles}\n"


def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int, str]] = []
    monkeypatch.setattr(numba, "njit", lambda **options: _uncached(options))
    monkeypatch.setenv("DISCREET_KERNELS", "compiled")
    WATCHING.append(lambda *report: told.append(report))
    try:
        for kernel in (step, steps):
            monkeypatch.setattr(kernel, "_variants", {})
            monkeypatch.setattr(kernel, "_machine_code", None)
        outcome(steps, 10)
    finally:
        WATCHING.pop()
    assert told[0] == (0, 2, "compiling once, about 1 s")
    assert told[-1] == (2, 2, "compiling once, about 1 s")


def test_threads_that_lack_the_compiler_say_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def listener(done: int, total: int, label: str) -> None:
        time.sleep(0.05)
        told.append(label)

    kernels._say_that_it_is_slow.cache_clear()
    WATCHING.append(listener)
    try:
        with ThreadPoolExecutor(2) as pool:
            assert [one.result() for one in [pool.submit(kernels._ask_for_it) for _ in range(2)]] == [INFINITE] * 2
    finally:
        WATCHING.pop()
        kernels._say_that_it_is_slow.cache_clear()
    assert len(told) == 1


def test_constants_that_kernels_hand_over_compile_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba, "njit", lambda **options: _uncached(options))
    monkeypatch.setenv("DISCREET_KERNELS", "compiled")
    for kernel in (step, both_ends):
        monkeypatch.setattr(kernel, "_variants", {})
        monkeypatch.setattr(kernel, "_machine_code", None)
    both_ends(Pair(np.arange(5), np.zeros(1, np.int64)))
    assert len(step._variant(counted=False).signatures) == 1


def test_a_kernel_with_defaults_is_refused() -> None:
    """For a default that is left out, machine code is made once more."""

    def lifted(x: int, by: int = 1) -> int:
        return x + by

    with pytest.raises(TypeError, match="lifted is a kernel and has defaults; have its callers state every argument"):
        compiled(lifted)


def test_what_others_compile_is_left_alone() -> None:
    told: list[tuple[int, int, str]] = []
    kernel = fresh(ratio)
    kernel(1.0, 0.0)
    WATCHING.append(lambda *report: told.append(report))
    try:
        assert numba.njit(lambda x: x + 1)(1) == 2
    finally:
        WATCHING.pop()
    assert told == []


def _uncached(options: dict[str, Any]) -> Callable[..., Any]:
    """Compile as where nothing can be written."""
    if options.pop("cache", False):

        def refuse(function: object) -> None:
            raise RuntimeError("cannot cache function: no locator available")

        return refuse
    made: Callable[..., Any] = NJIT(**options)
    return made


def test_kernels_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(steps)) is steps


def test_an_unknown_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KERNELS", "fast")
    with pytest.raises(RequestError, match="DISCREET_KERNELS is 'fast'; set it to auto, interpreted or compiled"):
        fresh(ratio)(1.0, 2.0)


WITHOUT = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "numba" else real(name, *more)
import numpy as np
from discreet.core import compiled as kernels
from discreet.feasible.network.paths import surplus
kernels.TURNS = kernels.KEPT_TURNS = 20
for _ in range(2):
    at, excess = np.zeros(100, np.int64), np.zeros(2, np.int64)
    surplus(np.array([5, 0]), at, at + 1, at + 1, excess)
    print(excess.tolist())
"""


def test_without_the_compiler_kernels_go_on_and_say_once_what_would_help() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n") == ["[-95, 95]", "[-95, 95]", ""]
    assert run.stderr.count("pip install 'discreet[compiler]'") == 1


def test_compiled_code_that_cannot_be_read_is_made_again(tmp_path: Path) -> None:
    """After an upgrade, what is on disk may name classes that are gone."""
    made = Kernel(ratio.function)._variant(counted=False)._cache._cache_file
    made._index_path = str(tmp_path / "ratio.nbi")
    Path(made._index_path).write_bytes(pickle.dumps(made._version) + b"\x80\x04cdiscreet.gone\nGone\n.")
    assert made._load_index() == {}
    Path(made._index_path).write_bytes(b"cut")
    assert made._load_index() == {}
