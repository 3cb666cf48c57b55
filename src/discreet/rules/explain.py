"""One cell in words and numbers: what each rule says about it, and what its second largest contributor can compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.json_types import Json
from discreet.core.text import Readable
from discreet.rules.cell_figures import CellFigures, cell_figures
from discreet.rules.rule import Judge, amount
from discreet.rules.sensitivity import Sensitivity, sensitivity
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True, repr=False)
class Explanation(Readable):
    """What the rules say about a cell, and the bound that its second largest contributor computes for the largest.

    ``bound`` is X − x2, what is left when the second largest subtracts its own contribution from the published
    total; ``largest`` is the true x1. None for a cell of counts, or of fewer than two contributors.
    """

    cell: dict[str, str]
    value: float
    count: float
    contributions: tuple[float, ...]
    sensitive: bool
    verdicts: tuple[tuple[str, bool, str], ...]
    lower: float
    upper: float
    largest: float | None
    bound: float | None
    level: str = "contributor"

    @property
    def inference(self) -> str:
        """What the second largest contributor learns, in words."""
        if self.bound is None or self.largest is None:
            return ""
        second = self.contributions[1]
        off = self.bound - self.largest
        share = f", {100 * off / self.largest:.1f}% above" if self.largest else ""
        return (
            f"The second largest {self.level} knows its own {amount(second)} and computes at most "
            f"{amount(self.value)} − {amount(second)} = {amount(self.bound)} for the largest, which is "
            f"{amount(self.largest)}: {amount(off)} too much{share}."
        )

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data."""
        told = [{"rule": rule, "sensitive": broken, "reason": why} for rule, broken, why in self.verdicts]
        as_lists = {"contributions": list(self.contributions), "verdicts": told}
        data = {**vars(self), **as_lists, "sentence": self.inference}
        return {"rules" if name == "verdicts" else name: data[name] for name in data if name != "level"}

    def __str__(self) -> str:
        """Return the explanation as a paragraph per rule."""
        phrase = ", ".join(f"{name}={code}" for name, code in self.cell.items())
        parts = " + ".join(amount(part) for part in self.contributions)
        others, of = self.count - len(self.contributions), f" = {parts}" if parts else ""
        if parts and others > 0:
            left = amount(self.value - sum(self.contributions))
            of += f" + {left} of {amount(others)} other{'s' if others > 1 else ''}"
        who = f"{amount(self.count)} {self.level}{'' if self.count == 1 else 's'}"
        lines = [f"Cell {phrase}: {amount(self.value)}{of}, {who}"]
        lines += [f"{'sensitive' if broken else 'safe':<9}  {rule}: {why}" for rule, broken, why in self.verdicts]
        if self.sensitive and self.upper == self.upper:
            low, high = amount(self.value - self.lower), amount(self.value + self.upper)
            lines.append(f"Protected, its interval must reach from {low} to {high}.")
        if self.inference:
            lines.append(self.inference)
        return "\n".join(lines)


def explain(
    tabulation: Tabulation,
    cell: Mapping[str, object] | int,
    rules: Sequence[Judge | str] | Judge | str,
    *,
    response: str | None = None,
) -> Explanation:
    """Explain one cell: what each rule says, and what a contributor can infer whatever the rules say.

    domingo2002 Example 1: under (1, 60)-dominance the cell 59 + 40 + 1 is safe and 61 + 20 + 19 is not, yet in the
    first the second largest contributor gets much closer to the largest.

    Args:
        tabulation: the cells.
        cell: its codes by dimension, others at their total, or its number.
        rules: the rules, as for :func:`sensitivity`.
        response: the magnitude to judge; the only one by default.

    >>> import pandas as pd
    >>> from discreet.rules import Dominance
    >>> from discreet.tabulation import tabulate
    >>> firms = pd.DataFrame({"cell": ["a"] * 3, "x": [59, 40, 1]})
    >>> print(explain(tabulate(firms, ["cell"], value="x"), {"cell": "a"}, [Dominance(1, 60)]))
    Cell cell=a: 100 = 59 + 40 + 1 of 1 other, 3 contributors
    safe       (1, 60)-dominance: the largest contributor makes up 59.0% of 100, not more than 60%
    The second largest contributor knows its own 40 and computes at most 100 − 40 = 60 for the largest, which is 59:
    1 too much, 1.7% above.
    """
    return explained(sensitivity(tabulation, rules, response=response), cell)


def explained(result: Sensitivity, cell: Mapping[str, object] | int) -> Explanation:
    """Explain one cell of a result."""
    tabulation = result.tabulation
    i = cell if isinstance(cell, int) else tabulation.find(cell)
    verdicts = tuple(
        (rule.title, bool(found.sensitive[i]), rule.reason(figures, found, i))
        for rule, figures, found in zip(result.rules, result.figures, result.findings, strict=True)
    )
    plain: CellFigures = cell_figures(tabulation, result.response)
    units = int(plain.units[i])
    top = tuple(float(x) for x in plain.top[i][: min(units, plain.top.shape[1])])
    both = len(top) > 1
    return Explanation(
        tabulation.label(i),
        float(plain.value[i]),
        float(units),
        top,
        bool(result.sensitive[i]),
        verdicts,
        float(result.lower[i]),
        float(result.upper[i]),
        top[0] if both else None,
        float(plain.total[i]) - top[1] if both else None,
    )
