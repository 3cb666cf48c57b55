"""Statistics beside figures, stated anew: what each is computed from, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from redteam.enumeration import Belief, Limit, TooManyError, enumerated, together
from redteam.published import Published
from redteam.readers import limits
from redteam.worlds import TOTAL, Cells, Counts, World

Label = Mapping[str, str]
TIMES = {"percentage": 100, "ratio": 1, "index": 100, "difference": 1, "growth": 100, "cumulative": 100, "rate": 1000}


@dataclass(frozen=True)
class Stated:
    """A statistic of counts: ``over`` a dimension or one of its categories, or ``along`` one, and its rounding."""

    kind: str
    over: tuple[tuple[str, str], ...] = ()
    along: str = ""
    per: int = 0
    decimals: int = 1
    rounding: str = "conventional"
    step: int = 1
    threshold: int = 0
    extremes: bool = True
    more: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """The definition, as discreet takes it."""
        said = [self.kind]
        said += [f"over={'+'.join(name + (label and ':' + label) for name, label in self.over)}"] if self.over else []
        said += [f"along={self.along}"] if self.along else []
        said += [f"per={self.per}"] if self.per else []
        said += [f"decimals={self.decimals}"]
        said += [f"rounding={self.rounding}"] if self.rounding != "conventional" else []
        said += [f"step={self.step}"] if self.step > 1 else []
        said += [f"threshold={self.threshold}"] if self.threshold else []
        said += [] if self.extremes else ["extremes=no"]
        return ", ".join([*said, *filter(None, [self.more])])

    def lines(self, label: Label, world: World) -> tuple[Cells, Cells] | None:
        """Return the cells above and below the line for a label; None where the statistic has none there."""
        whole = {name: label.get(name, TOTAL) for name in world.names}
        above, below = world.cells(whole), world.cells(whole | {name: to or TOTAL for name, to in self.over})
        if not self.along:
            return above, () if self.per else below
        order = dict(world.dimensions)[self.along]
        if whole[self.along] == TOTAL:
            return None
        at = order.index(whole[self.along])
        if self.kind == "growth":
            return (above, world.cells(whole | {self.along: order[at - 1]})) if at else None
        some = [world.cells(whole | {self.along: one}) for one in order[: at + 1]]
        return tuple(sorted(c for cells in some for c in cells)), world.cells(whole | {self.along: TOTAL})

    def printed(self, above: int, below: int) -> str | None:
        """Return how the statistic of two sums is printed; None where it is not defined, or not published."""
        if self.kind == "difference":
            value = Fraction(above - below)
        else:
            if not self.per and below <= 0:
                return None
            value = Fraction(above, self.per or below) * TIMES[self.kind]
            value -= 100 if self.kind == "growth" else 0
        if below < self.threshold or (not self.extremes and value in (0, 100)):
            return None
        return self.rounded(value)

    def rounded(self, value: Fraction) -> str:
        """Return how a value is printed."""
        units = abs(value) * 10**self.decimals / self.step
        whole = floor(units)
        rest = units - whole
        half = Fraction(1, 2)
        up = {"conventional": rest >= half, "half-even": rest > half or (rest == half and whole % 2 == 1)}
        found = (whole + up.get(self.rounding, False)) * self.step
        digits = f"{found:0{self.decimals + 1}d}"
        text = f"{digits[: -self.decimals]}.{digits[-self.decimals :]}" if self.decimals else digits
        return f"-{text}" if value < 0 and found else text


@dataclass(frozen=True)
class Beside:
    """Printed statistics: the texts by label, None where nothing is printed."""

    statistic: Stated
    texts: tuple[tuple[tuple[tuple[str, str], ...], str | None], ...]

    def checks(self, world: World) -> Iterator[tuple[Cells, Cells, str]]:
        """Go through what is printed, with the cells above and below the line."""
        for label, text in self.texts:
            lines = self.statistic.lines(dict(label), world)
            if text is not None and lines is not None:
                yield *lines, text


def fits(beside: Sequence[Beside], world: World) -> Callable[[Counts], bool]:
    """Return the test whether an original has the printed statistics."""
    checks = [(one.statistic, *line) for one in beside for line in one.checks(world)]

    def test(counts: Counts) -> bool:
        return all(
            statistic.printed(sum(counts[c] for c in above), sum(counts[c] for c in below)) == text
            for statistic, above, below, text in checks
        )

    return test


def outsider_beside(known: Published, beside: Sequence[Beside], world: World) -> Belief:
    """Return what figures and statistics of true counts beside them leave together."""
    size = len(world.leaves)
    said = [*limits(known), *_wholes(known, beside, world)]
    belief = enumerated(size, said)
    if belief.open:
        raise TooManyError
    test = fits(beside, world)
    return together(size, [(counts, 1) for counts in belief.tables(size) if test(counts)])


def _wholes(known: Published, beside: Sequence[Beside], world: World) -> Iterator[Limit]:
    """Bound wholes of which a printed part has a printed share, so that there is an end to what can be."""
    exact = {figure.cells: figure.value or 0 for figure in known.figures if figure.name == "exact"}
    for one in beside:
        if one.statistic.kind not in ("percentage", "ratio", "index", "cumulative"):
            continue
        for above, below, text in one.checks(world):
            unit = Fraction(one.statistic.step, 10**one.statistic.decimals)
            least = (Fraction(text) - unit) / TIMES[one.statistic.kind]
            if below and least > 0 and above in exact:
                yield Limit(below, 0, floor(exact[above] / least))
