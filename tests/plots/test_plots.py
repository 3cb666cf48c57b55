"""Plots are drawn whole, the same every time, and only to formats of plots."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import RequestError
from discreet.plots import plot_size_curve
from discreet.plots.figure import TERM_COLOURS, save
from discreet.uniques.sample_size import plan_size


def test_the_size_curve_is_drawn(tmp_path: Path) -> None:
    plan = plan_size(["uniform", "multinomial"], 0.05, population=46228, cells=1108, points=50)
    figure = plot_size_curve(plan)
    left, right = figure.axes
    assert [line.get_label() for line in left.get_lines()][:2] == ["uniform prior", "multinomial prior"]
    assert np.asarray(left.get_lines()[0].get_ydata()).tolist() == plan.curves[0].q.tolist()
    assert np.asarray(right.get_lines()[1].get_ydata()).tolist() == plan.curves[1].tau.tolist()
    save(figure, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "n = 9,478" in text
    save(plot_size_curve(plan), tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_bytes() == (tmp_path / "a.svg").read_bytes()
    save(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg", "b.svg"]


def test_other_formats_are_refused(tmp_path: Path) -> None:
    figure = plot_size_curve(plan_size(["uniform"], 5, population=1000, cells=50, measure="tau"))
    with pytest.raises(RequestError, match=r"end the name in .svg or .png"):
        save(figure, tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sheet", ["report/templates/style.css", "workbench/static/style.css"])
def test_terms_have_the_same_colours_everywhere(sheet: str) -> None:
    text = files("discreet").joinpath(sheet).read_text(encoding="utf-8")
    for name, colour in TERM_COLOURS.items():
        assert f"--{name}: {colour};" in text
        assert f"var(--{name})" in text
