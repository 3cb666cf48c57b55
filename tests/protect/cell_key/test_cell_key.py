"""Cell-key perturbation: the law of the noise, the same noise in every table, and nothing that leaks."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.protect.cell_key.test_keys import SECRET, people

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.protect.cell_key import CellKey, KeyedTable, cell_key, design_ptable
from discreet.protect.cell_key.key_noise import perturb
from discreet.protect.cell_key.magnitudes import GRID, magnitude_noise
from discreet.table import Release, Table
from discreet.table.tabulation import Tabulation

PTABLE = design_ptable(3, 2, minimum=2)


def cells_of(release: Release) -> dict[tuple[str, ...], int]:
    (part,) = release.figures
    labels = list(part.labels.values())
    return {
        tuple(labels[j][code] for j, code in enumerate(row)): int(value)
        for row, value in zip(part.codes.tolist(), part.values, strict=True)
    }


def test_the_kernel_agrees_with_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    counts, keys = rng.integers(0, 12, 3000), rng.integers(0, 2**32, 3000)
    got = perturb(counts, keys, PTABLE)
    for count, key, published in zip(counts.tolist(), keys.tolist(), got.tolist(), strict=True):
        below = 0.0
        for noise, chance in PTABLE.law[min(count, len(PTABLE.law) - 1)]:
            below += chance
            if key / 2**32 < below - 1e-9:
                assert published == count + noise
                break
            if key / 2**32 < below + 1e-9:
                break


def test_every_key_once_gives_the_law() -> None:
    """The law by enumeration: over all keys, each count has mean 0 and the variance of the table."""
    keys = np.arange(2**16)
    for count in range(1, 12):
        noise = perturb(np.full(keys.size, count), keys, PTABLE, 2**16) - count
        assert abs(noise.mean()) < 2e-4
        assert noise.var() == pytest.approx(2, abs=1e-3)
        assert (count + noise).min() >= 0
        assert 1 not in (count + noise)
    assert (perturb(np.zeros(9, np.int64), np.arange(9), PTABLE, 9) == 0).all()


def test_draws_follow_the_law_of_all_releases() -> None:
    table = Table.from_array([2, 1, 5], ["x"])
    method = CellKey(design_ptable(2, 1))
    rows = list(method.law(table, block=7))
    chance = np.concatenate([p for p, _ in rows])
    released = np.concatenate([g for _, g in rows])
    assert method.outcomes(table) == chance.size == len({tuple(row) for row in released.tolist()})
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(chance @ released, table.counts, atol=1e-12)
    np.testing.assert_allclose(chance @ (released - table.counts) ** 2, 1, atol=1e-12)
    drawn = method.draws(table, np.random.default_rng(1), 40_000)
    code = {tuple(row): i for i, row in enumerate(released.tolist())}
    seen = np.bincount([code[tuple(row)] for row in drawn.tolist()], minlength=chance.size)
    chi = float(((seen - 40_000 * chance) ** 2 / (40_000 * chance)).sum())
    from scipy.stats import chi2

    assert chi2.sf(chi, chance.size - 1) > 1e-6
    expected = dc.expected_risk(table, method, exact=True)
    assert expected.exact
    assert expected.mean_squared_error.mean == pytest.approx(1)
    np.testing.assert_array_equal(method.support(table), table.cells)


def test_the_same_cell_has_the_same_noise_in_every_table() -> None:
    frame = people(400, 4)
    method = CellKey(PTABLE)

    def release(by: list[str], records: pd.DataFrame = frame) -> dict[tuple[str, ...], int]:
        keyed = KeyedTable.from_records(records, by, key="key", key_range=256)
        return cells_of(method.apply(keyed).release)

    three, two, one = release(["area", "sex", "age"]), release(["sex", "area"]), release(["area"])
    for (sex, area), value in two.items():
        assert three[area, sex, "Total"] == value
    for (area,), value in one.items():
        assert two["Total", area] == value
    # Somebody who asks for a part of the records gets the same cells, in whatever order the records are.
    women = release(["area"], frame[frame.sex == "f"].sample(frac=1, random_state=1))
    assert all(two["f", area] == value for (area,), value in women.items())
    # And who is alone in a margin is found under the same figure there.
    again = release(["area", "age"], frame[(frame.sex == "f") & (frame.age == 2)])
    assert all(again[area, "2"] == again[area, "Total"] == three[area, "f", "2"] for area in ("n1", "n2", "s1"))


def test_tables_and_tabulations_without_records() -> None:
    table = Table.from_array([[1, 5, 0], [6, 2, 9]], ["area", "sex"], impossible=[[0, 0, 1], [0, 0, 0]])
    inner = cell_key(table, PTABLE, seed=1)
    assert inner.kind == PTABLE.kind
    assert inner.table.to_array()[0, 2] == 0
    np.testing.assert_array_equal(inner.table.impossible, table.impossible)
    assert cell_key(table, PTABLE, seed=1).table == inner.table
    done = CellKey(PTABLE, margins=True).apply(table, 1)
    assert "drawn for this table alone" in done.sentence
    figures = cells_of(done.release)
    assert len(figures) == 3 * 4 - 1, "all but the impossible cell"
    assert done.release.inner is not None
    for (area, sex), value in figures.items():
        if "Total" not in (area, sex):
            assert done.release.table.to_dict().get((area, sex), 0) == value
    assert 0 < done.changes.largest <= 3
    direct = cell_key(Tabulation.from_table(table), PTABLE, seed=1)
    assert direct.table.total == done.release.table.total
    with pytest.raises(DataError, match="counts nobody"):
        cell_key(Table.from_array([0, 0], ["x"]))


def test_the_audit_and_the_risk_take_the_release() -> None:
    table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    release = cell_key(table, PTABLE, seed=3)
    for law in ("interval", "method"):
        result = dc.audit(release, law=law)
        assert len(result.cells) == 4
        for cell in result.cells:
            true = table.to_dict()[cell.cell["area"], cell.cell["sex"]]
            assert cell.lower <= true <= cell.upper
    by_law = {cell.name: cell for cell in dc.audit(release, law="method").cells}
    assert all(by_law[cell.name].bits < cell.bits for cell in dc.audit(release).cells)
    # The posterior by hand: an even prior times the table's own probabilities.
    cell = dc.audit(release, law="method").cell(area="1", sex="2")
    published = release.table.to_dict().get(("1", "2"), 0)
    weight = np.array([dict(PTABLE.law[min(x, len(PTABLE.law) - 1)]).get(published - x, 0.0) for x in range(40)])
    weight = weight[weight > 0] / weight.sum()
    assert cell.bits == pytest.approx(float(-(weight * np.log2(weight)).sum()))
    assert dc.risk(table, release).value < dc.risk(table).value


def test_margins_narrow_cells_down_and_never_past_the_truth() -> None:
    rng = np.random.default_rng(7)
    for seed in range(4):
        table = Table.from_array(rng.integers(0, 9, (2, 3)), ["a", "b"])
        release = CellKey(design_ptable(2, 1), margins=True).apply(table, seed).release
        true = {tuple(c.values()): int(n) for c, n in _cells(Tabulation.from_table(table).with_empty_cells())}
        for cell in dc.audit(release).cells:
            assert cell.lower <= true[cell.cell["a"], cell.cell["b"]] <= cell.upper


def _cells(cells: Tabulation) -> list[tuple[dict[str, str], int]]:
    return [(cells.label(i), int(cells.records[i])) for i in range(len(cells))]


# --- what leaks -----------------------------------------------------------------------------------------------


def test_true_counts_do_not_leave_by_accident(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(5000), "sex": ["m"] * 4321 + ["f"] * 679})
    keyed = KeyedTable.from_records(frame, ["sex"], identify=["id"], secret=SECRET)
    for face in (repr(keyed), str(keyed), keyed._repr_html_(), f"{keyed}"):
        assert "4321" not in face
        assert "4,321" not in face
    ways: list[Callable[[], object]] = [
        lambda: pickle.dumps(keyed),
        lambda: copy.copy(keyed),
        lambda: copy.deepcopy(keyed),
        lambda: keyed.to_frame(),
        lambda: keyed.to_dict(),
        lambda: keyed.write(tmp_path / "x.csv"),
        lambda: list(keyed),
        lambda: np.asarray(keyed),
    ]
    for way in ways:
        with pytest.raises(RequestError, match="must not leave the process"):
            way()
    with pytest.raises(TypeError):
        json.dumps(keyed)
    assert not hasattr(keyed, "__dict__")
    assert keyed.unperturbed().records.max() == 5000
    done = CellKey(design_ptable(2, 1)).apply(keyed)
    everything = pickle.dumps(done.release) + repr(done.release).encode() + json.dumps(done.to_dict()).encode()
    assert SECRET.encode() not in everything
    for key in keyed.cell_keys().tolist():
        assert str(key).encode() not in everything
        assert int(key).to_bytes(8, "little") not in everything
    with pytest.raises(RequestError, match="leave the seed out"):
        CellKey().apply(keyed, 1)


def test_few_keys_are_said() -> None:
    keyed = KeyedTable.from_records(people(50, 1), ["sex"], key="key", key_range=256)
    assert "256 cell keys only" in CellKey().apply(keyed).sentence
    fine = KeyedTable.from_records(people(50, 1), ["sex"], key="share", key_range=1)
    assert fine.modulus == 2**53
    assert CellKey().apply(fine).notes == ()


# --- amounts --------------------------------------------------------------------------------------------------


def test_noise_of_amounts_by_enumeration() -> None:
    ptable = design_ptable(5, 3)
    n = 200_000
    keys = np.random.default_rng(1).integers(0, 2**32, n)
    top = np.tile([100.0, 40.0], (n, 1))
    noise = magnitude_noise(top, keys, ptable, share=0.1, weights=(1.0, 0.5))
    assert np.abs(noise).max() <= 0.1 * (100 + 20)
    spread = 3 / 25 * (10.0**2 + 2.0**2)
    assert abs(noise.mean()) < 5 * np.sqrt(spread / n)
    assert noise.var() == pytest.approx(spread, rel=0.02)
    assert len(np.unique(magnitude_noise(top[:, :1], keys, ptable, share=0.1, weights=(1.0,)))) == 2 * GRID + 1
    np.testing.assert_array_equal(noise, magnitude_noise(top, keys, ptable, share=0.1, weights=(1.0, 0.5)))


def test_amounts_of_records() -> None:
    frame = people(300, 9)
    method = CellKey(design_ptable(5, 3), share=0.2, weights=(1.0, 0.4))

    def release(by: list[str]) -> tuple[KeyedTable, Release]:
        keyed = KeyedTable.from_records(frame, by, key="share", key_range=1, value="x")
        return keyed, method.apply(keyed).release

    keyed, fine = release(["area", "sex"])
    assert fine.inner is None
    cells, true = cells_of(fine), keyed.unperturbed()
    top = true.contributors.largest[0].top
    for i in range(len(true)):
        away = abs(cells[tuple(true.label(i).values())] - true.responses[0].sums[i])
        assert away <= 0.2 * (top[i, 0] + 0.4 * top[i, 1]) + 0.5
    _, coarse = release(["sex"])
    assert all(cells["Total", sex] == value for (sex,), value in cells_of(coarse).items())
    for cell in dc.audit(fine).cells:
        assert cell.lower <= true.responses[0].sums[true.find(dict(cell.cell))] <= cell.upper
    changes = method.apply(keyed).changes
    assert changes.changed > 0
    assert fine.parameters["share"] == 0.2


def test_amounts_that_noise_cannot_hide() -> None:
    frame = people(30, 9)
    frame["x"] -= 25
    keyed = KeyedTable.from_records(frame, ["sex"], key="share", key_range=1, value="x")
    with pytest.raises(DataError, match="contributions below 0"):
        CellKey().apply(keyed)
    frame["x"] += 25
    keyed = KeyedTable.from_records(frame, ["sex"], key="share", key_range=1, value="x")
    with pytest.raises(RequestError, match=r"3 contributions .* 2 are kept"):
        CellKey(weights=(1, 0.5, 0.2)).apply(keyed)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"share": 0}, "share is 0"),
        ({"share": 1.5}, "share is 1.5"),
        ({"weights": ()}, "begin with 1"),
        ({"weights": (0.5,)}, "begin with 1"),
        ({"weights": (1, 0.2, 0.4)}, "do not rise"),
        ({"ptable": None}, "perturbation table is missing"),
    ],
)
def test_parameters(options: dict[str, object], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        CellKey(**options)  # type: ignore[arg-type]
