"""What the units of a cell are: contributors or holdings, how many, and what they contribute to each response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.table.frozen import Frozen

LevelName: TypeAlias = Literal["contributor", "holding"]


@dataclass(frozen=True, eq=False)
class Largest(Frozen):
    """For each cell the sum of what its units contribute to a response, and their largest contributions.

    Contributions are absolute values: a loss counts like a gain of the same size. ``top`` has a row per cell,
    largest first, 0 where there are fewer units. The weighted figures hold w·x of the same units in the same order.
    """

    total: FloatArray
    top: FloatArray
    weighted_total: FloatArray | None = None
    weighted_top: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Level(Frozen):
    """How many units are in each cell, and what they contribute to each response.

    Units are contributors, or holdings: groups of contributors that know each other's figures. ``weighted_units``
    adds the weights of the units instead of counting them.
    """

    units: IntArray
    weighted_units: FloatArray | None
    largest: tuple[Largest, ...]

    def columns(self, name: LevelName, responses: Sequence[str]) -> dict[str, Any]:
        """Return every figure as a column, named as in a file of a tabulation."""
        found: dict[str, Any] = {f"{name}:units": self.units, f"{name}:weighted_units": self.weighted_units}
        for response, largest in zip(responses, self.largest, strict=True):
            found[f"{name}:total:{response}"] = largest.total
            found[f"{name}:weighted_total:{response}"] = largest.weighted_total
            for i in range(largest.top.shape[1]):
                found[f"{name}:top{i + 1}:{response}"] = largest.top[:, i]
                if largest.weighted_top is not None:
                    found[f"{name}:weighted_top{i + 1}:{response}"] = largest.weighted_top[:, i]
        return found

    @classmethod
    def from_columns(cls, name: LevelName, responses: Sequence[str], columns: Mapping[str, Any], top: int) -> Level:
        """Build a level from the columns that :meth:`columns` returns."""
        largest = []
        for response in responses:
            weighted = columns.get(f"{name}:weighted_total:{response}")
            tops = [columns[f"{name}:top{i + 1}:{response}"] for i in range(top)]
            heavy = [columns.get(f"{name}:weighted_top{i + 1}:{response}") for i in range(top)]
            largest.append(
                Largest(
                    columns[f"{name}:total:{response}"],
                    np.stack(tops, axis=1),
                    weighted,
                    None if weighted is None else np.stack(heavy, axis=1),  # type: ignore[arg-type]
                )
            )
        return cls(columns[f"{name}:units"], columns.get(f"{name}:weighted_units"), tuple(largest))


@dataclass(frozen=True, eq=False)
class Response(Frozen):
    """A magnitude that is added up over the records of each cell.

    ``shadow`` names the variable by which the rules judge it, if that is another one.
    """

    name: str
    shadow: str | None
    sums: FloatArray
    weighted_sums: FloatArray | None = None
