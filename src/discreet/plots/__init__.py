"""Plots of results; they need matplotlib (the extra ``plots``).

Each function returns a matplotlib figure, which :func:`discreet.plots.figure.save` writes.
"""

from discreet.plots.charts import plot_heat_map, plot_risk_terms, plot_risk_utility_map, plot_size_curve

__all__ = ["plot_heat_map", "plot_risk_terms", "plot_risk_utility_map", "plot_size_curve"]
