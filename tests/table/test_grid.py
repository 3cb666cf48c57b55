"""The geometry of crossed categories against plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import LimitError
from discreet.table.grid import Grid, add_up, locate, look_up, recode

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
filled = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def combinations(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return every combination of codes in the order of its position: the last dimension runs fastest."""
    return list(product(*(range(length) for length in shape)))


@given(shapes)
def test_positions_number_all_combinations_in_order(shape: tuple[int, ...]) -> None:
    grid, every = Grid(shape), combinations(shape)
    assert grid.size == len(every)
    assert grid.cross([range(length) for length in shape]).tolist() == list(range(len(every)))
    for position, codes in enumerate(every):
        assert int(grid.encode(codes)) == position
        assert tuple(int(code) for code in grid.decode(np.array(position))) == codes


@given(shapes)
def test_columns_go_both_ways(shape: tuple[int, ...]) -> None:
    grid, every = Grid(shape), combinations(shape)
    columns = [np.array([codes[i] for codes in every], np.int64) for i in range(len(shape))]
    positions = np.arange(len(every))
    assert [code.tolist() for code in grid.decode(positions)] == [column.tolist() for column in columns]
    if shape:
        assert grid.encode(columns).tolist() == positions.tolist()


@given(filled, st.data())
def test_a_missing_code_makes_a_missing_position(shape: tuple[int, ...], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*(st.integers(-1, length - 1) for length in shape)), min_size=1))
    expected = [-1 if -1 in row else combinations(shape).index(row) for row in rows]
    assert Grid(shape).encode(np.array(rows, np.int64).T).tolist() == expected


@given(filled, st.data())
def test_crossing_some_codes_along_each_dimension(shape: tuple[int, ...], data: st.DataObject) -> None:
    codes = [data.draw(st.lists(st.integers(0, length - 1), unique=True)) for length in shape]
    every = combinations(shape)
    assert Grid(shape).cross(codes).tolist() == [every.index(row) for row in product(*codes)]


@given(filled, st.data())
def test_projections_keep_some_dimensions_in_the_order_given(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    kept = combinations(tuple(shape[i] for i in axes))
    expected = [kept.index(tuple(codes[i] for i in axes)) for codes in combinations(shape)]
    assert Grid(shape).project(np.arange(len(expected)), axes).tolist() == expected


@given(filled, st.data())
def test_moves_along_one_dimension(shape: tuple[int, ...], data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    to = data.draw(st.integers(0, shape[axis] - 1))
    every = combinations(shape)
    expected = [every.index((*codes[:axis], to, *codes[axis + 1 :])) for codes in every]
    assert Grid(shape).moved(np.arange(len(every)), axis, to).tolist() == expected
    assert Grid(shape).moved(np.arange(len(every)), axis, np.full(len(every), to)).tolist() == expected


@given(st.data())
def test_translation_joins_by_name_and_label(data: st.DataObject) -> None:
    labels = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map(lambda x: ["Total", *x])
    both = st.dictionaries(st.sampled_from("xyz"), labels, min_size=1)
    one, two = (Grid.of(data.draw(both)) for _ in range(2))
    shared = {name: recode(one.labels[name], two.labels[name]) for name in one.names if name in two.names}
    expected = []
    for position in range(one.size):
        cell = one.label(position)
        there = {name: cell.get(name, "Total") for name in two.names}
        dropped = any(label != "Total" for name, label in cell.items() if name not in two.names)
        matches = [i for i in range(two.size) if two.label(i) == there]
        expected.append(-1 if dropped or not matches else matches[0])
    assert one.translate(np.arange(one.size), two, shared).tolist() == expected


@given(filled, st.data())
def test_descriptions_name_every_category(shape: tuple[int, ...], data: st.DataObject) -> None:
    labels = {f"d{i}": [f"c{j}" for j in range(length)] for i, length in enumerate(shape)}
    codes = tuple(data.draw(st.integers(0, length - 1)) for length in shape)
    position = combinations(shape).index(codes)
    assert Grid.of(labels).label(position) == {f"d{i}": f"c{code}" for i, code in enumerate(codes)}
    assert Grid.of(labels).describe(position) == ", ".join(f"d{i}=c{code}" for i, code in enumerate(codes))


numbers = st.lists(st.integers(-3, 20), max_size=8)


@given(st.lists(st.integers(0, 15), unique=True, max_size=8), numbers)
def test_locating_finds_every_number_or_says_that_it_is_missing(listed: list[int], wanted: list[int]) -> None:
    array, asked = np.array(listed, np.int64), np.array(wanted, np.int64)
    in_order = sorted(listed)
    expected = [in_order.index(number) if number in in_order else -1 for number in wanted]
    assert locate(np.sort(array), asked).tolist() == expected
    unsorted = [listed.index(number) if number in listed else -1 for number in wanted]
    assert locate(array, asked, np.argsort(array)).tolist() == unsorted
    values = {number: 100 + i for i, number in enumerate(in_order)}
    beside = np.arange(100, 100 + len(listed))
    assert look_up(np.sort(array), beside, asked).tolist() == [values.get(number, 0) for number in wanted]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=40))
def test_counts_of_one_position_are_added(rows: list[tuple[int, int]]) -> None:
    expected: dict[int, int] = {}
    for position, count in rows:
        expected[position] = expected.get(position, 0) + count
    positions, counts = (np.array([row[i] for row in rows], np.int64) for i in range(2))
    for size in (31, 10**9):
        cells, sums = add_up(positions, counts, size)
        assert dict(zip(cells.tolist(), sums.tolist(), strict=True)) == expected
        assert cells.tolist() == sorted(expected)


def test_the_largest_grid_that_positions_can_number() -> None:
    grid = Grid((2**21, 2**21, 2**21 - 1))
    corner = tuple(length - 1 for length in grid.shape)
    assert int(grid.encode(corner)) == grid.size - 1 < 2**63
    assert tuple(int(code) for code in grid.decode(np.array(grid.size - 1))) == corner


@pytest.mark.parametrize("shape", [(2**21, 2**21, 2**21), (10,) * 19, (2**62, 3)])
def test_more_cells_than_positions_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(LimitError, match="more than positions can number"):
        Grid(shape)


def test_a_dimension_without_categories_leaves_no_cell_however_long_the_others_are() -> None:
    grid = Grid((2**40, 0, 2**40))
    assert grid.size == 0
    assert grid.cross([[], [], []]).tolist() == []
    nothing = np.zeros(0, np.int64)
    assert [code.size for code in grid.decode(nothing)] == [0, 0, 0]
    assert grid.encode([nothing] * 3).tolist() == []
