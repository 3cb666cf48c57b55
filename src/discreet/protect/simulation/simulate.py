"""Simulation: publish a table drawn at random from all tables that have the released margins.

What is published beside the margins is a draw given them, and reveals nothing that the margins do not: an attacker who
knows the method learns only what the margins give away. Fienberg, Makov and Steele (1998) propose draws from the law of
the table given its margins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from discreet.core.errors import LimitError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import Original, Protected
from discreet.protect.inner_counts import InnerMethod
from discreet.protect.simulation.diagnostics import Diagnostics
from discreet.protect.simulation.frontier import Fiber
from discreet.protect.simulation.margin_model import Model, margin_sums
from discreet.protect.usage import UNLISTED, in_one_call, option
from discreet.table import Table
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.kinds import Simulated

Law: TypeAlias = Literal["hypergeometric", "uniform"]
Engine: TypeAlias = Literal["auto", "sequential", "counting", "chain"]
ENGINES = {
    "sequential": "exact draws, margin after margin",
    "counting": "exact draws by counting all tables with these margins",
    "chain": "a Markov chain over the tables with these margins",
}


@dataclass(frozen=True)
class Simulation(InnerMethod):
    """Publish margins, and inner counts drawn at random from all tables that have these margins.

    Under the hypergeometric law, P(n) ∝ 1/∏ n!, the draw is that of the log-linear model whose sufficient statistics
    the margins are; under the uniform law all tables with these margins are equally likely. The inner counts reveal
    nothing that the margins do not.

    Attributes:
        margins: the margins that are released, as lists of dimensions; a number k for all margins of k dimensions; by
            default the total of every category of every dimension.
        law_name: ``"hypergeometric"`` or ``"uniform"``; the function calls it ``law``.
        engine: how it is drawn. ``"sequential"`` is exact for the hypergeometric law of decomposable margins, two-way
            tables among them; ``"counting"`` is exact for tables that are small enough; ``"chain"`` is a Markov chain
            that measures how well it has mixed. ``"auto"`` takes the first that fits.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> Simulation().outcomes(table)
    7
    """

    margins: tuple[tuple[str, ...], ...] | int | None = field(default=None, metadata=UNLISTED)
    law_name: Law = field(default="hypergeometric", metadata=option("hypergeometric or uniform.", "--table-law"))
    engine: Engine = field(default="auto", metadata=option("auto, sequential, counting or chain.", "--sampler"))
    name: ClassVar[str] = "simulation"
    examples: ClassVar[Mapping[str, str]] = {
        "religion.csv -o simulated.csv": "the totals of rows and columns",
        "t.csv --keep area,sex --keep sex,age -o s.csv": "two margins that share one",
        "t.csv --keep-all 2 --table-law uniform -o s.csv": "all two-way margins, even law",
    }

    def __post_init__(self) -> None:
        if self.law_name not in ("hypergeometric", "uniform"):
            raise RequestError(f"law is {self.law_name!r}; give 'hypergeometric' or 'uniform'")
        if self.engine not in ("auto", *ENGINES):
            raise RequestError(f"engine is {self.engine!r}; give 'auto', 'sequential', 'counting' or 'chain'")
        if isinstance(self.margins, Sequence) and not isinstance(self.margins, str):
            given = tuple(one if isinstance(one, str) else tuple(one) for one in self.margins)
            object.__setattr__(self, "margins", given)

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        given = self.margins
        shown: object = 1 if given is None else given if isinstance(given, int) else [list(one) for one in given]
        return {"margins": shown, "law": self.law_name}

    def model(self, table: Table) -> Model:
        """Return the model of the released margins."""
        return Model.of_table(table, self.margins)

    def check(self, table: Table) -> None:
        """Refuse a table that cannot be simulated."""
        self.chosen(table)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled: those that are possible and in no empty margin."""
        possible, F = np.ones(table.size, bool), _dense(table)
        for margin in self.model(table).margins:
            sums = margin_sums(F[None], table.shape, margin)[0]
            possible &= sums[table.grid.project(np.arange(table.size), margin)] > 0
        return np.setdiff1d(np.flatnonzero(possible), table.impossible)

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Draw one table."""
        table = original if isinstance(original, Table) else original.table()
        drawn, engine, diagnostics = self._draw(table, generator(seed), 1, progress)
        inner = table.with_counts(np.arange(table.size), drawn[0])
        notes = [f"Made by {ENGINES[engine]}."]
        if diagnostics is not None:
            notes.append(diagnostics.sentence)
        if inner == table:
            notes.append("The table that was drawn is the original; audit whether its margins leave any other.")
        return self.release(
            original,
            inner,
            (Simulated(),),
            Simulated(),
            kept=self.model(table).names(table),
            notes=tuple(notes),
            details={"engine": engine, "chain": None if diagnostics is None else asdict(diagnostics)},
        )

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return drawn counts of the cells of :meth:`support`, one draw per row."""
        return self._draw(table, rng, size, None)[0][:, self.support(table)]

    def outcomes(self, table: Table) -> int:
        """Return the number of tables with these margins."""
        return self._fiber(table).tables

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Enumerate the tables with these margins, with their probabilities, over the cells of :meth:`support`."""
        support = self.support(table)
        for chance, rows in self._fiber(table).law(block):
            yield chance, rows[:, support]

    def _fiber(self, table: Table) -> Fiber:
        return Fiber.of(_dense(table), table.shape, self.model(table), self.law_name, table.impossible)

    def chosen(self, table: Table) -> tuple[str, Fiber | None]:
        """Return the engine for a table, with the tables counted where it counts; refuse what cannot be drawn."""
        super().check(table)
        model = self.model(table)
        if model.saturated:
            raise RequestError("the whole table is among the released margins, so nothing is simulated; release fewer")
        sequential = self.law_name == "hypergeometric" and model.decomposable and not table.impossible.size
        if sequential and self.engine in ("auto", "sequential"):
            return "sequential", None
        if self.engine == "sequential":
            raise RequestError(
                "margins are drawn one after another for the hypergeometric law of decomposable margins without "
                "structural zeros only; use the engine 'auto'"
            )
        if self.engine != "chain":
            try:
                return "counting", self._fiber(table)
            except LimitError:
                if self.engine == "counting":
                    raise
        return "chain", None

    def _draw(
        self, table: Table, rng: np.random.Generator, size: int, progress: Progress | None
    ) -> tuple[IntArray, str, Diagnostics | None]:
        engine, fiber = self.chosen(table)
        F, model = _dense(table), self.model(table)
        if engine == "sequential":
            from discreet.protect.simulation.sequential import draw_sequential

            return draw_sequential(F, table.shape, model, rng, size), engine, None
        if fiber is not None:
            return fiber.draw(rng, size), engine, None
        from discreet.protect.simulation.walk import MarkovChain

        drawn, mixing = MarkovChain(F, table.shape, model, self.law_name, table.impossible).draw(rng, size, progress)
        return drawn, engine, mixing


def _dense(table: Table) -> IntArray:
    if table.size > DENSE_LIMIT:
        raise LimitError(f"the table has {table.size:,} cells, more than the {DENSE_LIMIT:,} that are simulated")
    return table.to_array().ravel()


simulation = in_one_call(Simulation, renamed={"law_name": "law"})
