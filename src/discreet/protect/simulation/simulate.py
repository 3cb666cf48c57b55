"""Simulation: publish a table drawn at random from all tables that have the released margins.

What is published beside the margins is a draw given them, so that it tells nothing that the margins do not: an attacker
who knows the method is left with what the margins give away. Fienberg, Makov and Steele (1998) propose draws from the
law of the table given its margins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from discreet.core.errors import LimitError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import Original, Protected, check_anybody, drawn
from discreet.protect.inner_counts import counts_of, release_counts
from discreet.protect.simulation.frontier import Fiber
from discreet.protect.simulation.model import Model, margin_sums
from discreet.protect.usage import UNLISTED, Usage, option
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
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
class Simulation:
    """A table drawn from all tables with the same margins as the original.

    Attributes:
        margins: the margins that are released, as lists of dimensions; a number k for all margins of k dimensions; by
            default the total of every category of every dimension.
        law: ``"hypergeometric"``, the law of the table given these margins under the log-linear model whose sufficient
            statistics they are, P(n) ∝ 1/∏ n!; or ``"uniform"``, all tables with these margins alike.
        engine: how it is drawn. ``"sequential"`` is exact for the hypergeometric law of decomposable margins, two-way
            tables among them; ``"counting"`` is exact for tables that are small enough; ``"chain"`` is a Markov chain
            that measures how well it has mixed. ``"auto"`` takes the first that fits.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> Simulation().outcomes(table)
    7
    """

    margins: tuple[tuple[str, ...], ...] | int | None = field(default=None, metadata=UNLISTED)
    law_name: Law = field(default="hypergeometric", metadata=option("hypergeometric or uniform.", "--law"))
    engine: Engine = field(default="auto", metadata=option("auto, sequential, counting or chain."))
    name: ClassVar[str] = "simulation"
    usage: ClassVar[Usage] = Usage(
        "Publish margins, and inner counts drawn at random from all tables that have these margins.\n\n"
        "Under the hypergeometric law the draw is that of the log-linear model whose sufficient statistics the margins "
        "are; under the uniform law all tables with these margins are equally likely. The inner counts reveal nothing "
        "that the margins do not.",
        {
            "discreet protect simulation religion.csv -o simulated.csv": "the totals of rows and columns",
            "discreet protect simulation t.csv --keep area,sex --keep sex,age -o s.csv": "two margins that share one",
            "discreet protect simulation t.csv --keep-all 2 --law uniform -o s.csv": "all two-way margins, even law",
        },
    )

    def __post_init__(self) -> None:
        """Check what is asked for."""
        if self.law_name not in ("hypergeometric", "uniform"):
            raise RequestError(f"law is {self.law_name!r}; it is 'hypergeometric' or 'uniform'")
        if self.engine not in ("auto", *ENGINES):
            raise RequestError(f"engine is {self.engine!r}; it is 'auto', 'sequential', 'counting' or 'chain'")
        if isinstance(self.margins, Sequence) and not isinstance(self.margins, str):
            object.__setattr__(self, "margins", tuple(_margin(margin) for margin in self.margins))

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
        self._chosen(table)

    def chosen(self, table: Table) -> str:
        """Return the engine that draws for a table."""
        return self._chosen(table)[0]

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled: those that are possible and in no empty margin."""
        possible = np.ones(table.size, bool)
        possible[table.impossible] = False
        F = _dense(table)
        for margin in self.model(table).margins:
            sums = margin_sums(F[None], table.shape, margin)[0]
            possible &= sums[table.grid.project(np.arange(table.size), margin)] > 0
        return np.flatnonzero(possible)

    @drawn
    def apply(self, original: Original, seed: Seed = None, *, progress: Progress | None = None) -> Protected:
        """Draw one table."""
        table = counts_of(original, self.name)
        drawn, engine, diagnostics = self._draw(table, generator(seed), 1, progress)
        inner = table.with_counts(np.arange(table.size), drawn[0])
        notes = [f"Made by {ENGINES[engine]}."]
        if diagnostics is not None:
            notes.append(diagnostics.sentence)
        if inner == table:
            notes.append("The table that was drawn is the original; audit whether its margins leave any other.")
        names = [tuple(table.names[i] for i in margin) for margin in self.model(table).margins]
        return release_counts(
            original,
            inner,
            self.name,
            self.parameters,
            kept=names,
            kinds=(Simulated(),),
            sums=Simulated(),
            notes=tuple(notes),
            details={"engine": engine, "chain": None if diagnostics is None else diagnostics.to_dict()},
        )

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return drawn counts of the cells of :meth:`support`, one draw per row."""
        return self._draw(table, rng, size, None)[0][:, self.support(table)]

    def outcomes(self, table: Table) -> int:
        """Return how many tables have these margins."""
        return self._fiber(table).tables

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Go through all tables with these margins, with their probabilities, over the cells of :meth:`support`."""
        support = self.support(table)
        for chance, rows in self._fiber(table).law(block):
            yield chance, rows[:, support]

    def _fiber(self, table: Table) -> Fiber:
        return Fiber.of(_dense(table), table.shape, self.model(table), self.law_name, table.impossible)

    def _chosen(self, table: Table) -> tuple[str, Fiber | None]:
        check_anybody(table)
        model = self.model(table)
        if model.saturated:
            raise RequestError(
                "the whole table is among the released margins, so that nothing is simulated; release fewer"
            )
        sequential = self.law_name == "hypergeometric" and model.decomposable and not table.impossible.size
        if self.engine == "sequential" and not sequential:
            raise RequestError(
                "margins are drawn one after another for the hypergeometric law of decomposable margins without "
                "structural zeros only; use the engine 'auto'"
            )
        if self.engine == "sequential" or (self.engine == "auto" and sequential):
            return "sequential", None
        if self.engine != "chain":
            try:
                return "counting", self._fiber(table)
            except LimitError:
                if self.engine == "counting":
                    raise
        return "chain", None

    def _draw(
        self, table: Table, rng: np.random.Generator, size: int, progress: Progress | None
    ) -> tuple[IntArray, str, Any]:
        engine, fiber = self._chosen(table)
        F, model = _dense(table), self.model(table)
        if engine == "sequential":
            from discreet.protect.simulation.sequential import draw_sequential

            return draw_sequential(F, table.shape, model, rng, size), engine, None
        if fiber is not None:
            return fiber.draw(rng, size), engine, None
        from discreet.protect.simulation.walk import Chain

        drawn, diagnostics = Chain(F, table.shape, model, self.law_name, table.impossible).draw(rng, size, progress)
        return drawn, engine, diagnostics


def _margin(margin: Any) -> tuple[str, ...]:
    if isinstance(margin, str):
        raise RequestError(f"margin {margin!r} is one name; give every margin as a list of dimensions")
    return tuple(margin)


def _dense(table: Table) -> IntArray:
    if table.size > DENSE_LIMIT:
        raise LimitError(f"the table has {table.size:,} cells, more than the {DENSE_LIMIT:,} that are simulated")
    return table.to_array().ravel()


@reads_original
def simulation(
    original: Original,
    margins: Sequence[Sequence[str]] | int | None = None,
    *,
    law: Law = "hypergeometric",
    engine: Engine = "auto",
    seed: Seed = None,
) -> Release:
    """Publish the given margins, and inner counts drawn at random from all tables that have them.

    Args:
        original: a table of counts, or a tabulation of them.
        margins: the released margins, as lists of dimensions, or k for all of k dimensions; by default all of one.
        law: ``"hypergeometric"`` or ``"uniform"``; see :class:`Simulation`.
        engine: how it is drawn; see :class:`Simulation`.
        seed: makes the draw reproducible; keep it secret.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> simulation(table, seed=1).table.margin("area").counts.tolist()
    [6, 8]
    """
    given = margins if margins is None or isinstance(margins, int) else tuple(_margin(one) for one in margins)
    return Simulation(given, law, engine).apply(original, seed).release
