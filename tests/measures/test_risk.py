"""The risk of single tables: conventions, words and faces."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import discreet
from discreet.core.errors import DataError, RequestError
from discreet.table import Release, Table


def one_way(*counts: int) -> Table:
    return Table.from_array(list(counts), ["k"])


def test_the_first_term_vanishes_where_no_zero_is_shared() -> None:
    """|D∪E|/|D∩E| with D∩E empty is the limit 0."""
    assert discreet.risk(one_way(3, 0, 2), one_way(3, 1, 0)).terms["zeros"] == 0.0
    assert discreet.risk(one_way(3, 1, 2), one_way(3, 0, 2)).terms["zeros"] == 0.0
    assert discreet.risk(one_way(3, 0, 2), one_way(3, 0, 2)).terms["zeros"] == pytest.approx(0.1 / 3)
    assert discreet.risk(one_way(3, 0, 0), one_way(3, 0, 1)).terms["zeros"] == pytest.approx(0.1 * (2 / 3) ** 2)


def test_one_populated_cell() -> None:
    """H(X) = 0: the ratio is 0 in the form of 2015, the middle term is 0 in that of 2014."""
    F = one_way(1, *([0] * 9))
    assert discreet.risk(F, F).value == pytest.approx(discreet.risk(F).value)
    assert discreet.risk(F, one_way(3, *([0] * 9)), form="2014").terms["concentration"] == 0.0
    # The mean over both roundings is the printed 0.1893 of antal2014 Table 1, country of birth 5.
    up, down = one_way(3, *([0] * 9)), one_way(*([0] * 10))
    values = [discreet.risk(F, G, form="2014").value for G in (up, down)]
    assert values[0] / 3 + values[1] * 2 / 3 == pytest.approx(0.1893, abs=5e-5)


@pytest.mark.parametrize("form", ["2014", "2015"])
def test_an_empty_release_teaches_nothing(form: str) -> None:
    result = discreet.risk(one_way(3, 1, 0), one_way(0, 0, 0), form=form)  # type: ignore[arg-type]
    assert result.terms["concentration"] == 0.0
    assert result.conditional_entropy is None


def test_the_forms_go_opposite_ways() -> None:
    """The form of 2014 rises with protection, which is why it is not the default."""
    F, near, far = one_way(90, 5, 5), one_way(91, 5, 4), one_way(34, 33, 33)
    assert discreet.risk(F, far).value < discreet.risk(F, near).value
    assert discreet.risk(F, far, form="2014").value > discreet.risk(F, near, form="2014").value


@pytest.mark.parametrize(
    ("counts", "driver", "words"),
    [
        ([90, 5, 3, 2] * 2, "concentration", "concentration"),
        ([1, 1, 1, 1], "size", "small population counts"),
    ],
)
def test_a_sentence_says_what_drives_the_risk(counts: list[int], driver: str, words: str) -> None:
    result = discreet.risk(one_way(*counts))
    assert result.driver == driver
    assert words.split()[0] in result.sentence


def test_zeros_can_drive_the_risk() -> None:
    result = discreet.risk(one_way(*([5000] * 6 + [0] * 4)), weights=(0.9, 0.05, 0.05))
    assert result.driver == "zeros"
    assert "zeros" in result.sentence
    assert "4 of 10 inner cells are empty" in result.sentence


def test_worst_slices_come_first_and_are_named() -> None:
    result = discreet.risk(discreet.datasets.religion())
    worst = result.worst(3)
    assert [(item.dimension, item.category) for item in worst] == [
        ("religion", "3"),
        ("output_area", "6"),
        ("output_area", "9"),
    ]
    assert "religion=3 (0.5763" in result.sentence
    assert result.worst(0) == []
    values = [item.value or 0.0 for item in result.worst(100)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 19


def test_slices_of_three_dimensions_and_of_one() -> None:
    counts = np.arange(24).reshape(2, 3, 4)
    F = Table.from_array(counts, ["a", "b", "c"])
    result = discreet.risk(F)
    assert [part.dimension for part in result.slices] == ["a", "b", "c"]
    assert result.slice("b", 2).value == pytest.approx(discreet.risk(F.slice(b=2)).value)
    assert discreet.risk(F, slices=["c"]).slices[0].dimension == "c"
    assert discreet.risk(one_way(1, 2)).slices == ()
    with pytest.raises(RequestError, match="no dimension 'd'"):
        discreet.risk(F, slices=["d"])
    with pytest.raises(RequestError, match="no slices along 'a'"):
        discreet.risk(F, slices=["c"]).slice("a", 1)


def test_an_empty_slice_has_no_risk() -> None:
    result = discreet.risk(Table.from_array([[1, 2], [0, 0]], ["a", "b"]))
    empty = result.slice("a", 2)
    assert empty.value is None
    assert empty.terms is None
    assert empty.people == 0
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["slices"][1]["value"] is None
    assert ("a", "2") not in [(item.dimension, item.category) for item in result.worst(10)]


def test_released_tables_join_by_label() -> None:
    F = Table.from_array([[5, 1], [2, 7]], {"a": ["x", "y"], "b": ["m", "n"]})
    G = Table.from_array([[3, 6], [6, 0]], {"b": ["n", "m"], "a": ["y", "x"]}).aligned_to(F)
    shuffled = Table.from_array([[6, 3], [0, 6]], {"a": ["y", "x"], "b": ["n", "m"]})
    direct = discreet.risk(F, Table.from_array([[6, 0], [3, 6]], {"a": ["x", "y"], "b": ["m", "n"]}))
    assert discreet.risk(F, G).value != direct.value
    assert discreet.risk(F, shuffled).value == discreet.risk(F, shuffled.aligned_to(F)).value


def test_releases_are_measured_as_their_table() -> None:
    F = one_way(4, 2, 0)
    G = one_way(3, 3, 0)
    assert discreet.risk(F, Release(G, "by hand")).value == discreet.risk(F, G).value


@pytest.mark.parametrize(
    ("table", "message"),
    [(one_way(0, 0), "counts nobody"), (one_way(5), "1 cell"), (one_way(0), "1 cell")],
)
def test_tables_without_risk_are_refused(table: Table, message: str) -> None:
    with pytest.raises(DataError, match=message):
        discreet.risk(table)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((0.5, 0.5, 0.5), "sum to 1.5, not to 1"),
        ((-0.1, 1.0, 0.1), "0 or more"),
        ((math.nan, 0.5, 0.5), "0 or more"),
        ((0.5, 0.5), "give three"),
    ],
)
def test_bad_weights_are_refused(weights: tuple[float, ...], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        discreet.risk(one_way(1, 2), weights=weights)  # type: ignore[arg-type]


def test_bad_forms_and_samples_are_refused() -> None:
    with pytest.raises(RequestError, match="'2015' \\(default\\) and '2014'"):
        discreet.risk(one_way(1, 2), one_way(1, 2), form="2016")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="cell k=2 has 3 people in the sample, but 2 in the population"):
        discreet.risk(one_way(1, 2), one_way(0, 3), sampled=True)
    assert discreet.risk(one_way(1, 2), one_way(0, 2), sampled=True).measure == "R2"


def test_faces_show_the_number_and_escape_labels() -> None:
    F = Table.from_array([[4, 1], [0, 2]], {"<a>": ["<x>", "y"], "b": ["m", "n"]})
    result = discreet.risk(F)
    assert str(result).startswith(f"R1 = {result.value:.4f}")
    assert repr(result) == str(result)
    page = result._repr_html_()
    assert "&lt;a&gt;=&lt;x&gt;" in page
    assert "<x>" not in page
    assert "form 2015" in str(discreet.risk(F, F))


def test_the_slices_as_a_frame() -> None:
    found = discreet.risk(Table.from_array([[4, 8, 0], [6, 0, 5]], ["sex", "years"]))
    frame = found.to_frame()
    assert list(frame.columns) == ["dimension", "category", "risk", "zeros", "concentration", "size", "people"]
    assert [tuple(row) for row in frame[["dimension", "category", "risk", "people"]].itertuples(index=False)] == [
        (one.dimension, one.category, one.value, one.people) for part in found.slices for one in part
    ]
    assert (frame.zeros + frame.concentration + frame["size"]).tolist() == pytest.approx(frame.risk.tolist())
