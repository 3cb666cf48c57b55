"""What a reader holds: published figures, each with the cells that it counts and how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from redteam.worlds import TOTAL, Cells, World

Kind = tuple[tuple[str, Any], ...]
"""How a figure was made: properties with their values, in order."""


@dataclass(frozen=True)
class Figure:
    """One published figure: the cells that it counts, how it was made, and what is printed.

    ``value`` is None where the figure is hidden; an interval has its least value there, and its largest in ``upper``.
    """

    cells: Cells
    kind: Kind
    value: int | None
    upper: int | None = None

    def said(self, what: str, default: Any = None) -> Any:
        """Return one property of the kind."""
        return dict(self.kind).get(what, default)

    @property
    def name(self) -> str:
        """The kind's name."""
        return str(self.said("name"))


@dataclass(frozen=True)
class Published:
    """All that a reader holds of one release, or of several."""

    figures: tuple[Figure, ...]
    method: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    def beside(self, other: Published) -> Published:
        """Return this with the figures of another release."""
        return replace(self, figures=self.figures + other.figures)

    @property
    def hidden(self) -> tuple[Figure, ...]:
        """The figures that are not printed exactly."""
        return tuple(figure for figure in self.figures if figure.name != "exact")


def published(release: Any, world: World, *, least: int | None = None) -> Published:
    """Return what a reader of a release holds.

    Args:
        release: one made or read by discreet.
        world: the cells that it is about.
        least: what hidden figures are known to be at least; by default what the release itself says.
    """
    figures: list[Figure] = []
    for part in release.parts():
        figures += _figures(part, world, least)
    return Published(tuple(figures), *how_of(release))


def how_of(release: Any) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the method of a release with its parameters."""
    return str(release.method), tuple(sorted((name, repr(value)) for name, value in release.parameters.items()))


def _figures(part: Any, world: World, least: int | None) -> Iterable[Figure]:
    kinds = [plain(kind.to_dict()) for kind in part.kinds]
    labels = {name: tuple(codes) for name, codes in part.labels.items()}
    upper = [None] * len(part.values) if part.upper is None else part.upper.tolist()
    listed: set[Cells] = set()
    rows = zip(part.codes.tolist(), part.values.tolist(), part.kind.tolist(), upper, strict=True)
    for codes, value, which, top in rows:
        label = {name: found[code] for (name, found), code in zip(labels.items(), codes, strict=True)}
        cells = world.cells(label, part.total or TOTAL)
        listed.add(cells)
        kind = kinds[which]
        name = dict(kind)["name"]
        if name == "suppressed":
            yield Figure(cells, kind if least is None else _with(kind, "least", least), None)
        else:
            yield Figure(cells, kind, int(value), int(top) if name == "interval" else None)
    if part.absent == "empty":
        yield from unlisted(labels, listed, world, part.total or TOTAL)


def unlisted(
    labels: Mapping[str, Sequence[str]],
    listed: Set[Cells],
    world: World,
    total: str = TOTAL,
    where: Mapping[str, str] | None = None,
) -> Iterator[Figure]:
    """Go through what a table does not list: it is empty, and so are categories that the table does not have.

    Where it is about some people only, that is said of these alone.
    """
    some = dict(where or {})
    exact = plain({"name": "exact"})
    for crossing in product(*labels.values()):
        cells = world.cells(dict(zip(labels, crossing, strict=True)) | some, total)
        if cells not in listed:
            yield Figure(cells, exact, 0)
    for name, codes in labels.items():
        leaves = dict(world.dimensions)[name]
        groups = [set(world.under(name, code)) for code in codes if code not in (*leaves, total)]
        for leaf in leaves:
            # Of a group that stands for its categories nothing more is said.
            if leaf not in codes and all(group & set(codes) for group in groups if leaf in group):
                yield Figure(world.cells({name: leaf} | some), exact, 0)


def plain(kind: Mapping[str, Any]) -> Kind:
    """Return the properties of a kind, in order."""
    return tuple(sorted((key, _frozen(value)) for key, value in kind.items()))


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value


def _with(kind: Kind, key: str, value: Any) -> Kind:
    return tuple(sorted((dict(kind) | {key: value}).items()))
