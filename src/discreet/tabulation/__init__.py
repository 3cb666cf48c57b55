"""From records to tables: what to tabulate, and the engines that do it."""

from discreet.tabulation.spec import DimensionSpec, ResponseSpec, TableSpec
from discreet.tabulation.tabulate import tabulate, tabulate_keyed

__all__ = ["DimensionSpec", "ResponseSpec", "TableSpec", "tabulate", "tabulate_keyed"]
