"""Generated records with a specification that fits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.tabulation.spec import DimensionSpec, ResponseSpec, TableSpec

# Multiples of a quarter add up exactly in any order, so that engines must agree to the last bit.
quarters = st.integers(-400, 400).map(lambda i: i / 4)
weights = st.integers(1, 40).map(lambda i: i / 4)


@dataclass(frozen=True)
class Case:
    """Records and what to tabulate of them."""

    records: pa.Table
    spec: TableSpec
    options: Mapping[str, Any] = field(default_factory=dict)


@st.composite
def trees(draw: st.DrawFn, codes: list[str]) -> Hierarchy:
    """A tree over some codes, of any shape, with groups of its own."""
    groups = [f"g{i}" for i in range(draw(st.integers(0, 3)))]
    parents: dict[str, str] = {}
    for i, group in enumerate(groups):
        parents[group] = draw(st.sampled_from(["Total", *groups[:i]]))
    for code in codes:
        parents[code] = draw(st.sampled_from(["Total", *groups]))
    # A group that nothing stands under would be a leaf of its own, which is as good as any other.
    return Hierarchy.from_parents(parents)


@st.composite
def dimensions(draw: st.DrawFn, number: int, rows: int, missing: str) -> tuple[dict[str, Any], DimensionSpec]:
    name = f"dim {number}"
    kind = draw(st.sampled_from(["flat", "numbers", "tree", "two trees", "prefixes", "nested"]))
    absent = [] if missing == "error" else ["9", None]
    lost = tuple(draw(st.sets(st.just("9")))) if missing != "error" else ()
    if kind == "numbers":
        values = draw(st.lists(st.sampled_from([1, 2, 10, *([None] if absent else [])]), min_size=rows, max_size=rows))
        return {name: pa.array(values, pa.int32())}, DimensionSpec(name)
    if kind == "nested":
        nest = [("a", "a1"), ("a", "a2"), ("b", None), ("c", "c"), ("d", "d1"), *([(None, None)] if absent else [])]
        chosen = draw(st.lists(st.sampled_from(nest), min_size=rows, max_size=rows))
        upper, lower = f"{name} upper", f"{name} lower"
        data = {
            upper: pa.array([pair[0] for pair in chosen], pa.string()),
            lower: pa.array([pair[1] for pair in chosen], pa.string()),
        }
        return data, DimensionSpec(name, (upper, lower))
    codes = ["A1", "A2", "B1", "B22", "é", "x'y\"z"]
    values = draw(st.lists(st.sampled_from([*codes, *absent]), min_size=rows, max_size=rows))
    data = {name: pa.array(values, pa.string())}
    if kind == "flat":
        return data, DimensionSpec(name, missing=lost)
    if kind == "prefixes":
        return data, DimensionSpec(name, hierarchies=(Prefixes((1,)),), missing=lost, outside="total")
    hierarchies = [draw(trees(codes))]
    if kind == "two trees":
        renamed = draw(trees(codes))
        hierarchies.append(
            Hierarchy(tuple(c.replace("g", "other ") if c[0] == "g" else c for c in renamed.codes), renamed.parents)
        )
    return data, DimensionSpec(name, hierarchies=tuple(hierarchies), missing=lost, outside="total")


@st.composite
def cases(draw: st.DrawFn, most: int = 25) -> Case:
    """Records with a specification, everything that can be varied being varied."""
    rows = draw(st.integers(1, most))
    missing = draw(st.sampled_from(["error", "category", "drop"]))
    data: dict[str, Any] = {}
    dims = []
    for number in range(draw(st.integers(1, 3))):
        columns, dimension = draw(dimensions(number, rows, missing))
        data |= columns
        dims.append(dimension)

    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)

    responses: tuple[ResponseSpec, ...] = ()
    if draw(st.booleans()):
        magnitudes = quarters if draw(st.booleans()) else quarters.map(abs)
        data["turnover"] = column(magnitudes, pa.float64())
        data["staff"] = column(st.integers(0, 9), pa.int64())
        shadow = draw(st.sampled_from([None, "staff", "turnover"]))
        responses = (ResponseSpec("turnover"), ResponseSpec("staff", None if shadow == "staff" else shadow))
        responses = responses[: draw(st.integers(1, 2))]
    chosen: dict[str, Any] = {"contributor": None, "holding": None, "weight": None}
    if draw(st.booleans()):
        data["id"] = column(st.integers(1, 8), pa.int64()) if draw(st.booleans()) else pa.array(range(rows), pa.int64())
        chosen["contributor"] = "id"
    if draw(st.booleans()):
        groups = draw(st.lists(st.sampled_from(["p", "q", "1", "", None]), min_size=rows + 8, max_size=rows + 8))
        # All records of a contributor are in the same holding.
        whose = data["id"].to_pylist() if "id" in data else range(rows)
        data["group"] = pa.array([groups[who] for who in whose], pa.string())
        chosen["holding"] = "group"
    if draw(st.booleans()):
        data["w"] = column(weights, pa.float64())
        chosen["weight"] = "w"
        chosen["estimates"] = draw(st.booleans())
    names = [dimension.name for dimension in dims]
    margins = draw(
        st.one_of(
            st.just("all"),
            st.integers(0, len(names)),
            st.lists(st.sets(st.sampled_from(names)).map(sorted).map(tuple), min_size=1, max_size=3).map(tuple),
        )
    )
    spec = TableSpec(
        tuple(dims),
        responses,
        margins=margins,  # type: ignore[arg-type]
        top=draw(st.integers(2, 4)),
        missing=missing,  # type: ignore[arg-type]
        **chosen,
    )
    return Case(pa.table(data), spec)
