"""Moments of draws, in one piece or joined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.statistics import Moments

rows = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2)
draws = st.lists(rows, min_size=1, max_size=12)


@given(st.lists(draws, min_size=1, max_size=5))
def test_joined_parts_are_the_whole(parts: list[list[list[float]]]) -> None:
    joined = Moments.of(np.array(parts[0]))
    for part in parts[1:]:
        joined = joined.join(Moments.of(np.array(part)))
    whole = np.concatenate([np.array(part) for part in parts])
    assert joined.n == len(whole)
    np.testing.assert_allclose(joined.mean, whole.mean(axis=0), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(joined.squares, np.square(whole - whole.mean(axis=0)).sum(axis=0), rtol=1e-7, atol=1e-3)
    if len(whole) > 1:
        np.testing.assert_allclose(joined.sd, whole.std(axis=0, ddof=1), rtol=1e-6, atol=1e-3)
        np.testing.assert_allclose(joined.error, joined.sd / np.sqrt(len(whole)))


def test_large_means_do_not_swallow_the_deviation() -> None:
    x = 1e9 + np.array([1.0, 2.0, 3.0, 4.0])
    joined = Moments.of(x[:1]).join(Moments.of(x[1:]))
    assert float(joined.sd) == pytest.approx(np.std([1, 2, 3, 4], ddof=1))


def test_one_draw_has_no_deviation() -> None:
    one = Moments.of(np.array([[3.0, 4.0]]))
    assert one.sd.tolist() == [0, 0]
    assert one.error.tolist() == [0, 0]


def test_undefined_draws_stay_undefined() -> None:
    joined = Moments.of(np.array([[1.0, np.nan]])).join(Moments.of(np.array([[3.0, 1.0]])))
    assert joined.mean[0] == 2
    assert np.isnan(joined.mean[1])
    assert np.isnan(joined.sd[1])
