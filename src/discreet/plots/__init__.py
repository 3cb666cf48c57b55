"""Plots of results, for people who would rather look than read; needs matplotlib (the extra ``plots``)."""

from discreet.plots.size_curve import plot_size_curve

__all__ = ["plot_size_curve"]
