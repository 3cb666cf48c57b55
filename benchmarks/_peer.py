"""pytauargus on the instances: one way to hand it a table, and to read what it made of it."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.numerics import IntArray
from instances import BoolArray, Instance, generate

SETTINGS = {"MOD": "MOD(1)", "MOD to its end": "MOD(1)", "OPT": "OPT(1,10)", "OPT above 0": "OPT(1,10)"}
"""Modular and optimal suppression at its own defaults; the latter is given ten minutes. Its solver can be told that
counts which are not 0 are known to be 1 or more."""
LOADING = 5
"""CPU seconds for loading it and for its table, which its limit does not count."""
SENSITIVE = "FREQ(4,30)"
"""Counts below 4 are sensitive."""


@dataclass(frozen=True)
class Answer:
    """What it made of an instance: its engine, its rows, and where each of them stands among all cells."""

    engine: Any
    rows: Any
    places: IntArray
    shape: tuple[int, ...]

    @property
    def hidden(self) -> BoolArray:
        return self._laid(self.rows.status.isin(["U", "M"])) > 0

    @property
    def values(self) -> IntArray:
        return self._laid(self.rows.one)

    def _laid(self, column: Any) -> IntArray:
        whole = np.zeros(int(np.prod(self.shape)), np.int64)
        whole[self.places] = column.to_numpy()
        return whole.reshape(self.shape)


@contextmanager
def aside() -> Iterator[None]:
    """Stand in a folder that is gone afterwards, and drop what is printed there."""
    here, out = os.getcwd(), os.dup(1)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w", encoding="utf-8") as silence:
        sys.stdout.flush()
        os.chdir(folder)
        os.dup2(silence.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(out, 1)
            os.close(out)
            os.chdir(here)


@contextmanager
def timed(step: str, clock: Callable[[], float]) -> Iterator[list[float]]:
    """Measure one step of its engine alone."""
    from pytauargus.engine import Engine

    before = getattr(Engine, step)
    spent: list[float] = []

    def measured(self: Any, *arguments: Any) -> None:
        start = clock()
        before(self, *arguments)
        spent.append(clock() - start)

    setattr(Engine, step, measured)
    try:
        yield spent
    finally:
        setattr(Engine, step, before)


class AboveZero:
    """Its solver, told in the file that it is handed that a count which is not 0 is known not to be."""

    def __init__(self, solver: Any) -> None:
        self.solver = solver

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)

    def full_jj(self, in_file_jj: str, **settings: Any) -> Any:
        """Raise the lower bound of each count to 1, and ask for no more protection below than that leaves."""
        path = Path(in_file_jj)
        head, size, *lines = path.read_text(encoding="utf-8").splitlines()
        for i in range(int(size)):
            at, value, weight, status, lower, upper, below, *rest = lines[i].split()
            if float(value) > 0:
                lower, below = "1", str(min(float(below), float(value) - 1))
            lines[i] = " ".join([at, value, weight, status, lower, upper, below, *rest])
        path.write_text("\n".join([head, size, *lines]) + "\n", encoding="utf-8")
        return self.solver.full_jj(in_file_jj=in_file_jj, **settings)


@contextmanager
def known_above_zero() -> Iterator[None]:
    """Have its optimal suppression protect against readers who know that hidden counts are not 0."""
    from pytauargus.engine import Engine

    before = Engine._suppress_opt

    def told(self: Any, *arguments: Any) -> None:
        self._hitas = AboveZero(self._hitas)
        before(self, *arguments)

    Engine._suppress_opt = told
    try:
        yield
    finally:
        Engine._suppress_opt = before


def ask(instance: Instance, suppress: str, rule: str = SENSITIVE) -> Answer:
    """Let it protect an instance, whose records it counts itself, in the folder where one stands."""
    import pandas as pd
    from pytauargus import protect

    cells = np.stack([axis.ravel() for axis in np.indices(instance.leaves.shape)], axis=1)
    records = np.repeat(np.arange(len(cells)), instance.leaves.ravel())
    trees = instance.trees
    labels = {n: np.array(tree.leaves)[cells[records, d]] for d, (n, tree) in enumerate(trees.items())}
    files = {name: f"{os.getcwd()}/{name}.hrc" for name, tree in trees.items() if tree.depth > 1}
    for name, path in files.items():
        trees[name].write(path)
    result = protect(
        pd.DataFrame(labels | {"one": 1.0}),
        list(trees),
        response="one",
        safety_rules=rule,
        suppress=suppress,
        hrc=files,
        hierleadstring="@",
        totcode="Total",
        workdir=os.getcwd(),
    )
    rows = result.tables[0].dataframe()
    codes = [rows[n].map({code: i for i, code in enumerate(tree.codes)}).to_numpy() for n, tree in trees.items()]
    shape = instance.counts.shape
    return Answer(result.engine, rows, np.ravel_multi_index(tuple(codes), shape), shape)


def apart(name: str, how: str, limit: int | None) -> tuple[float, BoolArray] | None:
    """Let it suppress in a process of its own: CPU seconds of that step, and what it hides; None if that fails.

    It is ended after as many CPU seconds as the limit says, if there is one, beside those for loading it.
    """

    def capped() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit + LOADING, limit + LOADING))

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.pickle"
        try:
            command = [sys.executable, __file__, name, how, str(out)]
            subprocess.run(command, check=True, capture_output=True, preexec_fn=capped)
        except subprocess.CalledProcessError:
            return None
        with out.open("rb") as file:
            seconds, hidden = pickle.load(file)
    return seconds, hidden


def main(name: str, how: str, out: str) -> None:
    reader = known_above_zero() if how.endswith("above 0") else nullcontext()
    with aside(), reader, timed("suppress", time.process_time) as spent:
        hidden = ask(generate(name), SETTINGS[how]).hidden
    with open(out, "wb") as file:
        pickle.dump((sum(spent), hidden), file)


if __name__ == "__main__":
    main(*sys.argv[1:])
