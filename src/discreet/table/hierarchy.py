"""A hierarchy: a tree over the codes of a dimension, from its total down to its finest categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from discreet.core.errors import DataError, RequestError, require
from discreet.core.files import write_text
from discreet.core.json_types import Json, JsonObject
from discreet.core.text import Readable
from discreet.table.grid import Copied, repeated

TOTAL = "Total"
"""The code of a hierarchy's root if none is given."""


class TotalFirst:
    """Base of classes with codes, the total first."""

    codes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def total(self) -> str:
        """The code of the total."""
        return self.codes[0]


@dataclass(frozen=True, repr=False)
class Hierarchy(TotalFirst, Copied, Readable):
    """A tree over a dimension's codes: its inner nodes are margins, its leaves the categories of the records.

    ``codes`` are in the order of a table's rows, the total first and every code after its parent; ``parents`` holds
    the position of each code's parent, -1 for the total. Branches may end at any depth. ``part`` is true if the total
    is of these codes only, and not of everybody: a table of the east alone, beside tables of the country.

    >>> tree = Hierarchy.from_parents({"north": "Total", "n1": "north", "n2": "north", "south": "Total"})
    >>> tree.leaves, tree.children("north"), tree.depth
    (('n1', 'n2', 'south'), ('n1', 'n2'), 2)
    """

    codes: tuple[str, ...]
    parents: tuple[int, ...]
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    part: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))
        if not self.codes or len(self.codes) != len(self.parents):
            raise DataError(f"a hierarchy has {len(self.codes)} codes and {len(self.parents)} parents; give one each")
        if (twice := repeated(self.codes)) is not None:
            raise DataError(f"code {twice!r} is in the hierarchy twice; every code needs one place")
        if "" in self.codes:
            raise DataError("a code of the hierarchy is empty; give every category a code")
        if self.parents[0] != -1 or any(not 0 <= parent < i for i, parent in enumerate(self.parents) if i):
            raise DataError("in a hierarchy the total comes first, and every code after its parent")
        for code in self.labels:
            self._at(code)

    @classmethod
    def from_parents(
        cls,
        pairs: Mapping[str, str] | Iterable[tuple[object, object]],
        *,
        total: str = TOTAL,
        labels: Mapping[str, str] | None = None,
    ) -> Hierarchy:
        """Build a hierarchy from a table of children and their parents.

        Args:
            pairs: ``{child: parent}``, or pairs of child and parent; a parent that is nobody's child, and a child
                whose parent is empty or missing, come directly under the total.
            total: the code of the root.
            labels: what the codes mean.

        >>> Hierarchy.from_parents([("a1", "a"), ("a2", "a"), ("b", None)]).codes
        ('Total', 'a', 'a1', 'a2', 'b')
        """
        return cls._grown(_parents_from_pairs(pairs, total), total, labels)

    @classmethod
    def flat(cls, codes: Iterable[object], *, total: str = TOTAL) -> Hierarchy:
        """Build the hierarchy of a plain dimension: every code is directly under the total.

        >>> Hierarchy.flat(["a", "b"]).parents
        (-1, 0, 0)
        """
        below = [str(code) for code in codes]
        if total in below:
            raise DataError(f"category {total!r} is also the code of the total; give that another name (total=...)")
        return cls((total, *below), (-1, *([0] * len(below))))

    @classmethod
    def from_columns(cls, rows: Iterable[Sequence[object]], *, total: str = TOTAL) -> Hierarchy:
        """Build a hierarchy from nested columns, the coarsest first, such as region, district, municipality.

        A branch ends where a column is empty or repeats its parent's code.

        >>> Hierarchy.from_columns([("n", "n1"), ("n", "n2"), ("s", None)]).leaves
        ('n1', 'n2', 's')
        """
        return cls._grown(_parents_from_columns(rows, total), total)

    @classmethod
    def from_prefixes(cls, codes: Iterable[object], lengths: Sequence[int], *, total: str = TOTAL) -> Hierarchy:
        """Build a hierarchy from codes whose beginnings are their parents, as in NACE or NUTS.

        Args:
            codes: the finest codes.
            lengths: how many characters each level above the codes keeps, for example ``(1, 3)``.
            total: the code of the root.

        >>> Hierarchy.from_prefixes(["FR101", "FR102", "FR211"], [2, 4]).path("FR101")
        ('FR101', 'FR10', 'FR', 'Total')
        """
        steps = list(lengths)
        if not steps or any(length < 1 for length in steps) or sorted(set(steps)) != steps:
            raise RequestError(f"prefix lengths are {steps}; give rising lengths of 1 or more, such as 1, 3")
        rows = ([*(code[:length] for length in steps if length < len(code)), code] for code in map(str, codes))
        return cls.from_columns(rows, total=total)

    @classmethod
    def from_hrc(cls, text: str, *, lead: str = "@", total: str = TOTAL) -> Hierarchy:
        r"""Read the text of an indented ``.hrc`` file as τ-ARGUS does: the leading characters give the level.

        >>> Hierarchy.from_hrc("Nr\n@ 1\n@ 2\nOs\n").parents
        (-1, 0, 1, 1, 0)
        """
        return cls._grown(_parents_from_hrc(text, lead, total), total)

    @classmethod
    def from_dict(cls, data: JsonObject) -> Hierarchy:
        """Build a hierarchy from the plain data that :meth:`to_dict` returns."""
        return cls(tuple(data["codes"]), tuple(data["parents"]), data["labels"], data.get("part", False))

    @classmethod
    def _grown(cls, parent_of: Mapping[str, str], total: str, labels: Mapping[str, str] | None = None) -> Hierarchy:
        """Lay a tree out, each branch whole before the next, in the order in which codes were first named."""
        below: dict[str, list[str]] = {}
        for code, parent in parent_of.items():
            below.setdefault(parent, []).append(code)
        codes: list[str] = []
        parents: list[int] = []
        stack = [(total, -1)]
        while stack:
            code, above = stack.pop()
            codes.append(code)
            parents.append(above)
            stack += [(child, len(codes) - 1) for child in reversed(below.get(code, []))]
        return cls(tuple(codes), tuple(parents), labels or {})

    @property
    def leaves(self) -> tuple[str, ...]:
        """The codes that have none under them, in order."""
        inner = set(self.parents)
        return tuple(code for i, code in enumerate(self.codes) if i not in inner)

    @property
    def levels(self) -> tuple[int, ...]:
        """How far each code lies below the total."""
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return tuple(depths)

    @property
    def depth(self) -> int:
        """The number of levels below the total."""
        return max(self.levels)

    def sums(self) -> dict[str, list[str]]:
        """Return each code that is a sum of others, with the codes directly under it."""
        found: dict[str, list[str]] = {}
        for code, parent in zip(self.codes[1:], self.parents[1:], strict=True):
            found.setdefault(self.codes[parent], []).append(code)
        return found

    def children(self, code: object) -> tuple[str, ...]:
        """Return the codes directly under one."""
        return tuple(self.sums().get(self.codes[self._at(code)], ()))

    def path(self, code: object) -> tuple[str, ...]:
        """Return a code, its parent, and so on up to the total."""
        return tuple(self.codes[i] for i in self._climb(self._at(code)))

    def _climb(self, at: int) -> Iterator[int]:
        while at >= 0:
            yield at
            at = self.parents[at]

    def _at(self, code: object) -> int:
        require([str(code)], self.codes, "the hierarchy has no code")
        return self.codes.index(str(code))

    def with_codes(self, codes: Iterable[object]) -> Hierarchy:
        """Put further codes directly under the total.

        >>> Hierarchy.flat(["a"]).with_codes(["z"]).codes
        ('Total', 'a', 'z')
        """
        more = [str(code) for code in codes]
        return Hierarchy((*self.codes, *more), (*self.parents, *([0] * len(more))), self.labels, self.part)

    def below(self, code: object) -> Hierarchy:
        """Return the branch of a code as a hierarchy of its own.

        >>> Hierarchy.from_parents({"n1": "north", "n2": "north", "s": "Total"}).below("north").codes
        ('north', 'n1', 'n2')
        """
        top = self._at(code)
        kept = [i for i in range(len(self.codes)) if top in self._climb(i)]
        place = {at: i for i, at in enumerate(kept)}
        codes = tuple(self.codes[i] for i in kept)
        parents = tuple(place.get(self.parents[i], -1) if i != top else -1 for i in kept)
        return Hierarchy(codes, parents, {code: self.labels[code] for code in codes if code in self.labels}, self.part)

    def among(self, codes: Iterable[str]) -> Hierarchy:
        """Return a hierarchy of some codes, each with its parent.

        >>> Hierarchy.from_parents({"n1": "north", "n2": "north", "s": "Total"}).among(["Total", "north", "s"]).codes
        ('Total', 'north', 's')
        """
        wanted = set(codes)
        kept = [i for i, code in enumerate(self.codes) if code in wanted]
        place = {-1: -1} | {at: i for i, at in enumerate(kept)}
        labels = {code: text for code, text in self.labels.items() if code in wanted}
        parents = tuple(place[self.parents[i]] for i in kept)
        return Hierarchy(tuple(self.codes[i] for i in kept), parents, labels, self.part)

    def as_part(self, total: str | None = None) -> Hierarchy:
        """Declare that the total is of these codes only, under a name.

        Beside tables of everybody, such a total is one more sum of the same dimension, never all of it.

        >>> Hierarchy.flat(["e1", "e2"]).as_part("East").total
        'East'
        """
        top = self.total if total is None else total
        labels = {top if code == self.total else code: text for code, text in self.labels.items()}
        return Hierarchy((top, *self.codes[1:]), self.parents, labels, True)

    def to_hrc(self, lead: str = "@") -> str:
        """Return the text of a ``.hrc`` file; τ-ARGUS wants it without the total."""
        lines = [lead * (level - 1) + code for code, level in zip(self.codes, self.levels, strict=True) if level]
        return "\n".join(lines) + "\n"

    def write(self, path: str | Path, lead: str = "@") -> None:
        """Write a ``.hrc`` file, atomically."""
        write_text(path, self.to_hrc(lead))

    def to_dict(self) -> dict[str, Json]:
        """Return the tree as plain data."""
        found: dict[str, Json] = {"codes": list(self.codes), "parents": list(self.parents), "labels": dict(self.labels)}
        return {**found, "part": True} if self.part else found

    def __str__(self) -> str:
        head = f"Hierarchy of {len(self.leaves)} leaves, {self.depth} levels under {self.total!r}"
        head += ", a part of the dimension" if self.part else ""
        lines = [
            "  " * level + code + (f" ({self.labels[code]})" if code in self.labels else "")
            for code, level in zip(self.codes[:20], self.levels, strict=False)
        ]
        return "\n".join([head, *lines, *(["…"] if len(self.codes) > 20 else [])])


@dataclass(frozen=True)
class Prefixes:
    """A hierarchy to be built from the codes that occur: the first characters of a code name its parents.

    >>> Prefixes((1, 3)).over(["A01", "A02"], total="Total").codes
    ('Total', 'A', 'A01', 'A02')
    """

    lengths: tuple[int, ...]

    def over(self, codes: Iterable[str], total: str) -> Hierarchy:
        """Build the hierarchy of these codes."""
        return Hierarchy.from_prefixes(codes, self.lengths, total=total)


def part_tree(name: str, totals: Sequence[str], trees: Sequence[Hierarchy]) -> Hierarchy:
    """Return the branch of a total of some categories only, in whichever hierarchy of the dimension has it.

    >>> country = Hierarchy.from_parents({"e1": "Total", "e2": "Total", "w": "Total"})
    >>> part_tree("region", ["East"], [country, Hierarchy.from_parents({"e1": "East", "e2": "East"})]).codes
    ('East', 'e1', 'e2')
    """
    if len(totals) > 1:
        raise RequestError(f"dimension {name!r} has the totals {' and '.join(map(repr, totals))}; a table has one")
    found = next((tree.below(totals[0]) for tree in trees if totals[0] in tree.codes), None)
    if found is None:
        raise RequestError(
            f"no hierarchy of dimension {name!r} says what {totals[0]!r} is the total of; give one that has it, with "
            "its codes below it (hierarchies=, --hierarchy)"
        )
    return found


def _parents_from_pairs(pairs: Mapping[str, str] | Iterable[tuple[object, object]], total: str) -> dict[str, str]:
    listed = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
    parent_of: dict[str, str] = {}
    for child, parent in listed:
        above = total if parent is None or str(parent) == "" else str(parent)
        code = str(child)
        if code == total:
            raise DataError(f"the total {total!r} is listed below {above!r}; the root of a hierarchy has no parent")
        if code in parent_of:
            if parent_of[code] == above:
                raise DataError(f"code {code!r} is listed twice below {above!r}; list every code once")
            raise DataError(
                f"code {code!r} has two parents, {parent_of[code]!r} and {above!r}; a hierarchy is a tree: give "
                "each grouping a hierarchy of its own"
            )
        parent_of[code] = above
    for above in list(dict.fromkeys(parent_of.values())):
        if above != total and above not in parent_of:
            parent_of[above] = total
    _refuse_cycle(parent_of, total)
    named = dict.fromkeys(str(code) for child, parent in listed for code in (parent, child))
    return {code: parent_of[code] for code in named if code in parent_of}


def _parents_from_columns(rows: Iterable[Sequence[object]], total: str) -> dict[str, str]:
    parent_of: dict[str, str] = {}
    for row in rows:
        above = total
        for value in row:
            code = "" if value is None else str(value)
            if code in ("", above):
                continue
            if code == total:
                raise DataError(f"category {total!r} is also the code of the total; give that another name (total=...)")
            if parent_of.setdefault(code, above) != above:
                raise DataError(
                    f"code {code!r} has two parents, {parent_of[code]!r} and {above!r}; nested columns need codes "
                    "that lie in one parent only: name the coarsest column first, or give the codes of each parent "
                    "names of their own"
                )
            above = code
    _refuse_cycle(parent_of, total)
    return parent_of


def _parents_from_hrc(text: str, lead: str, total: str) -> dict[str, str]:
    if len(lead) < 1:
        raise RequestError("the leading string of a hierarchy file is empty; it is a character such as @")
    branch: list[str] = [total]
    parent_of: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        body = line.rstrip()
        if not body:
            continue
        depth = 0
        while body.startswith(lead):
            body, depth = body[len(lead) :], depth + 1
        if not body.strip():
            raise DataError(f"line {number} has {lead!r} but no code; give the code or drop the line")
        if depth >= len(branch):
            raise DataError(
                f"line {number}: code {body!r} is on level {depth + 1}, but the line before it on level "
                f"{len(branch) - 1}; go down one level at a time"
            )
        if body == total or body in parent_of:
            raise DataError(f"line {number}: code {body!r} is listed twice; every code needs one place")
        parent_of[body] = branch[depth]
        branch[depth + 1 :] = [body]
    if not parent_of:
        raise DataError("there are no codes in the hierarchy; list at least one")
    return parent_of


def _refuse_cycle(parent_of: Mapping[str, str], total: str) -> None:
    safe = {total}
    for start in parent_of:
        trail: dict[str, None] = {}
        code = start
        while code not in safe:
            if code in trail:
                loop = [*list(trail)[list(trail).index(code) :], code]
                shown = " → ".join(repr(part) for part in loop[:8])
                raise DataError(f"the hierarchy goes in a circle: {shown}; remove one of these parents")
            trail[code] = None
            code = parent_of[code]
        safe |= set(trail)
