"""The Bayes test: the rule, that it is the cheapest one, and its words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from discreet.core.errors import RequestError
from discreet.uniques import DirichletMultinomial, Sample, Uniform, bayes_test, posterior

SAMPLE = Sample.from_counts([1, 1, 5, 1, 0, 1, 2, 1], population=30)
KNOWN = posterior(SAMPLE, DirichletMultinomial([0.2, 0.5, 1.0, 2.0, 1.0, 4.0, 1.0, 8.0]))


@pytest.mark.parametrize(("b", "c"), [(1, 1), (5, 1), (1, 5), (0, 1), (1, 0)])
def test_rejects_below_the_threshold_and_costs_least(b: float, c: float) -> None:
    result = bayes_test(KNOWN, b=b, c=c)
    assert result.threshold == c / (b + c)
    assert result.unique.tolist() == [not q < c / (b + c) for q in KNOWN.q]
    cheapest = np.minimum(c * (1 - KNOWN.q), b * KNOWN.q)
    assert result.expected_loss == pytest.approx(cheapest)
    assert result.accepted == int(result.unique.sum())


def test_decisions_differ_from_cell_to_cell() -> None:
    result = bayes_test(KNOWN)
    assert 0 < result.accepted < result.cells.size
    assert result.cells.tolist() == [0, 1, 3, 5, 7]
    for i, unique in enumerate(result.unique):
        words = result.reason(i)
        assert words.startswith("taken for" if unique else "not taken for")
        assert f"{KNOWN.q[i]:.4g}" in words
        assert "0.5" in words


def test_at_the_threshold_the_hypothesis_stands() -> None:
    known = posterior(Sample.from_counts([1, 1], population=2), Uniform())
    assert bayes_test(known, b=0, c=1).unique.all()  # Q = 1 is not below 1


@pytest.mark.parametrize(("b", "c", "words"), [(-1, 1, "loss b is -1"), (1, -2, "loss c is -2"), (0, 0, "both losses")])
def test_bad_losses(b: float, c: float, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        bayes_test(KNOWN, b=b, c=c)


def test_infinite_losses() -> None:
    with pytest.raises(RequestError, match="finite"):
        bayes_test(KNOWN, b=float("inf"))


def test_faces() -> None:
    result = bayes_test(KNOWN, b=3)
    shown = json.loads(json.dumps(result.to_dict()))
    assert shown["threshold"] == 0.25
    assert [d["unique"] for d in shown["decisions"]] == result.unique.tolist()
    assert "0.25" in str(result)
    assert result._repr_html_().startswith("<table>")
