"""What to tabulate: the same specification for every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, get_args

from discreet.core.errors import RequestError
from discreet.core.text import choices
from discreet.table.hierarchy import TOTAL, Hierarchy, Prefixes

Outside: TypeAlias = Literal["error", "total"]
Missing: TypeAlias = Literal["error", "category", "drop"]
Negative: TypeAlias = Literal["absolute", "error"]
MarginsWanted: TypeAlias = Literal["all"] | int | Sequence[Sequence[str]]
KEYS = 2**32
"""The default range of record keys."""
LARGEST_KEY = 2**53
"""Keys below this are exact in every engine; fractions become integer multiples of its reciprocal."""
MISSING = "Missing"
"""The code of records whose category is missing, where these are tabulated."""


@dataclass(frozen=True)
class DimensionSpec:
    """A dimension of the table: the column, or nested columns, that hold its codes, and its hierarchies.

    Args:
        name: the dimension's name.
        columns: nested columns of the records, the coarsest first; by default one column of the dimension's name.
        hierarchies: trees over the codes; the nested columns are one on their own.
        missing: codes that mean that the category is unknown; an empty one always does.
        total: the code of the total.
        outside: codes that no hierarchy has are an error, or are placed directly under the total.
    """

    name: str
    columns: tuple[str, ...] = ()
    hierarchies: tuple[Hierarchy | Prefixes, ...] = ()
    missing: tuple[str, ...] = ()
    total: str = TOTAL
    outside: Outside = "error"

    def __post_init__(self) -> None:
        """Fill in the column and check the choices."""
        object.__setattr__(self, "columns", tuple(self.columns) or (self.name,))
        object.__setattr__(self, "hierarchies", tuple(self.hierarchies))
        object.__setattr__(self, "missing", tuple(str(code) for code in self.missing))
        _check("outside", self.outside, get_args(Outside))


@dataclass(frozen=True)
class ResponseSpec:
    """A magnitude to add up, and the shadow variable by which the rules judge it, if there is one."""

    name: str
    shadow: str | None = None

    @property
    def judged(self) -> str:
        """The column that the rules judge."""
        return self.shadow or self.name


@dataclass(frozen=True)
class TableSpec:
    """What to tabulate; fields that are not listed mean what they mean in :func:`~discreet.tabulation.tabulate`.

    Args:
        dimensions: how the records are classified.
        responses: the magnitudes to add up; none for a table of counts.
        alone: every record has a different contributor, whatever other columns suggest; ``contributor=""`` says so.
        estimates: add up the weight times the magnitude, or the weight itself if there is none, rounded to two decimals
            for every record, which makes margins add up exactly; contributions are such products too.
        key: the column of record keys, which are added up in every cell modulo their range.
        key_range: keys are integers from 0 to below this; 1 for fractions between 0 and 1.
        together: respondents are kept with all dimensions crossed, whatever margins are wanted.
    """

    dimensions: tuple[DimensionSpec, ...]
    responses: tuple[ResponseSpec, ...] = ()
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    estimates: bool = False
    margins: tuple[tuple[str, ...], ...] | Literal["all"] | int = "all"
    top: int = 2
    missing: Missing = "error"
    negative: Negative = "absolute"
    key: str | None = None
    key_range: int = KEYS
    alone: bool = False
    together: bool = False

    def __post_init__(self) -> None:
        """Check the choices and list the margins."""
        if self.contributor == "":
            object.__setattr__(self, "contributor", None)
            object.__setattr__(self, "alone", True)
        names = [dimension.name for dimension in self.dimensions]
        if not names:
            raise RequestError("no dimension is named; say by which columns to tabulate")
        for what, listed in (("dimension", names), ("response", [r.name for r in self.responses])):
            if len(set(listed)) != len(listed):
                twice = next(name for name in listed if listed.count(name) > 1)
                raise RequestError(f"{what} {twice!r} is named twice; name each once")
        if self.estimates and self.weight is None:
            raise RequestError("estimates are weighted sums; name the column of weights (weight=, --weight)")
        if self.estimates and not self.responses:
            assert self.weight is not None
            object.__setattr__(self, "responses", (ResponseSpec(self.weight),))
        if self.top < 2:
            raise RequestError(f"top is {self.top}; the rules need the 2 largest contributions or more")
        if not 1 <= self.key_range <= LARGEST_KEY:
            raise RequestError(f"the range of keys is {self.key_range}; give 1 for fractions, or at most 2^53")
        _check("missing", self.missing, get_args(Missing))
        _check("negative", self.negative, get_args(Negative))
        object.__setattr__(self, "margins", _margins(self.margins, names))

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def crossed(self) -> tuple[tuple[str, ...], ...]:
        """The margins wanted, each as the names of its dimensions in the table's order."""
        assert isinstance(self.margins, tuple)
        return self.margins

    @property
    def finest(self) -> tuple[tuple[str, ...], ...]:
        """The margins that are margins of no other one; all the rest add up from them."""
        return tuple(m for m in self.crossed if not any(set(m) < set(other) for other in self.crossed))

    @property
    def weighted(self) -> bool:
        """Whether weighted figures are wanted beside the plain ones."""
        return self.weight is not None and not self.estimates

    @property
    def modulus(self) -> int:
        """What sums of keys are taken modulo, as integers."""
        return LARGEST_KEY if self.key_range == 1 else self.key_range

    @property
    def magnitudes(self) -> tuple[str, ...]:
        """The columns of responses and shadow variables, each once."""
        columns = [column for r in self.responses for column in (r.name, r.shadow) if column is not None]
        return tuple(dict.fromkeys(columns))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of magnitudes and of weights."""
        return self.magnitudes if self.weight is None else (*self.magnitudes, self.weight)

    def roles(self) -> Iterator[tuple[str, str]]:
        """Yield the columns that are needed, each with its role."""
        for dimension in self.dimensions:
            for column in dimension.columns:
                yield column, "dimension"
        for response in self.responses:
            yield response.name, "response"
            if response.shadow is not None:
                yield response.shadow, "shadow variable"
        named = (self.contributor, "contributor"), (self.holding, "holding"), (self.weight, "weight")
        for given, role in (*named, (self.key, "record key")):
            if given is not None:
                yield given, role


def _check(what: str, given: object, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise RequestError(f"{what} is {given!r}; give {choices(allowed)}")


def _margins(wanted: MarginsWanted, names: list[str]) -> tuple[tuple[str, ...], ...]:
    """List margins in a fixed order, from the grand total to the full cross."""
    if isinstance(wanted, bool) or (isinstance(wanted, str) and wanted != "all"):
        raise RequestError(f"margins is {wanted!r}; give 'all', a number of dimensions, or a list of lists of names")
    if isinstance(wanted, str | int):
        most = len(names) if wanted == "all" else int(wanted)
        if not 0 <= most <= len(names):
            raise RequestError(f"margins of up to {most} dimensions are wanted, but there are {len(names)} dimensions")
        return tuple(part for size in range(most + 1) for part in combinations(names, size))
    listed = []
    for margin in wanted:
        given = [margin] if isinstance(margin, str) else list(margin)
        for name in given:
            if name not in names:
                from discreet.core.errors import nearest

                raise RequestError(f"a margin names {name!r}, which is not a dimension; {nearest(name, names)}")
        listed.append(tuple(name for name in names if name in given))
    if not listed:
        raise RequestError("the list of margins is empty; name at least one")
    return tuple(sorted(set(listed), key=lambda margin: (len(margin), [names.index(name) for name in margin])))
