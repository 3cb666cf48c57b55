"""Figures and tables as people read them."""

from __future__ import annotations

import pytest

from discreet.core.errors import DataError, DiscreetError, InfeasibleError, LimitError, RequestError, nearest
from discreet.core.text import columns, figure, html_table, one_line


def test_figures() -> None:
    assert figure(0.23147) == "0.2315"
    assert figure(0.23147, 2) == "0.23"
    assert figure(-0.0) == "-0.0000"
    assert figure(None) == figure(float("nan")) == "–"
    assert figure(float("inf")) == "∞"


def test_columns_are_aligned() -> None:
    text = columns(["name", "n", "share"], [["a", "1", "0.5"], ["longer", "1,000", "0.25"]])
    assert text.splitlines() == ["name        n  share", "a           1    0.5", "longer  1,000   0.25"]
    assert columns(["a", "b"], [["1", "2"]], left=2).splitlines() == ["a  b", "1  2"]
    assert columns(["a"], []) == "a"


def test_columns_stay_on_their_lines() -> None:
    assert columns(["x", "n"], [["two\nlines", "1"], ["\x1b[31m", "2"]]).splitlines() == [
        "x           n",
        "two\\nlines  1",
        "\\x1b[31m    2",
    ]


def test_one_line() -> None:
    assert one_line("größe 日本 🙂") == "größe 日本 🙂"
    assert one_line("a\nb\tc\r\x00\u2028") == "a\\nb\\tc\\r\\x00\\u2028"


def test_html_is_escaped() -> None:
    html = html_table(["<a>", "n"], [['"x"', "<script>"]], caption="a & b")
    assert html == (
        "<table><caption>a &amp; b</caption><thead><tr>"
        '<th style="text-align:left">&lt;a&gt;</th><th style="text-align:right">n</th></tr></thead><tbody><tr>'
        '<td style="text-align:left">&quot;x&quot;</td><td style="text-align:right">&lt;script&gt;</td>'
        "</tr></tbody></table>"
    )
    assert "<caption>" not in html_table(["a"], [])


def test_nearest_names() -> None:
    assert nearest("regoin", ["region", "age"]) == "did you mean 'region'? There are: 'region', 'age'"
    assert nearest("zzz", ("region", "age")) == "there are: 'region', 'age'"
    many = [f"category {i}" for i in range(50)]
    assert nearest("category 49", many).startswith("did you mean 'category 49'? There are: 'category 0'")
    assert nearest("x", many).endswith("'category 11' and 38 more")


@pytest.mark.parametrize("kind", [DataError, RequestError, InfeasibleError, LimitError])
def test_errors_have_one_root(kind: type[DiscreetError]) -> None:
    assert issubclass(kind, DiscreetError)
    assert not issubclass(kind, ValueError)
