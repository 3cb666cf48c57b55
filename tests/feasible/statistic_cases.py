"""Random tables with statistics beside them, and what a reader can work out by trying every table in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.statistic import ROUNDINGS, Statistic, StatisticColumn

Cells = dict[tuple[int, ...], int]
KINDS = ("percentage", "ratio", "rate", "difference", "growth", "index", "cumulative", "share", "mean")


def rounded(value: Fraction, decimals: int, rounding: str) -> int:
    """Return a value in units of the last decimal, rounded by the convention; the obvious way."""
    scaled = value * 10**decimals
    sign, size = (-1 if scaled < 0 else 1), abs(scaled)
    whole, rest = size.numerator // size.denominator, size - size.numerator // size.denominator
    if rounding == "conventional":
        whole += rest >= Fraction(1, 2)
    elif rounding == "half-even":
        whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    return sign * whole


def matches(value: Fraction, printed: int, decimals: int, rounding: str) -> bool:
    """Say whether a value can be printed so."""
    if rounding == "unknown":
        return abs(value * 10**decimals - printed) < 1
    return rounded(value, decimals, rounding) == printed


@dataclass(frozen=True)
class World:
    """The true values of all measures: by measure, the value of every cell, margins among them."""

    measures: tuple[Cells, ...]


@dataclass(frozen=True)
class Case:
    """What is published, and the function that says whether a world could have been published so."""

    parts: tuple[Figures, ...]
    hidden: tuple[tuple[int, tuple[int, ...]], ...]
    fits: Callable[[World], bool]
    worlds: tuple[tuple[Cells, ...], ...]
    most: int
    about: str

    def possible(self) -> dict[tuple[int, tuple[int, ...]], set[int]]:
        """Return the values that every hidden cell can have, by trying all worlds."""
        found: dict[tuple[int, tuple[int, ...]], set[int]] = {key: set() for key in self.hidden}
        for several in itertools.product(*self.worlds):
            world = World(several)
            if self.fits(world):
                for measure, cell in self.hidden:
                    found[measure, cell].add(world.measures[measure][cell])
        return found


def summed(shape: tuple[int, ...], inner: tuple[int, ...]) -> Cells:
    """Return all cells of a table with its margins, which are last along each dimension."""
    array = np.array(inner, np.int64).reshape(shape)
    for axis in range(len(shape)):
        array = np.concatenate([array, array.sum(axis=axis, keepdims=True)], axis=axis)
    return {tuple(index): int(value) for index, value in np.ndenumerate(array)}


def worlds_of(shape: tuple[int, ...], most: int, shown: Cells) -> tuple[Cells, ...]:
    """Return all tables of counts up to a most that have the figures shown."""
    every = (summed(shape, inner) for inner in itertools.product(range(most + 1), repeat=int(np.prod(shape))))
    return tuple(cells for cells in every if all(cells[key] == value for key, value in shown.items()))


def ratio_of(kind: str, spec: Statistic, names: list[str], sizes: tuple[int, ...]) -> Callable[..., Fraction | None]:
    """Return the function that computes a statistic of a world, at a cell; None where it is not defined."""

    def base(cell: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(
            sizes[k] if name in spec.over and not spec.over[name] else int(spec.over[name]) if name in spec.over else i
            for k, (name, i) in enumerate(zip(names, cell, strict=True))
        )

    def value(world: World, cell: tuple[int, ...], of: int, per: int) -> Fraction | None:
        above, below = world.measures[of], world.measures[per]
        if kind == "difference":
            return Fraction(above[cell] - below[base(cell)])
        if kind == "cumulative":
            k = names.index(spec.along)
            cells = [(*cell[:k], i, *cell[k + 1 :]) for i in range(cell[k] + 1)]
            top, bottom = sum(above[one] for one in cells), below[(*cell[:k], sizes[k], *cell[k + 1 :])]
        elif spec.along:
            k = names.index(spec.along)
            top, bottom = above[cell], below[(*cell[:k], cell[k] - 1, *cell[k + 1 :])]
        else:
            top, bottom = above[cell], below[base(cell)]
        if spec.constant is not None:
            return Fraction(top) * spec.times / spec.constant
        if not bottom:
            return None
        return Fraction(top, bottom) * spec.times - (spec.times if kind == "growth" else 0)

    return value


def random_spec(rng: np.random.Generator, dims: list[str], kind: str) -> Statistic:
    """Return a random definition of a kind."""
    name, rounding = str(rng.choice(dims)), str(rng.choice(ROUNDINGS))
    more: dict[str, object] = {"rounding": rounding}
    if kind in ("percentage", "ratio"):
        return Statistic(kind, over=dict.fromkeys(dims if rng.random() < 0.4 else [name], ""), **more)
    if kind == "rate":
        return Statistic(kind, per=str(rng.integers(3, 40)), times=int(rng.choice([10, 1000])), **more)
    if kind == "index" or kind == "difference":
        return Statistic(kind, over={name: "0"}, **more)
    return Statistic(kind, along=name, **more)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield random cases of the statistics that are linear in published and unpublished measures."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        case = one_case(rng)
        if case is not None:
            made += 1
            yield case


def one_case(rng: np.random.Generator) -> Case | None:
    """Return a random case, None where too many tables would have to be tried."""
    shape = ((3,), (2,), (2, 2))[int(rng.integers(3))]
    most = int(rng.integers(2, 8 if len(shape) == 1 else 5))
    dims = ["a", "b"][: len(shape)]
    kind = str(rng.choice(KINDS))
    two = kind in ("share", "mean")
    first = summed(shape, tuple(rng.integers(0, most + 1, int(np.prod(shape))).tolist()))
    top = 3 if kind == "mean" else 1
    second = summed(
        shape, tuple(int(rng.integers(0, top * value + 1)) for value in (first[i] for i in np.ndindex(*shape)))
    )
    truth = World((first, second) if two else (first,))
    labels = {name: [*map(str, range(size)), "Total"] for name, size in zip(dims, shape, strict=True)}
    hide = float(rng.uniform(0.3, 0.9))
    parts, shown = [], []
    for cells in truth.measures[: 2 if kind == "share" else 1]:
        keep = {key: value for key, value in cells.items() if rng.random() > hide}
        array = np.empty([size + 1 for size in shape], object)
        for key in cells:
            array[key] = keep.get(key)
        shown.append(keep)
        parts.append(Figures.from_array(array, labels, mark=Kind("suppressed", least=0)))
    if kind == "mean":
        shown.append({})
    worlds = tuple(worlds_of(shape, most * top if number else most, keep) for number, keep in enumerate(shown))
    if int(np.prod([len(one) for one in worlds])) > 6000:
        return None
    if kind == "share":
        parts[1] = replace(parts[1], measure="passed")
        spec = Statistic("percentage", of="passed", rounding=str(rng.choice(ROUNDINGS)), per="count")
    elif kind == "mean":
        spec = Statistic("mean", rounding=str(rng.choice(ROUNDINGS)), most=top)
    else:
        spec = random_spec(rng, dims, kind)
    decimals, value = int(rng.integers(0, 3)), ratio_of(kind if kind != "share" else "percentage", spec, dims, shape)
    of, per = (1, 0) if two else (0, 0)
    codes, printed = [], []
    for cell in first:
        ends = spec.along and cell[dims.index(spec.along)]
        if spec.along and (ends == shape[dims.index(spec.along)] or (kind == "growth" and ends == 0)):
            continue
        true = value(truth, cell, of, per)
        if true is None or rng.random() < 0.25:
            continue
        if spec.rounding == "unknown":
            near = rounded(true, decimals, "conventional") + int(rng.integers(-1, 2))
            near = near if matches(true, near, decimals, "unknown") else rounded(true, decimals, "down")
            if kind in ("percentage", "share", "cumulative") and not 0 <= near <= 100 * 10**decimals:
                continue
        else:
            near = rounded(true, decimals, spec.rounding)
        codes.append(cell)
        printed.append(near)
    column = StatisticColumn(
        "stat", spec, np.array(codes, np.int64).reshape(-1, len(shape)), np.array(printed, np.int64), decimals
    )
    parts[0] = replace(parts[0], statistics=(column,))

    def fits(world: World) -> bool:
        if two and any(world.measures[1][c] > (top * world.measures[0][c]) for c in first):
            return False
        found = (value(world, cell, of, per) for cell in codes)
        return all(
            one is not None and matches(one, y, decimals, spec.rounding) for one, y in zip(found, printed, strict=True)
        )

    hidden = tuple(
        (number, cell)
        for number, keep in enumerate(shown[: 2 if kind == "share" else 1])
        for cell in first
        if cell not in keep
    )
    return Case(tuple(parts), hidden, fits, worlds, most, f"{kind} {shape} {spec!r}")
