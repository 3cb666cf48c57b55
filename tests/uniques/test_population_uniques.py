"""Everything about population uniques in one result, from tables and from records."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.plain import data_of

import discreet
from discreet.core.errors import DataError, RequestError
from discreet.table import Table
from discreet.table.records import Records, count_records, read_records
from discreet.uniques import DirichletMultinomial, Uniform, loglinear_risk, q_uniform
from discreet.uniques.population_uniques import population_uniques
from discreet.uniques.priors import prior_of
from discreet.uniques.sample_size import plan_size


def people(n: int = 600, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 8, n),
            "sex": rng.choice(["m", "f"], n),
            "job": np.minimum(rng.geometric(0.25, n), 12),
            "w": rng.uniform(5, 15, n),
        }
    )


@pytest.fixture(scope="module")
def records() -> Records:
    return count_records(people(), ["age", "sex", "job"], weight="w")


def test_records_are_counted_and_remembered(records: Records) -> None:
    frame = people()
    table = records.table
    assert table.total == 600
    for i in (0, 17, 599):
        label = table.label(int(records.cells[i]))
        assert label == {name: str(frame[name][i]) for name in ("age", "sex", "job")}
    grouped = frame.groupby(["age", "sex", "job"])["w"].agg(["size", "sum"])
    weighted = records.weighted
    assert weighted is not None
    for (age, sex, job), row in grouped.iterrows():
        code = tuple(table.dimensions[i].code(label) for i, label in enumerate((age, sex, job)))
        assert table.to_array()[code] == row["size"]
        assert weighted[code] == pytest.approx(row["sum"])


def test_the_cholesterol_table_end_to_end() -> None:
    table = discreet.datasets.cholesterol()
    result = population_uniques(table, 400)
    assert result.sample_uniques == 1
    q = q_uniform(78, 400, 10)
    assert q == pytest.approx(87 * 86 / (409 * 408))
    data = data_of(result)
    assert data["cells"] == 10
    assert data["priors"]["uniform"]["q"] == pytest.approx(q)
    assert data["priors"]["uniform"]["tau"] == pytest.approx(q)
    assert data["priors"]["multinomial"]["tau"] == pytest.approx(0.9**322)
    assert data["riskiest"][0]["cell"] == {"sex": "Women", "years": "3-5"}
    assert "uniform prior: not taken for a population unique" in data["riskiest"][0]["decision"]
    women = next(s for s in data["priors"]["uniform"]["slices"] if s["category"] == "Women")
    assert women["tau"] == pytest.approx(q)
    json.dumps(data, allow_nan=False)


def test_priors_models_and_cells_agree_with_their_parts(records: Records) -> None:
    result = population_uniques(records, 6000, priors=["uniform", DirichletMultinomial(0.5)], model="two-way")
    assert list(result.priors) == ["uniform", DirichletMultinomial(0.5).name]
    assert result.loglinear is not None
    alone = loglinear_risk(records.table, "two-way", population=6000, weighted=records.weighted)
    assert result.loglinear.chosen.tau1 == pytest.approx(alone.tau1)
    assert result.loglinear.chosen.fitted_to == "weighted"
    assert "fitted to weighted counts" in result.sentence
    data = data_of(result)["loglinear"]
    assert isinstance(data["b1"], float)
    assert isinstance(data["b2"], float)
    assert data["margins"] == [["age", "sex"], ["age", "job"], ["sex", "job"]]
    risks = [cell.alone or 0.0 for cell in result.riskiest(1000)]
    assert len(risks) == result.sample_uniques
    assert risks == sorted(risks, reverse=True)
    assert sum(risks) == pytest.approx(result.loglinear.chosen.tau1)


def test_the_risk_of_records_is_that_of_their_cells(records: Records) -> None:
    result = population_uniques(records, 6000, model="main")
    risk = result.record_risk()
    priors = [f"{what}_{name}" for name in ("uniform", "multinomial") for what in ("q", "taken")]
    assert result.record_columns == ["alone", "matched", *priors]
    assert risk.shape == (600, 6)
    assert result.loglinear is not None
    assert risk[:, 0].sum() == pytest.approx(result.loglinear.chosen.tau1)
    assert risk[:, 2].sum() == pytest.approx(result.priors["uniform"].tau.total.mean)
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == records.table.cells.size
    assert sum(float(row["alone"]) for row in rows) == pytest.approx(result.loglinear.chosen.tau1)
    with pytest.raises(RequestError, match="came as a table"):
        population_uniques(records.table, 6000, model=None).record_risk()


def test_every_decision_is_in_the_results(records: Records) -> None:
    result = population_uniques(records, 6000, b=200, c=1, model="main")
    test = result.priors["uniform"].test
    assert test.accepted == result.sample_uniques > 0
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert sum(float(row["taken_uniform"]) for row in rows) == test.accepted
    data: Any = result.to_dict(top=3)
    assert len(data["priors"]["uniform"]["test"]["decisions"]) == result.sample_uniques
    assert [item["taken"] for item in data["riskiest"]] == [{"uniform": True, "multinomial": False}] * 3


def test_declared_categories_count_in_k() -> None:
    frame = people(50)
    found = count_records(frame, ["age", "sex"])
    ages = [str(age) for age in range(10)]
    declared = count_records(frame, ["age", "sex"], categories={"age": ages})
    assert declared.table.possible == 20 > found.table.possible
    assert declared.table.margin("age").total == 50
    notes = [population_uniques(item, 500, model=None).note for item in (found, declared)]
    assert notes[0] is not None
    assert "K counts the combinations" in notes[0]
    assert "count_records" not in notes[0]
    assert notes[1] is None
    with pytest.raises(RequestError, match="dimension 'age' has no category"):
        count_records(frame, ["age"], categories={"age": ["0", "1"]})


def test_models_that_cannot_be_fitted_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit on the boundary must not take the other results with it."""
    from discreet.core.errors import LimitError
    from discreet.uniques import loglinear_tau

    fit = loglinear_tau.fit_rates

    def only_main(table: Table, margins: object, **sizes: object) -> object:
        if any(len(margin) > 1 for margin in margins):  # type: ignore[attr-defined]
            raise LimitError("not reached")
        return fit(table, margins, **sizes)  # type: ignore[arg-type]

    monkeypatch.setattr(loglinear_tau, "fit_rates", only_main)
    table = Table.from_array([[9, 1, 0], [0, 8, 1], [1, 0, 7]], ["area", "trade"])
    result = population_uniques(table, 270)
    assert result.loglinear is not None
    assert result.loglinear.chosen.model == (("area",), ("trade",))
    assert not result.loglinear.fits
    assert result.priors["uniform"].tau.total.mean > 0


def test_selection_goes_forward_and_is_shown(records: Records) -> None:
    result = population_uniques(records.table, 6000)
    assert result.loglinear is not None
    assert result.loglinear.path[0].model == (("age",), ("sex",), ("job",))
    assert "sample uniques" not in result.sentence or result.sample_uniques > 0
    assert "unweighted" in result.sentence
    assert str(result).count("\n") > 5
    assert "<table" in result._repr_html_()


def test_nobody_unique_is_said() -> None:
    result = population_uniques(Table.from_array([[4, 5], [6, 7]], ["a", "b"]), 100)
    assert result.sample_uniques == 0
    assert "nobody" in result.sentence
    assert result.riskiest() == []
    assert data_of(result)["priors"]["uniform"]["tau"] == 0.0


def test_structural_zeros_do_not_count(records: Records) -> None:
    empty = np.setdiff1d(np.arange(records.table.size), records.table.cells)
    mended = records.with_structural_zeros([records.table.label(int(empty[0]))])
    assert mended.table.possible == records.table.possible - 1
    assert mended.cells is records.cells


def test_a_large_sparse_table_leaves_the_model_out() -> None:
    rng = np.random.default_rng(1)
    cells = np.unique(rng.integers(0, 10**8, size=50_000))
    dims = tuple(discreet.Dimension(name, range(100)) for name in "abcd")
    table = Table(dims, cells, rng.integers(1, 4, cells.size), np.zeros(0, np.int64))
    result = population_uniques(table, 10**7, slices=["a"])
    assert result.loglinear is None
    assert result.note is not None
    assert "100,000,000 cells" in result.note
    assert result.record_columns == ["q_uniform", "taken_uniform", "q_multinomial", "taken_multinomial"]


def test_priors_by_name() -> None:
    assert isinstance(prior_of("uniform"), Uniform)
    assert prior_of("dirichlet:0.5").name == DirichletMultinomial(0.5).name
    for name in ("unifrom", "dirichlet", "dirichlet:x", "uniform:2"):
        with pytest.raises(RequestError):
            prior_of(name)
    with pytest.raises(RequestError, match="given twice"):
        population_uniques(discreet.datasets.cholesterol(), 400, priors=["uniform", "uniform"], model=None)


def test_bad_requests_are_refused() -> None:
    table = discreet.datasets.cholesterol()
    with pytest.raises(RequestError, match="sample has 78 people, but the population only 50"):
        population_uniques(table, 50)
    with pytest.raises(RequestError, match="loss b is -1"):
        population_uniques(table, 400, b=-1)
    with pytest.raises(RequestError, match="ask for 0 cells or more"):
        population_uniques(table, 400, model=None).riskiest(-1)
    with pytest.raises(RequestError, match="no column 'agee'"):
        count_records(people(), ["agee"])
    with pytest.raises(RequestError, match="name the columns"):
        count_records(people(), [])
    with pytest.raises(DataError, match="no records"):
        count_records(people().iloc[:0], ["age"])
    bad = people(5)
    bad.loc[3, "w"] = 0.0
    with pytest.raises(DataError, match=r"row 3: weight 'w' is 0; weights are above 0"):
        count_records(bad, ["age"], weight="w")


def test_bad_files_of_records_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,w\n1,2.5\n2,heavy\n")
    with pytest.raises(DataError, match=r"people.csv: record 2: weight 'w' is 'heavy', which is not a number"):
        read_records(file, ["age"], weight="w")
    file.write_text("age,w\n1,2.5\n,3\n")
    with pytest.raises(DataError, match=r"record 2: dimension 'age' has an empty category"):
        read_records(file, ["age"])


def test_size_plans() -> None:
    plan = plan_size(["uniform", "multinomial"], 0.05, population=46228, cells=1108, points=20)
    assert [size.largest for size in plan.sizes] == [9477, 42910]
    assert "at most 9,477 people under the uniform prior" in plan.sentence
    assert len(plan.to_csv().splitlines()) == 41
    assert len(plan.curve_rows(plan.curves[0], 5)[1]) == 5
    data = json.loads(json.dumps(data_of(plan), allow_nan=False))
    assert data["priors"]["uniform"]["needed"] == 9478
    table = discreet.datasets.cholesterol()
    given = plan_size(["uniform"], 0.5, population=400, table=table, measure="tau")
    assert given.sizes[0].basis == "the given table"
    with pytest.raises(RequestError, match="one of the two"):
        plan_size(["uniform"], 0.5, population=400)
    with pytest.raises(RequestError, match="no prior"):
        plan_size([], 0.5, population=400, cells=3)
