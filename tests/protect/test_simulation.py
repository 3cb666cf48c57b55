"""Simulation against the enumerated law of all tables with the same margins."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protect.fibers import p_value, same_margins, slow_law

import discreet as dc
from discreet import DataError, LimitError, RequestError, Table
from discreet.core.numerics import IntArray
from discreet.core.random import generator
from discreet.protect import Simulation, simulation
from discreet.protect.simulation.frontier import Fiber
from discreet.protect.simulation.margin_model import Model
from discreet.protect.simulation.sequential import draw_sequential

NAMES = ["a", "b", "c", "d"]
TWO_WAY: dict[str, Any] = {
    "2x2": [[3, 1], [2, 4]],
    "2x3": [[3, 1, 2], [0, 2, 1]],
    "3x3": [[1, 0, 2], [1, 1, 0], [0, 2, 1]],
}
THREE_WAY: dict[str, Any] = {
    "2x2x2": [[[1, 1], [0, 2]], [[1, 0], [1, 1]]],
    "2x2x3": [[[1, 0, 1], [0, 1, 0]], [[0, 1, 0], [1, 0, 1]]],
}
MARGINS: dict[str, list[tuple[int, ...]]] = {
    "independence": [(0,), (1,), (2,)],
    "chain": [(0, 1), (1, 2)],
    "one joint": [(0, 1), (2,)],
    "no three-way": [(0, 1), (1, 2), (0, 2)],
}


def table_of(counts: Any) -> Table:
    array = np.array(counts)
    return Table.from_array(array, NAMES[: array.ndim])


def named(margins: Sequence[Sequence[int]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(NAMES[i] for i in margin) for margin in margins)


def dense(method: Simulation, table: Table, draws: IntArray) -> IntArray:
    wide = np.zeros((draws.shape[0], table.size), np.int64)
    wide[:, method.support(table)] = draws
    return wide


@pytest.mark.parametrize("law", ["hypergeometric", "uniform"])
@pytest.mark.parametrize("counts", TWO_WAY.values(), ids=TWO_WAY)
def test_a_million_draws_of_two_way_tables_follow_the_enumerated_law(counts: Any, law: Any) -> None:
    table, method = table_of(counts), Simulation(None, law)
    assert method.chosen(table)[0] == ("sequential" if law == "hypergeometric" else "counting")
    draws = dense(method, table, method.draws(table, generator(1), 1_000_000))
    assert p_value(draws, slow_law(table.to_array(), [(0,), (1,)], law)) > 1e-4


@pytest.mark.parametrize("law", ["hypergeometric", "uniform"])
@pytest.mark.parametrize(
    ("margins", "size"),
    [
        (MARGINS["chain"], 1_000_000),
        (MARGINS["no three-way"], 1_000_000),
        (MARGINS["independence"], 200_000),
        (MARGINS["one joint"], 200_000),
    ],
)
def test_draws_of_three_way_tables_follow_the_enumerated_law(margins: Any, size: int, law: Any) -> None:
    table, method = table_of(THREE_WAY["2x2x3"]), Simulation(named(margins), law)
    draws = dense(method, table, method.draws(table, generator(2), size))
    assert p_value(draws, slow_law(table.to_array(), margins, law)) > 1e-4


def small_tables() -> Iterator[tuple[IntArray, list[tuple[int, ...]]]]:
    """Go through all two-way tables with counts up to 2 and all 2 × 2 × 2 tables with counts up to 1."""
    for shape in ((2, 2), (2, 3)):
        for counts in product(range(3), repeat=int(np.prod(shape))):
            yield np.array(counts).reshape(shape), [(0,), (1,)]
    for counts in product(range(2), repeat=8):
        for margins in MARGINS.values():
            yield np.array(counts).reshape(2, 2, 2), margins


def check_small(every: int, draws: int) -> None:
    seen: set[Any] = set()
    number = 0
    for F, margins in small_tables():
        # Tables with the same margins have the same law; one of them is enough.
        sums = [F.sum(axis=tuple(i for i in range(F.ndim) if i not in m)).tobytes() for m in margins]
        key = (F.shape, tuple(margins), *sums)
        if key in seen or not F.any():
            continue
        seen.add(key)
        number += 1
        if number % every:
            continue
        table = table_of(F)
        for law in ("hypergeometric", "uniform"):
            expected = slow_law(F, margins, law)
            method = Simulation(named(margins), law)
            found = np.concatenate([dense(method, table, rows) for _, rows in method.law(table)])
            chance = np.concatenate([chance for chance, _ in method.law(table)])
            assert method.outcomes(table) == len(expected) == len(found)
            for row, p in zip(found.tolist(), chance.tolist(), strict=True):
                assert p == pytest.approx(float(expected[tuple(row)]), rel=1e-9)
            drawn = dense(method, table, method.draws(table, generator(number), draws))
            assert p_value(drawn, expected) > 1e-7, (F.tolist(), margins, law)
    assert number > 300


def test_small_tables_follow_their_enumerated_laws() -> None:
    check_small(31, 2_000)


@pytest.mark.long
def test_small_tables_follow_their_enumerated_laws_over_a_million_draws() -> None:
    check_small(10, 1_000_000)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_law_by_counting_is_that_of_enumeration(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3)]))
    size = int(np.prod(shape))
    people = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=5))
    F = np.bincount(people, minlength=size).reshape(shape)
    d = len(shape)
    margins = data.draw(
        st.lists(st.sets(st.integers(0, d - 1), min_size=1, max_size=d - 1).map(lambda s: tuple(sorted(s))), min_size=1)
    )
    margins = [*margins, *((i,) for i in range(d))]
    free = [i for i in range(size) if F.ravel()[i] == 0]
    impossible = data.draw(st.sets(st.sampled_from(free), max_size=2)) if free else set()
    for law in ("uniform", "hypergeometric"):
        expected = slow_law(F, margins, law, sorted(impossible))
        fiber = Fiber.of(F.ravel(), shape, Model.of(d, margins), law, np.array(sorted(impossible), np.int64))
        assert fiber.tables == len(expected)
        found: dict[tuple[int, ...], float] = {}
        for chance, rows in fiber.law(block=7):
            assert len(rows) <= 7
            found |= dict(zip(map(tuple, rows.tolist()), chance.tolist(), strict=True))
        assert found.keys() == expected.keys()
        assert all(found[row] == pytest.approx(float(p), rel=1e-9) for row, p in expected.items())


def test_counts_of_fibers_in_print() -> None:
    table = table_of([[20, 21, 10], [16, 58, 30], [10, 20, 20]])
    assert (table.margin("a").counts.tolist(), table.margin("b").counts.tolist()) == ([51, 104, 50], [46, 99, 60])
    assert Simulation().outcomes(table) == 1_268_792
    cube = np.zeros((3, 3, 3), np.int64)
    for i, j in product(range(3), repeat=2):
        cube[i, j, (i + j) % 3] = 1
    assert [Simulation(2).outcomes(table_of(k * cube)) for k in (1, 2, 3)] == [12, 132, 847]


def test_mean_and_variance_of_large_two_way_tables() -> None:
    rows, columns = np.array([3_000_000, 500, 70_000]), np.array([2_000_000, 1_000_500, 70_000])
    N = int(rows.sum())
    F = np.zeros((3, 3), np.int64)
    left = columns.copy()
    for i, need in enumerate(rows.tolist()):
        for j in range(3):
            F[i, j] = min(need, left[j])
            need -= F[i, j]
            left[j] -= F[i, j]
    draws = draw_sequential(F.ravel(), (3, 3), Model.of(2, [(0,), (1,)]), generator(4), 4000).reshape(-1, 3, 3)
    assert (draws.sum(axis=2) == rows).all()
    assert (draws.sum(axis=1) == columns).all()
    mean = np.outer(rows, columns) / N
    variance = mean * np.outer(N - rows, N - columns) / N / (N - 1)
    assert (np.abs(draws.mean(axis=0) - mean) < 4.5 * np.sqrt(variance / 4000)).all()
    assert (np.abs(draws.var(axis=0) / variance - 1) < 4.5 * np.sqrt(2 / 4000)).all()


def random_models() -> list[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    return [
        ((3, 4), [(0,), (1,)]),
        ((3, 2, 4), [(0, 1), (1, 2)]),
        ((2, 3, 2), [(0,), (1,), (2,)]),
        ((2, 3, 2, 2), [(0, 1), (1, 2), (2, 3)]),
        ((2, 2, 3, 2), [(0, 1, 2), (1, 2, 3)]),
        ((2, 2, 3, 2), [(0, 3), (1,), (2, 3)]),
    ]


@pytest.mark.parametrize(("shape", "margins"), random_models())
def test_sequential_draws_keep_the_margins_and_have_the_fitted_means(
    shape: tuple[int, ...], margins: list[tuple[int, ...]]
) -> None:
    F = generator(5).poisson(3.0, shape)
    model = Model.of(len(shape), margins)
    assert model.decomposable
    draws = draw_sequential(F.ravel(), shape, model, generator(6), 20_000).reshape(-1, *shape)
    fitted = F.astype(float) * 0 + 1
    for margin in margins:
        others = tuple(i for i in range(len(shape)) if i not in margin)
        assert (draws.sum(axis=tuple(i + 1 for i in others)) == F.sum(axis=others)).all()
    for _ in range(50):
        for margin in margins:
            others = tuple(i for i in range(len(shape)) if i not in margin)
            now = fitted.sum(axis=others, keepdims=True)
            fitted = fitted * F.sum(axis=others, keepdims=True) / np.where(now > 0, now, 1.0)
    # The mean of the exact law given decomposable margins is the fit by iterative proportional fitting.
    error = draws.std(axis=0) / np.sqrt(20_000)
    assert (np.abs(draws.mean(axis=0) - fitted) < 5 * error + 1e-9).all()


def test_which_margins_are_decomposable_and_which_moves_keep_them() -> None:
    assert Model.of(4, [(0, 1), (1, 2), (2, 3)]).decomposable
    assert not Model.of(4, [(0, 1), (1, 2), (2, 3), (0, 3)]).decomposable
    assert not Model.of(3, [(0, 1), (1, 2), (0, 2)]).decomposable
    assert Model.of(3, [(0, 1, 2), (0, 1)]).margins == ((0, 1, 2),)
    models = random_models()
    models.append(((2, 3, 2), [(0, 1), (1, 2), (0, 2)]))
    for shape, margins in models:
        for family in Model.of(len(shape), margins).moves():
            corners = np.zeros(shape)
            for signs in product((0, 1), repeat=len(family.groups)):
                cell = [length - 1 for length in shape]
                for sign, group in zip(signs, family.groups, strict=True):
                    for i in group:
                        cell[i] = sign
                corners[tuple(cell)] += (-1) ** sum(signs)
            for margin in margins:
                assert not corners.sum(axis=tuple(i for i in range(len(shape)) if i not in margin)).any()
            assert np.abs(corners).sum() == 2 ** len(family.groups)


def test_the_release_publishes_the_margins_and_says_nothing_else() -> None:
    table = dc.datasets.religion()
    done = Simulation().apply(table, 1)
    release = done.release
    assert release.table == simulation(table, seed=1).table
    assert release.table != simulation(table, seed=2).table != table
    for name in table.names:
        assert release.table.margin(name) == table.margin(name)
    assert dict(release.parameters) == {"margins": 1, "law": "hypergeometric"}
    published = {kind.name for part in release.parts() for kind in part.kinds}
    assert published == {"exact", "simulated", "suppressed"}
    # The audit of the release is the audit of its margins alone.
    (part,) = release.parts()
    inner = ~(part.codes == 0).any(axis=1)
    hidden = dc.Figures(part.labels, part.codes, np.where(inner, 0, part.values), inner.astype(int))
    found = {cell.name: (cell.lower, cell.upper) for cell in dc.audit(release).cells}
    assert found == {cell.name: (cell.lower, cell.upper) for cell in dc.audit(hidden).cells}
    json.dumps(done.to_dict())


def test_a_hierarchy_is_kept_with_its_margins() -> None:
    tree = dc.Hierarchy.from_parents({"n1": "n", "n2": "n", "s1": "s"})
    table = Table.from_array([[3, 1], [0, 4], [2, 2]], {"area": ["n1", "n2", "s1"], "sex": ["m", "f"]})
    tabulation = dc.Tabulation.from_table(table, hierarchies={"area": tree})
    (part,) = simulation(tabulation, [["area"], ["sex"]], seed=3).parts()
    rows = {part.describe(i): (part.text(i), part.kinds[int(part.kind[i])].name) for i in range(len(part))}
    assert rows["area=n, sex=Total"] == ("8", "exact")
    assert rows["area=n, sex=m"][1] == "simulated"
    assert int(rows["area=n, sex=m"][0]) + int(rows["area=n, sex=f"][0]) == 8


def test_structural_zeros_stay_empty() -> None:
    table = Table.from_array([[0, 2, 3], [2, 1, 1], [4, 0, 2]], NAMES[:2], impossible=np.eye(3) * [1, 0, 0])
    method = Simulation(None, "uniform")
    assert method.chosen(table)[0] == "counting"
    draws = dense(method, table, method.draws(table, generator(1), 50_000))
    assert p_value(draws, slow_law(table.to_array(), [(0,), (1,)], "uniform", [0])) > 1e-4
    assert Simulation().apply(table, 1).details["engine"] == "counting"


def test_bad_requests() -> None:
    table = table_of(THREE_WAY["2x2x2"])
    with pytest.raises(RequestError, match="law is 'even'"):
        Simulation(None, "even")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="engine is 'fast'"):
        Simulation(engine="fast")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="no dimension 'x'"):
        simulation(table, [["a", "x"], ["b"], ["c"]])
    with pytest.raises(RequestError, match="dimension 'c' is in no released margin"):
        simulation(table, [["a", "b"]])
    with pytest.raises(RequestError, match="'a' is one name"):
        simulation(table, ["a", "b"])
    with pytest.raises(RequestError, match="no margin is released"):
        simulation(table, [])
    with pytest.raises(RequestError, match="give 1 to 3"):
        simulation(table, 4)
    with pytest.raises(RequestError, match="the whole table is among"):
        simulation(table, 3)
    with pytest.raises(RequestError, match="decomposable margins without structural zeros only"):
        simulation(table, 2, engine="sequential")
    with pytest.raises(DataError, match="counts nobody"):
        simulation(table_of(np.zeros((2, 2), int)))
    with pytest.raises(LimitError, match="steps to be counted"):
        simulation(dc.datasets.religion(), law="uniform", engine="counting")


def test_the_original_is_said_to_have_been_drawn() -> None:
    only = table_of([[1, 0], [2, 0]])
    assert same_margins(only.to_array(), [(0,), (1,)]) == [(1, 0, 2, 0)]
    assert "is the original" in Simulation().apply(only, 1).sentence
