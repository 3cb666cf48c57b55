"""Perturbation tables: exact moments, the largest entropy, the printed tables of the field, and files."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from tests.plain import data_of

from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.protect.cell_key import PTable, design_ptable, read_ptable
from discreet.protect.cell_key.max_entropy import max_entropy, variance_range
from discreet.protect.cell_key.perturbation_table_reader import parse_ptable

PRINTED = {
    # D = 5, V = 3, no 1 and 2, at least half of the counts from 3 on stay: a table of the R package cellKey.
    (5, 3.0, 3, 0.5): {
        1: {-1: 0.73446954, 2: 0.13672019, 3: 0.07279631, 4: 0.03742956, 5: 0.0185844},
        2: {-2: 0.40880704, 1: 0.40664356, 2: 0.14762399, 3: 0.03231882, 4: 0.00426687, 5: 0.00033972},
        4: {-4: 0.09146068, -1: 0.1534042, 0: 0.5, 1: 0.10745598, 2: 0.07288274, 3: 0.04296852, 5: 0.00980837},
        6: {-3: 0.09063278, -2: 0.09217047, -1: 0.09217047, 0: 0.5, 1: 0.07126272, 5: 0.02106764},
        8: {-5: 0.01158491, -1: 0.09394263, 0: 0.5, 2: 0.07231718, 3: 0.04675979},
    },
    # D = 7, V = 4, no 1 and 2: a table of τ-ARGUS.
    (7, 4.0, 3, 0.0): {
        1: {-1: 0.775078850966306, 2: 0.0873643732150699, 7: 0.0145509942445495},
        4: {-4: 0.11883808535773, -1: 0.250647150620782, 0: 0.250647150620782, 1: 0.177463619860471},
        5: {-5: 0.0401827877495497, -2: 0.179313386247809, -1: 0.202811782200345, 0: 0.202811782200345},
        10: {5: 0.00882072798999298, 6: 0.0022375798904412, 7: 0.000442322576283315},
    },
}


@pytest.mark.parametrize(
    ("bound", "variance", "minimum", "monotone"),
    [
        *((b, v, m, False) for b, v, m in [(1, 0.5, 1), (2, 1, 1), (3, 2, 2), (5, 3, 3), (5, 2.5, 1), (7, 4, 3)]),
        *((b, v, m, False) for b, v, m in [(10, 8, 4), (15, 12, 1), (5, 5, 1), (5, 2, 3)]),
        *((b, v, m, True) for b, v, m in [(1, 0.5, 1), (2, 0.9, 1), (3, 2, 2), (5, 3, 3), (5, 2, 1), (7, 4, 3)]),
    ],
)
def test_every_count_has_mean_0_and_the_variance(bound: int, variance: float, minimum: int, monotone: bool) -> None:
    table = design_ptable(bound, variance, minimum=minimum, monotone=monotone)
    mean, spread = table.moments()
    assert np.abs(mean).max() < 1e-12
    assert np.abs(spread[1:] - variance).max() < 1e-12
    assert spread[0] == 0
    for count, row in enumerate(table.law):
        assert sum(p for _, p in row) == pytest.approx(1, abs=1e-12)
        for noise, chance in row:
            assert chance > 0
            assert abs(noise) <= bound
            assert count + noise == 0 or count + noise >= minimum
    assert table.minimum == minimum
    # The last row serves all larger counts: it is symmetric, because nothing is out of reach.
    last = table.probabilities(len(table.law) - 1)
    np.testing.assert_allclose(last, last[::-1], atol=1e-12)


@pytest.mark.long
def test_moments_of_many_tables() -> None:
    made = 0
    for bound, variance, minimum, stay, monotone in product(
        range(1, 13), (0.1, 0.5, 1, 1.5, 2, 3, 5, 10), (1, 2, 3, 5), (0.0, 0.3, 0.7), (False, True)
    ):
        try:
            table = design_ptable(bound, variance, minimum=minimum, stay=stay, monotone=monotone)
        except InfeasibleError:
            continue
        made += 1
        mean, spread = table.moments()
        assert np.abs(mean).max() < 1e-12
        assert np.abs(spread[1:] - variance).max() < 2e-12
    assert made > 300


@pytest.mark.parametrize("asked", list(PRINTED), ids=str)
def test_the_printed_tables_of_the_field(asked: tuple[int, float, int, float]) -> None:
    bound, variance, minimum, stay = asked
    table = design_ptable(bound, variance, minimum=minimum, stay=stay, monotone=True)
    assert len(table.law) == bound + minimum + 1
    for count, printed in PRINTED[asked].items():
        found = dict(table.law[count])
        for noise, chance in printed.items():
            assert found[noise] == pytest.approx(chance, abs=2e-8)


def entropy(p: np.ndarray) -> float:
    inside = p[p > 0]
    return float(-(inside * np.log(inside)).sum())


def test_nothing_nearby_has_more_entropy() -> None:
    """A slow twin: random steps that keep all constraints never raise the entropy."""
    rng = np.random.default_rng(1)
    for bound, variance, count, minimum in product((2, 4, 6), (0.7, 2.0), (1, 3, 9), (1, 2)):
        v = np.array([n for n in range(-bound, bound + 1) if count + n == 0 or count + n >= minimum])
        low, high = variance_range(v)
        if not low + 1e-6 < variance < high - 1e-6 or v.size < 4:
            continue
        p = max_entropy(v, variance)
        fixed = np.stack([np.ones(v.size), v, v**2])
        free = np.linalg.svd(fixed)[2][3:]
        for _ in range(40):
            step = rng.normal(size=free.shape[0]) @ free
            q = p + 1e-3 * p.min() / np.abs(step).max() * step
            assert entropy(q) <= entropy(p) + 1e-15


def test_shape_agrees_with_a_general_solver() -> None:
    from scipy.optimize import minimize

    for bound, variance, count, minimum, stay, monotone in [
        (4, 2.0, 2, 1, 0.0, True),
        (5, 3.0, 6, 3, 0.5, True),
        (3, 1.5, 2, 2, 0.4, False),
        (4, 5.5, 7, 1, 0.0, True),
        (4, 9.0, 7, 1, 0.1, False),
    ]:
        v = np.array([n for n in range(-bound, bound + 1) if count + n == 0 or count + n >= minimum])
        p = max_entropy(v, variance, stay=stay, monotone=monotone)
        zero = int(np.argmax(v == 0))
        rules: list[dict[str, object]] = [
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "eq", "fun": lambda q, v=v: q @ v},
            {"type": "eq", "fun": lambda q, v=v, s=variance: q @ v**2 - s},
            {"type": "ineq", "fun": lambda q, z=zero, s=stay: q[z] - s},
        ]
        for i, (a, b) in enumerate(pairwise(v.tolist())):
            if monotone and (b <= 0 or a >= 0):
                sign = 1 if b <= 0 else -1
                rules.append({"type": "ineq", "fun": lambda q, i=i, s=sign: s * (q[i + 1] - q[i])})
        found = minimize(
            lambda q: float((q * np.log(np.maximum(q, 1e-300))).sum()),
            np.full(v.size, 1 / v.size),
            constraints=rules,
            bounds=[(1e-12, 1)] * v.size,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-13},
        )
        np.testing.assert_allclose(p, found.x, atol=2e-5)
        assert entropy(p) >= -found.fun - 1e-8


def test_variances_that_no_table_has_are_refused_with_the_reason() -> None:
    with pytest.raises(InfeasibleError, match=r"count 1 can get the noises -1 … \+5 only.*from 0 to 5"):
        design_ptable(5, 6)
    with pytest.raises(InfeasibleError, match=r"-1, \+2 … \+5 only.*1.5.*all counts together allow .* from 2 to 5"):
        design_ptable(5, 1.5, minimum=3)
    with pytest.raises(InfeasibleError, match="raise the bound, or lower the minimum"):
        design_ptable(2, 1, minimum=5)
    with pytest.raises(InfeasibleError, match=r"stay 0.9.*from 0 to 0.5"):
        design_ptable(5, 3, stay=0.9)
    with pytest.raises(InfeasibleError, match="no variance fits all counts"):
        design_ptable(5, 3, minimum=6)


def test_the_range_of_variances_is_that_of_laws_with_two_values() -> None:
    for bound, count, minimum in product((1, 3, 5), (1, 2, 4), (1, 2, 3)):
        v = [n for n in range(-bound, bound + 1) if count + n == 0 or count + n >= minimum]
        two = [-a * b for a in v for b in v if a < 0 < b] + ([0] if 0 in v else [])
        if not two:
            with pytest.raises(InfeasibleError, match="mean 0"):
                variance_range(np.array(v))
            continue
        assert list(variance_range(np.array(v))) == pytest.approx([min(two), max(two)])
        # The ends themselves can be had: the law has two values there.
        for end in {min(two), max(two)} - {0}:
            p = max_entropy(np.array(v), float(end))
            assert p @ np.array(v) ** 2 == pytest.approx(end, abs=1e-9)
            assert (p > 1e-9).sum() <= 2


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"bound": 0, "variance": 1}, "bound is 0"),
        ({"bound": 2.5, "variance": 1}, "bound is 2.5"),
        ({"bound": 3, "variance": 0}, "variance is 0"),
        ({"bound": 3, "variance": float("nan")}, "variance is nan"),
        ({"bound": 3, "variance": 1, "minimum": 0}, "minimum is 0"),
        ({"bound": 3, "variance": 1, "stay": 1.0}, "stay is 1.0"),
        ({"bound": 501, "variance": 1}, "beyond 500"),
    ],
)
def test_parameters_that_make_no_sense(asked: dict[str, float], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        design_ptable(**asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [256, 4096, 2**32, 2**53])
def test_keys_have_the_probabilities(keys: int) -> None:
    table = design_ptable(5, 3, minimum=3)
    ends, noise = table.thresholds(keys)
    for count, row in enumerate(table.law):
        shares = np.diff(ends[count], prepend=0) / keys
        got = {int(n): 0.0 for n in noise[count]}
        for n, share in zip(noise[count], shares, strict=True):
            got[int(n)] += share
        assert sum(got.values()) == 1
        for n, p in row:
            assert got[n] == pytest.approx(p, abs=max(1 / keys, 1e-15))


def test_a_reader_knows_the_law() -> None:
    table = design_ptable(2, 1, minimum=2)
    kind = table.kind
    assert hash(kind) == hash(design_ptable(2, 1, minimum=2).kind)
    for published in (0, 2, 3, 4, 5, 9):
        true = np.arange(published + 6)
        expected = [dict(table.law[min(x, len(table.law) - 1)]).get(published - x, 0.0) for x in range(published + 6)]
        np.testing.assert_array_equal(kind.likelihood(published, true), expected)
        lower, upper = kind.range(np.array([published]))
        possible = np.flatnonzero(np.array(expected) > 0)
        assert (lower[0], upper[0]) == (possible[0], possible[-1])
    with pytest.raises(DataError, match="the figure 1 cannot come about"):
        kind.range(np.array([1]))
    assert kind.weighs
    assert type(kind).from_dict(data_of(kind)) == kind


# --- files ----------------------------------------------------------------------------------------------------


def test_files_round_trip_to_the_last_digit(tmp_path: Path) -> None:
    for asked in ((5, 3.0, 3, 0.5), (7, 4.0, 3, 0.0), (2, 1.0, 1, 0.0)):
        bound, variance, minimum, stay = asked
        table = design_ptable(bound, variance, minimum=minimum, stay=stay, monotone=True)
        table.write(tmp_path / "p.txt")
        again = read_ptable(tmp_path / "p.txt")
        assert again.law == table.law
        assert again.name == "p"
    assert (tmp_path / "p.txt").read_text().splitlines()[:2] == ["i;j;p;v;p_int_ub", "0;0;1;0;1"]


def test_the_layouts_of_other_tools() -> None:
    law = (((0, 1.0),), ((-1, 0.5), (1, 0.5)))
    rows = ["0;0;1;0;1", "1;0;0.5;-1;0.5", "1;2;0.5;1;1"]
    assert parse_ptable("\n".join(["i;j;p;v;p_int_ub", *rows])).law == law
    assert parse_ptable("\n".join(['"i";"j";"p";"v";"p_ij_ub"', *rows, ""])).law == law
    commas = ["i,v,p,type", "0,0,1,all", "1,-1,0.5,all", "1,1,0.5,all"]
    assert parse_ptable("\r\n".join(commas)).law == law
    swapped = parse_ptable("i;j;p;v\n0;0;1;0\n1;2;0.5;1\n1;0;0.5;-1\n")
    assert swapped.law[1] == ((1, 0.5), (-1, 0.5)), "keys meet the noises in the order of the file"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no column 'i'"),
        ("i;v\n0;0\n", "no column 'p'"),
        ("i;j;p;v\n0;0;1;0\n1;0;0.5;-1\n", "add up to 0.5"),
        ("i;j;p;v\n0;0;1;0\n1;3;1;1\n", "line 3: the count 1 with the noise 1 is not 3"),
        ("i;j;p;v\n0;0;1;0\n2;2;1;0\n", "no row for the count 1"),
        ("i;j;p;v\n0;0;1;0\n1;-1;1;-2\n", "can become -1"),
        ("i;j;p;v\n0;1;1;1\n1;1;1;0\n", "changes empty cells"),
        ("i;j;p;v\n0;0;1;0\n1;1;1;0\n", "changes nothing"),
        ("i;j;p;v\n0;0;1;0\n1;x;1;0\n", "line 3"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.4\n1;2;0.5;1;1\n", "0.5, but 0.4 is stated"),
        ("i;j;p;v;type\n0;0;1;0;even\n", "is for magnitudes"),
        ("i;j;p;v\n0;0;1;0\n1;0;-0.5;-1\n1;2;1.5;1\n", "they must add up to 1"),
    ],
)
def test_files_that_are_no_perturbation_tables(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(DataError, match=reason) as error:
        read_ptable(tmp_path / "bad.txt")
    assert "bad.txt" in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_ptable(tmp_path / "none.txt")


def test_faces() -> None:
    table = design_ptable(2, 1)
    assert "noise of at most 2" in str(table)
    assert "<table" in table._repr_html_()
    data = data_of(table)
    assert data["rows"][1]["variance"] == pytest.approx(1)
    assert isinstance(table, PTable)
