"""Iterative proportional fitting against a slow twin and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InfeasibleError, LimitError, RequestError
from discreet.core.numerics import FloatArray
from discreet.models.ipf import Margin, fit, generating_class

Axes = tuple[int, ...]


def margin(values: np.ndarray, axes: Axes) -> Margin:
    others = tuple(axis for axis in range(values.ndim) if axis not in axes)
    kept = values.sum(axis=others)
    return axes, kept.transpose([sorted(axes).index(axis) for axis in axes])


def slow_fit(start: np.ndarray, counts: np.ndarray, classes: list[Axes], cycles: int = 400) -> dict[Axes, float]:
    """Scale cell after cell, with dictionaries."""
    cells = {index: float(start[index]) for index in np.ndindex(*start.shape)}
    for _ in range(cycles):
        for axes in classes:
            wanted: dict[Axes, float] = {}
            sums: dict[Axes, float] = {}
            for index, value in cells.items():
                key = tuple(index[axis] for axis in axes)
                wanted[key] = wanted.get(key, 0.0) + float(counts[index])
                sums[key] = sums.get(key, 0.0) + value
            for index in cells:
                key = tuple(index[axis] for axis in axes)
                cells[index] *= wanted[key] / sums[key] if sums[key] else 0.0
    return cells


CLASSES: list[list[Axes]] = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)], [(2, 0), (1,)], [(0,), (2,)], [()]]


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("zeros", [False, True])
def test_fit_against_the_slow_twin(classes: list[Axes], zeros: bool) -> None:
    source = np.random.default_rng(1)
    start = np.ones((3, 4, 2))
    if zeros:
        start[0, 1, :] = start[2, 3, 1] = 0
    counts = source.integers(1, 9, start.shape) * start
    fitted = fit(start, [margin(counts, axes) for axes in classes], tolerance=1e-13)
    slow = slow_fit(start, counts, classes)
    assert fitted.values == pytest.approx(np.array([slow[i] for i in np.ndindex(3, 4, 2)]).reshape(3, 4, 2))
    assert (fitted.values[start == 0] == 0).all()
    assert fitted.gap <= 1e-13


def test_independence_in_closed_form() -> None:
    counts = np.random.default_rng(2).integers(0, 9, (4, 3, 5)).astype(float)
    fitted = fit(np.ones(counts.shape), [margin(counts, (axis,)) for axis in range(3)])
    a, b, c = (np.asarray(margin(counts, (axis,))[1]) for axis in range(3))
    assert fitted.values == pytest.approx(np.einsum("i,j,k->ijk", a, b, c) / counts.sum() ** 2)
    assert fitted.iterations == 1


def test_conditional_independence_in_closed_form() -> None:
    counts = np.random.default_rng(3).integers(1, 9, (4, 3, 5)).astype(float)
    fitted = fit(np.ones(counts.shape), [margin(counts, (0, 1)), margin(counts, (2, 1))])
    ab, bc, b = counts.sum(axis=2), counts.sum(axis=0), counts.sum(axis=(0, 2))
    assert fitted.values == pytest.approx(ab[:, :, None] * bc[None] / b[None, :, None])
    assert fitted.iterations == 1


def test_all_pairs_have_no_third_order_interaction() -> None:
    counts = np.random.default_rng(4).integers(1, 50, (2, 2, 2)).astype(float)
    pairs = [margin(counts, axes) for axes in itertools.combinations(range(3), 2)]
    m = fit(np.ones(counts.shape), pairs, tolerance=1e-13).values
    for axes, wanted in pairs:
        assert m.sum(axis=({0, 1, 2} - set(axes)).pop()) == pytest.approx(np.asarray(wanted))
    odds = m[0, 0] * m[1, 1] / (m[0, 1] * m[1, 0])
    assert odds[0] == pytest.approx(odds[1])


def test_empty_margins_stay_empty() -> None:
    counts = np.array([[4.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]])
    fitted = fit(np.ones((3, 3)), [margin(counts, (0,)), margin(counts, (1,))])
    assert fitted.values == pytest.approx(np.outer([6, 0, 4], [5, 0, 5]) / 10)
    assert (fitted.values[1] == 0).all()
    assert (fitted.values[:, 1] == 0).all()


def test_margins_inside_others_are_dropped() -> None:
    assert generating_class([(1,), (0, 1), (1, 0), (2,), ()]) == ((0, 1), (2,))
    assert generating_class([()]) == ((),)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_margin_is_met(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    axes = st.sets(st.integers(0, len(shape) - 1)).map(lambda chosen: tuple(sorted(chosen)))
    classes = data.draw(st.lists(axes, min_size=1, max_size=4))
    seed = data.draw(st.integers(0, 10**6))
    counts = np.random.default_rng(seed).integers(1, 30, shape).astype(float)
    fitted = fit(np.ones(shape), [margin(counts, chosen) for chosen in classes])
    for chosen in classes:
        others = tuple(axis for axis in range(len(shape)) if axis not in chosen)
        assert fitted.values.sum(axis=others) == pytest.approx(np.asarray(margin(counts, chosen)[1]), rel=1e-7)


def test_a_million_cells_and_all_pairs() -> None:
    source = np.random.default_rng(5)
    p: FloatArray = np.ones((10,) * 6)
    for a, b in itertools.combinations(range(6), 2):
        shape = [10 if axis in (a, b) else 1 for axis in range(6)]
        p = p * np.exp(source.normal(0, 0.4, shape))
    counts = source.multinomial(20_000, (p / p.sum()).ravel()).reshape(p.shape)
    pairs = [margin(counts, axes) for axes in itertools.combinations(range(6), 2)]
    fitted = fit(np.ones(p.shape), pairs)
    assert fitted.iterations <= 20
    assert fitted.gap <= 1e-8
    assert fitted.values.sum() == pytest.approx(20_000)


def test_too_few_cycles() -> None:
    counts = np.random.default_rng(6).integers(1, 50, (3, 3, 3)).astype(float)
    pairs = [margin(counts, axes) for axes in itertools.combinations(range(3), 2)]
    with pytest.raises(LimitError, match=r"margin 'a' × 'b' is still off by .* after 2 cycles"):
        fit(np.ones(counts.shape), pairs, max_iterations=2, names="abc")


def test_a_margin_over_structural_zeros() -> None:
    start = np.array([[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(InfeasibleError, match=r"margin 'row' wants 3 .* structural zeros"):
        fit(start, [((0,), [3, 4]), ((1,), [3, 4])], names=["row", "column"])


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ([], "no margin is given"),
        ([((0,), [3, 4, 5])], r"shape \(3,\), but the array's is \(2,\)"),
        ([((0,), [3, -4])], "negative"),
        ([((0, 0), [[3, 4], [1, 2]])], "different axes"),
        ([((2,), [3, 4])], "different axes from 0 to 1"),
        ([((0,), [3, 4]), ((1,), [3, 5])], r"margin \(1,\) adds up to 8, but margin \(0,\) to 7"),
    ],
)
def test_unusable_margins(margins: list[Margin], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        fit(np.ones((2, 2)), margins)


def test_an_unusable_start() -> None:
    with pytest.raises(RequestError, match="starting array"):
        fit([[1.0, -1.0]], [((0,), [1.0])])
