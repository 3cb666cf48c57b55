from __future__ import annotations

import discreet as dc


def test_results_show_themselves_in_a_notebook_with_a_heat_map() -> None:
    shown = dc.assess(dc.datasets.religion(), seed=1, trial=True, name="religion")._repr_html_()
    assert "<svg" in shown or "<table" in shown
    assert "religion" in shown
    compared = dc.compare(dc.datasets.sex(), ["random-rounding:base=3"], draws=20, audits=1, seed=1)._repr_html_()
    assert "random-rounding" in compared
    sample = dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table
    assert "<" in dc.assess(sample, population=2449, draws=20, seed=1, trial=True)._repr_html_()
